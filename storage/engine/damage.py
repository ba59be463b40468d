"""Damage that a statement meets: pages that changed, or that the disk can't read (SQLite tells them alike).

It is told by the first that meets it, and shown until the next start, since nothing mends it meanwhile.
"""

import structlog

from storage.engine.failures import tells_of_damage

log = structlog.get_logger("maild.store")

ADVICE = "run 'maild check', restore what it names from a backup"


class DamageWatch:
    """`is_met`: this process has met some."""

    def __init__(self) -> None:
        self.is_met = False

    def look_at(self, error: Exception) -> None:
        """A unit of work has failed with this."""
        if not self.is_met and tells_of_damage(error):
            self.is_met = True
            log.error("store_damaged", error=str(error), advice=ADVICE)
