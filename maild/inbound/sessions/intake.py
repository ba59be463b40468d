"""One message between DATA and its commit: decoded, checked and kept as it comes, and never more than its share.

What is held in memory counts against the account of memory, what is spooled into a file against the disk, each with the
client's address as its holder. A message that is refused gives everything back at that moment, not at its final
dot: what still comes of it is dropped, and other mail has the room.
"""

import time
from collections.abc import AsyncIterator
from functools import partial
from typing import Protocol

from conf.addresses import network_of
from conf.settings import Smtp
from maild.errors import SmtpError, no_storage, out_of_resources
from maild.inbound.wire.data import DataDecoder
from maild.message.octets import has_more_than
from storage.byte_account import ByteAccount
from storage.disk import Disk
from storage.exhaustion import WantLog, is_exhaustion
from storage.mail.blobs import Spool, Stored
from storage.turns.cpu_threads import CpuThreads

want = WantLog("mail")

DRAIN_FACTOR = 2  # an oversized message is read to this many times the limit, then cut off
MAX_HOPS = 50  # RFC 5321 §6.3 asks for at least 100 where nothing else is counted; Postfix has 50

# Of a message with a light header: a hundred larger ones at once would hold the event loop for a tenth of a second.
# Beyond that only a body of ordinary lines is decoded here, at a microsecond a KiB: a turn at the thread costs as much
# again.
AT_ONCE_OCTETS = 128 * 1024
ORDINARY_LINE_OCTETS = 20  # on average
STEP_OCTETS = 16 * 1024


class HeaderFilter(Protocol):
    """What is fed all octets of a message, decoded, and gives those that are kept: it changes the header section alone.

    `hops`: Received fields so far; `is_over`: what follows is the body; `is_light`: is what comes next looked through
    in a moment? SmtpError when the header is refused.
    """

    hops: int
    is_over: bool

    def is_light(self, piece: bytes) -> bool: ...
    def feed(self, data: bytes) -> bytes: ...
    def finish(self) -> bytes: ...


class Intake:
    """`declared_bytes`: the SIZE of MAIL (RFC 1870), 0 when none was given. SmtpError when there is no room for it."""

    def __init__(
        self,
        spool: Spool,
        memory: ByteAccount,
        disk: Disk,
        cpu: CpuThreads,
        limits: Smtp,
        header: HeaderFilter,
        peer: str,
        declared_bytes: int,
    ) -> None:
        self._spool = spool
        self._memory = memory
        self._owner = network_of(peer)  # of what it holds
        self._claim = disk.claim(self._owner)
        self._cpu = cpu
        self._limits = limits
        self._peer = peer
        self._decoder = DataDecoder()
        self._header = header
        self._held = 0
        self._octets = 0
        self._busy_s = 0.0
        self._busy_since: float | None = None
        # A declared size has its room from the start: of two messages that don't fit together, one gets through.
        if not self._claim.cover(declared_bytes):
            raise no_storage()

    async def take_all(self, pieces: AsyncIterator[bytes]) -> None:
        """All octets up to the final dot. SmtpError when the message is refused: the dot was read even so, unless the
        error closes the connection."""
        refusal: SmtpError | None = None
        octets = 0
        async for piece in pieces:
            octets += len(piece)
            if octets > self._limits.max_message_bytes * DRAIN_FACTOR:
                raise SmtpError(552, "5.3.4", "message is far too large, closing connection", closes=True)
            self._busy_since = time.monotonic()
            try:
                if refusal is None:
                    await self.take(piece)
            except SmtpError as error:
                refusal = error.with_traceback(None)  # it knows this frame
            finally:
                self._busy_s, self._busy_since = self.busy_s(), None
        try:
            if refusal is not None:
                raise refusal
        finally:
            del refusal  # its traceback knows this frame

    def busy_s(self) -> float:
        """For how long so far `take_all` had what came to be done with, and let no more come."""
        return self._busy_s + (0.0 if self._busy_since is None else time.monotonic() - self._busy_since)

    async def take(self, piece: bytes) -> None:
        """The next octets as they came. SmtpError when the message is refused: nothing of it is kept then."""
        self._octets += len(piece)
        try:
            if self._is_done_at_once(piece):
                data = self._decode(piece)
            else:
                data = await self._cpu.run(self._owner, partial(self._decode_in_steps, piece))
            if self._octets - self._decoder.dots > self._limits.max_message_bytes:  # RFC 1870 §5
                raise SmtpError(
                    552, "5.3.4", f"message is larger than {self._limits.max_message_bytes} octets"
                )
            await self._keep(data)
            self._check()
        except BaseException:
            await self.close()
            raise

    async def finish(self) -> Stored:
        """The final dot was read: the whole message; a large one is a durable file when this returns. SmtpError when it
        is refused at last."""
        try:
            await self._keep(self._header.feed(self._decoder.finish()) + self._header.finish())
            self._check()
            stored = await self._spool.finish()
        except BaseException:
            await self.close()
            raise
        self._note()
        return stored

    async def close(self) -> None:
        """Give back what is counted, and forget what is not finished. Idempotent."""
        self._claim.release()
        self._memory.give(self._held, self._owner)
        self._held = 0
        await self._spool.discard()

    def _is_done_at_once(self, piece: bytes) -> bool:
        if self._octets <= AT_ONCE_OCTETS:
            return self._header.is_light(piece)
        return self._header.is_over and _has_long_lines(piece)

    def _decode(self, piece: bytes) -> bytes:
        return self._header.feed(self._decoder.feed(piece))

    def _decode_in_steps(self, piece: bytes) -> bytes:
        """For a thread: each step keeps the interpreter to itself."""
        steps = [piece[at : at + STEP_OCTETS] for at in range(0, len(piece), STEP_OCTETS)]
        return b"".join([self._decode(step) for step in steps])

    def _check(self) -> None:
        if self._header.hops > MAX_HOPS:  # RFC 5321 §6.3: the message goes in circles
            raise SmtpError(554, "5.4.6", "too many hops")
        if self._decoder.had_bare_line_end and self._limits.bare_line_ends == "refuse":
            raise SmtpError(550, "5.6.0", "a CR or LF stands alone: lines end with CR LF")

    async def _keep(self, data: bytes) -> None:
        if not data:
            return
        if not self._memory.take(len(data), self._owner):
            raise SmtpError(452, "4.3.1", "too much mail in transit, try again later")
        self._held += len(data)
        if not self._claim.cover(self._spool.size_bytes + len(data)):
            raise no_storage()
        try:
            await self._spool.write(data)
        except (OSError, MemoryError) as error:
            want.note(error)
            raise (out_of_resources() if is_exhaustion(error) else no_storage()) from error
        self._note()

    def _note(self) -> None:
        """Count what went into the file as disk, not as memory."""
        self._memory.give(self._held - self._spool.held_bytes, self._owner)
        self._held = self._spool.held_bytes
        self._claim.wrote(self._spool.size_bytes - self._held)


def _has_long_lines(piece: bytes) -> bool:
    """CR counts as LF does: each that stands alone has to be mended."""
    limit = len(piece) // ORDINARY_LINE_OCTETS
    return not (has_more_than(limit, b"\n", piece) or has_more_than(limit, b"\r", piece))
