"""Signing in costs the same however many sessions and links of others are over, and they go all the same."""

from storage.clock import DAY_MS
from storage.engine.tx import Tx
from storage.tenants import console_sessions, members
from storage.tenants.console_sessions import (
    ENDED_AT_ONCE,
    HOUR_MS,
    LINK_MS,
    LINKS_MAX,
    SESSIONS_MAX,
    SessionRow,
)
from storage.tenants.members import MemberRow
from tests.support.laws.vm_steps import steps_of
from tests.support.worlds import memory_store

NOW_MS = 100 * DAY_MS


def session(number: int, expires_at: int, member_id: str = "mem_1") -> SessionRow:
    return SessionRow(
        f"ses_{number:05}", "org_1", member_id, b"%d" % number, NOW_MS, NOW_MS, expires_at, "192.0.2.1", ""
    )


class Door:
    """A store with so many sessions and links that are over."""

    def __init__(self, over: int) -> None:
        self.conn = memory_store.with_inboxes()
        self.tx = Tx(self.conn)
        marks = ", ".join("?" for _ in SessionRow._fields)
        self.conn.executemany(
            f"INSERT INTO console_sessions VALUES ({marks})",
            [session(number, NOW_MS - number, f"mem_{number}") for number in range(over)],
        )
        self.conn.executemany(
            "INSERT INTO console_links VALUES (?, 'org_1', ?, 1, ?, NULL)",
            [(b"%d" % number, f"mem_{number}", NOW_MS - 2 * DAY_MS - number) for number in range(over)],
        )

    def sign_in(self, number: int) -> None:
        console_sessions.add_link(self.tx, f"secret {number}", "org_1", "mem_new", NOW_MS)
        console_sessions.open_(self.tx, session(number, NOW_MS + DAY_MS, "mem_new"))

    def left(self) -> tuple[int, int]:
        sessions = self.tx.value("SELECT count(*) FROM console_sessions WHERE expires_at <= ?", (NOW_MS,))
        return sessions, self.tx.value("SELECT count(*) FROM console_links WHERE member_id <> 'mem_new'")


def test_those_that_are_over_go_a_few_at_a_time() -> None:
    door = Door(2 * ENDED_AT_ONCE + 1)
    left = []
    for number in range(3):
        door.sign_in(90_000 + number)
        left.append(door.left())
    assert left == [(ENDED_AT_ONCE + 1, ENDED_AT_ONCE + 1), (1, 1), (0, 0)]


def test_signing_in_costs_the_same_however_many_are_over() -> None:
    few, many = Door(2 * ENDED_AT_ONCE), Door(20 * ENDED_AT_ONCE)
    allowed = 1.1 * steps_of(few.conn, lambda: few.sign_in(90_000)) + 10
    assert steps_of(many.conn, lambda: many.sign_in(90_000)) <= allowed


def test_a_member_s_own_sessions_are_found_among_those_of_many() -> None:
    def listed(size: int) -> int:
        door = Door(0)
        for number in range(size):
            console_sessions.open_(door.tx, session(number, NOW_MS + 1, f"mem_{number % (size // 2)}"))

        def read() -> None:
            found = console_sessions.list_sessions(door.tx, "org_1", NOW_MS, 100, "mem_1")
            assert [one.id for one in found] == []  # nobody of that id is a member any more

        return steps_of(door.conn, read)

    assert listed(2000) <= listed(200) + 1


# A clock that was ahead, and was set back ------------------------------------------------------------

AHEAD_MS = NOW_MS + 365 * DAY_MS


def with_a_member() -> Tx:
    tx = Tx(memory_store.with_inboxes())
    members.add(tx, MemberRow("mem_1", "org_1", "ada@people.test", None, "admin", NOW_MS))
    return tx


def test_a_link_that_was_made_ahead_does_not_work_for_a_year() -> None:
    tx = with_a_member()
    link = console_sessions.add_link(tx, "secret", "org_1", "mem_1", AHEAD_MS)
    assert not console_sessions.use_link(tx, link, NOW_MS)
    assert console_sessions.links_within(tx, "mem_1", NOW_MS, HOUR_MS) == 0


def test_a_link_works_after_all_that_were_made_ahead() -> None:
    tx = with_a_member()
    for number in range(LINKS_MAX):
        console_sessions.add_link(tx, f"secret {number}", "org_1", "mem_1", AHEAD_MS)
    link = console_sessions.add_link(tx, "secret", "org_1", "mem_1", NOW_MS)
    assert console_sessions.use_link(tx, link, NOW_MS)
    assert tx.value("SELECT count(*) FROM console_links") == 1


def test_a_session_that_was_used_ahead_is_over_and_makes_room() -> None:
    tx = with_a_member()
    for number in range(SESSIONS_MAX):
        row = session(1000 + number, AHEAD_MS + DAY_MS)
        console_sessions.open_(tx, row._replace(created_at=AHEAD_MS, last_used_at=AHEAD_MS))
    assert console_sessions.by_hash(tx, b"1000", AHEAD_MS) is not None
    assert console_sessions.by_hash(tx, b"1000", NOW_MS) is None
    console_sessions.open_(tx, session(1, NOW_MS + DAY_MS))
    assert [one.id for one in console_sessions.list_sessions(tx, "org_1", NOW_MS, 100)] == ["ses_00001"]
    assert console_sessions.by_hash(tx, b"1000", AHEAD_MS) is None


def test_a_clock_that_is_set_back_a_little_ends_nothing() -> None:
    tx = with_a_member()
    link = console_sessions.add_link(tx, "secret", "org_1", "mem_1", NOW_MS)
    assert console_sessions.use_link(tx, link, NOW_MS - LINK_MS + 1)
    console_sessions.open_(tx, session(1, NOW_MS + DAY_MS))
    assert console_sessions.by_hash(tx, b"1", NOW_MS - HOUR_MS) is not None
