"""The table of bounces: the same status from a reply and from a report, and where they differ."""

import pytest

from maild.message import bounces
from maild.message.bounces import BAD_ADDRESS, OWN_FAULT, PERMANENT, TRANSIENT, UNDETERMINED, Bounce


@pytest.mark.parametrize(
    ("code", "enhanced", "text", "expected"),
    [
        (550, "5.1.1", "", BAD_ADDRESS),
        (556, "5.1.10", "null MX", BAD_ADDRESS),
        (550, "5.1.3", "bad syntax", PERMANENT),
        (550, "5.7.1", "user unknown, it says", PERMANENT),
        (550, None, "User unknown", BAD_ADDRESS),
        (550, "5.0.0", "User unknown", BAD_ADDRESS),
        (550, "5.0.0", "rejected", PERMANENT),
        (554, None, "User unknown", PERMANENT),
        (552, "5.2.2", "over quota", PERMANENT),
        (550, "5.30.1", "", PERMANENT),
    ],
)
def test_what_replies_and_reports_agree_on(
    code: int, enhanced: str | None, text: str, expected: Bounce
) -> None:
    assert bounces.of_reply(code, enhanced, text, is_ours=False) == expected
    assert bounces.of_reply(code, enhanced, text, is_ours=True) == expected
    assert bounces.of_report(code, enhanced, text) == expected


@pytest.mark.parametrize(
    ("enhanced", "by_host", "by_us", "by_report"),
    [
        ("5.3.0", PERMANENT, OWN_FAULT, PERMANENT),
        ("5.3.4", PERMANENT, OWN_FAULT, PERMANENT),
        ("5.4.7", PERMANENT, PERMANENT, TRANSIENT),
    ],
)
def test_where_they_differ(enhanced: str, by_host: Bounce, by_us: Bounce, by_report: Bounce) -> None:
    assert bounces.of_reply(550, enhanced, "", is_ours=False) == by_host
    assert bounces.of_reply(550, enhanced, "", is_ours=True) == by_us
    assert bounces.of_report(550, enhanced, "") == by_report


@pytest.mark.parametrize(
    ("code", "enhanced", "expected"),
    [
        (None, None, UNDETERMINED),
        (None, "4.4.1", TRANSIENT),
        (None, "5.1.1", BAD_ADDRESS),
        (451, None, TRANSIENT),
        (550, "4.2.2", TRANSIENT),  # the status counts before a code in the words
        (550, "4.0.0", TRANSIENT),
        (250, None, UNDETERMINED),
        (550, "2.0.0", UNDETERMINED),
    ],
)
def test_reports_of_other_classes(code: int | None, enhanced: str | None, expected: Bounce) -> None:
    assert bounces.of_report(code, enhanced, "user unknown") == expected
