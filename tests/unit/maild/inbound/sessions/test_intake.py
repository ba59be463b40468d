"""A message on its way in (maild/inbound/sessions/intake.py): what is done to it at once, what on the thread, and what
its client hears when it can't be kept."""

import errno
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from conf.settings import Smtp
from maild.errors import SmtpError
from maild.inbound.sessions.header_section import HeaderSection
from maild.inbound.sessions.intake import AT_ONCE_OCTETS, Intake
from storage.byte_account import ByteAccount
from storage.disk import Disk
from storage.ids import Ids
from storage.mail.blobs import Blobs, Spool
from storage.turns.cpu_threads import CpuThreads
from tests.support.running import dot_stuffed
from tests.support.worlds.store import ManualClock

PIECE = 64 * 1024
HEADER = b"Subject: x\r\n\r\n"
LINE = b"words of an ordinary line, and some more of them\r\n"
PIECES = 8
ROOMY = 1 << 30


class CountedThreads(CpuThreads):
    turns = 0

    async def run(self, owner: str, work: Callable[[], Any]) -> Any:
        self.turns += 1
        return work()


def intake_of(folder: Path, spool: Spool, cpu: CpuThreads, max_bytes: int = ROOMY) -> Intake:
    return Intake(
        spool,
        ByteAccount(1 << 30),
        Disk(folder, 0),
        cpu,
        Smtp(max_message_bytes=max_bytes),
        HeaderSection("mx.test"),
        "192.0.2.1",
        0,
    )


async def taken(folder: Path, message: bytes, max_bytes: int = ROOMY) -> tuple[bytes, int]:
    """What was kept of the message, and how many turns at the thread it took."""
    blobs = Blobs(folder / "blobs", Ids(ManualClock()), 1 << 30)
    cpu = CountedThreads()
    intake = intake_of(folder, blobs.spool(), cpu, max_bytes)

    async def pieces() -> AsyncIterator[bytes]:
        for at in range(0, len(message), PIECE):
            yield message[at : at + PIECE]

    await intake.take_all(pieces())
    stored = await intake.finish()
    await intake.close()
    assert stored.data is not None
    return stored.data, cpu.turns


async def test_a_large_body_of_ordinary_lines_takes_no_turn(tmp_path: Path) -> None:
    message = HEADER + LINE * (PIECES * PIECE // len(LINE))
    assert await taken(tmp_path, message) == (message, 0)


@pytest.mark.parametrize(
    "message",
    [
        b"X: " + b"y" * PIECES * PIECE + b"\r\n\r\nhi\r\n",
        HEADER + b"x\r\n" * (PIECES * PIECE // 3),
        HEADER + b"\r" * (PIECES * PIECE),
    ],
    ids=["a header section without end", "a body of line ends", "a body of halves of them"],
)
async def test_what_may_be_slow_does_beyond_its_beginning(tmp_path: Path, message: bytes) -> None:
    kept, turns = await taken(tmp_path, message)
    assert turns == -(-len(message) // PIECE) - AT_ONCE_OCTETS // PIECE
    assert b"".join(kept.split()) == b"".join(message.split())


@pytest.mark.parametrize(
    "field",
    [b"AUTHENTICATION-Results: a.test; none\r\n", b"Authentication-Results: " + b"(" * 900 + b"\r\n"],
    ids=["names", "comments"],
)
async def test_results_of_others_by_the_thousand_do_from_its_beginning_on(
    tmp_path: Path, field: bytes
) -> None:
    message = field * (PIECE // len(field)) + b"\r\nhi\r\n"
    assert await taken(tmp_path, message) == (message, -(-len(message) // PIECE))


@pytest.mark.parametrize(
    ("error", "reply"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "452 4.3.1 no storage left"),
        (OSError(errno.EMFILE, "Too many open files"), "451 4.3.2 insufficient system resources"),
        (MemoryError(), "451 4.3.2 insufficient system resources"),
    ],
    ids=repr,
)
async def test_the_client_hears_what_is_wanting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, reply: str
) -> None:
    async def refuse(*_: Any) -> None:
        raise error

    monkeypatch.setattr(Spool, "write", refuse)
    spool = Blobs(tmp_path / "blobs", Ids(ManualClock()), 1 << 30).spool()
    with pytest.raises(SmtpError) as refused:
        await intake_of(tmp_path, spool, CountedThreads()).take(HEADER)
    assert str(refused.value) == f"{reply}, try again later"


@pytest.mark.parametrize("text", [b".x" * 24 + b"\r\n", LINE])
async def test_dots_that_the_way_doubles_are_no_part_of_the_size(tmp_path: Path, text: bytes) -> None:
    """RFC 1870, section 5: a size that was taken at MAIL is not too large at the dot."""
    message = HEADER + text * 4000
    kept, _ = await taken(tmp_path, dot_stuffed(message), len(message))
    assert kept == message
    with pytest.raises(SmtpError, match="larger than"):
        await taken(tmp_path, dot_stuffed(message), len(message) - 1)
