"""Mail with octets beyond ASCII, which only mail programs write, for a host that does not offer 8BITMIME: it leaves as
its author wrote it. To convert it would break what is signed or encrypted, and to bounce it would keep mail from hosts
that take eight bits and don't say so, as nearly all do.
"""

from pathlib import Path

import pytest

from tests.support.worlds.sending import Sending

RAW = "Subject: eight\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\nGrüße\r\n"


@pytest.mark.parametrize(
    ("extensions", "announced"), [(["SIZE 1000000"], ""), (["8BITMIME"], " BODY=8BITMIME")]
)
async def test_it_leaves_as_it_is_and_is_announced_where_that_is_offered(
    tmp_path: Path, extensions: list[str], announced: str
) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.extensions = extensions
        await sending.queue.start()
        message_id = await sending.send("you@there.test", raw=RAW.encode())
        await sending.until(message_id, "delivered")
        (taken,) = sending.mx.received
        assert taken.raw.endswith("\r\n\r\nGrüße\r\n".encode())
        assert ("BODY=8BITMIME" in taken.mail_line) == bool(announced)
