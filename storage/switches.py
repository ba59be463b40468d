"""What the operator has switched off. It stays off until it is switched on again, over restarts too."""

from storage.engine.tx import Tx

QUEUE = "queue"  # the outbound queue: nothing enters it, nothing leaves it


def turn_off(tx: Tx, name: str, now_ms: int) -> bool:
    """Note that it is off since `now_ms`; False: it is off already, and the earlier moment stays."""
    added = tx.run(
        "INSERT INTO switched_off (name, since) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", (name, now_ms)
    )
    return added == 1


def turn_on(tx: Tx, name: str) -> bool:
    """Note that it is on again; False: it is on already."""
    return tx.run("DELETE FROM switched_off WHERE name = ?", (name,)) == 1


def off_since(tx: Tx, name: str) -> int | None:
    """Since when it is switched off, in Unix milliseconds; None: it is on."""
    since: int | None = tx.value("SELECT since FROM switched_off WHERE name = ?", (name,))
    return since
