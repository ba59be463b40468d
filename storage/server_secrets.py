"""Secrets that the server makes for itself, once, and keeps sealed under the master key."""

from storage.engine.tx import Tx
from storage.sealing import Sealer

UNSUBSCRIBE = "unsubscribe"  # signs unsubscribe links, which stay good for longer than any master key
ENVELOPE = "envelope"  # makes envelope senders that others can't make; reports come back to them for 90 days
FENCE = "fence"  # makes the nonces of fences around the words of strangers
AUDIT = "audit"  # chains the rows of the audit log (storage/audit/chain.py)
SECRET_BYTES = 32


def context(name: str) -> str:
    """What a sealed secret is bound to."""
    return f"server:{name}"


def sealed(tx: Tx, name: str) -> bytes | None:
    """The secret of that name as it is stored; None where there is none yet."""
    found: bytes | None = tx.value("SELECT secret FROM server_secrets WHERE name = ?", (name,))
    return found


def get_or_make(tx: Tx, sealer: Sealer, name: str, fresh: bytes) -> bytes:
    """The secret of that name; `fresh` is sealed and stored as the secret where there is none yet. SealError."""
    tx.run(
        "INSERT INTO server_secrets (name, secret) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
        (name, sealer.seal(fresh, context(name))),
    )
    kept = sealed(tx, name)
    assert kept is not None
    return sealer.open(kept, context(name))


def forget(tx: Tx) -> None:
    """Forget all of them: they are made anew when they are next asked for."""
    tx.run("DELETE FROM server_secrets")
