"""The messages that scripts/bench/seed makes: a stream that is the same each time it is walked through.

So two processes can walk through it side by side, one that fills the store and one that builds the index of searches,
and need not tell each other anything. Words follow Zipf's law; each message also has a word of its own
(`rare<number>x`). Ids sort by the time that passes in the stream, as they do in a store that grew by itself.
"""

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scripts.bench.mails.words import Words
from storage.clock import Clock
from storage.ids import Ids

MONTH_MS = 30 * 86_400_000
PER_THREAD = 3
ROTATION = 997
SENDER_NAME = "Some Body"
MINE, BIG = 0, 1  # places in `inboxes`; the others come behind them


class Inbox(NamedTuple):
    id: str
    organization_id: str
    address: str


class Mail(NamedTuple):
    """A message and the ids around it. `place`: of its organization; `peer`: the other side's address."""

    number: int
    place: int
    inbox: Inbox
    now_ms: int
    message_id: str
    blob_id: str
    thread_id: str
    begins_thread: bool
    attachment_id: str | None
    is_outbound: bool
    peer: str
    subject: str
    body: str

    @property
    def sender(self) -> str:
        return self.inbox.address if self.is_outbound else self.peer

    @property
    def to(self) -> str:
        return self.peer if self.is_outbound else self.inbox.address


class StreamClock(Clock):
    """A month that passes while the messages are made."""

    def __init__(self, begin_ms: float, count: int) -> None:
        self._at = begin_ms
        self._step = (MONTH_MS - 86_400_000) / max(count, 1)

    def tick(self) -> None:
        self._at += self._step

    def now_ms(self) -> int:
        return int(self._at)


class Stream(NamedTuple):
    """`inboxes`: of each organization. The first gets `mine` of the messages, the second a tenth of the rest."""

    messages: int
    mine: int
    words: int
    seed: int
    begin_ms: float
    inboxes: Sequence[Sequence[Inbox]]

    def walk(self) -> Iterator[Mail]:
        clock = StreamClock(self.begin_ms, self.messages)
        new = Ids(clock, random.Random(self.seed).randbytes).new
        words = Words(random.Random(self.seed), known=("the", "and", "invoice"))
        threads: dict[str, tuple[str, int]] = {}
        for number, place in enumerate(self._places()):
            boxes = self.inboxes[place]
            inbox = boxes[number % len(boxes)]
            thread_id, left = threads.get(inbox.id, ("", 0))
            begins_thread = not left
            if begins_thread:
                thread_id, left = new("thd"), PER_THREAD
            threads[inbox.id] = thread_id, left - 1
            yield Mail(
                number, place, inbox, clock.now_ms(), new("msg"), new("blb"), thread_id, begins_thread,
                attachment_id=new("att") if number % 20 == 0 else None,
                is_outbound=number % 10 == 3,
                peer=f"person{number % 5000}@peer{number % 300}.test",
                subject=words.some(6),
                body=f"{words.some(self.words)} rare{number}x",
            )  # fmt: skip
            clock.tick()

    def _places(self) -> Iterator[int]:
        mine = min(self.mine, self.messages)
        every, others, given = max(1, self.messages // max(mine, 1)), len(self.inboxes) - 2, 0
        for number in range(self.messages):
            if number % every == 0 and given < mine:
                given += 1
                yield MINE
            elif number % 10 == 0 or not others:
                yield BIG
            else:
                yield 2 + number * ROTATION % others
