"""A1, S2: whatever a field holds, the message has the headers that it has without it, or none at all."""

import base64
import email
import re
from email.header import decode_header, make_header
from typing import Any

import pytest

from tests.conftest import on_shared
from tests.support.running import Answer, Running

EVIL = {
    "CRLF": "x\r\nBcc: evil@evil.test",
    "LF": "x\nBcc: evil@evil.test",
    "CR": "x\rBcc: evil@evil.test",
    "fold": "x\r\n Bcc: evil@evil.test",
    "body": "x\r\n\r\nevil body",
    "NUL": "x\0Bcc: evil@evil.test",
    "VT and FF": "x\x0b\x0cBcc: evil@evil.test",
    "NEL": "x\x85Bcc: evil@evil.test",
    "line separator": "x\u2028Bcc: evil@evil.test",
    "paragraph separator": "x\u2029Bcc: evil@evil.test",
    "escaped": "x%0d%0aBcc: evil@evil.test",
    "encoded word Q": "=?utf-8?q?x=0D=0ABcc:_evil@evil.test?=",
    "encoded word B": "=?utf-8?b?" + base64.b64encode(b"x\r\nBcc: evil@evil.test").decode() + "?=",
    "quotes": 'x"; filename="evil.exe',
    "angle brackets": "x <evil@evil.test>",
    "smuggling": "x\r\n.\r\nMAIL FROM:<evil@evil.test>\r\nRCPT TO:<victim@evil.test>\r\nDATA\r\nevil\r\n.\r\n",
    "bare smuggling": "x\n.\nMAIL FROM:<evil@evil.test>\n",
}


def headers(raw: bytes) -> list[str]:
    """The names of the header fields, by the strictest reading: each line up to the first empty one."""
    head = raw.partition(b"\r\n\r\n")[0]
    return [line.partition(b":")[0].decode() for line in head.split(b"\r\n") if line[:1] not in b" \t"]


async def judge(maild: Running, answer: Answer, usual: list[str]) -> bytes | None:
    if answer.status == 400:
        assert answer.faults
        return None
    raw = await maild.raw(answer.data["id"])
    assert headers(raw) == usual
    assert raw.count(b"\n") == raw.count(b"\r\n") == raw.count(b"\r")
    assert not re.search(rb"(?im)^bcc:", raw.partition(b"\r\n\r\n")[0])
    assert b"\0" not in raw
    return raw


async def usual_headers(maild: Running, bot: dict[str, Any], **fields: Any) -> list[str]:
    return headers(await maild.raw((await maild.api.send(bot, **fields)).data["id"]))


@pytest.mark.parametrize("evil", EVIL.values(), ids=EVIL)
@on_shared
async def test_through_the_fields_of_a_send(shared: Running, shared_bot: dict[str, Any], evil: str) -> None:
    usual = await usual_headers(shared, shared_bot, subject="x")
    await judge(shared, await shared.api.send(shared_bot, subject=evil), usual)
    for address in (f"{evil}@elsewhere.test", f"a@{evil}", f"<{evil}>", f'"{evil}" <a@elsewhere.test>'):
        for kind in ("to", "cc", "bcc"):
            answer = await shared.api.send(shared_bot, **{"to": ["a@elsewhere.test"], kind: [address]})
            wanted = await usual_headers(
                shared, shared_bot, **{"to": ["a@elsewhere.test"], kind: ["b@elsewhere.test"]}
            )
            await judge(shared, answer, wanted)
    assert (await shared.api.send(shared_bot, inReplyTo=evil)).faults == {"inReplyTo": "invalid_id"}
    files = await usual_headers(
        shared, shared_bot, text="x", attachments=[{"filename": "a", "content": "eA=="}]
    )
    for one in (
        {"filename": evil, "content": "eA=="},
        {"filename": "a", "contentType": evil, "content": "eA=="},
    ):
        raw = await judge(shared, await shared.api.send(shared_bot, text="x", attachments=[one]), files)
        if raw is not None:
            parts = [part for part in email.message_from_bytes(raw).walk() if not part.is_multipart()]
            assert [sorted(set(part.keys()) - {"MIME-Version"}) for part in parts][1] == [
                "Content-Disposition", "Content-Transfer-Encoding", "Content-Type",
            ]  # fmt: skip
            assert len(parts) == 2


@pytest.mark.parametrize("evil", EVIL.values(), ids=EVIL)
@on_shared
async def test_through_the_bodies(shared: Running, shared_bot: dict[str, Any], evil: str) -> None:
    """S2: bodies may hold anything; they stay bodies."""
    for fields in ({"text": evil}, {"html": evil}, {"text": evil, "html": f"<p>{evil}</p>"}):
        usual = await usual_headers(shared, shared_bot, **dict.fromkeys(fields, "x"))
        raw = await judge(shared, await shared.api.send(shared_bot, **fields), usual)
        assert raw is not None or "\x00" in evil


@pytest.mark.parametrize("evil", EVIL.values(), ids=EVIL)
async def test_through_the_names_of_an_inbox(maild: Running, bot: dict[str, Any], evil: str) -> None:
    assert (await maild.api.post("/v1/inboxes", {"username": evil})).status == 400
    usual = await usual_headers(maild, bot)
    answer = await maild.api.post("/v1/inboxes", {"username": "named", "name": evil[:100]})
    if answer.status == 400:
        assert set(answer.faults) == {"name"}
        return
    sent = await maild.api.send(answer.data)
    raw = await judge(maild, sent, usual)
    assert raw is not None
    from_ = email.message_from_bytes(raw)["From"]
    assert from_.rstrip().endswith("<named@agents.test>")


@pytest.mark.parametrize("evil", EVIL.values(), ids=EVIL)
@on_shared
async def test_a_decoded_subject_is_what_was_asked_for(
    shared: Running, shared_bot: dict[str, Any], evil: str
) -> None:
    """Text that looks like an encoded word stays that text for the reader, so nothing decodes to a line end."""
    answer = await shared.api.send(shared_bot, subject=evil)
    if answer.status != 201:
        return
    raw = await shared.raw(answer.data["id"])
    shown = str(make_header(decode_header(email.message_from_bytes(raw)["Subject"])))
    assert shown.replace("\r\n", "") == evil or "=0D=0A" in shown or "\n" not in shown
    assert not re.search(r"[\r\n]\s*Bcc:", shown)
