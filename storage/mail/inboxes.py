"""Inboxes and the addresses they hold. `address` is the comparison key: lower case, A-label domain."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from storage import counts
from storage.agents import claims
from storage.agents.policies import HAS_WORK, LOOKS_FIRST
from storage.engine.dialect import by_index, each_of, greatest, unindexed
from storage.engine.tx import Tx
from storage.mail import resting_addresses, withdrawal
from storage.records import InboxRow, OrganizationRow, columns, dump
from storage.visibility import VISIBLE

QUARANTINE_MS = 90 * 86_400_000
_SELECT = f"SELECT {columns(InboxRow)} FROM inboxes"
_ACTIVE = f"{_SELECT} WHERE id = ? AND organization_id = ? AND is_active = 1"
_SENDER = f"""SELECT {columns(OrganizationRow, "o")}, {columns(InboxRow, "i")} FROM organizations o
    LEFT JOIN inboxes i ON i.id = ? AND i.organization_id = o.id AND i.is_active = 1 WHERE o.id = ?"""
_ORGANIZATION_COLUMNS = len(OrganizationRow._fields)
_LATEST = greatest("coalesce(last_message_at, 0)", "?")
_RECEIVED = f"""UPDATE inboxes SET unread_count = unread_count + 1, last_message_at = {_LATEST}
    WHERE id = ? AND is_active = 1 RETURNING {HAS_WORK}"""
_RELEASED = f"""UPDATE inboxes SET unread_count = unread_count + 1, last_message_at = {_LATEST}
    WHERE id = ? RETURNING is_active AND {HAS_WORK}"""
_HAS_VERIFIED = """SELECT EXISTS (SELECT 1 FROM domains
    WHERE domain_name = :domain AND organization_id = :organization AND status = 'verified')"""
_RECIPIENT = f"i.id, i.organization_id, i.address, {LOOKS_FIRST}, i.is_active"  # as RecipientInbox
_THAT_SENT = """JOIN inboxes i ON i.id = m.inbox_id JOIN organizations o ON o.id = i.organization_id
    WHERE m.bounce_token = ? AND i.domain = ? AND o.deleted_at IS NULL"""
_CLOSED = "is_active = 0, withdraws_mail = 1, deactivated_at = :now_ms, updated_at = :now_ms"
_OF_OTHERS = f"""SELECT id FROM inboxes {by_index("inboxes_by_domain")}
    WHERE domain = :domain AND is_active = 1 AND organization_id <> :organization AND is_operator = 0 LIMIT :limit"""
_SENT = f"UPDATE inboxes SET last_message_at = {_LATEST} WHERE id = ?"


class AddressTaken(Exception):
    """A live inbox has the address."""


class AddressInCooldown(Exception):
    """A deactivated inbox had it less than 90 days ago."""

    def __init__(self, until_ms: int) -> None:
        super().__init__("address in quarantine")
        self.until_ms = until_ms


class RecipientInbox(NamedTuple):
    """What accepting mail needs of an inbox. `looks_first`: its policy asks what may be an attack in its mail. Not
    `is_active`: it takes no mail any more, or none about a message that is deleted, but reports of it count."""

    inbox_id: str
    organization_id: str
    address: str
    looks_first: int = 0
    is_active: int = 1


def create(
    tx: Tx,
    inbox_id: str,
    now_ms: int,
    *,
    organization_id: str,
    username: str,
    domain: str,
    name: str | None,
    agent_id: str | None,
    metadata: str,
    is_operator: bool = False,
) -> InboxRow:
    """Write an active inbox and answer its row; AddressTaken, AddressInCooldown. `metadata`: a JSON object."""
    address = f"{username}@{domain}"
    _refuse_taken(tx, address, domain, organization_id, now_ms)
    row = tx.one(
        f"""INSERT INTO inboxes (id, organization_id, address, username, domain, name, agent_id, metadata,
              is_operator, created_at, updated_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING {columns(InboxRow)}""",
        (
            inbox_id,
            organization_id,
            address,
            username,
            domain,
            name,
            agent_id,
            metadata,
            int(is_operator),
            now_ms,
            now_ms,
        ),
    )
    assert row is not None
    return InboxRow(*row)


def _refuse_taken(tx: Tx, address: str, domain: str, organization_id: str, now_ms: int) -> None:
    if tx.one("SELECT 1 FROM inboxes WHERE address = ? AND is_active = 1", (address,)):
        raise AddressTaken(address)
    # An organization that verified a custom domain after another one need not wait for the names of that one.
    is_verified = bool(tx.value(_HAS_VERIFIED, {"domain": domain, "organization": organization_id}))
    deactivated_at = tx.value(
        """SELECT max(deactivated_at) FROM inboxes WHERE address = :address AND is_active = 0
             AND (organization_id = :organization OR NOT :is_verified)""",
        {"address": address, "organization": organization_id, "is_verified": is_verified},
    )
    until_ms = 0 if deactivated_at is None else deactivated_at + QUARANTINE_MS
    if not is_verified:
        until_ms = max(until_ms, resting_addresses.until(tx, address) or 0)
    if until_ms > now_ms:
        raise AddressInCooldown(until_ms)


def get_active(tx: Tx, organization_id: str, inbox_id: str) -> InboxRow | None:
    """The organization's inbox, or None; a deactivated one is not found."""
    row = tx.one(_ACTIVE, (inbox_id, organization_id))
    return InboxRow(*row) if row else None


def names(tx: Tx, organization_id: str, inbox_ids: Sequence[str]) -> dict[str, str]:
    """Id → address of those of these inboxes that the organization has, deactivated ones too."""
    rows = tx.all(
        f"""SELECT id, address FROM inboxes WHERE id IN {each_of("?")} AND {unindexed("organization_id")} = ?""",
        (dump(list(inbox_ids)), organization_id),
    )
    return dict(rows)


def sender(tx: Tx, organization_id: str, inbox_id: str) -> tuple[OrganizationRow, InboxRow | None] | None:
    """The organization with its inbox, as `get_active` finds it; None without the organization."""
    row = tx.one(_SENDER, (inbox_id, organization_id))
    if row is None:
        return None
    organization, inbox = row[:_ORGANIZATION_COLUMNS], row[_ORGANIZATION_COLUMNS:]
    return OrganizationRow(*organization), InboxRow(*inbox) if inbox[0] is not None else None


def list_inboxes(
    tx: Tx,
    organization_id: str,
    *,
    limit: int,
    before: str | None = None,
    is_active: bool = True,
    inbox_id: str | None = None,
    key: str | None = None,
) -> list[InboxRow]:
    """Newest first, older than `before`; `inbox_id` confines it to a bound key's inbox, `key` to those whose mail comes
    to that address (its comparison key, with or without a tag)."""
    of_address = f"address = :address AND {unindexed('organization_id')}"
    # `is_active` is a constant, since each index of addresses is of the active ones, or of the others.
    rows = tx.all(
        f"""{_SELECT} WHERE {"organization_id" if key is None else of_address} = :organization
            AND is_active = {int(is_active)}
            AND (:before IS NULL OR id < :before) AND (:inbox IS NULL OR id = :inbox)
            ORDER BY id DESC LIMIT :limit""",
        {
            "organization": organization_id,
            "before": before,
            "inbox": inbox_id,
            "address": None if key is None else _without_tag(key),
            "limit": limit,
        },
    )
    return [InboxRow(*row) for row in rows]


def count_active(tx: Tx, organization_id: str) -> int:
    """The organization's inboxes, but for deactivated ones."""
    return counts.of(tx, organization_id).inboxes


def without_domain(tx: Tx, shared_domains: Collection[str], limit: int) -> list[tuple[str, int]]:
    """Domains at which there are active inboxes though they are not shared, nor was their organization ever to have
    them: each with how many, most first. It reads all inboxes."""
    rows = tx.all(
        f"""SELECT domain, count(*) FROM inboxes i
            WHERE is_active = 1 AND domain NOT IN {each_of(":shared")} AND NOT EXISTS
              (SELECT 1 FROM domains d WHERE d.organization_id = i.organization_id AND d.domain_name = i.domain)
            GROUP BY domain ORDER BY count(*) DESC, domain LIMIT :limit""",
        {"shared": dump(list(shared_domains)), "limit": limit},
    )
    return [(domain, count) for domain, count in rows]


def mailbox(tx: Tx, address: str) -> RecipientInbox | None:
    """The active inbox of exactly this address, or None; plus-addressing is the caller's matter."""
    row = tx.one(f"SELECT {_RECIPIENT} FROM inboxes i WHERE i.address = ? AND i.is_active = 1", (address,))
    return RecipientInbox(*row) if row else None


def operator_mailbox(tx: Tx) -> RecipientInbox | None:
    """The inbox that receives postmaster@ and abuse@ of every domain served (RFC 5321 §4.5.1), or None."""
    row = tx.one(f"SELECT {_RECIPIENT} FROM inboxes i WHERE i.is_operator = 1 AND i.is_active = 1")
    return RecipientInbox(*row) if row else None


def mailbox_by_bounce_token(tx: Tx, token: str, domain: str) -> RecipientInbox | None:
    """The inbox, active or not, whose message went out with the envelope sender `b+<token>@domain`, or None, also where
    its organization is being deleted. Of a message that is deleted it takes reports alone."""
    row = tx.one(f"SELECT {_RECIPIENT} FROM messages m {_THAT_SENT}", (token, domain))
    if row:
        return RecipientInbox(*row)
    row = tx.one(f"SELECT {_RECIPIENT} FROM deleted_mail m {_THAT_SENT}", (token, domain))
    return RecipientInbox(*row)._replace(is_active=0) if row else None


def received(tx: Tx, inbox_id: str, now_ms: int) -> bool | None:
    """One more unread message: is it work (storage.agents.work)? None when the inbox was deactivated meanwhile."""
    row = tx.one(_RECEIVED, (now_ms, inbox_id))
    return None if row is None else bool(row[0])


def released(tx: Tx, inbox_id: str, now_ms: int) -> bool:
    """One more unread message, which came in earlier and was held: is it work now? Not in an inbox that was deactivated
    meanwhile."""
    return bool(tx.value(_RELEASED, (now_ms, inbox_id)))


def sent(tx: Tx, inbox_id: str, now_ms: int) -> None:
    """Note a send at `now_ms`: `last_message_at` never goes back."""
    tx.run(_SENT, (now_ms, inbox_id))


def update(
    tx: Tx,
    organization_id: str,
    inbox_id: str,
    now_ms: int,
    *,
    name: str | None = None,
    is_named: bool = False,
    metadata: str | None = None,
) -> InboxRow | None:
    """Change what is given, and answer the row; None when the organization does not have such an active inbox.

    `is_named`: `name` is given, and may be None.
    """
    row = tx.one(
        f"""UPDATE inboxes SET name = CASE WHEN :is_named THEN :name ELSE name END,
              metadata = coalesce(:metadata, metadata), updated_at = :now_ms
            WHERE id = :id AND organization_id = :organization AND is_active = 1 RETURNING {columns(InboxRow)}""",
        {
            "is_named": int(is_named),
            "name": name,
            "metadata": metadata,
            "now_ms": now_ms,
            "id": inbox_id,
            "organization": organization_id,
        },
    )
    return InboxRow(*row) if row else None


def deactivate(
    tx: Tx, organization_id: str, inbox_id: str, new_id: Callable[[str], str], now_ms: int
) -> int | None:
    """From this commit on the inbox neither receives nor sends, what is queued included; what waits in it is withdrawn
    with it or, where that is much, behind it (storage/mail/withdrawal.py).

    Answers when its address is free again (Unix milliseconds); None when the organization does not have such an
    active inbox. `new_id`: makes an id.
    """
    changed = tx.run(
        f"""UPDATE inboxes SET {_CLOSED}
           WHERE id = :id AND organization_id = :organization AND is_active = 1""",
        {"now_ms": now_ms, "id": inbox_id, "organization": organization_id},
    )
    if not changed:
        return None
    withdrawal.note_closed(tx)
    withdrawal.withdraw_few(tx, organization_id, inbox_id, new_id, now_ms)
    claims.end_leases_of_inbox(tx, inbox_id, now_ms)
    return now_ms + QUARANTINE_MS


def was_deactivated(tx: Tx, address: str) -> bool:
    """Had an inbox this address, which takes no mail any more?"""
    return tx.one("SELECT 1 FROM inboxes WHERE address = ? AND is_active = 0", (address,)) is not None


def inactive_among(tx: Tx, inbox_ids: Collection[str]) -> set[str]:
    """Those of these inboxes that were deactivated."""
    rows = tx.all(
        f"SELECT id FROM inboxes WHERE id IN {each_of('?')} AND is_active = 0", (dump(list(inbox_ids)),)
    )
    return {row[0] for row in rows}


def were_made(tx: Tx, domain: str, organization_id: str) -> bool:
    """Has the organization ever made an inbox on the domain?"""
    ever = by_index("inboxes_ever_by_domain")
    made = f"SELECT 1 FROM inboxes {ever} WHERE domain = ? AND organization_id = ?"
    return tx.one(made, (domain, organization_id)) is not None


def of_others(tx: Tx, domain: str, organization_id: str, limit: int) -> list[str]:
    """Active inboxes that other organizations have on the domain, so many at most. Operator inboxes stay."""
    rows = tx.all(_OF_OTHERS, {"domain": domain, "organization": organization_id, "limit": limit})
    return [inbox_id for (inbox_id,) in rows]


def evict(tx: Tx, inbox_ids: Collection[str], now_ms: int) -> list[tuple[str, str]]:
    """Deactivate those of these inboxes that are active, whose waiting mail is withdrawn behind the commit;
    (organization, inbox) of each."""
    rows = tx.all(
        f"""UPDATE inboxes SET {_CLOSED} WHERE id IN {each_of(":ids")} AND is_active = 1
           RETURNING organization_id, id""",
        {"ids": dump(list(inbox_ids)), "now_ms": now_ms},
    )
    if rows:
        withdrawal.note_closed(tx)
    for _, inbox_id in rows:
        claims.end_leases_of_inbox(tx, inbox_id, now_ms)
    return [(row[0], row[1]) for row in rows]


_OWNERS = {
    "inbox": "SELECT id FROM inboxes WHERE id = ? AND organization_id = ?",
    "message": f"SELECT inbox_id FROM messages WHERE id = ? AND organization_id = ? AND {VISIBLE}",
    "thread": "SELECT inbox_id FROM threads WHERE id = ? AND organization_id = ?",
    "draft": "SELECT inbox_id FROM drafts WHERE id = ? AND organization_id = ?",
    "attachment": f"""SELECT m.inbox_id FROM attachments a JOIN messages m ON m.id = a.message_id
                     WHERE a.id = ? AND m.organization_id = ? AND m.{VISIBLE}""",
    "claim": "SELECT inbox_id FROM claims WHERE id = ? AND organization_id = ?",
}


def owner_of(tx: Tx, kind: str, organization_id: str, resource_id: str) -> str | None:
    """The inbox that the resource belongs to; None when the organization does not have it. `kind`: a key of _OWNERS."""
    inbox_id: str | None = tx.value(_OWNERS[kind], (resource_id, organization_id))
    return inbox_id


def foreign(tx: Tx, organization_id: str, keys: Collection[str]) -> frozenset[str]:
    """Which of these comparison keys are no address of an active inbox of the organization, tags apart."""
    plain = {key: _without_tag(key) for key in keys}
    rows = tx.all(
        f"""SELECT address FROM inboxes
            WHERE address IN {each_of("?")} AND is_active = 1 AND {unindexed("organization_id")} = ?""",
        (dump(list(set(plain.values()))), organization_id),
    )
    ours = {address for (address,) in rows}
    return frozenset(key for key, address in plain.items() if address not in ours)


def _without_tag(key: str) -> str:
    local, at, domain = key.rpartition("@")
    return f"{local.partition('+')[0] or local}{at}{domain}"


def address_of(tx: Tx, organization_id: str, inbox_id: str) -> str | None:
    """The address of an inbox, active or not."""
    address: str | None = tx.value(
        "SELECT address FROM inboxes WHERE id = ? AND organization_id = ?", (inbox_id, organization_id)
    )
    return address
