"""What SQLite renders is what the contract says, whatever the rows hold (`storage/shown`)."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from controlplane.contract import rendering
from controlplane.contract.mail.messages import ListedMessage
from controlplane.contract.mail.threads import Thread
from storage.clock import iso
from storage.engine.tx import Tx
from storage.mail import messages
from storage.records import AttachmentRow, MessageRow, RecipientRow, ThreadRow, columns, dump, load
from storage.searching import search, search_tail
from storage.searching.labels import LABELLED_MAX
from storage.searching.needle import Needle
from storage.searching.search_index import SearchIndex
from storage.searching.search_scope import Scope
from storage.sending import outbound
from storage.shown import message_json, new_message_json, thread_json
from storage.shown.message_json import Part
from tests.support.worlds import memory_store
from tests.support.worlds.memory_store import insert_thread, message_row

YEAR_10000_MS = 253_402_300_800_000
# Everything that the store can hold: UTF-8, so no lone surrogates.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ODD = st.sampled_from(
    ["", "\0", "a\0b", '"\\/', "%s%w", "\x7f\x1f\b\f\r\n\t", "\u2028\ufffe\U0010ffff", "null"]
)
WORDS = TEXT | ODD
# What is shown to be printable before it is stored.
SENDER = st.lists(WORDS.map(lambda text: text.replace("\0", "")) | st.sampled_from("@."), max_size=5).map(
    "".join
)
MAYBE = st.none() | WORDS
MOMENT = st.integers(0, YEAR_10000_MS - 1)
INTEGER = st.integers(-(2**63), 2**63 - 1)
ADDRESSES = st.lists(WORDS, max_size=3).map(dump)
AUTH = st.fixed_dictionaries({name: MAYBE for name in ("spf", "dkim", "dmarc", "arc", "verifiedDomain")})
LIST = st.fixed_dictionaries(
    {"id": MAYBE, "post": MAYBE, "unsubscribe": st.lists(WORDS), "oneClick": st.booleans()}
)
MESSAGE: st.SearchStrategy[MessageRow] = st.builds(
    MessageRow,
    id=st.just("msg_1"), organization_id=st.just("org_1"), inbox_id=WORDS, thread_id=WORDS.filter(bool),
    direction=st.sampled_from(["inbound", "outbound"]), mode=st.sampled_from(["live", "test"]),
    status=st.sampled_from(["received", "scheduled", "queued", "sent", "delivered", "failed", "cancelled"]),
    from_address=SENDER, from_name=MAYBE, to_addresses=ADDRESSES, cc_addresses=ADDRESSES, bcc_addresses=ADDRESSES,
    reply_to=MAYBE, subject=WORDS, snippet=WORDS, text_body=MAYBE, text_slices=st.none(), html_slices=st.none(),
    extracted_text=MAYBE, message_id_header=MAYBE, in_reply_to=MAYBE, reference_ids=ADDRESSES, labels=ADDRESSES,
    is_auto_reply=st.integers(0, 1), is_spam=st.integers(0, 1), auth=st.none() | AUTH.map(dump), trace=st.none(),
    blob_id=st.none(), size_bytes=INTEGER, header_length=INTEGER, envelope_from=WORDS, bounce_token=st.none(),
    failure_reason=MAYBE, scheduled_at=st.none() | MOMENT, sent_at=st.none() | MOMENT, created_at=MOMENT,
    unsubscribe=st.integers(0, 1), counted_at=st.none() | MOMENT, from_domain_shown=MAYBE,
    reply_to_addresses=st.none() | ADDRESSES, forward_of=MAYBE, held_at=st.none(),
    delivered_to=MAYBE, mailing_list=st.none() | LIST.map(dump),
)  # fmt: skip
ATTACHMENT = st.builds(
    AttachmentRow,
    id=st.uuids().map("att_{}".format), message_id=st.none(), position=st.integers(0, 9), filename=WORDS,
    content_type=WORDS, size_bytes=INTEGER, content_id=MAYBE, is_inline=st.integers(0, 1),
    slice_offset=INTEGER, slice_length=INTEGER, encoding=st.just("base64"),
)  # fmt: skip
RECIPIENT = st.builds(
    RecipientRow,
    message_id=st.none(), position=st.integers(0, 9), organization_id=st.just("org_1"), address=WORDS, domain=WORDS,
    kind=st.sampled_from(["to", "cc", "bcc"]),
    status=st.sampled_from(["queued", "deferred", "sent", "delivered", "bounced", "failed", "suppressed"]),
    attempts=INTEGER, last_attempt_at=st.none() | MOMENT, next_attempt_at=st.none() | MOMENT, expires_at=MOMENT,
    remote_host=MAYBE, smtp_code=st.none() | INTEGER, enhanced_code=MAYBE, response=MAYBE, tls=MAYBE,
)  # fmt: skip

THREAD = st.builds(
    ThreadRow,
    id=st.just("thd_1"), organization_id=st.just("org_1"), inbox_id=WORDS, subject=WORDS, snippet=WORDS,
    participants=ADDRESSES, message_count=INTEGER, unread_count=INTEGER, last_message_at=MOMENT,
    is_archived=st.integers(0, 1), created_at=MOMENT,
)  # fmt: skip
# json_each, which gathers them, ends a text at a NUL; no label has one (controlplane/contract/fields.py).
LABELS = st.lists(WORDS.map(lambda text: text.replace("\0", "")), max_size=3)


@pytest.fixture(scope="module")
def conn() -> Iterator[sqlite3.Connection]:
    conn = memory_store.empty()
    yield conn
    conn.close()


@pytest.fixture
def tx(conn: sqlite3.Connection) -> Tx:
    return Tx(conn)


def insert(tx: Tx, table: str, row: Any) -> None:
    marks = ", ".join("?" for _ in row)
    tx.run(f"INSERT INTO {table} ({columns(type(row))}) VALUES ({marks})", row)


def moment(at_ms: int | None) -> str | None:
    return None if at_ms is None else iso(at_ms)


def as_attachment(row: AttachmentRow) -> dict[str, Any]:
    return {
        "id": row.id, "filename": row.filename, "contentType": row.content_type, "sizeBytes": row.size_bytes,
        "contentId": row.content_id, "isInline": row.is_inline == 1,
    }  # fmt: skip


def as_recipient(row: RecipientRow) -> dict[str, Any]:
    is_waiting = row.status in ("queued", "deferred")
    return {
        "address": row.address, "kind": row.kind, "status": row.status, "attempts": row.attempts,
        "lastAttemptAt": moment(row.last_attempt_at),
        "nextAttemptAt": moment(row.next_attempt_at) if is_waiting else None,
        "remoteHost": row.remote_host, "smtpCode": row.smtp_code, "enhancedCode": row.enhanced_code,
        "response": row.response, "tls": row.tls,
    }  # fmt: skip


def domain_of(address: str) -> str | None:
    _, at, domain = address.rpartition("@")
    domain = domain.rstrip(".")
    return domain.lower() if at and domain and domain.isascii() else None


def replies_of(row: MessageRow) -> list[str]:
    if row.reply_to_addresses is not None:
        return list(load(row.reply_to_addresses))
    return [] if row.reply_to is None else [row.reply_to]


def as_listed(
    row: MessageRow, attachments: Sequence[AttachmentRow], recipients: Sequence[RecipientRow]
) -> dict[str, Any]:
    return {
        "id": row.id, "inboxId": row.inbox_id, "threadId": row.thread_id, "direction": row.direction,
        "mode": row.mode, "status": row.status, "review": None, "fromAddress": row.from_address,
        "fromDomain": domain_of(row.from_address), "fromDomainUnicode": row.from_domain_shown,
        "fromName": row.from_name,
        "toAddresses": load(row.to_addresses), "ccAddresses": load(row.cc_addresses),
        "bccAddresses": load(row.bcc_addresses), "replyTo": row.reply_to,
        "replyToAddresses": replies_of(row), "subject": row.subject, "snippet": row.snippet,
        "extractedText": row.text_body if row.extracted_text is None else row.extracted_text,
        "messageIdHeader": row.message_id_header, "inReplyTo": row.in_reply_to,
        "references": load(row.reference_ids), "labels": load(row.labels),
        "isAutoReply": row.is_auto_reply == 1, "isSpam": row.is_spam == 1, "risk": None,
        "auth": None if row.auth is None else load(row.auth),
        "forwardOf": row.forward_of, "deliveredTo": row.delivered_to,
        "mailingList": None if row.mailing_list is None else load(row.mailing_list),
        "recipients": [as_recipient(one) for one in recipients] if row.direction == "outbound" else [],
        "attachments": [as_attachment(one) for one in attachments],
        "failureReason": row.failure_reason, "scheduledAt": moment(row.scheduled_at),
        "sentAt": moment(row.sent_at), "heldAt": None, "createdAt": iso(row.created_at),
    }  # fmt: skip


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    row=MESSAGE,
    attachments=st.lists(ATTACHMENT, max_size=3, unique_by=(lambda one: one.id, lambda one: one.position)),
    recipients=st.lists(RECIPIENT, max_size=3, unique_by=lambda one: one.position),
)
def test_every_message_is_shown_in_full(
    tx: Tx, row: MessageRow, attachments: list[AttachmentRow], recipients: list[RecipientRow]
) -> None:
    tx.run("SAVEPOINT example")
    try:
        messages.insert(tx, row)
        for attachment in attachments:
            insert(tx, "attachments", attachment._replace(message_id=row.id))
        for recipient in recipients:
            insert(tx, "recipients", recipient._replace(message_id=row.id))
        attachments.sort(key=lambda one: one.position)
        recipients.sort(key=lambda one: one.position)
        listed = as_listed(row, attachments, recipients)
        shown = message_json.get(tx, "org_1", row.id)
        (of_thread,) = message_json.some_of_thread(tx, "org_1", [row.id])
        in_lists = [
            whole(tx, message_json.list_messages(tx, Scope("org_1"), None, 5)),
            whole(tx, message_json.of(tx, "org_1", [row.id, "msg_absent"])),
        ]
    finally:
        tx.run("ROLLBACK TO example")
        tx.run("RELEASE example")
    assert shown is not None and json.loads(shown.json) == listed
    for text in in_lists:
        assert json.loads(text) == [listed]
    assert list(ListedMessage.model_fields) == list(listed)
    ListedMessage.model_validate_json(shown.json, strict=True)
    assert shown[1:] == (row.inbox_id, row.text_body, None, None, None)
    shown_whole = {**listed, "textBody": row.text_body, "htmlBody": "<b>"}
    assert json.loads(bytes(rendering.message(shown.json, row.text_body, "<b>"))) == shown_whole
    assert json.loads(bytes(rendering.thread_message(of_thread.json, row.text_body, "<b>"))) == {
        **shown_whole, "from": row.from_address, "to": listed["toAddresses"], "text": row.text_body, "html": "<b>",
    }  # fmt: skip


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    row=MESSAGE,
    attachments=st.lists(ATTACHMENT, max_size=3, unique_by=lambda one: one.id),
    recipients=st.lists(
        st.tuples(st.sampled_from(["to", "cc", "bcc"]), WORDS.map("{}@x.test".format)), max_size=3
    ),
    now_ms=MOMENT,
)
def test_a_send_is_answered_with_what_the_store_shows(
    tx: Tx, row: MessageRow, attachments: list[AttachmentRow], recipients: list[tuple[str, str]], now_ms: int
) -> None:
    sent = row._replace(
        direction="outbound", reply_to=row.reply_to or None, delivered_to=None, mailing_list=None
    )
    stored = [one._replace(message_id=row.id, position=place) for place, one in enumerate(attachments)]
    tx.run("SAVEPOINT example")
    try:
        messages.insert(tx, sent)
        for attachment in stored:
            insert(tx, "attachments", attachment)
        queued = outbound.enqueue(tx, row.id, "org_1", recipients, now_ms, now_ms + 1)
        shown = message_json.get(tx, "org_1", row.id)
    finally:
        tx.run("ROLLBACK TO example")
        tx.run("RELEASE example")
    answered = new_message_json.rendered(sent, stored, queued)
    assert shown is not None
    assert list(json.loads(answered).items()) == list(json.loads(shown.json).items())


@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(new=WORDS, rest=MAYBE, extracted=MAYBE)
def test_new_words_with_which_a_text_begins_are_in_it_and_all_others_beside_it(
    tx: Tx, new: str, rest: str | None, extracted: str | None
) -> None:
    text = None if rest is None else new + rest
    tx.run("SAVEPOINT example")
    try:
        for number, words in enumerate((new, extracted)):
            messages.insert(tx, message_row(number, text_body=text, extracted_text=words))
            found = messages.by_id(tx, f"msg_{number:03}")
            assert found is not None and (found.text_body, found.extracted_text) == (text, words)
        stored = tx.all("SELECT extracted_apart, extracted_length FROM messages ORDER BY id")
    finally:
        tx.run("ROLLBACK TO example")
        tx.run("RELEASE example")
    assert stored[0] == ((None, len(new)) if rest is not None and "\0" not in new else (new, None))


@settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(thread=THREAD, labels=st.lists(LABELS, max_size=3))
def test_every_thread_is_shown_in_full(tx: Tx, thread: ThreadRow, labels: list[list[str]]) -> None:
    tx.run("SAVEPOINT example")
    try:
        insert_thread(tx, thread)
        for number, some in enumerate(labels):
            messages.insert(tx, message_row(number, labels=dump(some)))
        shown = thread_json.get(tx, "org_1", "thd_1")
        absent = thread_json.get(tx, "org_2", "thd_1")
        in_lists = [
            whole(
                tx, thread_json.list_threads(tx, "org_1", limit=5, inbox_id=inbox_id, is_archived=is_archived)
            )
            for inbox_id, is_archived in ((None, None), (thread.inbox_id, bool(thread.is_archived)))
        ]
        foreign = whole(tx, thread_json.list_threads(tx, "org_2", limit=5, inbox_id=thread.inbox_id))
    finally:
        tx.run("ROLLBACK TO example")
        tx.run("RELEASE example")
    expected = {
        "id": "thd_1", "organizationId": "org_1", "inboxId": thread.inbox_id, "subject": thread.subject,
        "snippet": thread.snippet, "participants": load(thread.participants),
        "labels": sorted(
            {one for some in labels for one in some} | ({"unread"} if thread.unread_count > 0 else set()),
            key=str.encode,
        ),
        "messageCount": thread.message_count, "unreadCount": thread.unread_count,
        "lastMessageAt": iso(thread.last_message_at), "isArchived": thread.is_archived == 1,
        "createdAt": iso(thread.created_at),
    }  # fmt: skip
    assert shown is not None and json.loads(shown.json) == expected and shown.inbox_id == thread.inbox_id
    assert absent is None and foreign == b"[]"
    for text in in_lists:
        assert json.loads(text) == [expected]
    Thread.model_validate_json(shown.json, strict=True)
    assert json.loads(bytes(rendering.thread(shown.json, True, []))) == {
        **expected, "hasMore": True, "messages": [],
    }  # fmt: skip
    assert json.loads(rendering.thread_head(shown.json, False) + b"[]}") == {
        **expected, "hasMore": False, "messages": [],
    }  # fmt: skip


@pytest.fixture
def some(tx: Tx) -> Iterator[None]:
    tx.run("BEGIN")
    for number in range(1, 6):
        messages.insert(tx, message_row(number, thread_id=f"thd_{number % 2}"))
    messages.insert(tx, message_row(6, organization_id="org_2", thread_id="thd_9"))
    yield
    tx.run("ROLLBACK")


def whole(tx: Tx, part: Part) -> bytes:
    """The array that the parts make."""
    parts = [part.json]
    while part.rest is not None:
        part = part.rest(tx)
        parts.append(part.json)
    return b"[" + b",".join(filter(None, parts)) + b"]"


def ids(tx: Tx, part: Part) -> list[str]:
    return [one["id"] for one in json.loads(whole(tx, part))]


@pytest.mark.usefixtures("some")
def test_lists_are_newest_first_and_of_one_organization(tx: Tx) -> None:
    assert ids(tx, message_json.list_messages(tx, Scope("org_1"), None, 3)) == [
        "msg_005",
        "msg_004",
        "msg_003",
    ]
    assert ids(tx, message_json.list_messages(tx, Scope("org_1"), "msg_003", 3)) == ["msg_002", "msg_001"]
    assert ids(tx, message_json.list_messages(tx, Scope("org_1", "inb_2"), None, 3)) == []
    assert ids(tx, message_json.of(tx, "org_1", ["msg_006", "msg_004", "msg_001"])) == ["msg_004", "msg_001"]
    assert ids(tx, message_json.of(tx, "org_1", [])) == []
    assert message_json.get(tx, "org_2", "msg_001") is None
    assert message_json.weigh_thread(tx, "org_2", "thd_1", None, 9) == []
    assert [one.id for one in message_json.weigh_thread(tx, "org_1", "thd_1", None, 2)] == [
        "msg_005",
        "msg_003",
    ]
    assert [one.id for one in message_json.weigh_thread(tx, "org_1", "thd_1", "msg_005", 9)] == [
        "msg_003",
        "msg_001",
    ]
    everything = [f"msg_{number:03}" for number in range(1, 7)]
    some_of = message_json.some_of_thread(tx, "org_1", everything[::-1])
    assert [json.loads(one.json)["id"] for one in some_of] == everything[:5]


@pytest.mark.parametrize("part_bytes", [0, 3_000, 10**9])
def test_a_list_in_parts_is_the_whole_list(tx: Tx, monkeypatch: pytest.MonkeyPatch, part_bytes: int) -> None:
    """Strangers say how many recipients and attachments a message has."""
    monkeypatch.setattr(message_json, "SLICE_MESSAGES", 2)
    monkeypatch.setattr(message_json, "PART_BYTES", part_bytes)
    tx.run("BEGIN")
    for number in range(9):
        addresses = dump([f"{one}@{'x' * 100}.test" for one in range(10)])
        messages.insert(tx, message_row(number, to_addresses=addresses))
    everything = [f"msg_{number:03}" for number in range(8, -1, -1)]
    for limit in (1, 2, 3, 8, 9, 10):
        listed = message_json.list_messages(tx, Scope("org_1"), None, limit)
        some_of = message_json.of(tx, "org_1", everything[:limit])
        assert ids(tx, listed) == ids(tx, some_of) == everything[:limit]
        assert max(len(listed.json), len(some_of.json)) <= part_bytes + 2 * 3_000
    tx.run("ROLLBACK")


@pytest.mark.usefixtures("some")
def test_what_a_message_weighs(tx: Tx) -> None:
    """Bodies in octets, slices as they lie in the raw message; an attachment and a recipient what their JSON takes."""
    (bare,) = message_json.weigh_thread(tx, "org_1", "thd_0", "msg_003", 1)
    assert (bare.body_bytes, bare.other_bytes) == (0, len("[]") * 3)
    slices = dump([(0, 5_000, "base64", None), (9_000, 700, "identity", "utf-8")])
    messages.insert(
        tx,
        message_row(
            7,
            thread_id="thd_7",
            text_body="äöü",
            text_slices=slices,
            html_slices=slices,
            extracted_text="abc",
        ),
        [AttachmentRow(f"att_{n}", "msg_007", n, "a", "b", 1, None, 0, 0, 1, "base64") for n in range(3)],
    )
    (heavy,) = message_json.weigh_thread(tx, "org_1", "thd_7", None, 1)
    assert (heavy.body_bytes, heavy.other_bytes) == (6 + 2 * 5_700, 6 + 3 + 3 * 400)


def test_a_thread_shows_the_latest_participants_and_the_labels_of_its_newest_messages(tx: Tx) -> None:
    """Strangers make a conversation as long as they like."""
    tx.run("BEGIN")
    everybody = [f"{number}@there.test" for number in range(200)]
    insert_thread(tx, ThreadRow("thd_1", "org_1", "inb_1", "", "", dump(everybody), 1, 0, 1, 0, 1))
    for number in range(LABELLED_MAX + 1):
        messages.insert(tx, message_row(number, labels=dump([f"label {number:03}"])))
    shown = thread_json.get(tx, "org_1", "thd_1")
    listed = whole(tx, thread_json.list_threads(tx, "org_1", limit=1, inbox_id=None))
    tx.run("ROLLBACK")
    assert shown is not None
    for found in (json.loads(shown.json), json.loads(listed)[0]):
        assert found["participants"] == everybody[-thread_json.PARTICIPANTS_MAX :]
        assert found["labels"] == [f"label {number:03}" for number in range(1, thread_json.LABELS_MAX + 1)]


def test_labels_of_long_threads_are_read_in_turns(tx: Tx, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the threads are, a unit of work reads so many messages, and of one thread at least."""
    monkeypatch.setattr(thread_json, "SLICE_LABELLED", 10)
    tx.run("BEGIN")
    counts = [1, 9, 1, 300, 4, 4, 4]
    for number, count in enumerate(counts):
        times = 100 - number
        insert_thread(tx, ThreadRow(f"thd_{number}", "org_1", "inb_1", "", "", "[]", count, 0, times, 0, 1))
    part = thread_json.list_threads(tx, "org_1", limit=9, inbox_id=None)
    everything = json.loads(whole(tx, part))
    sizes = [len(json.loads(b"[" + part.json + b"]"))]
    tx.run("DELETE FROM threads WHERE id = 'thd_6'")
    while part.rest is not None:
        part = part.rest(tx)
        sizes.append(len(json.loads(b"[" + part.json + b"]")))
    tx.run("ROLLBACK")
    assert [one["id"] for one in everything] == [f"thd_{number}" for number in range(7)]
    assert sizes == [2, 2, 2]


@pytest.mark.parametrize(
    ("unit", "index"),
    [
        (lambda tx: message_json.list_messages(tx, Scope("org_1"), "msg_z", 5), "messages_by_organization"),
        # A quiet inbox of a busy organization: the index by organization would walk over everybody's mail.
        (lambda tx: message_json.list_messages(tx, Scope("org_1", "inb_1"), "msg_z", 5), "messages_by_inbox"),
        (
            lambda tx: search.scan(tx, Scope("org_1", "inb_1"), Needle("x", None), None, None, 5),
            "messages_by_inbox",
        ),
        (lambda tx: search.tail(tx, Scope("org_1", "inb_1"), Needle("x", None), None, None, 5), "id=?"),
        (lambda tx: message_json.of(tx, "org_1", ["msg_1"]), "id=?"),
        (lambda tx: message_json.get(tx, "org_1", "msg_1"), "id=?"),
        (lambda tx: message_json.weigh_thread(tx, "org_1", "thd_1", "msg_z", 5), "messages_by_thread"),
        (lambda tx: message_json.some_of_thread(tx, "org_1", ["msg_1"]), "id=?"),
    ],
)
def test_each_reads_its_rows_by_an_index(
    conn: sqlite3.Connection, unit: Callable[[Tx], Any], index: str
) -> None:
    statements: list[str] = []
    conn.set_trace_callback(statements.append)
    unit(Tx(conn))
    conn.set_trace_callback(None)
    plan = [step for *_, step in conn.execute(f"EXPLAIN QUERY PLAN {statements[0]}")]
    assert [index in step for step in plan if step.startswith("SEARCH m ")] == [True]
    assert not any(step.startswith(("SCAN m", "SCAN attachments", "SCAN recipients")) for step in plan)


# Letters that fold into others, or into several.
FOLDING = st.text(st.sampled_from('aAkKsSßẞſﬁİıΣσςÅåÅK\0 é"\\,%_'), max_size=8)


@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    subject=FOLDING, sender=FOLDING, name=st.none() | FOLDING, to=st.lists(FOLDING, max_size=2),
    body=st.none() | FOLDING, q=FOLDING, from_=FOLDING,
)  # fmt: skip
def test_a_search_finds_what_holds_the_folded_needle(
    tx: Tx, tmp_path: Path, subject: str, sender: str, name: str | None, to: list[str], body: str | None, q: str,
    from_: str,
) -> None:  # fmt: skip
    needle = Needle.of(q, from_)
    if needle is None:
        return
    tx.run("SAVEPOINT example")
    try:
        one = message_row(
            subject=subject, from_address=sender, from_name=name, to_addresses=dump(to), text_body=body
        )
        messages.insert(tx, one)
        found = [place(tx, Scope("org_1"), needle, None, None, 5) for place in (search.tail, search.scan)]
        if needle.trigrams():
            index = SearchIndex(tmp_path / "search.sqlite3")
            index.make()
            some = search_tail.waiting(tx, 10)
            search_tail.tell(index, some, search_tail.said(tx, some))
            index.complete()
            for asked in (needle, search.sharpened(index, Scope("org_1"), needle)):
                found.append(search.indexed(index, tx, Scope("org_1"), asked, None, None, 5))
            index.close()
    finally:
        tx.run("ROLLBACK TO example")
        tx.run("RELEASE example")
    fields = [subject, sender, name or "", body or "", *to]
    holds = (
        any(q.casefold() in field.casefold() for field in fields) and from_.casefold() in sender.casefold()
    )
    assert [batch.message_ids for batch in found] == [["msg_001"] if holds else []] * len(found)
    assert all(batch.next is None for batch in found)
