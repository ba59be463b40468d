"""Policies of mail domains for TLS (MTA-STS, RFC 8461) that were fetched, one a domain: what keeps a domain protected
while nobody can fetch its policy."""

from collections.abc import Sequence
from typing import NamedTuple

from storage.engine.tx import Tx
from storage.records import columns

KEPT = 20_000  # anybody may publish some: the oldest make room
PAGE = 100


class StsPolicyRow(NamedTuple):
    """`domain`: an A-label. `mx`: patterns, with a space in between. Times in ms."""

    domain: str
    policy_id: str
    mode: str
    mx: str
    max_age_s: int
    fetched_at: int
    expires_at: int


_KEEP = f"""INSERT INTO sts_policies ({columns(StsPolicyRow)})
    VALUES ({", ".join(f":{name}" for name in StsPolicyRow._fields)}) ON CONFLICT (domain) DO UPDATE SET
    {", ".join(f"{name} = excluded.{name}" for name in StsPolicyRow._fields[1:])}"""
# The time that the bound is told by is that of the first row beyond it.
_TRIM = """DELETE FROM sts_policies WHERE fetched_at <=
    (SELECT fetched_at FROM sts_policies WHERE fetched_at > 0 ORDER BY fetched_at DESC LIMIT 1 OFFSET :kept)"""


def find(tx: Tx, domain: str) -> StsPolicyRow | None:
    """The domain's policy, which may have expired."""
    row = tx.one(f"SELECT {columns(StsPolicyRow)} FROM sts_policies WHERE domain = ?", (domain,))
    return None if row is None else StsPolicyRow(*row)


def by_age(tx: Tx, after: tuple[int, str], until: int, limit: int = PAGE) -> Sequence[StsPolicyRow]:
    """Those that were fetched until then, the oldest first. `after`: when the last one before was, and its domain."""
    rows = tx.all(
        f"""SELECT {columns(StsPolicyRow)} FROM sts_policies
            WHERE (fetched_at, domain) > (?, ?) AND fetched_at <= ? ORDER BY fetched_at, domain LIMIT ?""",
        (*after, until, limit),
    )
    return [StsPolicyRow(*row) for row in rows]


def keep(tx: Tx, row: StsPolicyRow, kept: int = KEPT) -> None:
    """Write the policy in place of the domain's last one. Those that have expired go, and the oldest beyond `kept`."""
    tx.run(_KEEP, row._asdict())
    tx.run("DELETE FROM sts_policies WHERE expires_at <= ?", (row.fetched_at,))
    tx.run(_TRIM, {"kept": kept})
