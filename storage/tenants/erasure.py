"""Deleting an organization, with everything of it.

`begin` closes it in one transaction: its keys and sessions open nothing from that commit on, its addresses take no mail
and nothing of it is sent. What it has goes afterwards, in slices between which others write, whoever brings them about
(storage/upkeep/erasing.py): each finds by itself what is still there, so it does not matter where the one before was
killed. `finish` removes the organization's own row, once nothing refers to it.

Every table is here: FAMILIES in their order, what goes with messages and inboxes, what `finish` takes, or KEPT, with
the reason (tests/unit/storage/tenants/test_erasure.py holds it against the schema). Counters and references are true
between any two slices.

The last event of all gives the next one its number. If it is the organization's, `finish` empties it and hands it to
the operator's, under a type that nobody reads: retention takes it when there is a later one.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from storage import usage
from storage.audit.acts import OPERATOR, Act
from storage.audit.trail import Records
from storage.engine.dialect import each_of
from storage.engine.tx import Tx
from storage.mail import held_mail, messages, resting_addresses
from storage.mail.inboxes import QUARANTINE_MS
from storage.publishing.events import DELIVERIES
from storage.records import MessageRow, columns, dump, load
from storage.searching import search_tail
from storage.slices import pieces
from storage.tenants import organizations
from storage.visibility import HELD, VISIBLE

EMPTIED = "organization.deleted"  # the type of an event that is left for its number alone
DOMAINS_AT_ONCE = 5  # for each of them all names that are registered are looked at
INBOXES_AT_ONCE = 500
MESSAGES_AT_ONCE = 20  # in one look

_OF_IT = "organization_id = :organization"


class Family(NamedTuple):
    """Rows of one table. `kind`: as the operator reads it. `key`: what names a row. `found`: the organization's."""

    kind: str
    table: str
    key: str
    found: str = _OF_IT


# What tells of messages goes before them, so that they need not be forgotten in it one by one.
BEFORE_MESSAGES = (
    # Before events: each takes its own with it, one for each webhook.
    Family(
        "webhookDeliveries",
        "webhook_deliveries",
        "webhook_id, event_seq",
        f"webhook_id IN (SELECT id FROM webhooks WHERE {_OF_IT})",
    ),
    Family("events", "events", "seq", f"{_OF_IT} AND seq < (SELECT max(seq) FROM events)"),
    Family("webhookAttempts", "webhook_attempts", "id"),
    Family("eventsGone", "events_gone", "organization_id, inbox_id, type"),
    Family("idempotencyKeys", "idempotency", "organization_id, endpoint, key"),
    Family("claims", "claims", "id"),
    Family("reviews", "reviews", "id"),
    Family("reviewDigests", "review_digests", "organization_id, address"),
    Family("drafts", "drafts", "id"),
    Family("rules", "rules", "id"),
    Family("suppressions", "suppressions", "id"),
    Family("deletedMail", "deleted_mail", "bounce_token"),
    Family("recentRecipients", "recent_recipients", "organization_id, address"),
    Family("usage", "usage", "organization_id, scope, period, metric"),
    Family("rateWindows", "rate_windows", "organization_id, second"),
)
BEHIND_MESSAGES = (
    Family("threads", "threads", "id"),
    Family("labels", "message_labels", "inbox_id, label, message_id"),
    Family("searchTail", "search_tail", "organization_id, message_id"),
    Family(
        "domainReports",
        "domain_reports",
        "id",
        f"domain_id IN (SELECT id FROM domains WHERE {_OF_IT})",
    ),
    Family("sessions", "console_sessions", "id"),
    Family("members", "members", "id"),
    Family("keys", "api_keys", "id"),
    Family("webhooks", "webhooks", "id"),
)
BEHIND_INBOXES = (Family("agents", "agents", "id"),)
FAMILIES = (*BEFORE_MESSAGES, *BEHIND_MESSAGES, *BEHIND_INBOXES)

# What goes by its own steps: messages with what hangs on them, inboxes, domains, the organization.
WITH_MESSAGES = frozenset(
    {
        *("messages", "blobs", "attachments", "recipients", "delivery_attempts", "delivery_evidence"),
        *("held_mail", "code_claims", "work_items", "search_words", "message_evidence", "relay_message_ids"),
    }
)
WITH_THREADS = frozenset({"thread_names"})  # deleted by the store
WITH_INBOXES = frozenset({"inboxes", "correspondents", "policies"})
WITH_DOMAINS = frozenset({"domains", "dkim_keys"})
WITH_MEMBERS = frozenset({"console_links"})
_COUNTERS = ("organization_counts", "stored_bytes", "id_drifts", "recent_recipient_counts")
WITH_ORGANIZATION = frozenset({"organizations", *_COUNTERS})

_OF_THE_HOST = "the host's own"
_BY_DESTINATION = "of all organizations together, by where mail goes; a short time"
KEPT: Mapping[str, str] = {
    "audit": "who did what, without words and addresses: its rows stay for their time (docs/audit.md)",
    "audit_waiting": "rows of the audit log that are not sealed yet",
    "resting_addresses": "hashes of addresses that nobody else may have for 90 days",
    "search_gone": "what the search index is yet to let go of; a moment later it has",
    "unheard_replies": "the id of a message and a digest, for five days",
    "replies_settled": _OF_THE_HOST,
    "master_key": _OF_THE_HOST,
    "server_secrets": _OF_THE_HOST,
    "switched_off": _OF_THE_HOST,
    "search_mark": _OF_THE_HOST,
    "evidence_mark": _OF_THE_HOST,
    "retries_asked": _BY_DESTINATION,
    "sts_policies": _BY_DESTINATION,
    "warm_up_counts": _BY_DESTINATION,
    "tls_sessions": _BY_DESTINATION,
    "tls_reports_sent": _BY_DESTINATION,
}


class ErasedSlice(NamedTuple):
    """What one slice removed: how many `rows`, and whether there are more of the kind. `files`: of blobs, which the
    caller removes after the commit."""

    rows: int
    has_more: bool
    files: Sequence[str] = ()


class Standing(NamedTuple):
    """An organization that is there. `deleted_at`: None where nobody deletes it; `erased`: how many of each kind have
    gone."""

    name: str
    deleted_at: int | None
    erased: dict[str, int]


class OperatorsOwn(Exception):
    """Mail to postmaster@ and abuse@ of every domain arrives there, and the host's own acts stand in its log."""


# Before ---------------------------------------------------------------------------------------------


def standing(tx: Tx, organization_id: str) -> Standing | None:
    """The organization, deleted or not; None where there is none, or none any more."""
    row = tx.one("SELECT name, deleted_at, erased FROM organizations WHERE id = ?", (organization_id,))
    return Standing(row[0], row[1], load(row[2]) if row[2] else {}) if row else None


def content(tx: Tx, organization_id: str) -> dict[str, int]:
    """How much the organization has, by kind, and `bytes` of raw messages. It may read long."""
    of_it = {"organization": organization_id}
    found = {
        "bytes": usage.kept_bytes(tx, organization_id),
        "messages": _count_messages(tx, organization_id),
        "inboxes": tx.value(f"SELECT count(*) FROM inboxes WHERE {_OF_IT}", of_it),
        "domains": tx.value(f"SELECT count(*) FROM domains WHERE {_OF_IT}", of_it),
    }
    for one in FAMILIES:
        found[one.kind] = tx.value(f"SELECT count(*) FROM {one.table} WHERE {one.found}", of_it)
    return found


def _count_messages(tx: Tx, organization_id: str) -> int:
    counts = [
        tx.value(f"SELECT count(*) FROM messages WHERE organization_id = ? AND {seen}", (organization_id,))
        for seen in (VISIBLE, HELD)
    ]
    return sum(counts)


def refuse_own(tx: Tx, organization_id: str) -> None:
    """OperatorsOwn."""
    is_operator = "SELECT 1 FROM inboxes WHERE is_operator = 1 AND organization_id = ?"
    if organizations.own(tx) == organization_id or tx.one(is_operator, (organization_id,)):
        raise OperatorsOwn(organization_id)


def begin(tx: Tx, organization_id: str, now_ms: int, records: Records) -> bool:
    """Close it; False where there is no such organization, or it is closed already. OperatorsOwn."""
    refuse_own(tx, organization_id)
    of_it = {"organization": organization_id, "now_ms": now_ms}
    closed = tx.run(
        """UPDATE organizations SET deleted_at = :now_ms, erased = '{}'
           WHERE id = :organization AND deleted_at IS NULL""",
        of_it,
    )
    if not closed:
        return False
    own = organizations.own(tx)
    for whose in (organization_id, own) if own is not None else (organization_id,):
        records.record(tx, whose, Act.ORGANIZATION_CLOSED, OPERATOR, organization_id)
    tx.run(f"UPDATE api_keys SET is_active = 0 WHERE {_OF_IT} AND is_active = 1", of_it)
    tx.run(f"DELETE FROM console_links WHERE member_id IN (SELECT id FROM members WHERE {_OF_IT})", of_it)
    tx.run(f"DELETE FROM console_sessions WHERE {_OF_IT}", of_it)
    tx.run(f"DELETE FROM members WHERE {_OF_IT}", of_it)
    tx.run(
        f"UPDATE webhooks SET deleted_at = :now_ms, is_active = 0 WHERE {_OF_IT} AND deleted_at IS NULL",
        of_it,
    )
    tx.run(
        f"UPDATE domains SET status = 'deleted', deleted_at = :now_ms WHERE {_OF_IT} AND status <> 'deleted'",
        of_it,
    )
    tx.notify(DELIVERIES)
    close_inboxes(tx, organization_id, now_ms)
    return True


def deleted(tx: Tx) -> list[str]:
    """The organizations that are going."""
    rows = tx.all("SELECT id FROM organizations WHERE deleted_at IS NOT NULL ORDER BY id")
    return [organization_id for (organization_id,) in rows]


# Slices ---------------------------------------------------------------------------------------------


def close_inboxes(tx: Tx, organization_id: str, now_ms: int) -> ErasedSlice:
    """The next inboxes take no mail any more."""
    closed = tx.run(
        f"""UPDATE inboxes SET is_active = 0, deactivated_at = :now_ms, updated_at = :now_ms
            WHERE id IN (SELECT id FROM inboxes WHERE {_OF_IT} AND is_active = 1 LIMIT :limit)""",
        {"organization": organization_id, "now_ms": now_ms, "limit": INBOXES_AT_ONCE},
    )
    return ErasedSlice(0, closed == INBOXES_AT_ONCE)


def remove(
    tx: Tx, organization_id: str, family: Family, limit: int, is_over: Callable[[], bool]
) -> ErasedSlice:
    """The next rows of a family, up to `limit` of them: at least one, and on until the slice `is_over`."""
    statement = f"""DELETE FROM {family.table} WHERE ({family.key}) IN
        (SELECT {family.key} FROM {family.table} WHERE {family.found} LIMIT :limit)"""
    removed, has_more = 0, True
    for piece in pieces(limit, is_over):
        some = tx.run(statement, {"organization": organization_id, "limit": piece})
        removed, has_more = removed + some, some == piece
        if not has_more:
            break
    _note(tx, organization_id, {family.kind: removed})
    return ErasedSlice(removed, has_more)


def remove_messages(tx: Tx, organization_id: str, is_over: Callable[[], bool]) -> ErasedSlice:
    """The oldest messages, held ones first, with all that hangs on them; blobs that no other message shows. At least
    one, and on until the slice `is_over`: one may have a hundred times as many rows as another."""
    before, files, removed = usage.kept_bytes(tx, organization_id), list[str](), 0
    for freed in _delete_messages(tx, organization_id):
        files += freed
        removed += 1
        if is_over():
            break
    _note(
        tx,
        organization_id,
        {"messages": removed, "bytes": before - usage.kept_bytes(tx, organization_id)},
    )
    return ErasedSlice(removed, removed > 0, files)


def _delete_messages(tx: Tx, organization_id: str) -> Iterator[Sequence[str]]:
    """One after the other; what the caller removes of each after the commit."""
    oldest = f"ORDER BY id LIMIT {MESSAGES_AT_ONCE}"
    while held := tx.all(
        f"SELECT id FROM messages WHERE organization_id = ? AND {HELD} {oldest}", (organization_id,)
    ):
        for row in held:
            yield held_mail.delete(tx, row)
    while rows := tx.all(
        f"SELECT {columns(MessageRow)} FROM messages WHERE organization_id = ? AND {VISIBLE} {oldest}",
        (organization_id,),
    ):
        for row in rows:
            file = messages.delete(tx, MessageRow(*row))
            yield [file] if file else []


def remove_domains(tx: Tx, organization_id: str, but: Collection[str]) -> ErasedSlice:
    """The next domains, whose reports are gone, with their DKIM keys, unless another organization has registered the
    name too. `but`: names whose keys are the host's."""
    rows = tx.all(
        f"SELECT id, domain_name FROM domains WHERE {_OF_IT} LIMIT {DOMAINS_AT_ONCE}",
        {"organization": organization_id},
    )
    for domain_id, name in rows:
        tx.run("DELETE FROM domains WHERE id = ?", (domain_id,))
        others = tx.value("SELECT 1 FROM domains WHERE domain_name = ? AND status <> 'deleted'", (name,))
        if others is None and name not in but:
            tx.run("DELETE FROM dkim_keys WHERE domain_name = ?", (name,))
    _note(tx, organization_id, {"domains": len(rows)})
    return ErasedSlice(len(rows), len(rows) == DOMAINS_AT_ONCE)


def remove_inboxes(tx: Tx, organization_id: str, limit: int) -> ErasedSlice:
    """The next inboxes, in which nothing lies any more, with whom they wrote to, and their policies; their addresses
    rest as those of any inbox do.

    In a transaction that checks no references: of each inbox SQLite would read all messages of the host, as what is
    held stands in an index of its own."""
    rows = tx.all(
        f"""SELECT id, address, coalesce(deactivated_at, 0) FROM inboxes WHERE {_OF_IT}
            ORDER BY is_active, id LIMIT :limit""",  # the index's order: else each slice sorts all of them
        {"organization": organization_id, "limit": limit},
    )
    if not rows or _has_any(tx, organization_id):
        return ErasedSlice(0, False)
    ids = dump([inbox_id for inbox_id, *_ in rows])
    written_to = tx.run(
        f"""DELETE FROM correspondents WHERE (inbox_id, address, mode) IN
            (SELECT inbox_id, address, mode FROM correspondents WHERE inbox_id IN {each_of(":ids")} LIMIT :limit)""",
        {"ids": ids, "limit": limit},
    )
    if written_to == limit:
        _note(tx, organization_id, {"correspondents": written_to})
        return ErasedSlice(written_to, True)
    resting_addresses.rest(tx, [(address, at_ms + QUARANTINE_MS) for _, address, at_ms in rows])
    tx.run(f"DELETE FROM policies WHERE owner_id IN {each_of('?')}", (ids,))
    tx.run(f"DELETE FROM inboxes WHERE id IN {each_of('?')}", (ids,))
    search_tail.forget_inboxes(tx, [inbox_id for inbox_id, *_ in rows])
    _note(tx, organization_id, {"inboxes": len(rows), "correspondents": written_to})
    return ErasedSlice(len(rows), len(rows) == limit)


def _has_any(tx: Tx, organization_id: str) -> bool:
    """Is there still something that refers to its inboxes?"""
    of_it = {"organization": organization_id}
    tables = ("threads", "drafts", "api_keys")
    asked = [f"EXISTS (SELECT 1 FROM {table} WHERE {_OF_IT})" for table in tables]
    asked += [f"EXISTS (SELECT 1 FROM messages WHERE {_OF_IT} AND {seen})" for seen in (VISIBLE, HELD)]
    return bool(tx.value(f"SELECT {' OR '.join(asked)}", of_it))


# Behind ---------------------------------------------------------------------------------------------


def finish(tx: Tx, organization_id: str, event_id: str, records: Records) -> dict[str, int] | None:
    """Remove the organization itself, and leave the act in the operator's log; what has gone, by kind. None where
    something is left, so that the slices begin anew. `event_id`: for an event that is emptied."""
    found = standing(tx, organization_id)
    own = organizations.own(tx)
    if found is None or own is None:
        return None
    of_it = {"organization": organization_id}
    left = content(tx, organization_id)
    if any(count for kind, count in left.items() if kind != "bytes"):
        return None
    _empty_last_event(tx, organization_id, own, event_id)
    for table in _COUNTERS:
        tx.run(f"DELETE FROM {table} WHERE {_OF_IT}", of_it)
    tx.run("DELETE FROM policies WHERE owner_id = ?", (organization_id,))
    tx.run("DELETE FROM organizations WHERE id = ?", (organization_id,))
    search_tail.forget_organization(tx, organization_id)
    records.record(tx, own, Act.ORGANIZATION_DELETED, OPERATOR, organization_id, found.erased)
    return found.erased


def _empty_last_event(tx: Tx, organization_id: str, own: str, event_id: str) -> None:
    emptied: int | None = tx.value(
        """UPDATE events SET id = ?, organization_id = ?, inbox_id = NULL, message_id = NULL, type = ?, data = '{}'
           WHERE organization_id = ? RETURNING seq""",
        (event_id, own, EMPTIED, organization_id),
    )
    tx.run("DELETE FROM webhook_deliveries WHERE event_seq = ?", (emptied,))


def _note(tx: Tx, organization_id: str, removed: Mapping[str, int]) -> None:
    if not any(removed.values()):
        return
    found = standing(tx, organization_id)
    if found is None:
        return
    erased = {
        **found.erased,
        **{kind: found.erased.get(kind, 0) + count for kind, count in removed.items() if count},
    }
    tx.run("UPDATE organizations SET erased = ? WHERE id = ?", (dump(erased), organization_id))
