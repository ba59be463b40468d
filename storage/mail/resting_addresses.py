"""Addresses of organizations that were deleted: as with every inbox that goes, nobody else has them for a time.

Their rows are gone, so what is left is the address's hash and a time. Who has an address can ask; the rows name nobody.
"""

import hashlib
from collections.abc import Iterable

from storage.engine.tx import Tx

_REST = """INSERT INTO resting_addresses (address_hash, until) VALUES (?, ?)
    ON CONFLICT (address_hash) DO UPDATE SET until = excluded.until WHERE until < excluded.until"""


def rest(tx: Tx, addresses: Iterable[tuple[str, int]]) -> None:
    """Keep each of these (comparison key, until when in Unix milliseconds) from everybody."""
    tx.run_many(_REST, [(_hash(address), until) for address, until in addresses])


def until(tx: Tx, address: str) -> int | None:
    """Until when the address rests (Unix milliseconds, perhaps past); None where it does not."""
    found: int | None = tx.value(
        "SELECT until FROM resting_addresses WHERE address_hash = ?", (_hash(address),)
    )
    return found


def _hash(address: str) -> str:
    return hashlib.sha256(address.encode("utf-8", "surrogatepass")).hexdigest()
