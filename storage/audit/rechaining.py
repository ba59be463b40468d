"""An organization's chain under another audit key, where the one before is lost.

The rows stay as they are found; only their hashes are made anew. So what a check says of them from then on is that they
have not changed since, and no more: a row of the chain itself says so (`audit.key_lost`), with the number and the hash
that the chain ended with before, by which a head that was noted elsewhere is still known.
"""

from collections.abc import Sequence
from hmac import HMAC

from storage.audit.acts import Act
from storage.audit.chain import GENESIS, AuditRow, chain_key, hash_of, mac_of, told_head
from storage.audit.trail import BEFORE_ALL, ChainHead, as_stored, head
from storage.engine.tx import Tx
from storage.records import columns

SLICE_ROWS = 5000

# As octets, so that a row which somebody rewrote stays what it is.
_PUT_BACK = f"""INSERT INTO audit ({columns(AuditRow)})
    VALUES (?, ?, ?, CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), ?)"""


def rechain(tx: Tx, audit_key: bytes, organization_id: str) -> ChainHead:
    """Make the hashes of the organization's rows anew under this key; the end of the chain as it was before."""
    before = head(tx, organization_id)
    mac = mac_of(chain_key(audit_key, organization_id))
    after, previous = BEFORE_ALL, _anchor(tx, organization_id)
    while rows := as_stored(tx, organization_id, after, SLICE_ROWS):
        after = rows[-1].seq
        anew, previous = _chained(mac, previous, rows)
        tx.run(
            "DELETE FROM audit WHERE organization_id = ? AND seq BETWEEN ? AND ?",
            (organization_id, rows[0].seq, after),
        )
        tx.run_many(_PUT_BACK, [_octets(row) for row in anew])
    return before


def _chained(mac: HMAC, previous: bytes, rows: Sequence[AuditRow]) -> tuple[list[AuditRow], bytes]:
    anew = []
    for row in rows:
        try:
            previous = hash_of(mac, previous, row)
        except (
            ValueError,
            OverflowError,
            OSError,
        ):  # a time that is none: no hash fits it, and a check finds it
            previous = GENESIS
        anew.append(row._replace(hash=previous))
    return anew, previous


def _anchor(tx: Tx, organization_id: str) -> bytes:
    """What the first row is chained to: the hash that a seal tells of, where rows were removed from the front."""
    first = tx.value("SELECT min(seq) FROM audit WHERE organization_id = ?", (organization_id,))
    seals = tx.all(
        "SELECT details FROM audit WHERE organization_id = ? AND type = ?",
        (organization_id, Act.AUDIT_SEALED.value),
    )
    for (details,) in seals:
        told = told_head(details)
        if told is not None and told[0] + 1 == first:
            return told[1]
    return GENESIS


def _octets(row: AuditRow) -> tuple[str | int | bytes | None, ...]:
    texts = (row.type, row.actor, row.subject, row.request_id, row.details)
    return (
        row.organization_id,
        row.seq,
        row.created_at,
        *(None if text is None else text.encode("utf-8", "surrogateescape") for text in texts),
        row.hash,
    )
