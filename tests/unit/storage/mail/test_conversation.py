"""What is asked of a conversation costs the same however long senders make it."""

import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count

import pytest

from controlplane.sending.admitting.participants import ADDRESSES_LOOK, may_answer
from storage.engine.tx import Tx
from storage.mail import conversation, messages
from storage.mail.conversation import LOOK, NEAR, NEWER_MAX
from storage.records import dump
from tests.support.worlds import memory_store
from tests.support.worlds.memory_store import message_row

VERIFIED = '{"verifiedDomain":"x.test"}'
AGES = {"long": LOOK + 500, "longer": 2 * LOOK}


def name(number: int, thread: str) -> str:
    return f"msg_{number:010}{list(AGES).index(thread):016}"


@pytest.fixture(scope="module")
def conn() -> Iterator[sqlite3.Connection]:
    """Two conversations, all of it from one proven domain; each message names a hundred others in Reply-To."""
    conn = memory_store.empty()
    conn.execute("BEGIN")
    for thread, age in AGES.items():
        for number in range(age):
            message_id = name(number, thread)
            replies = (
                dump([f"p{number}_{other}@x.test" for other in range(100)]) if number > age - 600 else None
            )
            messages.insert(
                Tx(conn),
                message_row(id=message_id, thread_id=thread, from_address="ada@x.test", auth=VERIFIED,
                    reply_to="ada@x.test", reply_to_addresses=replies),
            )  # fmt: skip
    yield conn
    conn.close()


def steps(conn: sqlite3.Connection, read: Callable[[Tx], object]) -> int:
    """Of the virtual machine, in tens."""
    steps = count()
    conn.set_progress_handler(lambda: next(steps) < 0, 10)
    try:
        read(Tx(conn))
    finally:
        conn.set_progress_handler(None, 0)
    return next(steps)


@pytest.mark.parametrize(
    "read",
    [
        lambda tx, thread, age: conversation.newer(tx, "org_1", thread, name(age - 2, thread), "live"),
        lambda tx, thread, age: conversation.newer(tx, "org_1", thread, name(5, thread), "live"),
        lambda tx, thread, age: conversation.newer(tx, "org_1", thread, name(5, thread)[:-1] + "z", "live"),
        lambda tx, thread, age: conversation.newest_inbound(tx, "org_1", thread, "live"),
        lambda tx, thread, age: conversation.newest(tx, "org_1", thread, "live"),
        lambda tx, thread, age: may_answer(tx, "org_1", thread, "live"),
    ],
    ids=["one newer", "many newer", "newer than what is gone", "newest inbound", "newest", "who takes part"],
)
def test_a_longer_one_costs_no_more(conn: sqlite3.Connection, read: Callable[..., object]) -> None:
    long, longer = (steps(conn, partial(read, thread=thread, age=age)) for thread, age in AGES.items())
    assert 0 < longer <= 1.1 * long + 10


@pytest.mark.parametrize(
    "read",
    [
        lambda tx: conversation.newest_inbound(tx, "org_1", "long", "live"),
        lambda tx: conversation.newest(tx, "org_1", "long", "live"),
    ],
    ids=["inbound", "that counts"],
)
def test_the_newest_is_found_among_few(conn: sqlite3.Connection, read: Callable[[Tx], object]) -> None:
    """Places are in the index; each message that is looked at lies on a page of its own."""
    places = steps(
        conn, lambda tx: conversation.newer(tx, "org_1", "long", name(AGES["long"] - 1, "long"), "live")
    )
    assert steps(conn, read) <= 1.5 * places


@pytest.mark.parametrize("others", [0, 1, NEAR - 1, NEAR, 3 * NEAR])
def test_the_newest_is_found_behind_what_does_not_count(others: int) -> None:
    """Also where what came later has the older ids, for the clock was set back."""
    conn = memory_store.empty()
    tx = Tx(conn)
    said = partial(message_row, thread_id="thd_1", direction="inbound")
    messages.insert(tx, said(id="msg_8"))
    messages.insert(tx, said(id="msg_1"))
    for number in range(others):
        messages.insert(tx, said(id=f"msg_5{number:03}", is_auto_reply=1))
    assert conversation.newest(tx, "org_1", "thd_1", "live") == "msg_1"
    found = conversation.newest_inbound(tx, "org_1", "thd_1", "live")
    assert found is not None and found.id == "msg_1"
    conn.close()


def test_what_is_told_of_it_is_bounded(conn: sqlite3.Connection) -> None:
    tx = Tx(conn)
    newer = conversation.newer(tx, "org_1", "long", name(5, "long"), "live")
    assert len(newer) == NEWER_MAX and newer[0].id == name(AGES["long"] - 1, "long")
    assert 1000 < len(may_answer(tx, "org_1", "long", "live")) <= ADDRESSES_LOOK


def test_another_organization_sees_nothing_of_it(conn: sqlite3.Connection) -> None:
    tx = Tx(conn)
    assert conversation.newer(tx, "org_2", "long", name(5, "long"), "live") == []
    assert not conversation.has(tx, "org_2", "long", name(5, "long"))
    assert conversation.newest_inbound(tx, "org_2", "long", "live") is None
    assert may_answer(tx, "org_2", "long", "live") == frozenset()
