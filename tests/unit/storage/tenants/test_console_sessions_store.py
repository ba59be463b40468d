"""Signing in costs the same however many sessions and links of others are over, and they go all the same."""

from storage.clock import DAY_MS
from storage.engine.tx import Tx
from storage.tenants import console_sessions
from storage.tenants.console_sessions import ENDED_AT_ONCE, SessionRow
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
