"""How much SQLite has to do for a page does not grow with what is not on it.

The steps of its virtual machine are counted: no clock is looked at.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from controlplane.mail import searching, thread_finding
from storage.engine.tx import Tx
from storage.ids import Ids, first_at
from storage.mail import drafts, messages
from storage.publishing import events
from storage.records import ThreadRow
from storage.searching import labels, search, search_tail
from storage.searching.index_proposals import Proposals, Span
from storage.searching.index_schema import DOCUMENTS_BITS
from storage.searching.labels import Owner, WantedThreads
from storage.searching.needle import IN_EVERYTHING, Needle
from storage.searching.search_index import SearchIndex
from storage.searching.search_scope import Scope
from storage.sending import suppressions
from storage.sending.suppressions import SuppressionRow
from storage.shown import message_json, thread_json
from storage.shown.kept_json import KeptJson
from storage.tenants import analytics
from storage.tenants.analytics import AnalyticsSpan
from tests.support.worlds import memory_store
from tests.support.worlds.memory_store import insert_thread, message_row
from tests.support.worlds.store import EPOCH_MS, ManualClock

FEW, MANY = 300, 3000
MINUTE_S = 60
LIMIT = 10
SELDOM = 4  # the oldest messages are unread, have a label besides, and are what few are


class Filled:
    """An organization with so many messages and threads, a minute between any two."""

    def __init__(self, size: int, folder: Path, held: int = 0) -> None:
        self.conn = memory_store.with_inboxes()
        self.tx = Tx(self.conn)
        clock = ManualClock()
        ids = Ids(clock)
        self.conn.execute("BEGIN")
        for number in range(size):
            made: dict[str, Any] = {
                "id": ids.new("msg"),
                "created_at": clock.now_ms(),
                "text_body": "hello there",
                "labels": '["unread","often","seldom"]' if number < SELDOM else '["often"]',
                "thread_id": ids.new("thd"),
                "is_spam": int(number < SELDOM),
                "is_auto_reply": int(number < SELDOM),
                "status": "failed" if number < SELDOM else "received",
            }
            messages.insert(self.tx, message_row(**made, subject=f"number {number}"))
            thread = ThreadRow(
                made["thread_id"], "org_1", "inb_1", "", "", "[]", 1, int(number < SELDOM), clock.now_ms(), 0,
                clock.now_ms(),
            )  # fmt: skip
            insert_thread(self.tx, thread)
            self.note_contact(number, ids.new("sup"), ids.new("drf"), clock.now_ms())
            self.conn.execute(
                """INSERT INTO events (id, organization_id, type, mode, data, created_at)
                   VALUES (?, ?, 'email.received', 'live', '{}', ?)""",
                (ids.new("evt"), f"org_{number}", clock.now_ms()),
            )
            clock.forward(MINUTE_S)
        for _ in range(held):  # the newest of all
            made = {"id": ids.new("msg"), "created_at": clock.now_ms(), "held_at": 1, "thread_id": ""}
            messages.insert(self.tx, message_row(**made))
        self.index = SearchIndex(folder / f"{size}.sqlite3")
        self.index.make()
        some = search_tail.waiting(self.tx, size + held)
        search_tail.tell(self.index, some, search_tail.said(self.tx, some))
        while self.index.merge():
            pass
        self.index.complete()
        self.end_ms = clock.now_ms()
        self.middle_ms = (EPOCH_MS + self.end_ms) // 2
        self.size = size

    def note_contact(self, number: int, suppression_id: str, draft_id: str, now_ms: int) -> None:
        """An address that is suppressed and a draft that was sent: of another reason and inbox, and open, the first."""
        is_early = number < SELDOM
        suppressions.add(
            self.tx, suppression_id, now_ms, organization_id="org_1", email=f"{number}@peer.test",
            reason="complaint" if is_early else "hard_bounce", source="feedback_loop" if is_early else "bounce",
        )  # fmt: skip
        self.conn.execute(
            """INSERT INTO drafts (id, organization_id, inbox_id, to_addresses, cc_addresses, bcc_addresses, subject,
                 status, created_at, updated_at) VALUES (?, 'org_1', ?, '[]', '[]', '[]', '', ?, ?, ?)""",
            (
                draft_id,
                "inb_3" if is_early else f"inb_{1 + number % 2}",
                "draft" if number % 2 == 0 and number < 2 * SELDOM else "sent",
                now_ms,
                now_ms,
            ),
        )

    def steps(self, read: "Callable[[Filled], Any]") -> int:
        """Of the virtual machine, in tens."""
        steps = count()
        read(self)  # so that the index has a connection at hand
        connections = [self.conn, *self.index._readers._idle]
        for conn in connections:
            conn.set_progress_handler(lambda: next(steps) < 0, 10)
        try:
            read(self)
        finally:
            for conn in connections:
                conn.set_progress_handler(None, 0)
        return next(steps)

    @property
    def indexed(self) -> Any:
        return partial(search.indexed, self.index)

    def window(self, place: Any, needle: Needle, since_ms: int | None, until_ms: int | None) -> list[str]:
        """A page of what was created in the window, looked for as the API does, but that it may not go on for ever."""
        scope, before = search.bounded(self.tx, Scope("org_1", since_ms=since_ms, until_ms=until_ms), None)
        found: list[str] = []
        at = None
        while len(found) < LIMIT:
            batch = place(self.tx, scope, needle, before, at, LIMIT)
            found += batch.message_ids
            at = batch.next
            if at is None:
                break
        return found[:LIMIT]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Filled, Filled]]:
    folder = tmp_path_factory.mktemp("index")
    few, many = Filled(FEW, folder), Filled(MANY, folder)
    yield few, many
    for one in (few, many):
        one.conn.close()
        one.index.close()


HELLO = Needle("hello", None)


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        (lambda one: one.window(search.scan, IN_EVERYTHING, one.end_ms + 1, None), 0),
        (lambda one: one.window(search.scan, IN_EVERYTHING, one.end_ms - 3 * MINUTE_S * 1000, None), 3),
        (lambda one: one.window(search.scan, IN_EVERYTHING, None, EPOCH_MS + 1), 1),
        (lambda one: one.window(search.scan, IN_EVERYTHING, None, one.middle_ms), LIMIT),
        (lambda one: one.window(search.scan, IN_EVERYTHING, one.middle_ms, one.middle_ms + 60_000), 1),
        (lambda one: one.window(one.indexed, HELLO, one.end_ms + 1, None), 0),
        (lambda one: one.window(one.indexed, HELLO, None, EPOCH_MS + 1), 1),
        (lambda one: one.window(one.indexed, HELLO, one.middle_ms, one.middle_ms + 60_000), 1),
    ],
    ids=["future", "newest", "oldest", "middle", "minute", "word, future", "word, oldest", "word, minute"],
)  # fmt: skip
def test_a_window_costs_the_same_in_a_store_ten_times_as_large(
    filled: tuple[Filled, Filled], read: Callable[[Filled], list[str]], expected: int
) -> None:
    few, many = filled
    assert len(read(few)) == len(read(many)) == expected
    assert many.steps(read) <= 1.3 * few.steps(read) + 10


@pytest.mark.parametrize("inbox_id", [None, "inb_1"])
@pytest.mark.parametrize("is_archived", [None, False, True])
def test_a_page_of_threads_does(
    filled: tuple[Filled, Filled], inbox_id: str | None, is_archived: bool | None
) -> None:
    def read(one: Filled) -> bytes:
        page = thread_json.list_threads(
            one.tx, "org_1", limit=LIMIT, inbox_id=inbox_id, is_archived=is_archived
        )
        assert page.rest is None
        return page.json

    few, many = filled
    assert read(few).count(b'"id"') == read(many).count(b'"id"') == (0 if is_archived else LIMIT)
    assert many.steps(read) <= 1.3 * few.steps(read) + 10


def test_a_page_of_messages_does(filled: tuple[Filled, Filled]) -> None:
    few, many = filled
    before = first_at("msg", few.middle_ms)
    for inbox_id in (None, "inb_1"):

        def read(one: Filled, scope: Scope = Scope("org_1", inbox_id)) -> Any:
            return message_json.list_messages(one.tx, scope, before, LIMIT)

        assert many.steps(read) <= 1.3 * few.steps(read) + 10


@pytest.mark.parametrize("inbox_id", [None, "inb_1"])
@pytest.mark.parametrize(
    ("labels", "is_unread", "expected"),
    [
        (("often",), None, LIMIT),
        (("seldom",), None, SELDOM),
        (("often", "seldom"), None, SELDOM),
        ((), True, SELDOM),
        (("often",), True, SELDOM),
        (("none",), None, 0),
    ],
)
def test_a_page_of_a_label_does(
    filled: tuple[Filled, Filled],
    inbox_id: str | None,
    labels: tuple[str, ...],
    is_unread: bool | None,
    expected: int,
) -> None:
    scope = Scope("org_1", inbox_id, labels=labels, is_unread=is_unread)

    def messages_of(one: Filled) -> bytes:
        return found(one, scope)

    def threads_of(one: Filled) -> Any:
        wanted = WantedThreads(Owner("org_1", inbox_id), labels, is_unread)
        finding = thread_finding._Finding(KeptJson(), wanted, thread_json.FIRST, LIMIT)
        while (found := finding.go_on(one.tx)) is None:
            pass
        return found.json

    few, many = filled
    for read in (messages_of, threads_of):
        assert read(few).count(b'"createdAt"') == read(many).count(b'"createdAt"') == expected
        assert many.steps(read) <= 1.3 * few.steps(read) + counted(labels, is_unread)


def test_a_page_of_what_is_rare_among_very_many_threads_does(
    filled: tuple[Filled, Filled], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where thousands of messages have a label, and all of them behind hundreds of thousands of newer threads."""
    passed = 100
    monkeypatch.setattr(thread_finding, "COUNTED_MAX", 0)
    monkeypatch.setattr(thread_finding, "PASSED_MAX", passed)
    monkeypatch.setattr(thread_finding, "THREADS_MAX", LIMIT)

    def threads_of(one: Filled) -> Any:
        wanted = WantedThreads(Owner("org_1", "inb_1"), ("seldom",))
        finding = thread_finding._Finding(KeptJson(), wanted, thread_json.FIRST, LIMIT)
        while (found := finding.go_on(one.tx)) is None:
            pass
        return found.json

    few, many = filled
    assert threads_of(few).count(b'"createdAt"') == threads_of(many).count(b'"createdAt"') == SELDOM
    assert many.steps(threads_of) <= 1.3 * few.steps(threads_of) + passed


def test_a_read_that_gathers_the_threads_of_a_label_does(
    filled: tuple[Filled, Filled], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thousands of messages in one read had a reader for 0.1 s."""
    monkeypatch.setattr(thread_finding, "COUNTED_MAX", MANY + 1)
    monkeypatch.setattr(thread_finding, "READ_S", 0)
    monkeypatch.setattr(labels, "LOOKED_AT", LIMIT)

    def longest(one: Filled) -> int:
        finding = thread_finding._Finding(
            KeptJson(), WantedThreads(Owner("org_1", "inb_1"), ("often",)), thread_json.FIRST, LIMIT
        )
        reads = []
        while finding._few is None:
            reads.append(one.steps(lambda one: finding.go_on(one.tx)))
        assert len(reads) >= one.size / LIMIT / 2  # each is run twice
        return max(reads[1:])  # behind the count

    few, many = filled
    assert longest(many) <= 1.3 * longest(few) + 10


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"reason": "complaint"}, SELDOM),
        ({"reason": "manual"}, 0),
        ({"reason": "hard_bounce", "email": "7@peer.test"}, 1),
        ({"reason": "complaint", "email": "7@peer.test"}, 0),
    ],
)
def test_a_page_of_suppressions_does(
    filled: tuple[Filled, Filled], wanted: dict[str, str], expected: int
) -> None:
    def read(one: Filled) -> list[SuppressionRow]:
        return suppressions.list_suppressions(one.tx, "org_1", limit=LIMIT, **wanted)

    few, many = filled
    assert len(read(few)) == len(read(many)) == expected
    assert many.steps(read) <= 1.3 * few.steps(read) + 10


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"inbox_id": "inb_3"}, SELDOM),
        ({"inbox_id": "inb_3", "status": "sent"}, SELDOM // 2),
        ({"inbox_id": "inb_3", "status": "draft"}, SELDOM // 2),
        ({"inbox_id": "inb_1", "status": "draft"}, SELDOM // 2),
        ({"inbox_id": "inb_1", "status": "discarded"}, 0),
        ({"inbox_id": "inb_4", "status": "sent"}, 0),
        ({"status": "draft"}, SELDOM),
    ],
)
def test_a_page_of_drafts_does(filled: tuple[Filled, Filled], wanted: dict[str, str], expected: int) -> None:
    def read(one: Filled) -> list[str]:
        return drafts.list_draft_ids(one.tx, "org_1", limit=LIMIT, **wanted)

    few, many = filled
    assert len(read(few)) == len(read(many)) == expected
    assert many.steps(read) <= 1.3 * few.steps(read) + 10


FEW_ARE = [
    ({"is_spam": True}, SELDOM),
    ({"is_auto_reply": True}, SELDOM),
    ({"status": "failed"}, SELDOM),
    ({"status": "queued"}, 0),
    ({"status": "failed", "is_spam": True, "labels": ("often",)}, SELDOM),
]


@pytest.mark.parametrize("inbox_id", [None, "inb_1"])
@pytest.mark.parametrize(("few_are", "expected"), FEW_ARE)
def test_a_page_of_what_few_are_does(
    filled: tuple[Filled, Filled], inbox_id: str | None, few_are: dict[str, Any], expected: int
) -> None:
    def read(one: Filled) -> bytes:
        return found(one, Scope("org_1", inbox_id, **few_are))

    few, many = filled
    assert read(few).count(b'"createdAt"') == read(many).count(b'"createdAt"') == expected
    assert many.steps(read) <= 1.3 * few.steps(read) + 10


@pytest.mark.parametrize("inbox_id", [None, "inb_1"])
@pytest.mark.parametrize(
    ("few_are", "expected"),
    [*FEW_ARE, ({"labels": ("seldom", "often")}, SELDOM), ({"labels": ("absent",)}, 0)],
)
def test_a_page_of_few_that_hold_a_common_word_does(
    filled: tuple[Filled, Filled], inbox_id: str | None, few_are: dict[str, Any], expected: int
) -> None:
    """The index proposes nearly all messages."""

    def read(one: Filled) -> bytes:
        return found(one, Scope("org_1", inbox_id, **few_are), HELLO)

    few, many = filled
    assert read(few).count(b'"createdAt"') == read(many).count(b'"createdAt"') == expected
    assert many.steps(read) <= 1.3 * few.steps(read) + counted(few_are.get("labels", ()), None)


def found(one: Filled, scope: Scope, needle: Needle = IN_EVERYTHING) -> bytes:
    """A page of the scope's messages as JSON, looked for as the API does."""
    searching_of = searching._Search(one.index, KeptJson(), scope, needle, None, LIMIT)
    while (page := searching_of.go_on(one.tx)) is None:
        pass
    return page.json


def counted(labels: tuple[str, ...], is_unread: bool | None) -> int:
    """How rare each of several labels is, is counted up to a bound, of which the small store has less."""
    return 700 if "often" in labels else 10


def test_whose_events_are_new_does(filled: tuple[Filled, Filled]) -> None:
    few, many = filled

    def read(one: Filled) -> tuple[int, set[tuple[str, str | None]]]:
        return events.published_since(one.tx, one.size - 2)

    for one in filled:
        newest, organizations = read(one)
        assert newest == one.size
        assert organizations == {(f"org_{one.size - 2}", None), (f"org_{one.size - 1}", None)}
    assert many.steps(read) <= 1.3 * few.steps(read) + 10


def test_the_index_is_asked_for_what_is_rare(filled: tuple[Filled, Filled]) -> None:
    """A common trigram makes FTS5 look at a long list for each message that the rare ones propose."""
    _, many = filled
    needle = search.sharpened(many.index, Scope("org_1"), Needle("number 2717", None))
    assert needle.trigrams() == ["271", "717"]
    (found,) = search.indexed(many.index, many.tx, Scope("org_1"), needle, None, None, LIMIT).message_ids
    assert many.tx.value("SELECT subject FROM messages WHERE id = ?", (found,)) == "number 2717"
    alike = Needle("hello there", None)
    assert search.sharpened(many.index, Scope("org_1"), alike).trigrams() == alike.trigrams()
    absent = search.sharpened(many.index, Scope("org_1"), Needle("number zzz", None))
    assert search.indexed(many.index, many.tx, Scope("org_1"), absent, None, None, LIMIT) == search.Batch(
        [], None
    )


def test_how_common_a_trigram_is_is_asked_once_until_there_is_much_more_mail(
    filled: tuple[Filled, Filled], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Telling it of a common one costs more than all else of a search for rare words."""
    asked: list[str] = []

    def share(_: Any, trigram: str, span: Span) -> float:
        asked.append(trigram)
        return 0.5

    monkeypatch.setattr(Proposals, "_share", share)
    span = Span(10 << DOCUMENTS_BITS, (10 << DOCUMENTS_BITS) + 801, True)
    with filled[0].index.reading() as proposals:
        for more in (0, 0, 100):
            assert proposals.share("abc", span._replace(end=span.end + more)) == 0.5
        assert asked == ["abc"]
        proposals.share("abc", span._replace(end=span.end + 101))
        proposals.share("abd", span)
        proposals.share("abc", Span(11 << DOCUMENTS_BITS, (11 << DOCUMENTS_BITS) + 801, True))
    assert asked == ["abc", "abc", "abd", "abc"]


@pytest.mark.parametrize("inbox_id", [None, "inb_1"])
def test_a_flood_of_what_is_held_costs_those_nothing_who_may_not_see_it(
    filled: tuple[Filled, Filled], tmp_path: Path, inbox_id: str | None
) -> None:
    few, flooded = filled[0], Filled(FEW, tmp_path, held=MANY)
    span = AnalyticsSpan("org_1", inbox_id, 0, 2**45)
    scope, owner = Scope("org_1", inbox_id), Owner("org_1", inbox_id)

    def received(one: Filled) -> int:
        found = analytics.next_slice(one.tx, span, "")
        return found.received if found else 0

    reads: dict[str, Callable[[Filled], int]] = {
        "list": lambda one: message_json.list_messages(one.tx, scope, None, LIMIT).json.count(b'"heldAt"'),
        "scan": lambda one: len(search.scan(one.tx, scope, HELLO, None, None, LIMIT).message_ids),
        "unread": lambda one: labels.count(one.tx, owner, labels.UNREAD),
        "threads": lambda one: thread_json.list_threads(
            one.tx, "org_1", limit=LIMIT, inbox_id=inbox_id
        ).json.count(b'"id"'),
        "figures": received,
    }
    for name, read in reads.items():
        assert read(few) == read(flooded) > 0, name
        assert flooded.steps(read) <= 1.3 * few.steps(read) + 10, name
    flooded.conn.close()
    flooded.index.close()
