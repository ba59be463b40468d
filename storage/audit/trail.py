"""The audit log: who did what, one row in the transaction of each act, one chain of hashes for each organization
(storage/audit/chain.py).

The number and the hash of the last row are read in the transaction that writes the next one. One transaction writes at
a time, whatever process it runs in, so no chain forks; the primary key would refuse a second row of one number.

No words of mail are here, and no address: what a row says stays for its time, though what it is about is deleted.
Contents and addresses stand as hashes (`content_hash`, `address_hash`).

A command that runs where it can't read the master key leaves its row unsealed in `audit_waiting`, in the transaction of
its act; the daemon puts it into the chain (`seal_waiting`) and says so in its details.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from hmac import HMAC
from typing import Any, NamedTuple, Protocol

from storage.audit.acts import RETENTION, Act, Actor
from storage.audit.chain import (
    GENESIS,
    AuditRow,
    chain_key,
    details_text,
    hash_of,
    mac_of,
    seal_details,
)
from storage.clock import Clock, iso
from storage.engine.dialect import each_of, octets
from storage.engine.tx import Tx
from storage.records import columns, dump, load

WALK = 10_000  # positions that one look passes over at most
BEFORE_ALL = -(2**63)  # a number that is below every row's, whoever wrote it
KEPT_MACS = 1000
NO_DETAILS: Mapping[str, Any] = {}
UNREADABLE: Mapping[str, Any] = {"unreadable": True}

_HEAD = "SELECT seq, hash, created_at FROM audit WHERE organization_id = ? ORDER BY seq DESC LIMIT 1"
_INSERT = f"INSERT INTO audit ({columns(AuditRow)}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_TEXTS = ", ".join(octets(name) for name in ("type", "actor", "subject", "request_id", "details"))
_STORED = f"SELECT seq, created_at, {_TEXTS}, hash FROM audit WHERE organization_id = :organization"
_IS_WANTED = f"(:types IS NULL OR type IN {each_of(':types')}) AND (:actor IS NULL OR actor = :actor)"
_PAGE = f"{_STORED} AND seq > :after AND seq <= :until AND {_IS_WANTED} ORDER BY seq LIMIT :limit"
_PAGE_BACK = f"{_STORED} AND seq <= :last AND seq > :down AND {_IS_WANTED} ORDER BY seq DESC LIMIT :limit"
_LAST = "SELECT seq FROM audit WHERE organization_id = ? AND seq < ? ORDER BY seq DESC LIMIT 1"
_AS_STORED = f"""SELECT seq, created_at, {_TEXTS}, hash FROM audit
    WHERE organization_id = ? AND seq > ? ORDER BY seq LIMIT ?"""
_WAITING_TEXTS = ", ".join(
    octets(name) for name in ("organization_id", "type", "actor", "subject", "details")
)
_WAITING = f"SELECT seq, created_at, {_WAITING_TEXTS} FROM audit_waiting ORDER BY seq LIMIT ?"
_TOLD_OF = """SELECT details FROM {} WHERE organization_id = :organization AND type = :type AND subject = :subject
    ORDER BY seq DESC LIMIT 1"""
_DELETE_FIRST = """DELETE FROM audit WHERE (organization_id, seq) IN
    (SELECT organization_id, seq FROM audit WHERE organization_id = ? ORDER BY seq LIMIT ?)"""
_LAST_ACT = "SELECT created_at FROM audit WHERE organization_id = ? AND type <> ? ORDER BY seq DESC LIMIT 1"
_NEXT_CHAIN = "SELECT min(organization_id) FROM audit WHERE organization_id > ?"
_FIRST = "SELECT seq FROM audit WHERE organization_id = ? AND seq > ? ORDER BY seq LIMIT 1"


class ChainHead(NamedTuple):
    """The end of a chain. `created_at`: Unix milliseconds, None where there is no row."""

    seq: int
    hash: bytes
    created_at: int | None


class Records(Protocol):
    """What acts are told to, in their transactions."""

    def record(
        self,
        tx: Tx,
        organization_id: str,
        act: Act,
        actor: Actor,
        subject: str | None = None,
        details: Mapping[str, Any] = NO_DETAILS,
    ) -> None:
        """One row of the organization's log. `subject`: the id of what it was done to. `details`: JSON values, numbers
        whole."""


class AuditRecorder:
    """Writes rows into the chains. `audit_key`: the server's (server_secrets.AUDIT)."""

    def __init__(self, audit_key: bytes, clock: Clock) -> None:
        self._key = audit_key
        self._clock = clock
        self._macs: dict[str, HMAC] = {}  # of organizations, made of the audit key

    def record(
        self,
        tx: Tx,
        organization_id: str,
        act: Act,
        actor: Actor,
        subject: str | None = None,
        details: Mapping[str, Any] = NO_DETAILS,
    ) -> None:
        """As Records."""
        now_ms = self._clock.now_ms()
        self._append(tx, organization_id, now_ms, act.value, actor, subject, _told(actor, details))

    def seal_waiting(self, tx: Tx, limit: int) -> int:
        """Put the oldest rows that wait into their chains; how many."""
        rows = tx.all(_WAITING, (limit,))
        for seq, created_at, *texts in rows:
            organization_id, type, actor, subject, details = map(_replaced, texts)
            said = details_text({**_read(details), "wasUnsealed": True})
            at_ms = created_at if _is_a_time(created_at) else self._clock.now_ms()
            self._append(tx, organization_id, at_ms, type, Actor(actor), subject, said)
            tx.run("DELETE FROM audit_waiting WHERE seq = ?", (seq,))
        return len(rows)

    def prune(self, tx: Tx, organization_id: str, before_ms: int, limit: int) -> int:
        """Remove rows from the front of the chain, up to the first that is younger, and leave a seal of them at its
        end; how many rows. The last one stays; of an organization that was deleted the chain goes as a whole, once
        nothing but seals is younger."""
        if _is_over(tx, organization_id, before_ms):
            return tx.run(_DELETE_FIRST, (organization_id, limit))
        rows = tx.all(
            "SELECT seq, hash, created_at FROM audit WHERE organization_id = ? ORDER BY seq LIMIT ?",
            (organization_id, limit + 1),
        )
        old: list[tuple[int, bytes]] = []
        for seq, hash, created_at in rows[: min(limit, len(rows) - 1)] if rows else ():
            if created_at >= before_ms:
                break
            old.append((seq, hash))
        if not old:
            return 0
        through, hash = old[-1]
        tx.run("DELETE FROM audit WHERE organization_id = ? AND seq <= ?", (organization_id, through))
        told = seal_details(through, hash, len(old))
        self.record(tx, organization_id, Act.AUDIT_SEALED, RETENTION, None, told)
        return len(old)

    def _append(
        self,
        tx: Tx,
        organization_id: str,
        created_at: int,
        type: str,
        actor: Actor,
        subject: str | None,
        details: str,
    ) -> None:
        last = tx.one(_HEAD, (organization_id,))
        seq, previous = (1, GENESIS) if last is None else (last[0] + 1, last[1])
        row = AuditRow(
            organization_id, seq, created_at, type, actor.name, subject, actor.request_id, details, b""
        )
        tx.run(_INSERT, (*row[:-1], hash_of(self._mac(organization_id), previous, row)))

    def _mac(self, organization_id: str) -> HMAC:
        mac = self._macs.get(organization_id)
        if mac is None:
            if len(self._macs) >= KEPT_MACS:
                self._macs.clear()
            mac = self._macs[organization_id] = mac_of(chain_key(self._key, organization_id))
        return mac


class Unsealed:
    """Records for a process that can't read the audit key: rows wait for one that can."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def record(
        self,
        tx: Tx,
        organization_id: str,
        act: Act,
        actor: Actor,
        subject: str | None = None,
        details: Mapping[str, Any] = NO_DETAILS,
    ) -> None:
        """As Records."""
        tx.run(
            """INSERT INTO audit_waiting (organization_id, created_at, type, actor, subject, details)
               VALUES (?, ?, ?, ?, ?, ?)""",
            (organization_id, self._clock.now_ms(), act.value, actor.name, subject, _told(actor, details)),
        )


def _told(actor: Actor, details: Mapping[str, Any]) -> str:
    return details_text(details if actor.tool is None else {**details, "tool": actor.tool})


class AuditPage(NamedTuple):
    """What one look has found, and the number behind which the next one goes on. `is_end`: nothing is there, yet."""

    rows: list[AuditRow]
    position: int
    is_end: bool


def page(
    tx: Tx, organization_id: str, after: int, *, limit: int, types: Sequence[str] | None, actor: str | None
) -> AuditPage:
    """Up to `limit` rows behind that number, oldest first; none, where WALK numbers hold none that is wanted.

    A row that somebody rewrote is told as far as it can be read; `maild audit verify` says that he did."""
    end = head(tx, organization_id).seq
    first: int | None = tx.value(_FIRST, (organization_id, after))
    if first is None:
        return AuditPage([], after, True)
    until = first + WALK - 1
    within = {"after": after, "until": until, "limit": limit}
    found = _found(tx, _PAGE, organization_id, types, actor, within)
    if len(found) == limit:
        return AuditPage(found, found[-1].seq, False)
    return AuditPage(found, min(until, end), until >= end)


def page_back(
    tx: Tx, organization_id: str, before: int, *, limit: int, types: Sequence[str] | None, actor: str | None
) -> AuditPage:
    """Up to `limit` rows in front of that number, newest first; none, where WALK numbers hold none that is wanted.
    `position`: the number in front of which the next look goes on."""
    last: int | None = tx.value(_LAST, (organization_id, before))
    if last is None:
        return AuditPage([], before, True)
    within = {"last": last, "down": last - WALK, "limit": limit}
    found = _found(tx, _PAGE_BACK, organization_id, types, actor, within)
    return AuditPage(found, found[-1].seq if len(found) == limit else last - WALK + 1, False)


def _found(
    tx: Tx,
    statement: str,
    organization_id: str,
    types: Sequence[str] | None,
    actor: str | None,
    within: Mapping[str, int],
) -> list[AuditRow]:
    wanted = {"types": None if types is None else dump(list(types)), "actor": actor}
    rows = tx.all(statement, {"organization": organization_id, **wanted, **within})
    return [_readable(_row_of(organization_id, row, _replaced)) for row in rows]


def _readable(row: AuditRow) -> AuditRow:
    """The row, whoever rewrote it, as something that can be shown."""
    if not _is_a_time(row.created_at):
        row = row._replace(created_at=0)
    return row._replace(details=dump(UNREADABLE)) if _read(row.details) is UNREADABLE else row


def head(tx: Tx, organization_id: str) -> ChainHead:
    """The end of the organization's chain; number 0 and 32 zero octets where it has no row."""
    row = tx.one(_HEAD, (organization_id,))
    return ChainHead(0, GENESIS, None) if row is None else ChainHead(*row)


def as_stored(tx: Tx, organization_id: str, after: int, limit: int) -> list[AuditRow]:
    """Rows behind that number for a check, whatever their octets are: what is no UTF-8 stands as lone surrogates."""
    found = tx.all(_AS_STORED, (organization_id, after, limit))
    return [_row_of(organization_id, row, _text) for row in found]


def _row_of(organization_id: str, row: tuple[Any, ...], text: Callable[[bytes | None], Any]) -> AuditRow:
    """`text`: makes words of the octets of a column."""
    seq, created_at, *texts, hash = row
    type, actor, subject, request_id, details = map(text, texts)
    return AuditRow(organization_id, seq, created_at, type, actor, subject, request_id, details, hash)


def _text(stored: bytes | None) -> Any:
    return None if stored is None else stored.decode("utf-8", "surrogateescape")


def organizations(tx: Tx) -> list[str]:
    """Every organization that exists or has rows, in the order of their ids."""
    return sorted({row[0] for row in tx.all("SELECT id FROM organizations")}.union(_chains(tx)))


def _chains(tx: Tx) -> list[str]:
    """Every organization that has rows."""
    found: list[str] = []
    last: str | None = tx.value(_NEXT_CHAIN, ("",))
    while last is not None:
        found.append(last)
        last = tx.value(_NEXT_CHAIN, (last,))
    return found


def has_chains(tx: Tx) -> bool:
    """Has any organization rows that are sealed?"""
    return bool(tx.value(_NEXT_CHAIN, ("",)))


def is_known(tx: Tx, organization_id: str) -> bool:
    """Does the organization exist, or has it rows?"""
    found = tx.value(
        "SELECT 1 WHERE EXISTS (SELECT 1 FROM organizations WHERE id = :id)"
        " OR EXISTS (SELECT 1 FROM audit WHERE organization_id = :id)",
        {"id": organization_id},
    )
    return found is not None


def told_of(tx: Tx, organization_id: str, act: Act, subject: str) -> Mapping[str, Any] | None:
    """The details of the last such act, sealed or not; None where there is none."""
    of_it = {"organization": organization_id, "type": act.value, "subject": subject}
    details: str | None = tx.value(_TOLD_OF.format("audit"), of_it) or tx.value(
        _TOLD_OF.format("audit_waiting"), of_it
    )
    return None if details is None else _read(details)


def count_waiting(tx: Tx) -> int:
    """How many rows no chain has yet."""
    count: int = tx.value("SELECT count(*) FROM audit_waiting")
    return count


def is_waiting(tx: Tx) -> bool:
    """Is there a row that no chain has yet?"""
    return tx.value("SELECT 1 FROM audit_waiting LIMIT 1") is not None


def prunable(tx: Tx, before_ms: int) -> list[str]:
    """The organizations whose chains begin with a row that is older, and go on behind it; and those that were deleted,
    whose chains are over."""
    return [one for one in _chains(tx) if _begins_before(tx, one, before_ms) or _is_over(tx, one, before_ms)]


def _begins_before(tx: Tx, organization_id: str, before_ms: int) -> bool:
    rows = tx.all(
        "SELECT created_at FROM audit WHERE organization_id = ? ORDER BY seq LIMIT 2", (organization_id,)
    )
    return len(rows) == 2 and rows[0][0] < before_ms


def _is_over(tx: Tx, organization_id: str, before_ms: int) -> bool:
    """Is the organization gone, and everything of its log but seals older?"""
    if tx.one("SELECT 1 FROM organizations WHERE id = ?", (organization_id,)):
        return False
    last_ms: int | None = tx.value(_LAST_ACT, (organization_id, Act.AUDIT_SEALED.value))
    return last_ms is None or last_ms < before_ms


def content_hash(sha256: bytes) -> str:
    """Of stored bytes, in the form of `details`."""
    return f"sha256:{sha256.hex()}"


def address_hash(organization_id: str, address: str) -> str:
    """Of an address in its comparison form: what it was can be asked with the address in hand, and not be read."""
    return content_hash(
        hashlib.sha256(f"{organization_id}\n{address}".encode("utf-8", "surrogatepass")).digest()
    )


def addresses_hash(organization_id: str, addresses: Sequence[str]) -> str:
    """Of several, whatever their order."""
    return address_hash(organization_id, "\n".join(sorted(addresses)))


def _replaced(stored: bytes | None) -> Any:
    return None if stored is None else stored.decode("utf-8", "replace")


def _read(details: str) -> Mapping[str, Any]:
    """What a row says that somebody may have rewritten, as he may one that waits unsealed."""
    try:
        found = load(details)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else UNREADABLE


def _is_a_time(at_ms: int) -> bool:
    try:
        return bool(iso(at_ms))
    except (ValueError, OverflowError, OSError):
        return False
