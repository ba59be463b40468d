"""Looks at messages for what may be an attack on their reader, and keeps what was found.

What was found before is given again, unless it is of another version. Looking takes a reader's turn, the thread for
what computes, and a small unit that writes; nothing of it is in the way of a mail that comes in.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import msgspec

from controlplane.mail.bodies import ranges_of, slices_of, stored_octets
from maild.message.characters.decode import decode_stream
from maild.message.evidence.examine import (
    MAX_FILES,
    MAX_HTML_CHARS,
    MAX_TEXT_CHARS,
    Examined,
    examine,
)
from maild.message.evidence.files import HEAD_OCTETS, NamedFile
from maild.message.evidence.finding import VERSION, EvidenceFound
from maild.message.evidence.senders import SenderFacts, domain_of
from maild.message.fields.address import normalize
from maild.message.parsing.parse import parse, read_text
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.mail import blobs, evidence, held_mail, messages
from storage.mail.blobs import Blob, BlobMissing, Blobs
from storage.mail.evidence import EvidenceRow, KnownPeople
from storage.records import AttachmentRow, MessageRow, answers_to, load, verified_domain
from storage.turns.cpu_process import CpuProcess
from storage.turns.cpu_threads import CpuThreads

HEADS_MAX = 20  # attachments whose first octets are looked at
HEADER_BYTES = 64 * 1024
THREAD_CHARS = 8 * 1024  # some 3 ms; more is worth the way to another process
_HEAD_ENCODED = 4 * HEAD_OCTETS
_SEVERAL = frozenset(["several-from-fields", "several-authors"])


class Material(NamedTuple):
    """All that the store has of a message, before its bytes are read."""

    message: MessageRow
    blob: Blob | None
    attachments: list[AttachmentRow]
    people: KnownPeople


class Examiner:
    """Evidence of messages, at once or as it was kept."""

    def __init__(self, db: Database, store: Blobs, cpu: CpuThreads, cpu_process: CpuProcess) -> None:
        self._db = db
        self._store = store
        self._cpu = cpu
        self._cpu_process = cpu_process

    async def evidence_of(
        self, organization_id: str, message_id: str, *, sees_held: bool = False
    ) -> EvidenceRow | None:
        """What there is in the organization's message, looked for now where it was not before; None: no message."""
        kept = await self._db.lookup(evidence.get, organization_id, message_id, sees_held=sees_held)
        if kept is not None and kept.version == VERSION:
            return kept
        found = await self.look(organization_id, message_id, sees_held=sees_held)
        if found is not None:
            await self._db.impatient().write(evidence.put, organization_id, message_id, found)
        return found

    async def look(
        self, organization_id: str, message_id: str, *, sees_held: bool = False
    ) -> EvidenceRow | None:
        """Look at the message, and keep nothing; None: there is no such message."""
        material = await self._db.read_for(organization_id, _material, organization_id, message_id, sees_held)
        if material is None:
            return None
        return await self._examined(organization_id, material)

    async def look_at_arrival(
        self, message: MessageRow, attachments: Sequence[AttachmentRow], blob: Blob
    ) -> EvidenceRow:
        """Look at a message that is about to be stored: nothing of it is there but its bytes (maild/ports.py)."""
        people = await self._db.read_for(
            message.organization_id, evidence.known_people, message, _key(message.from_address)
        )
        material = Material(message, blob, list(attachments[: MAX_FILES + 1]), people)
        return await self._examined(message.organization_id, material)

    async def _examined(self, owner: str, material: Material) -> EvidenceRow:
        await self._bring(material)
        found = await self._cpu.run(owner, partial(self._look_if_small, material))
        if isinstance(found, Examined):
            found = row_of(await self._cpu_process.run(owner, partial(examine, found)))
        return found

    async def _bring(self, material: Material) -> None:
        """Nobody waits at the thread for the disk."""
        message, blob = material.message, material.blob
        if blob is None:
            return
        bodies = [
            *ranges_of(slices_of(message.text_slices), chars=MAX_TEXT_CHARS),
            *ranges_of(slices_of(message.html_slices), chars=MAX_HTML_CHARS),
        ]
        heads = [(one.slice_offset, _head_octets(one)) for one in material.attachments[:HEADS_MAX]]
        with suppress(BlobMissing):
            await self._store.bring(blob, [_header_range(message), *bodies, *heads])

    def _look_if_small(self, material: Material) -> EvidenceRow | Examined:
        message = self._as_shown(material)
        size = len(message.text or "") + len(message.html or "")
        return row_of(examine(message)) if size <= THREAD_CHARS else message

    def _as_shown(self, material: Material) -> Examined:
        try:
            return self._read(material)
        except BlobMissing:  # GET shows no bodies then
            return self._read(material._replace(blob=None))

    def _read(self, material: Material) -> Examined:
        message, blob = material.message, material.blob
        text, html, is_cut = message.text_body, None, False
        read = None if blob is None else partial(self._store.read, blob)
        if blob is not None and message.text_slices is not None:
            text, is_cut = _body(self._store, blob, message.text_slices, MAX_TEXT_CHARS)
        if blob is not None and message.html_slices is not None:
            html, is_html_cut = _body(self._store, blob, message.html_slices, MAX_HTML_CHARS)
            is_cut = is_cut or is_html_cut
        return Examined(
            subject=message.subject,
            from_name=message.from_name,
            text=text,
            html=html,
            files=[
                NamedFile(
                    one.id, one.filename, one.content_type, _head(read, one) if number < HEADS_MAX else b""
                )
                for number, one in enumerate(material.attachments)
            ],
            sender=_sender(material, read) if message.direction == "inbound" else None,
            is_cut=is_cut,
        )


def row_of(found: EvidenceFound) -> EvidenceRow:
    """What was found, as it is kept."""
    items = [one._asdict() for one in found.items]
    return EvidenceRow(
        found.version,
        found.risk,
        found.hidden_characters,
        int(found.truncated),
        json.dumps(items, separators=(",", ":")),  # in ASCII: what senders write may be no Unicode
    )


def shown(message_id: str, row: EvidenceRow) -> dict[str, Any]:
    """The answer of the API."""
    return {
        "messageId": message_id,
        "version": row.version,
        "risk": row.risk,
        "hiddenCharacters": row.hidden_characters,
        "truncated": bool(row.is_truncated),
        "items": msgspec.Raw(row.items.encode()),
    }


_Read = Callable[[int, int], bytes]


def _material(tx: Tx, organization_id: str, message_id: str, sees_held: bool) -> Material | None:
    message = messages.get(tx, organization_id, message_id)
    if message is None and sees_held:
        message = held_mail.get(tx, organization_id, message_id)
    if message is None:
        return None
    return Material(
        message,
        None if message.blob_id is None else blobs.get(tx, message.blob_id),
        evidence.attachments(tx, message.id, MAX_FILES + 1),
        evidence.known_people(tx, message, _key(message.from_address)),
    )


def _key(address: str) -> str:
    return normalize(address) if address else ""


def _body(store: Blobs, blob: Blob, fields: str, limit: int) -> tuple[str, bool]:
    return read_text(stored_octets(store, blob), slices_of(fields), limit)


def _header_range(message: MessageRow) -> tuple[int, int]:
    return 0, min(message.header_length, HEADER_BYTES)


def _head_octets(attachment: AttachmentRow) -> int:
    return min(attachment.slice_length, _HEAD_ENCODED)


def _head(read: _Read | None, attachment: AttachmentRow) -> bytes:
    if read is None:
        return b""
    octets = read(attachment.slice_offset, _head_octets(attachment))
    return bytes(decode_stream(attachment.encoding).feed(octets)[:HEAD_OCTETS])


def _sender(material: Material, read: _Read | None) -> SenderFacts:
    message, people = material.message, material.people
    header = b"" if read is None else read(*_header_range(message))
    parsed = parse(header)
    key = _key(message.from_address)
    return SenderFacts(
        from_address=message.from_address,
        from_name=message.from_name,
        reply_to=answers_to(message.reply_to, message.reply_to_addresses),
        verified_domain=verified_domain(message.auth),
        is_known=people.has_written or key in people.written_to,
        has_several_from=not _SEVERAL.isdisjoint(parsed.defects),
        is_bulk=any(parsed.headers.get(name) for name in ("list-unsubscribe", "list-id")),
        own_domains=people.own_domains,
        correspondents=frozenset(domain for one in people.written_to if (domain := domain_of(one))),
        organizations=load(message.org_domains) if message.org_domains else {},
    )
