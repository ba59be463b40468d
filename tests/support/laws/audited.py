"""Whatever a test did to a daemon: the audit log that it leaves is whole, of all organizations."""

import sqlite3
from pathlib import Path

from storage import server_secrets
from storage.audit import trail
from storage.audit.chain import chain_key
from storage.audit.chain import check as check_chain
from storage.engine import migrate
from storage.engine.tx import Tx
from storage.sealing import Sealer, SealError, read_master_key

ROWS_MAX = 1_000_000


class Forked(AssertionError):
    """A chain is not whole."""


def check(folder: Path) -> None:
    """Forked unless every chain is whole."""
    conn = migrate.connect(folder / "maild.sqlite3")
    try:
        tx = Tx(conn)
        key = _key(tx, folder)
        for (organization_id,) in tx.all("SELECT DISTINCT organization_id FROM audit"):
            rows = trail.as_stored(tx, organization_id, 0, ROWS_MAX)
            broken = check_chain(chain_key(key, organization_id), rows).broken
            if broken is not None:
                raise Forked(f"{organization_id}: {broken}")
    except (sqlite3.Error, SealError):  # a test may have taken the store apart, or the key
        return
    finally:
        conn.close()


def _key(tx: Tx, folder: Path) -> bytes:
    sealed = tx.value("SELECT secret FROM server_secrets WHERE name = ?", (server_secrets.AUDIT,))
    sealer = Sealer(read_master_key(folder / "master.key"))
    return sealer.open(sealed, server_secrets.context(server_secrets.AUDIT))
