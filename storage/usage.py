"""Counters by organization, period (a UTC day or month, `storage.clock`), metric and scope.

A counter changes in the transaction of what it counts. Scope is '' for the organization, else one of
its domains.
"""

from storage.database import Tx


def add(tx: Tx, organization_id: str, period: str, metric: str, amount: int = 1, scope: str = "") -> None:
    tx.run(
        """INSERT INTO usage (organization_id, scope, period, metric, value) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (organization_id, scope, period, metric)
           DO UPDATE SET value = value + excluded.value""",
        (organization_id, scope, period, metric, amount),
    )


def give_back(
    tx: Tx, organization_id: str, period: str, metric: str, amount: int = 1, scope: str = ""
) -> None:
    """Take an earlier `add` back; never below zero, and nothing where nothing was counted."""
    tx.run(
        """UPDATE usage SET value = max(0, value - ?)
           WHERE organization_id = ? AND scope = ? AND period = ? AND metric = ?""",
        (amount, organization_id, scope, period, metric),
    )


def get(tx: Tx, organization_id: str, period: str, metric: str, scope: str = "") -> int:
    value: int | None = tx.value(
        "SELECT value FROM usage WHERE organization_id = ? AND scope = ? AND period = ? AND metric = ?",
        (organization_id, scope, period, metric),
    )
    return value or 0
