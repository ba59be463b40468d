"""What the operator has switched off, until it is switched on again. A restart changes nothing."""

from storage.database import Tx

QUEUE = "queue"  # the outbound queue: nothing enters it, nothing leaves it


def turn_off(tx: Tx, name: str, now_ms: int) -> None:
    """Idempotent: the first moment stays."""
    tx.run(
        "INSERT INTO switched_off (name, since) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", (name, now_ms)
    )


def turn_on(tx: Tx, name: str) -> None:
    tx.run("DELETE FROM switched_off WHERE name = ?", (name,))


def off_since(tx: Tx, name: str) -> int | None:
    since: int | None = tx.value("SELECT since FROM switched_off WHERE name = ?", (name,))
    return since
