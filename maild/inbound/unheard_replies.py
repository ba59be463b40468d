"""Which messages the store has whose 250 the client did not hear: it sends them again, and they are not stored again.

A reply was heard when another command of its session comes. It was not when the connection ends before that, or when
the client had hung up, or said that it has no more to say, before there was a reply; and, for a message of the last
seconds (`LATELY_S`), when the process is killed. A client that goes as soon as it has read the 250 looks the same. A
command that came together with the message counts as any other.

A client may come again before its first message is in the store, as where the disk stands still for longer than it
waits. So equal messages are taken one after the other: the second one then finds whether the first was heard.

So that a message which is a second one is never taken for a copy, a copy has the same octets, sender, recipients,
inboxes and client, and a Message-ID (RFC 5322 §3.6.4: "unique identifier of the message"). When a copy was heard, its
message is as any other.

Of ordinary mail nothing is written but a digest in a row of its own. What is found out is written by a task of its own,
once in LATELY_S at most (storage/mail/unheard_replies.py).
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from storage.clock import DAY_MS, Clock, is_recent
from storage.engine.database import Database
from storage.ids import Ids
from storage.mail import unheard_replies
from storage.mail.unheard_replies import UnheardReply
from storage.service import Enduring, LoopService

LATELY_S = 10.0  # longer than the way from COMMIT to the client's ear takes
KEPT_MS = 5 * DAY_MS  # RFC 5321 §4.5.4.1: for so long a client tries again
MAX_KEPT = 10_000  # some 3 MB; whoever fills it has had as many messages stored

log = structlog.get_logger("maild.smtp")


class UnheardReplies(LoopService):
    """The replies of this process and of those before it. Called on the event loop."""

    name = "unheard replies"

    def __init__(self, db: Database, clock: Clock, ids: Ids, lately_s: float = LATELY_S) -> None:
        super().__init__()
        self._db = db
        self._clock = clock
        self._ids = ids
        self._lately_s = lately_s
        self._known: dict[bytes, UnheardReply] = {}
        self._changed: set[bytes] = set()
        self._being_taken: dict[bytes, asyncio.Event] = {}  # each set at its end

    async def start(self) -> None:
        now_ms = self._clock.now_ms()
        found = await self._db.write(unheard_replies.begin, self._position(), now_ms, now_ms - KEPT_MS)
        self._known = {one.transaction_digest: one for one in found}
        await super().start()

    async def stop(self) -> None:
        """All sessions are over: what is not known to be unheard was heard."""
        await super().stop()
        await self._write(self._position())

    async def run(self) -> None:
        while True:
            await self.pause(None)
            through = self._position()
            await asyncio.sleep(self._lately_s)
            with Enduring(log, "unheard_replies_failed"):  # what was found out stays for another round
                await self._write(through)

    @asynccontextmanager
    async def behind_equal_ones(self, transaction_digest: bytes) -> AsyncIterator[None]:
        """While a message is taken: it begins once none that is equal is being taken, and what its session knows of the
        250 at the end of this block, the next one finds."""
        while (earlier := self._being_taken.get(transaction_digest)) is not None:
            await earlier.wait()
        ended = self._being_taken[transaction_digest] = asyncio.Event()
        try:
            yield
        finally:
            del self._being_taken[transaction_digest]
            ended.set()

    def find(self, transaction_digest: bytes) -> str | None:
        """What the 250 named that the client did not hear; None where the message is a new one."""
        found = self._known.get(transaction_digest)
        if found is None or not is_recent(found.noted_at, self._clock.now_ms(), KEPT_MS):
            return None
        return found.message_id

    def committed(self) -> None:
        """A message is in the store, and its 250 is on its way."""
        self.wake()

    def note_unheard(self, transaction_digest: bytes, message_id: str) -> None:
        """The client has not heard the 250, which named this message."""
        self._known.pop(transaction_digest, None)  # the newest stands last
        self._known[transaction_digest] = UnheardReply(transaction_digest, message_id, self._clock.now_ms())
        self._changed.add(transaction_digest)
        while len(self._known) > MAX_KEPT:
            self._forget(next(iter(self._known)))
        self.wake()

    def note_heard(self, transaction_digest: bytes) -> None:
        """The client has heard the 250."""
        if transaction_digest in self._known:
            self._forget(transaction_digest)
            self.wake()

    def _forget(self, transaction_digest: bytes) -> None:
        del self._known[transaction_digest]
        self._changed.add(transaction_digest)

    def _position(self) -> str:
        """Behind every message that has an id by now."""
        return self._ids.new("msg")

    async def _write(self, through: str) -> None:
        changed, self._changed = self._changed, set()
        unheard = [self._known[one] for one in changed if one in self._known]
        heard = changed - self._known.keys()
        kept_since_ms = self._clock.now_ms() - KEPT_MS
        try:
            await self._db.write(unheard_replies.settle, through, unheard, heard, kept_since_ms)
        except BaseException:
            self._changed |= changed
            raise
