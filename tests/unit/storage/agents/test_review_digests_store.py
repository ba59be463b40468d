"""Whose people are to be told of what is held is asked after each commit that holds something, on the event loop: it
costs the same however much waits to be told."""

import sqlite3

from storage.agents import review_digests
from storage.agents.review_digests import LastDigest
from storage.engine.tx import Tx
from tests.support.laws.vm_steps import steps_of
from tests.support.worlds import memory_store

FEW, MANY = 100, 1000
ADDRESSES = ["ada@people.test", "ben@people.test"]


def holding(size: int) -> tuple[Tx, sqlite3.Connection]:
    """Two organizations that hold so much of which somebody is to be told, and have told as many people before."""
    conn = memory_store.empty()
    conn.executemany(
        """INSERT INTO reviews (id, organization_id, inbox_id, message_id, direction, mode, status, reasons, warnings,
             is_told, expires_at, created_at)
           VALUES (?, ?, 'inb_1', ?, 'outbound', 'live', 'pending', '[]', '[]', ?, 1, 1)""",
        [(f"rev_{n}", f"org_{n % 3}", f"msg_{n}", int(n % 3 == 2)) for n in range(size)],
    )
    people = [*(f"p{n}@people.test" for n in range(size)), *ADDRESSES]
    conn.executemany(
        "INSERT INTO review_digests (organization_id, address, sent_at, review_id) VALUES ('org_0', ?, 5, 'rev_1')",
        [(one,) for one in people],
    )
    return Tx(conn), conn


def test_who_has_news_costs_the_same_however_much_it_is() -> None:
    (few, few_conn), (many, many_conn) = holding(FEW), holding(MANY)
    for one in (few, many):
        assert review_digests.organizations_with_news(one) == ["org_0", "org_1"]
    assert review_digests.organizations_with_news(Tx(memory_store.empty())) == []
    few_steps = steps_of(few_conn, lambda: review_digests.organizations_with_news(few))
    assert steps_of(many_conn, lambda: review_digests.organizations_with_news(many)) <= few_steps + 1


def test_what_some_were_told_last_costs_the_same_however_many_were_told() -> None:
    (few, few_conn), (many, many_conn) = holding(FEW), holding(MANY)
    asked = [*ADDRESSES, "nobody@people.test"]
    for one in (few, many):
        assert review_digests.last_of(one, "org_0", asked, 6) == dict.fromkeys(
            ADDRESSES, LastDigest(5, "rev_1")
        )
        assert review_digests.last_of(one, "org_0", asked, 5) == {}
    few_steps = steps_of(few_conn, lambda: review_digests.last_of(few, "org_0", asked, 6))
    assert steps_of(many_conn, lambda: review_digests.last_of(many, "org_0", asked, 6)) <= few_steps + 1
