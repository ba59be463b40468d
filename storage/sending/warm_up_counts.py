"""How many messages of a section of the settings went to a group of mail hosts on a day, while it is warmed up."""

from datetime import date, timedelta
from typing import NamedTuple

from storage.engine.tx import Tx

KEPT_DAYS = 2  # a clock may be set back


class WarmUpDay(NamedTuple):
    """`day`: `2026-11-21` (UTC); `section`: `[outbound.warmup.NAME]`."""

    day: str
    section: str
    host_group: str


def count(tx: Tx, which: WarmUpDay, limit: int) -> bool:
    """Count one message more; False, and nothing counted, when there are as many as `limit` (at least 1) already.

    Days that are long over are forgotten.
    """
    kept_from = date.fromisoformat(which.day) - timedelta(KEPT_DAYS)
    tx.run("DELETE FROM warm_up_counts WHERE day < ?", (kept_from.isoformat(),))
    counted = tx.run(
        """INSERT INTO warm_up_counts (day, section, host_group, messages) VALUES (:day, :section, :host_group, 1)
           ON CONFLICT (day, section, host_group) DO UPDATE SET messages = messages + 1 WHERE messages < :limit""",
        {**which._asdict(), "limit": limit},
    )
    return counted == 1


def give_back(tx: Tx, which: WarmUpDay) -> None:
    """Count one message less."""
    tx.run(
        """UPDATE warm_up_counts SET messages = messages - 1
           WHERE day = :day AND section = :section AND host_group = :host_group AND messages > 0""",
        which._asdict(),
    )
