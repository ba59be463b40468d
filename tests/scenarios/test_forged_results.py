"""Who writes Authentication-Results in our name is not believed by those who read the raw message (RFC 8601 §5)."""

import email
from typing import Any

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
