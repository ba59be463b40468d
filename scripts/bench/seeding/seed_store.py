"""One half of scripts/bench/seed: the stream's messages in the store, each by the functions that the daemon calls.

There is no journal, no fsync and no look at references (`maild check` has one): what was cut short is thrown away.
"""

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any
from zlib import crc32

from maild.message.fields.thread_headers import base_subject
from scripts.bench.seeding.stream import SENDER_NAME, Mail, Stream
from storage.engine import migrate
from storage.engine.tx import Tx
from storage.mail import blobs, inboxes, messages, threads
from storage.mail.blobs import Stored
from storage.records import AttachmentRow, MessageRow, dump
from storage.searching import search_tail
from storage.searching.labels import UNREAD
from storage.sending import outbound

PER_COMMIT = 10_000
UNSAFE = "PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA foreign_keys = OFF"
CACHE = "PRAGMA cache_size = -500000"
LABELLED = {"tenth": 10, "thousandth": 1000}
AUTH = '{"spf":"pass","dkim":"pass","dmarc":"pass","arc":"none","verifiedDomain":"x.test"}'


class Deferred(Tx):
    """For statements whose rows nobody reads before `flush`. That executes each for all its rows at once, in the order
    in which the statements were first given; until then each is said to have changed one row."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self._waiting: dict[str, list[Any]] = {}

    def run(self, sql: str, parameters: Mapping[str, Any] | tuple[Any, ...] = ()) -> int:
        self._waiting.setdefault(sql, []).append(parameters)
        return 1

    def run_many(self, sql: str, rows: Iterable[tuple[Any, ...]]) -> None:
        self._waiting.setdefault(sql, []).extend(rows)

    def flush(self) -> None:
        for sql, rows in self._waiting.items():
            self._tx.run_many(sql, rows)
        self._waiting.clear()


class SeedStore:
    """A new store, and nobody else's meanwhile."""

    def __init__(self, path: Path) -> None:
        self._conn = migrate.connect(path)
        for pragma in (*UNSAFE, CACHE):
            self._conn.execute(pragma)
        self._tx = Tx(self._conn)
        self._later = Deferred(self._tx)

    def fill(self, stream: Stream) -> Iterator[Mail]:
        """Write the messages and answer each. The tail is left empty: the index has them from elsewhere (`seed_index`)."""
        for mail in stream.walk():
            if mail.number % PER_COMMIT == 0:
                self._commit()
                self._conn.execute("BEGIN")
            _thread(self._tx, mail)
            _write(self._later, mail)
            if not mail.is_outbound:
                inboxes.received(self._tx, mail.inbox.id, mail.now_ms)
            yield mail
        self._commit()

    def finish(self, mark: str, analyze: bool) -> None:
        """Name the index that has them all (its mark), and close the store."""
        self._conn.execute("BEGIN")
        search_tail.name(self._tx, mark)
        self._conn.execute("COMMIT")
        if analyze:
            self._conn.execute("ANALYZE")
        self._conn.execute("PRAGMA journal_mode = WAL")
        self._conn.close()

    def _commit(self) -> None:
        if self._conn.in_transaction:
            self._later.flush()
            self._conn.execute("DELETE FROM search_tail")
            self._conn.execute("COMMIT")


def _write(tx: Tx, mail: Mail) -> None:
    raw = (
        f"From: {SENDER_NAME} <{mail.sender}>\r\nTo: <{mail.to}>\r\nSubject: {mail.subject}\r\n"
        f"Message-ID: <{mail.number}@seed.test>\r\n\r\n{mail.body}\r\n"
    ).encode()
    blobs.insert(tx, Stored(mail.blob_id, len(raw), sha256(raw).digest(), raw, None), mail.now_ms)
    messages.insert(tx, _row(mail, len(raw)), _attachments(mail))
    if mail.is_outbound:
        to = [("to", mail.to)]
        outbound.enqueue(tx, mail.message_id, mail.inbox.organization_id, to, mail.now_ms, mail.now_ms)
        tx.run(
            "UPDATE recipients SET status = 'delivered', next_attempt_at = NULL WHERE message_id = ?",
            (mail.message_id,),
        )


def _thread(tx: Tx, mail: Mail) -> None:
    snippet, is_unread = mail.body[:100], not mail.is_outbound
    if not mail.begins_thread:
        people = [mail.peer]
        threads.join(
            tx, mail.thread_id, mail.now_ms, snippet=snippet, participants=people, is_unread=is_unread
        )
        return
    threads.begin(
        tx, mail.thread_id, mail.now_ms,
        organization_id=mail.inbox.organization_id, inbox_id=mail.inbox.id, subject=mail.subject,
        base_subject=base_subject(mail.subject)[0], snippet=snippet, participants=[mail.peer, mail.inbox.address],
        is_unread=is_unread,
    )  # fmt: skip


def _labels(mail: Mail) -> str:
    """A tenth of all messages has a label, a thousandth another; by their ids, whoever they belong to."""
    labels = [] if mail.is_outbound else [UNREAD]
    chance = crc32(mail.message_id.encode())
    return dump([*labels, *(label for label, each in LABELLED.items() if chance % each == 0)])


def _attachments(mail: Mail) -> list[AttachmentRow]:
    if mail.attachment_id is None:
        return []
    size, length = 64, 64
    return [
        AttachmentRow(
            mail.attachment_id, mail.message_id, 0, "part.txt", "text/plain", size, None, 0, 0, length, "identity"
        )
    ]  # fmt: skip


def _row(mail: Mail, size_bytes: int) -> MessageRow:
    out = mail.is_outbound
    return MessageRow(
        id=mail.message_id, organization_id=mail.inbox.organization_id, inbox_id=mail.inbox.id, thread_id=mail.thread_id,
        direction="outbound" if out else "inbound", mode="live", status="delivered" if out else "received",
        from_address=mail.sender, from_name=SENDER_NAME, to_addresses=dump([mail.to]), cc_addresses="[]", bcc_addresses="[]",
        reply_to=None, subject=mail.subject, snippet=mail.body[:100], text_body=mail.body, text_slices=None, html_slices=None,
        extracted_text=None, message_id_header=f"<{mail.number}@seed.test>", in_reply_to=None, reference_ids="[]",
        labels=_labels(mail), is_auto_reply=0, is_spam=0, auth=None if out else AUTH,
        trace=None if out else b"", blob_id=mail.blob_id, size_bytes=size_bytes, header_length=100, envelope_from=mail.sender,
        bounce_token=None, failure_reason=None, scheduled_at=None, sent_at=mail.now_ms if out else None,
        created_at=mail.now_ms,
    )  # fmt: skip
