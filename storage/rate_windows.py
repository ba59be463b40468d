"""Counted requests by organization and second, for a process that starts where another one ended."""

from collections.abc import Mapping
from typing import NamedTuple

from storage.engine.tx import Tx


class Counted(NamedTuple):
    """How many requests an organization made in a second (Unix time)."""

    organization_id: str
    second: int
    requests: int


def add(tx: Tx, counts: Mapping[str, Mapping[int, int]], since: int) -> None:
    """Add requests (organization → second → how many); forget what these organizations did before `since`. Of one that
    was deleted meanwhile nothing is kept."""
    for organization_id, seconds in counts.items():
        tx.run("DELETE FROM rate_windows WHERE organization_id = ? AND second < ?", (organization_id, since))
        for second, requests in seconds.items():
            tx.run(
                """INSERT INTO rate_windows (organization_id, second, requests)
                   SELECT id, ?, ? FROM organizations WHERE id = ?
                   ON CONFLICT (organization_id, second)
                   DO UPDATE SET requests = requests + excluded.requests""",
                (second, requests, organization_id),
            )


def between(tx: Tx, first: int, last: int) -> list[Counted]:
    """What was counted from second `first` to second `last`, oldest first."""
    rows = tx.all(
        """SELECT organization_id, second, requests FROM rate_windows
           WHERE second BETWEEN ? AND ? ORDER BY second""",
        (first, last),
    )
    return [Counted(*row) for row in rows]


def purge(tx: Tx, first: int, last: int) -> None:
    """Keep only what was counted from second `first` to second `last`."""
    tx.run("DELETE FROM rate_windows WHERE second NOT BETWEEN ? AND ?", (first, last))
