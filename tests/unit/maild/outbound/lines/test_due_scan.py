"""Where the queue is looked at while lines of it are full."""

from maild.outbound.lines.due_scan import KNOWN_FOR_MS, LATE_MS, DueScan
from storage.sending.leases import FullLines, Leased, QueuePlace
from tests.support.worlds.due_rows import due

NOW = 1_795_000_000_000
BEGINNING = QueuePlace()
A = FullLines(organizations=frozenset({"org_a"}))
A_AND_B = FullLines(organizations=frozenset({"org_a", "org_b"}))
B = FullLines(organizations=frozenset({"org_b"}))
NOBODY = FullLines()
LIMIT = 2
FIRST, SECOND = QueuePlace(NOW - 50_000, "msg_1"), QueuePlace(NOW - 40_000, "msg_2")
END = QueuePlace(NOW - LATE_MS)


def found(rows: int = 0, to: QueuePlace | None = None, at_ms: int = NOW) -> Leased:
    return Leased([due()] * rows, None, to, at_ms=at_ms)


def look(scan: DueScan, full: FullLines, leased: Leased, now_ms: int = NOW) -> QueuePlace:
    since = scan.since(full, now_ms)
    scan.looked(full, since, leased, LIMIT)
    return since


def test_a_pass_goes_from_the_beginning_to_the_end_and_not_back() -> None:
    scan = DueScan()
    places = [look(scan, A, found(to=to)) for to in (FIRST, SECOND, None, None)]
    assert places == [BEGINNING, FIRST, SECOND, END]


def test_where_nothing_is_full_every_look_is_at_the_beginning() -> None:
    scan = DueScan()
    assert [look(scan, NOBODY, found()) for _ in range(2)] == [BEGINNING, BEGINNING]


def test_a_place_with_more_to_take_is_looked_at_again() -> None:
    scan = DueScan()
    look(scan, A, found(to=FIRST))
    assert [look(scan, A, found(LIMIT)) for _ in range(2)] == [FIRST, FIRST]


def test_who_has_room_again_is_served_from_the_beginning_and_the_pass_goes_on_in_between() -> None:
    scan = DueScan()
    look(scan, A_AND_B, found(to=FIRST))
    places = [look(scan, B, found(1, to)) for to in (SECOND, FIRST, None)]
    assert places == [FIRST, BEGINNING, SECOND]


def test_a_look_at_the_beginning_that_takes_all_it_may_leaves_the_pass_where_it_was() -> None:
    scan = DueScan()
    look(scan, A, found(to=FIRST))
    look(scan, A, found())
    assert look(scan, NOBODY._replace(organizations=frozenset({"org_b"})), found(LIMIT)) == BEGINNING
    assert look(scan, A_AND_B, found()) == END


def test_after_the_end_a_new_pass_begins_when_not_all_that_was_left_is_found_in_front() -> None:
    scan = DueScan()
    look(scan, A_AND_B, found())
    places = [look(scan, B, found(1, to)) for to in (FIRST, SECOND, None)]
    assert places == [BEGINNING, FIRST, SECOND]


def test_a_look_from_the_beginning_that_sees_everything_ends_the_pass() -> None:
    scan = DueScan()
    look(scan, A_AND_B, found(to=FIRST))
    places = [look(scan, B, found(1, to)) for to in (SECOND, None, None)]
    assert places == [FIRST, BEGINNING, END]


def test_while_the_queue_is_paused_nothing_is_passed() -> None:
    scan = DueScan()
    look(scan, A, found()._replace(is_paused=True))
    assert look(scan, A, found()) == BEGINNING


def test_what_was_passed_is_forgotten_after_a_while_and_when_the_clock_is_set_back() -> None:
    for now_ms in (NOW + KNOWN_FOR_MS + 1, NOW - 1):
        scan = DueScan()
        look(scan, A, found())
        assert look(scan, A, found(), now_ms) == BEGINNING
