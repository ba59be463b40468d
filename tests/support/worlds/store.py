"""A real store in a temporary folder, with one organization, an inbox, a DKIM key, and mail to send."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from maild.outbound.signing import dkim
from storage.audit.trail import AuditRecorder
from storage.clock import Clock
from storage.domains import dkim_keys
from storage.domains.dkim_keys import DkimKey
from storage.engine import migrate
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import blobs as blob_rows
from storage.mail import inboxes, messages
from storage.mail.blobs import Blobs
from storage.records import MessageRow, dump, load
from storage.sealing import Sealer
from storage.sending import outbound
from storage.tenants import organizations

ORGANIZATION = "org_1"
INBOX = "inb_1"
THREAD = "thd_1"
DOMAIN = "ours.test"
SENDER = f"bot@{DOMAIN}"
SELECTOR = "s1"
EPOCH_MS = 1_795_000_000_000
GIVE_UP_MS = 5 * 86_400_000

RAW = (
    b"From: Bot <bot@ours.test>\r\nTo: you@there.test\r\nSubject: hello\r\n"
    b"Message-ID: <1@ours.test>\r\nDate: Sat, 21 Nov 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\n"
    b"Content-Type: text/plain; charset=utf-8\r\n\r\nhello\r\n.\r\n..two\r\nthe end\r\n"
)

_KEY = dkim.generate_key()  # one for the whole test run: making it takes a while
DKIM_RECORD: Final = f"v=DKIM1; k=rsa; p={_KEY[1]}".encode()


class ManualClock(Clock):
    """Time that moves when the test says so."""

    def __init__(self, at_ms: int = EPOCH_MS) -> None:
        self.at_ms = at_ms
        self._set_back_ms = 0

    def now_ms(self) -> int:
        return self.at_ms

    def monotonic(self) -> float:
        return (self.at_ms + self._set_back_ms) / 1000

    def set_back(self, seconds: float) -> None:
        """As an operator or NTP does: the monotonic time takes no part in it."""
        self.at_ms -= int(seconds * 1000)
        self._set_back_ms += int(seconds * 1000)

    def forward(self, seconds: float) -> None:
        self.at_ms += int(seconds * 1000)


@dataclass
class Store:
    db: Database
    blobs: Blobs
    clock: Clock
    ids: Ids
    sealer: Sealer
    audit: AuditRecorder

    @classmethod
    async def open(cls, folder: Path, clock: Clock | None = None) -> "Store":
        clock = clock or ManualClock()
        path = folder / "maild.db"
        is_new = not path.exists()
        migrate.prepare(path)
        ids = Ids(clock)
        blobs = Blobs(folder / "blobs", ids, inline_bytes=64 * 1024)
        blobs.prepare()
        store = cls(
            await Database.open(path), blobs, clock, ids, Sealer(bytes(32)), AuditRecorder(bytes(32), clock)
        )
        if is_new:
            await store.db.write(_found, store)
        return store

    async def close(self) -> None:
        await self.db.close()

    async def sign_for(self, domain: str) -> None:
        """Mail from the domain is signed as well, by the same key."""
        await self.db.write(_add_key, self, domain)

    async def send(
        self,
        *recipients: str,
        raw: bytes = RAW,
        mode: str = "live",
        from_address: str = SENDER,
        expires_in_ms: int = GIVE_UP_MS,
        is_sliced: bool = False,
        organization_id: str = ORGANIZATION,
    ) -> str:
        """Queue a message, as the send pipeline does; its id. `is_sliced`: its text lies in its raw bytes alone.
        `organization_id`: whose its recipients are."""
        stored = await self.blobs.store(raw)
        message_id = self.ids.new("msg")
        now_ms = self.clock.now_ms()
        row = message(message_id, now_ms, recipients, stored.id, raw, mode, from_address)
        if is_sliced:
            row = row._replace(text_body=None, text_slices="[]")

        def unit(tx: Tx) -> None:
            blob_rows.insert(tx, stored, now_ms)
            messages.insert(tx, row)
            pairs = [("to", recipient) for recipient in recipients]
            outbound.enqueue(tx, message_id, organization_id, pairs, now_ms, now_ms + expires_in_ms)

        await self.db.write(unit)
        return message_id

    async def message(self, message_id: str) -> MessageRow:
        found = await self.db.read(messages.get, ORGANIZATION, message_id)
        assert found is not None
        return found

    async def recipients(self, message_id: str) -> list[Any]:
        return await self.db.read(outbound.recipients, message_id)

    async def attempts(self, message_id: str) -> list[str]:
        """The outcomes of its attempts, in order."""
        sql = "SELECT outcome FROM delivery_attempts WHERE message_id = ? ORDER BY attempt, position"
        return [row[0] for row in await self.db.read(lambda tx: tx.all(sql, (message_id,)))]

    async def events(self, type: str | None = None) -> list[dict[str, Any]]:
        """The data of all events (of the type), oldest first."""
        sql = "SELECT data FROM events WHERE type = coalesce(?, type) ORDER BY seq"
        return [load(row[0]) for row in await self.db.read(lambda tx: tx.all(sql, (type,)))]

    async def scalar(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        return await self.db.read(lambda tx: tx.value(sql, tuple(parameters)))


def message(
    message_id: str,
    now_ms: int,
    recipients: Sequence[str],
    blob_id: str,
    raw: bytes,
    mode: str = "live",
    from_address: str = SENDER,
) -> MessageRow:
    return MessageRow(
        id=message_id,
        organization_id=ORGANIZATION,
        inbox_id=INBOX,
        thread_id=THREAD,
        direction="outbound",
        mode=mode,
        status="queued",
        from_address=from_address,
        from_name=None,
        to_addresses=dump(list(recipients)),
        cc_addresses="[]",
        bcc_addresses="[]",
        reply_to=None,
        subject="hello",
        snippet="hello",
        text_body="hello",
        text_slices=None,
        html_slices=None,
        extracted_text=None,
        message_id_header=f"<{message_id}@{DOMAIN}>",
        in_reply_to=None,
        reference_ids="[]",
        labels="[]",
        is_auto_reply=0,
        is_spam=0,
        auth=None,
        trace=None,
        blob_id=blob_id,
        size_bytes=len(raw),
        header_length=raw.find(b"\r\n\r\n") + 4,
        envelope_from="",
        bounce_token=message_id.lower(),
        failure_reason=None,
        scheduled_at=None,
        sent_at=None,
        created_at=now_ms,
    )


def _found(tx: Tx, store: Store) -> None:
    now_ms = store.clock.now_ms()
    organizations.create(tx, ORGANIZATION, "Acme", "selfhost", now_ms)
    inboxes.create(
        tx,
        INBOX,
        now_ms,
        organization_id=ORGANIZATION,
        username="bot",
        domain=DOMAIN,
        name=None,
        agent_id=None,
        metadata="{}",
    )
    tx.run(
        """INSERT INTO threads (id, organization_id, inbox_id, subject, base_subject, snippet, participants,
             message_count, unread_count, last_message_at, created_at)
           VALUES (?, ?, ?, 'hello', 'hello', '', '[]', 1, 0, ?, ?)""",
        (THREAD, ORGANIZATION, INBOX, now_ms, now_ms),
    )
    _add_key(tx, store, DOMAIN)


def _add_key(tx: Tx, store: Store, domain: str) -> None:
    der, public = _KEY
    sealed = store.sealer.seal(der, dkim_keys.context(domain, SELECTOR))
    dkim_keys.insert(tx, DkimKey(domain, SELECTOR, "active", sealed, public, store.clock.now_ms()))


def public_key() -> str:
    """The p= of the key that signs for DOMAIN."""
    return _KEY[1]
