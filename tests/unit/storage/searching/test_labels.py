"""Labels: what is kept beside a message's own column agrees with it, and finds what a naive reader finds."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from controlplane.mail import labelling, searching, thread_finding
from storage.engine import migrate
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import messages, threads
from storage.publishing.change_events import ChangeEvents
from storage.records import dump, load
from storage.searching import labels, search
from storage.searching.labels import UNREAD, Owner, ThreadPlace, WantedThreads
from storage.searching.needle import IN_EVERYTHING, Needle
from storage.searching.search_index import SearchIndex
from storage.searching.search_scope import Scope
from storage.shown import message_json, thread_json
from storage.shown.kept_json import KeptJson
from storage.upkeep import integrity
from tests.support.worlds.memory_store import INBOXES, message_row, with_inboxes
from tests.support.worlds.store import ManualClock

NAMES = ["a", "b", UNREAD, 'x","unread', '["unread"', "é,"]
LABELS = st.lists(st.sampled_from(NAMES), unique=True, max_size=4)
SOME = st.lists(st.integers(0, 1000), min_size=1, max_size=5)
MAYBE = st.none() | st.booleans()


class Labels(RuleBasedStateMachine):
    """Mail comes in, is labelled in batches and deleted; lists are asked for."""

    @initialize()
    def begin(self) -> None:
        self.folder = TemporaryDirectory()
        self.conn = with_inboxes()
        self.tx = Tx(self.conn)
        self.clock = ManualClock()
        self.ids = Ids(self.clock)
        self.index = SearchIndex(Path(self.folder.name) / "index.sqlite3")
        self.kept = KeptJson()
        self.told = ChangeEvents(self.ids.new, self.clock.now_ms())
        self.messages: list[str] = []

    def teardown(self) -> None:
        self.index.close()
        self.conn.close()
        self.folder.cleanup()

    @rule(inbox=st.sampled_from(INBOXES), joins=st.booleans(), given=LABELS, is_spam=st.booleans())
    def receive(self, inbox: str, joins: bool, given: list[str], is_spam: bool) -> None:
        self.clock.forward(1)
        now_ms = self.clock.now_ms()
        known = self.conn.execute("SELECT min(id) FROM threads WHERE inbox_id = ?", (inbox,)).fetchone()[0]
        told: dict[str, Any] = {"snippet": "", "participants": [], "is_unread": UNREAD in given}
        thread_id = known if joins and known else self.ids.new("thd")
        if thread_id == known:
            threads.join(self.tx, thread_id, now_ms, **told)
        else:
            named: dict[str, Any] = {
                "organization_id": "org_1",
                "inbox_id": inbox,
                "subject": "",
                "base_subject": "",
            }
            threads.begin(self.tx, thread_id, now_ms, **named, **told)
        message = message_row(
            id=self.ids.new("msg"), inbox_id=inbox, thread_id=thread_id, labels=dump(given), created_at=now_ms,
            is_spam=int(is_spam), subject=f"number {len(self.messages)}",
        )  # fmt: skip
        messages.insert(self.tx, message)
        if UNREAD in given:
            self.tx.run("UPDATE inboxes SET unread_count = unread_count + 1 WHERE id = ?", (inbox,))
        self.messages.append(message.id)

    def chosen(self, some: list[int]) -> list[str]:
        return [self.messages[one % len(self.messages)] for one in some]

    @precondition(lambda self: self.messages)
    @rule(some=SOME, added=LABELS, removed=LABELS)
    def label(self, some: list[int], added: list[str], removed: list[str]) -> None:
        for message_id in self.chosen(some):
            message = messages.get(self.tx, "org_1", message_id)
            assert message is not None
            before = load(message.labels)
            kept = [one for one in before if one not in removed]
            expected = [*kept, *(one for one in added if one not in kept)]
            assert labelling.change(self.tx, self.told, message, added, removed) == (expected != before)
            changed = messages.get(self.tx, "org_1", message_id)
            assert changed is not None and load(changed.labels) == expected

    @precondition(lambda self: self.messages)
    @rule(some=SOME, given=LABELS)
    def replace(self, some: list[int], given: list[str]) -> None:
        for message_id in self.chosen(some):
            message = messages.get(self.tx, "org_1", message_id)
            assert message is not None
            labelling.replace(self.tx, self.told, message, given)

    @precondition(lambda self: self.messages)
    @rule(some=SOME)
    def delete(self, some: list[int]) -> None:
        for message_id in {*self.chosen(some)}:
            message = messages.get(self.tx, "org_1", message_id)
            assert message is not None
            messages.delete(self.tx, message)
            self.messages.remove(message_id)

    @precondition(lambda self: self.messages)
    @rule(
        inbox=st.none() | st.sampled_from(INBOXES), asked=LABELS, unread=MAYBE, is_spam=MAYBE,
        words=st.sampled_from([None, "number", "1"]), limit=st.integers(1, 9), since=st.integers(0, 20), at=MAYBE,
    )  # fmt: skip
    def list_messages(
        self, inbox: str | None, asked: list[str], unread: bool | None, is_spam: bool | None, words: str | None,
        limit: int, since: int, at: bool | None,
    ) -> None:  # fmt: skip
        wanted = labelling.AskedLabels.of(asked, unread)
        if wanted.is_contradiction:
            return
        since_ms = self.clock.now_ms() - 1000 * since if at else None
        before = self.messages[len(self.messages) // 2] if at is False else None
        scope = Scope(
            "org_1",
            inbox,
            since_ms=since_ms,
            labels=wanted.labels,
            is_unread=wanted.is_unread,
            is_spam=is_spam,
        )
        needle = Needle.of(words, None) or IN_EVERYTHING
        search_of = searching._Search(self.index, self.kept, scope, needle, before, limit)
        while (part := search_of.go_on(self.tx)) is None:
            pass
        found = [one["id"] for one in json.loads(b"[" + part.json + b"]")]
        assert (
            found
            == [
                one["id"]
                for one in self.everything()
                if inbox in (None, one["inboxId"])
                and {*asked} <= {*one["labels"]}
                and (unread is None or (UNREAD in one["labels"]) == unread)
                and is_spam in (None, one["isSpam"])
                and (words or "") in one["subject"]
                and (before is None or one["id"] < before)
                and (since_ms is None or one["created_ms"] >= since_ms)
            ][:limit]
        )

    def everything(self) -> list[dict[str, Any]]:
        shown = message_json.list_messages(self.tx, Scope("org_1"), None, 100_000)
        while shown.rest is not None:
            raise AssertionError("a part is enough here")
        created = dict(self.conn.execute("SELECT id, created_at FROM messages").fetchall())
        return [{**one, "created_ms": created[one["id"]]} for one in json.loads(b"[" + shown.json + b"]")]

    @rule(
        inbox=st.none() | st.sampled_from(INBOXES), asked=LABELS, unread=MAYBE, archived=MAYBE,
        limit=st.integers(1, 5), is_common=st.booleans(), passed=st.integers(1, 4),
    )  # fmt: skip
    def list_threads(
        self, inbox: str | None, asked: list[str], unread: bool | None, archived: bool | None, limit: int,
        is_common: bool, passed: int,
    ) -> None:  # fmt: skip
        wanted = labelling.AskedLabels.of(asked, unread)
        if wanted.is_contradiction:
            return
        all_of_them = thread_json.list_threads(
            self.tx, "org_1", limit=100_000, inbox_id=inbox, is_archived=archived
        )
        expected = [
            one["id"]
            for one in json.loads(b"[" + all_of_them.json + b"]")
            if {*asked} <= {*one["labels"]} and (unread is None or (one["unreadCount"] > 0) == unread)
        ]
        owner = Owner("org_1", inbox)
        page, before = [], thread_json.FIRST
        with pytest.MonkeyPatch.context() as patch:
            if is_common:  # so that thread after thread is looked at
                patch.setattr(thread_finding, "COUNTED_MAX", 0)
            patch.setattr(thread_finding, "PASSED_MAX", passed)
            while True:
                finding = thread_finding._Finding(
                    self.kept, WantedThreads(owner, wanted.labels, wanted.is_unread, archived), before, limit
                )
                while (part := finding.go_on(self.tx)) is None:
                    pass
                found = [one["id"] for one in json.loads(b"[" + part.json + b"]")]
                if not found:
                    break
                page += found
                last_at = self.conn.execute("SELECT last_message_at FROM threads WHERE id = ?", (found[-1],))
                before = ThreadPlace(last_at.fetchone()[0], found[-1])
        assert page == expected

    @rule(which=st.integers(0, 20), is_archived=st.booleans())
    def archive(self, which: int, is_archived: bool) -> None:
        known = [one for (one,) in self.conn.execute("SELECT id FROM threads ORDER BY id")]
        if known:
            threads.archive(self.tx, "org_1", known[which % len(known)], is_archived)

    @invariant()
    def counters_equal_a_recount(self) -> None:
        if hasattr(self, "conn"):
            assert [one for counter in integrity._COUNTERS for one in self.tx.all(counter.differing)] == []


TestLabels = Labels.TestCase
TestLabels.settings = settings(
    max_examples=40,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@pytest.fixture
def conn() -> Iterator[sqlite3.Connection]:
    conn = with_inboxes()
    yield conn
    conn.close()


def test_an_arrival_writes_no_row_for_its_label(conn: sqlite3.Connection) -> None:
    messages.insert(Tx(conn), message_row(id="msg_1", labels='["unread"]'))
    assert conn.execute("SELECT count(*) FROM message_labels").fetchall() == [(0,)]


def test_a_check_of_the_store_finds_what_disagrees(conn: sqlite3.Connection) -> None:
    tx = Tx(conn)
    for number in range(2):
        messages.insert(tx, message_row(id=f"msg_{number}", inbox_id="inb_1", labels='["a","unread"]'))
    tx.run("UPDATE inboxes SET unread_count = 2 WHERE id = 'inb_1'")
    assert integrity.counters(tx) == []
    tx.run("DELETE FROM message_labels WHERE message_id = 'msg_0'")
    tx.run("INSERT INTO message_labels VALUES ('inb_1', 'b', 'msg_1', 'org_1')")
    assert [(one.id, one.fault) for one in integrity.counters(tx)] == [
        ("msg_0", "labels of a message in the index of labels: 1 counted, 0 found"),
        ("msg_1", "messages of a label in the index of labels: 1 counted, 0 found"),
    ]


def test_the_rarest_label_is_walked_over(conn: sqlite3.Connection) -> None:
    tx = Tx(conn)
    for number in range(4):
        given = ["often", UNREAD, *(["seldom"] if number == 2 else [])]
        messages.insert(tx, message_row(id=f"msg_{number}", inbox_id="inb_1", labels=dump(given)))
    scope = Scope("org_1", "inb_1", labels=("often", "seldom"), is_unread=True)
    bounded, _ = search.bounded(tx, scope, None)
    assert bounded.walked_label == "seldom"
    batch = search.scan(tx, bounded, IN_EVERYTHING, None, None, 1)
    assert batch.message_ids == ["msg_2"]
    assert labels.rarest(tx, Owner("org_1"), ["often", UNREAD]) == "often"


@pytest.mark.parametrize(("labelled", "is_walked"), [(0, True), (2, True), (search.FEW, False)])
def test_of_a_thread_a_label_is_walked_over_that_few_messages_have(
    conn: sqlite3.Connection, labelled: int, is_walked: bool
) -> None:
    """Fifty thousand messages of one thread were read for a label that none of them has."""
    tx = Tx(conn)
    for number in range(search.FEW + 1):
        given = dump(["seldom"] if number < labelled else [])
        messages.insert(tx, message_row(number, thread_id=f"thd_{min(number, 1)}", labels=given))
    scope = Scope("org_1", thread_id="thd_1", labels=("seldom",))
    bounded, _ = search.bounded(tx, scope, None)
    assert (bounded.walked_label == "seldom") is is_walked
    batch = search.scan(tx, bounded, IN_EVERYTHING, None, None, 2 * search.FEW)
    assert sorted(batch.message_ids) == [f"msg_{number:03}" for number in range(1, labelled)]


def test_an_older_store_knows_which_messages_have_a_label(tmp_path: Path) -> None:
    conn = sqlite3.connect(tmp_path / "older", isolation_level=None)
    done = next(at for at, sql in enumerate(migrate.steps()) if "message_labels" in sql)
    for number, sql in enumerate(migrate.steps()[:done], 1):
        migrate._take(conn, sql, number)
    for number, given in enumerate([[], [UNREAD], ["a", UNREAD, "b"], ['x","unread'], ["a"]]):
        made = message_row(id=f"msg_{number}", inbox_id="inb_1", labels=dump(given))._asdict()
        columns = [name for _, name, *_ in conn.execute("PRAGMA table_info(messages)")]
        marks = ", ".join(f":{name}" for name in columns)
        conn.execute(f"INSERT INTO messages ({', '.join(columns)}) VALUES ({marks})", made)
    migrate._take(conn, migrate.steps()[done], done + 1)
    found = conn.execute("SELECT inbox_id, label, message_id, organization_id FROM message_labels").fetchall()
    assert found == [
        ("inb_1", "a", "msg_2", "org_1"), ("inb_1", "a", "msg_4", "org_1"), ("inb_1", "b", "msg_2", "org_1"),
        ("inb_1", 'x","unread', "msg_3", "org_1"),
    ]  # fmt: skip
    assert labels.count(Tx(conn), Owner("org_1", "inb_1"), UNREAD) == 2
    conn.close()
