import json
from typing import Any

import pytest

from controlplane.webhooks import events
from storage.publishing.events import Words
from storage.records import EventRow, dump

DATA = {"messageId": "msg_1", "subject": "Grüße"}


def event(type: str = "email.received", mode: str = "live") -> EventRow:
    return EventRow(1, "evt_1", "org_1", "inb_1", "msg_1", type, mode, dump(DATA), 1_790_000_000_123)


async def loaded(_organization_id: str, _message_id: str) -> str | None:
    return "from the blob"


async def never(_organization_id: str, _message_id: str) -> str | None:
    raise AssertionError("the text stands in the row")


async def rendered(given: EventRow, words: Words | None, load_text: Any = never) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(await events.render(given, words, load_text))
    return document


async def test_envelope() -> None:
    assert await rendered(event(), Words("Hello\n> old", False, "Hello")) == {
        "id": "evt_1",
        "type": "email.received",
        "apiVersion": "v1",
        "createdAt": "2026-09-21T14:13:20.123Z",
        "organizationId": "org_1",
        "data": {**DATA, "text": "Hello\n> old", "textTruncated": False, "extractedText": "Hello"},
    }


async def test_test_events_say_so() -> None:
    assert (await rendered(event(mode="test"), None))["mode"] == "test"


async def test_without_words_of_its_own_the_extract_is_the_text() -> None:
    assert (await rendered(event(), Words("Hello", False, None)))["data"]["extractedText"] == "Hello"


async def test_a_deleted_message_has_no_words() -> None:
    assert (await rendered(event(), None))["data"] == {
        **DATA,
        "text": None,
        "textTruncated": False,
        "extractedText": None,
    }


async def test_a_text_too_large_for_its_row_is_loaded() -> None:
    assert (await rendered(event(), Words(None, True, None), loaded))["data"]["text"] == "from the blob"


async def test_other_events_carry_their_data_alone() -> None:
    assert (await rendered(event("email.sent"), Words("Hello", False, None)))["data"] == DATA


FAILURE = {
    "recipient": "b@x.test",
    "recipients": [
        {"address": "a@x.test", "remoteHost": None},
        {"address": "b@x.test", "remoteHost": "mx.x.test"},
    ],
    "smtpCode": 550,
    "enhancedCode": "5.1.1",
    "diagnostic": "no such user",
}
DEFERRAL = {**FAILURE, "smtpCode": 421, "enhancedCode": None, "diagnostic": "too many connections, slow down"}


@pytest.mark.parametrize(
    ("type", "data", "expected"),
    [
        ("email.bounced", {**FAILURE, "bounceType": "permanent"}, ("address", "fix_address")),
        ("email.bounced", {**DEFERRAL, "bounceType": "transient"}, ("throttled", "slow_down")),
        ("email.delayed", DEFERRAL, ("throttled", "slow_down")),
        (
            "email.delayed",
            {**DEFERRAL, "class": "content", "advice": "fix_content"},
            ("content", "fix_content"),
        ),
        ("email.sent", DEFERRAL, (None, None)),
    ],
)
async def test_a_failure_of_the_first_versions_says_what_it_means(
    type: str, data: dict[str, Any], expected: tuple[str | None, str | None]
) -> None:
    """They did not write it down; what they wrote down stays."""
    told = (await rendered(event(type)._replace(data=dump(data)), None))["data"]
    assert (told.get("class"), told.get("advice")) == expected
    assert data.items() <= told.items()


@pytest.mark.parametrize(
    ("text", "expected", "truncated"),
    [
        ("a" * 65536, "a" * 65536, False),
        ("a" * 65537, "a" * 65536, True),
        ("ü" * 32768, "ü" * 32768, False),
        ("aü" * 30000, ("aü" * 30000).encode()[:65536].decode("utf-8", "ignore"), True),
        ("a" * 65534 + "😀", "a" * 65534, True),
    ],
)
async def test_text_is_cut_at_64_kib_between_characters(text: str, expected: str, truncated: bool) -> None:
    data = (await rendered(event(), Words(text, False, None)))["data"]
    assert (data["text"], data["textTruncated"]) == (expected, truncated)
    assert data["extractedText"] == expected


async def test_lone_surrogates_do_not_stop_an_event() -> None:
    async def broken(_organization_id: str, _message_id: str) -> str | None:
        return "a\udcffb"

    assert (await rendered(event(), Words(None, True, None), broken))["data"]["text"] == "a?b"
