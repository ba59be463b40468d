"""What is asked of an inbox's correspondence costs the same however much it has, and finds what it should."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import correspondence, messages
from storage.mail.correspondence import INBOUND_LOOK, LOOK, SentWords
from storage.records import dump
from tests.support.worlds import memory_store
from tests.support.worlds.memory_store import message_row
from tests.support.worlds.store import EPOCH_MS, ManualClock

ANY = ("live",)
WORDS = SentWords("Hi", "hello there", "hello there", "")
Ask = Callable[[Tx], Any]


class Inbox:
    """So many messages, a second between any two, one in ten of them ours: the oldest to old@x.test."""

    def __init__(self, size: int) -> None:
        self.conn = memory_store.empty()
        self.tx = Tx(self.conn)
        clock = ManualClock()
        ids = Ids(clock)
        self.conn.execute("BEGIN")
        for number in range(size):
            is_ours = number % 10 == 0
            made: dict[str, Any] = {
                "id": ids.new("msg"),
                "created_at": clock.now_ms(),
                "direction": "outbound" if is_ours else "inbound",
                "to_addresses": dump(
                    ["Old@x.test" if number == 0 else "New@X.test"] if is_ours else ["bot@a.test"]
                ),
                "subject": "Hi",
                "snippet": "hello there",
                "text_body": "hello there",
                "extracted_text": None,
            }
            messages.insert(self.tx, message_row(**made))
            clock.forward(1)

    def steps(self, ask: Ask) -> int:
        steps = count()
        ask(self.tx)
        self.conn.set_progress_handler(lambda: next(steps) < 0, 10)
        ask(self.tx)
        self.conn.set_progress_handler(None, 0)
        return next(steps)


@pytest.fixture(scope="module")
def inboxes() -> tuple[Inbox, Inbox, Inbox]:
    return Inbox(LOOK // 2), Inbox(LOOK + 200), Inbox(2 * LOOK)


@pytest.mark.parametrize(
    "ask",
    [
        lambda tx: correspondence.same_words(tx, "org_1", "inb_1", WORDS, EPOCH_MS, ANY),
        lambda tx: correspondence.came_in(tx, "org_1", "inb_1"),
    ],
)
def test_no_more_is_looked_at_than_the_newest(inboxes: tuple[Inbox, Inbox, Inbox], ask: Ask) -> None:
    _, some, more = inboxes
    assert more.steps(ask) <= some.steps(ask) * 1.05 + 10


def test_what_said_the_same(inboxes: tuple[Inbox, Inbox, Inbox]) -> None:
    tx = inboxes[0].tx
    found = correspondence.same_words(tx, "org_1", "inb_1", WORDS, EPOCH_MS + 500_000, ANY)
    assert len(found) == LOOK // 20 - 50
    assert [one.id for one in found] == sorted((one.id for one in found), reverse=True)
    other = WORDS._replace(text="hello")
    assert correspondence.same_words(tx, "org_1", "inb_1", other, EPOCH_MS, ANY) == []
    assert correspondence.same_words(tx, "org_2", "inb_1", WORDS, EPOCH_MS, ANY) == []


def test_what_came_in(inboxes: tuple[Inbox, Inbox, Inbox]) -> None:
    tx = inboxes[0].tx
    found = correspondence.came_in(tx, "org_1", "inb_1")
    assert len(found) == INBOUND_LOOK
    assert (found[0].text, found[0].is_large, found[0].cc_addresses) == ("hello there", 0, "[]")
    assert correspondence.came_in(tx, "org_2", "inb_1") == []
