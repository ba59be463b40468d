"""The Message-ID that a smarthost has given, as its replies have it."""

import pytest

from maild.outbound.routing.relays import RelayHost
from maild.outbound.sessions.given_message_ids import given_message_id

SES_ID = "0102018f1c2d3e4f-01234567-89ab-cdef-0123-456789abcdef-000000"
REWRITES = frozenset({"message-id"})


@pytest.mark.parametrize(
    ("host", "said", "given"),
    [
        ("email-smtp.eu-west-1.amazonaws.com", f"Ok {SES_ID}", f"<{SES_ID}@eu-west-1.amazonses.com>"),
        ("email-smtp.us-east-1.amazonaws.com", f"Ok {SES_ID}", f"<{SES_ID}@email.amazonses.com>"),
        ("Email-SMTP-fips.us-west-2.amazonaws.com", f"Ok {SES_ID}", f"<{SES_ID}@us-west-2.amazonses.com>"),
        ("email-smtp.us-east-1.api.aws", f"Ok {SES_ID}", f"<{SES_ID}@email.amazonses.com>"),
        (
            "vpce-1-a.email-smtp.eu-west-1.vpce.amazonaws.com",
            f"Ok {SES_ID}",
            f"<{SES_ID}@eu-west-1.amazonses.com>",
        ),
        ("email-smtp.eu-west-1.amazonaws.com", "Ok", None),
        ("smtp.there.test", f"Ok {SES_ID}", None),
        ("smtp.there.test", "OK: queued as <2026.1@smtp.there.test>", "<2026.1@smtp.there.test>"),
        ("smtp.there.test", "OK <A1B2@X.out.test> [Hostname=X.out.test]", "<A1B2@X.out.test>"),
        ("smtp.there.test", "queued as 4fKx2b", None),
        ("smtp.there.test", "queued as <ñ.1@smtp.there.test>", None),
        ("smtp.there.test", "queued as <1@smtp\ufffd.there.test>", None),
    ],
)
def test_it_is_what_the_reply_says(host: str, said: str, given: str | None) -> None:
    assert given_message_id(RelayHost("one", host, 587, rewrites=REWRITES), said) == given


def test_who_leaves_the_field_alone_gives_none() -> None:
    said = "OK: queued as <2026.1@smtp.there.test>"
    assert given_message_id(RelayHost("one", "smtp.there.test", 587), said) is None
    assert given_message_id(None, said) is None
