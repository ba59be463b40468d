"""Who writes Authentication-Results in our name is not believed by those who read the raw message (RFC 8601 §5)."""

import email
from typing import Any

import pytest

from tests.support.running import HOSTNAME, Running

FORGED = f"Authentication-Results: {HOSTNAME}; dmarc=pass header.from=bank.test\n"
ATTACHED = f"--b\nContent-Type: message/rfc822\n\n{FORGED}Subject: inner\n\ninner\n--b--\n"


async def test_the_forged_field_goes_and_all_offsets_are_right(maild: Running, bot: dict[str, Any]) -> None:
    head = "From: boss@bank.test\nSubject: x\nContent-Type: multipart/mixed; boundary=b\n"
    body = f"\n--b\n\n{FORGED}{ATTACHED}"
    message = await maild.received(bot, FORGED + head + FORGED.replace(" ", "\n\t") + body)
    assert message["textBody"] == FORGED.removesuffix("\n")  # in a body it is text like any other
    (inner,) = message["attachments"]
    found = await maild.api.call("GET", f"/v1/attachments/{inner['id']}")
    assert found.body.replace(b"\r\n", b"\n") == f"{FORGED}Subject: inner\n\ninner".encode()
    stored = await maild.raw(message["id"])
    assert stored == (head + body).replace("\n", "\r\n").encode()
    raw = (await maild.api.call("GET", f"/v1/messages/{message['id']}/raw")).body
    (ours,) = email.message_from_bytes(raw).get_all("Authentication-Results") or []
    assert ours.startswith(f"{HOSTNAME};")
    assert "dmarc=pass" not in ours


@pytest.mark.parametrize("leader", ["\n", " \n\n", "\ufeff", " ", "\ufeff\n\t"])
async def test_it_goes_from_where_other_readers_see_no_header(
    maild: Running, bot: dict[str, Any], leader: str
) -> None:
    head, body = "From: boss@bank.test\nSubject: x\n", f"\n{FORGED}"
    message = await maild.received(bot, leader + FORGED + head + FORGED + body)
    assert (message["subject"], message["fromAddress"]) == ("x", "boss@bank.test")
    assert message["textBody"].endswith(FORGED)
    assert await maild.raw(message["id"]) == (leader + head + body).replace("\n", "\r\n").encode()


async def test_a_header_of_nothing_else_does_not_make_one_of_the_body(
    maild: Running, bot: dict[str, Any]
) -> None:
    message = await maild.received(bot, f"{FORGED}\n{FORGED}From: boss@bank.test\nSubject: x\n\nhi\n")
    assert (message["subject"], message["fromName"]) == ("", None)
    assert message["fromAddress"] != "boss@bank.test"
    assert "Subject: x" in message["textBody"]
