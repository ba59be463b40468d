"""A look at the mail that came in: each is read once, and what changes meanwhile is seen."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from controlplane.mail.arrivals import PAGE, Arrivals, WantedMail
from storage.agents import code_claims
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import arrivals, messages, threads
from storage.searching.needle import IN_EVERYTHING, Needle
from storage.searching.search_scope import Scope
from tests.support.worlds.memory_store import message_row, with_inboxes
from tests.support.worlds.store import ManualClock

SCOPE = Scope("org_1", "inb_1", direction="inbound")


class Mailbox:
    """inb_1, in memory. `looked`: steps of SQLite's machine so far."""

    def __init__(self, count: int) -> None:
        self.conn: sqlite3.Connection = with_inboxes()
        self.tx = Tx(self.conn)
        self.clock = ManualClock()
        self.ids = Ids(self.clock)
        self.began_ms = self.clock.now_ms()
        self.looked = 0
        told: dict[str, Any] = {"organization_id": "org_1", "inbox_id": "inb_1", "subject": "", "snippet": ""}
        threads.begin(
            self.tx, "thd_1", self.began_ms, base_subject="", participants=[], is_unread=False, **told
        )
        self.message_ids = [self.receive() for _ in range(count)]

    def receive(self, text: str = "words") -> str:
        self.clock.forward(0.001)
        now_ms, message_id = self.clock.now_ms(), self.ids.new("msg")
        row = message_row(id=message_id, created_at=now_ms, text_body=text)
        messages.insert(self.tx, row)
        arrivals.announce(self.tx, row, [], False, self.ids.new, now_ms)
        return message_id

    def claim(self, message_id: str) -> None:
        claim_id = self.ids.new("cod")
        assert code_claims.claim(self.tx, claim_id, "org_1", "key_1", message_id, "code", 1)

    def arrivals(self, needle: Needle = IN_EVERYTHING, is_unclaimed: bool = False) -> Arrivals:
        wanted = WantedMail(SCOPE, needle, is_unclaimed=is_unclaimed)
        return Arrivals(wanted, self.began_ms, self.clock.now_ms())

    def look(self, at: Arrivals) -> list[str]:
        """All that fit, each passed over like a mail without a code."""
        found: list[str] = []
        with self._counted():
            while True:
                message_id, is_end = at.step(self.tx, self.clock.now_ms())
                if message_id is not None:
                    found.append(message_id)
                elif is_end:
                    return found

    @contextmanager
    def _counted(self) -> Iterator[None]:
        self.looked = 0

        def step() -> int:
            self.looked += 1
            return 0

        self.conn.set_progress_handler(step, 1)
        yield
        self.conn.set_progress_handler(None, 0)


def test_what_is_passed_over_one_by_one_is_read_once() -> None:
    """Each mail that had no code made the look read a page of those behind it again."""
    box = Mailbox(4 * PAGE)
    assert box.look(box.arrivals(Needle.of("absent", None) or IN_EVERYTHING)) == []
    once = box.looked
    assert box.look(box.arrivals()) == box.message_ids
    assert box.looked <= 2 * once, (once, box.looked)


def test_a_look_reads_only_what_came_since_the_last_one() -> None:
    used = []
    for pages in (1, 4):
        box = Mailbox(pages * PAGE)
        at = box.arrivals(Needle.of("needle", None) or IN_EVERYTHING)
        assert box.look(at) == []
        wanted = box.receive("a needle")
        assert box.look(at) == [wanted]
        used.append(box.looked)
    assert used[1] <= used[0] * 1.1, used


def test_what_is_claimed_meanwhile_is_passed_over() -> None:
    box = Mailbox(PAGE + 5)
    at = box.arrivals(is_unclaimed=True)
    first, second, third, *others = box.message_ids
    assert at.step(box.tx, 1) == (first, False)
    box.claim(second)
    assert at.step(box.tx, 1) == (third, False) and at.cursor == third
    for one in others[:-1]:
        box.claim(one)
    assert box.look(at) == [others[-1]]


def test_what_comes_while_a_page_is_passed_over_is_found_in_the_same_look() -> None:
    box = Mailbox(3)
    at = box.arrivals()
    assert at.step(box.tx, 1) == (box.message_ids[0], False)
    late = box.receive()
    assert box.look(at) == [*box.message_ids[1:], late]
