"""`maild audit verify`: are the chains of the audit log whole, and have they still a head that was noted elsewhere? It
changes nothing and may run beside a daemon."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from storage import server_secrets
from storage.audit import trail
from storage.audit.acts import Act
from storage.audit.chain import AuditRow, ChainReport, chain_key, told_head
from storage.audit.chain import check as check_chain
from storage.data_folder import DataFolder
from storage.engine import migrate
from storage.engine.failures import StoreFailure
from storage.engine.tx import Tx
from storage.sealing import Sealer, read_master_key
from storage.upkeep import rotation

SLICE_ROWS = 5000


class Unverifiable(Exception):
    """It could not be looked; the text says why."""


class NotedHead(NamedTuple):
    """A hash that was noted elsewhere, as 64 hexadecimal digits, and whether it was met."""

    hash: str
    met: set[str]


def verify(
    folder: DataFolder, key_file: Path, organization_id: str | None, head: str | None
) -> dict[str, Any]:
    """`{"ok", "organizations": [{"organizationId", "rows", "first", "last", "head", "brokenSeq", "fault"}], "waiting",
    "headFound"}`; `headFound` is null where none was given. DataFolderError, StoreError, SealError, Unverifiable,
    KeyError for an organization that does not exist."""
    folder.check_store()
    noted = None if head is None else NotedHead(head, set())
    conn = migrate.connect(folder.database, read_only=True)
    try:
        tx = Tx(conn)
        key = audit_key(tx, key_file)
        names = [organization_id] if organization_id is not None else trail.organizations(tx)
        if organization_id is not None and not trail.is_known(tx, organization_id):
            raise KeyError(f"organization {organization_id}")
        told = [_verified(tx, key, name, noted) for name in names]
        waiting = trail.count_waiting(tx)
    except StoreFailure as error:
        raise Unverifiable(f"{folder.database}: {error}; run 'maild check'") from error
    finally:
        conn.close()
    found = None if noted is None else bool(noted.met)
    return {
        "ok": found is not False and all(one["brokenSeq"] is None for one in told),
        "organizations": told,
        "waiting": waiting,
        "headFound": found,
    }


def audit_key(tx: Tx, key_file: Path) -> bytes:
    """The key of all chains. SealError, Unverifiable."""
    master_key = read_master_key(key_file)
    rotation.require(tx, master_key)
    sealed = server_secrets.sealed(tx, server_secrets.AUDIT)
    if sealed is None:
        raise Unverifiable(
            "the store has rows of the audit log and not their key: restore that from a backup before the daemon"
            " starts, which would make another"
            if trail.has_chains(tx)
            else "the store has no audit key yet: the daemon makes it when it starts"
        )
    return Sealer(master_key).open(sealed, server_secrets.context(server_secrets.AUDIT))


def _verified(tx: Tx, key: bytes, organization_id: str, noted: NotedHead | None) -> dict[str, Any]:
    with migrate.one_state(tx):  # rows may be removed from the front meanwhile
        rows = _noticing(_rows(tx, organization_id), noted)
        report = check_chain(chain_key(key, organization_id), rows)
    return _told(organization_id, report)


def _rows(tx: Tx, organization_id: str) -> Iterator[AuditRow]:
    after = trail.BEFORE_ALL
    while some := trail.as_stored(tx, organization_id, after, SLICE_ROWS):
        yield from some
        after = some[-1].seq


def _noticing(rows: Iterable[AuditRow], noted: NotedHead | None) -> Iterator[AuditRow]:
    for row in rows:
        if noted is not None and noted.hash in _heads(row):
            noted.met.add(row.organization_id)
        yield row


def _heads(row: AuditRow) -> tuple[str, ...]:
    """The row's own hash, and the one that the chain had before its key was lost."""
    told = told_head(row.details) if row.type == Act.AUDIT_KEY_LOST else None
    return (row.hash.hex(), told[1].hex()) if told is not None else (row.hash.hex(),)


def _told(organization_id: str, report: ChainReport) -> dict[str, Any]:
    return {
        "organizationId": organization_id,
        "rows": report.rows,
        "first": report.first,
        "last": report.last,
        "head": report.head.hex(),
        "brokenSeq": report.broken.seq if report.broken else None,
        "fault": report.broken.fault if report.broken else None,
    }
