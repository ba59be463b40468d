"""S1: nothing but CRLF.CRLF ends a message. Judged by what the API shows, not by what was replied."""

from typing import Any

import pytest

from tests.conftest import Start
from tests.support.running import Running, Smtp

ENDINGS = {
    "LF.LF": b"\n.\n",
    "LF.CR": b"\n.\r",
    "LF.CRLF": b"\n.\r\n",
    "CR.LF": b"\r.\n",
    "CR.CR": b"\r.\r",
    "CR.CRLF": b"\r.\r\n",
    "CRLF.LF": b"\r\n.\n",
    "CRLF.CR": b"\r\n.\r",
    "CRLF NUL.CRLF": b"\r\n\0.\r\n",
    "CRLF.NUL CRLF": b"\r\n.\0\r\n",
    "CRLF..CRLF": b"\r\n..\r\n",
    "CRLF .CRLF": b"\r\n .\r\n",
    "CRLF. CRLF": b"\r\n. \r\n",
    "CRCRLF.CRLF": b"\r\r\n.\r\r\n",
    "VT.VT": b"\x0b.\x0b",
    "NEL.NEL": b"\xc2\x85.\xc2\x85",
    "LSEP.LSEP": b"\xe2\x80\xa8.\xe2\x80\xa8",
}
FIRST = b"Subject: the only one\r\n\r\nbegin"
SMUGGLED = (
    b"MAIL FROM:<admin@agents.test>\r\nRCPT TO:<bot@agents.test>\r\nDATA\r\n"
    b"Subject: smuggled\r\nFrom: admin@agents.test\r\n\r\nsmuggled\r\n.\r\n"
)


async def to_its_end(talk: Smtp) -> list[str]:
    await talk.write(b"QUIT\r\n")
    replies = []
    while reply := await talk.reply():
        replies.append(reply)
    return replies


@pytest.mark.parametrize("policy", ["rewrite", "refuse"])
async def test_no_sequence_smuggles_a_second_message(start: Start, policy: str) -> None:
    maild = await start(smtp={"bare_line_ends": policy})
    await maild.inbox("bot")
    for name, ending in ENDINGS.items():
        before = len(await maild.api.messages())
        talk = await maild.smtp()
        await talk.begin("bot@agents.test")
        # The true end of the first message is that of the smuggled one.
        await talk.write(FIRST + ending + SMUGGLED)
        await to_its_end(talk)
        found = await maild.api.messages()
        assert len(found) - before in ((0, 1) if policy == "refuse" else (1,)), name
        assert {one["subject"] for one in found} <= {"the only one"}, name


async def test_no_sequence_desynchronizes_what_follows(maild: Running) -> None:
    """A message that ends in the sequence, then really: the next one is a message of its own."""
    await maild.inbox("bot")
    for name, ending in ENDINGS.items():
        talk = await maild.smtp()
        await talk.begin("bot@agents.test")
        await talk.write(FIRST + ending + b"\r\n.\r\n" + SMUGGLED)
        await to_its_end(talk)
        newest = await maild.api.messages(limit="2")
        assert [one["subject"] for one in newest] == ["smuggled", "the only one"], name
    assert len(await maild.api.messages()) == 2 * len(ENDINGS)


async def test_what_a_lax_reader_takes_for_the_end_stays_text(maild: Running, bot: dict[str, Any]) -> None:
    talk = await maild.smtp()
    await talk.begin(bot["address"])
    await talk.write(b"Subject: text\r\n\r\none\n.\ntwo\r.\rthree\r\n.\r\n")
    assert (await talk.reply()).startswith("250 ")
    (only,) = await maild.api.messages()
    assert (await maild.api.get(f"/v1/messages/{only['id']}")).data["textBody"] == "one\n.\ntwo\n.\nthree\n"
    stored = await maild.raw(only["id"])
    assert stored.count(b"\n") == stored.count(b"\r") == stored.count(b"\r\n")


@pytest.mark.parametrize("cut", range(1, 6))
async def test_the_end_is_found_however_the_network_cuts_it(
    maild: Running, bot: dict[str, Any], cut: int
) -> None:
    """Also at the edge of the reader's buffer, whose size is 64 KiB."""
    talk = await maild.smtp()
    for filling in (1, 65530 - cut, 65536 - cut, 131072 - cut):
        await talk.begin(bot["address"])
        whole = b"Subject: cut\r\n\r\n" + b"x" * filling + b"\r\n.\r\n"
        await talk.write(whole[:-cut])
        await talk.write(whole[-cut:])
        assert (await talk.reply()).startswith("250 ")
    shown = [await maild.api.get(f"/v1/messages/{one['id']}") for one in await maild.api.messages()]
    sizes = sorted(len(one.data["textBody"]) for one in shown)
    assert sizes == [2, 65531 - cut, 65537 - cut, 131073 - cut]
