"""How many messages a day a new address or sending domain may send to each group of hosts, while it is warmed up.

Receivers trust an address that nobody has heard of with little mail. A section of the settings says how many messages
of its senders each group of hosts gets, day by day (UTC) from `begins`; after its last day there is no limit any more.

A message is counted in the store before a host is asked, so a crash forgets none, and given back when none took it.
What is too much waits for the next day, told to its owner, and is not counted as an attempt. All of it is due with the
day's first moment, so what has waited for longest goes first.
"""

from datetime import UTC, date, datetime

import structlog

from conf.settings import Outbound, WarmUp
from maild.outbound.pace.pacing import Postponed
from maild.outcomes.verdict import Verdict
from storage.clock import Clock, next_day_ms
from storage.engine.database import Database
from storage.sending import warm_up_counts
from storage.sending.warm_up_counts import WarmUpDay
from storage.service import Enduring

MESSAGES_MAX = 1_000_000_000  # a day: no limit that anybody could feel, and a number that SQLite can hold
POWER_MAX = 300  # of a factor of 10: as far as a float goes

log = structlog.get_logger("maild.outbound")


def allowed(section: WarmUp, day: date) -> int | None:
    """How many messages each group of hosts gets on the day; None: as many as there are. What comes before the first
    day has its number."""
    number = max(0, (day - section.begins).days)
    if section.messages:
        return section.messages[number] if number < len(section.messages) else None
    if number >= section.days:
        return None
    grown = (section.start or 1) * section.factor ** min(number, POWER_MAX)
    return int(min(grown, MESSAGES_MAX))


class WarmUps:
    """The sections, by the sender's domain."""

    def __init__(self, settings: Outbound, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._sections = {
            domain: (name, section)
            for name, section in settings.warmup.items()
            for domain in settings.warmed_up(section)
        }

    async def count(self, sender_domain: str, group: str) -> WarmUpDay | None:
        """Count a message that is about to be delivered; None where nothing is counted. Postponed to the next day."""
        name, section = self._sections.get(sender_domain, ("", None))
        if section is None:
            return None
        now_ms = self._clock.now_ms()
        day = datetime.fromtimestamp(now_ms // 1000, UTC).date()
        limit = allowed(section, day)
        if limit is None:
            return None
        counted = WarmUpDay(day.isoformat(), name, group)
        if not await self._db.write(warm_up_counts.count, counted, limit):
            text = f"not tried yet: the warm-up allows {limit} messages to {group} on {counted.day}"
            words = Verdict("deferred", 451, "4.4.5", text)  # RFC 3463 §3.5: congestion
            until_ms = next_day_ms(now_ms)
            raise Postponed((until_ms - now_ms) / 1000, words, until_ms=until_ms)
        return counted

    async def give_back(self, counted: WarmUpDay) -> None:
        """No host took the message."""
        with Enduring(log, "warm_up_not_given_back", group=counted.host_group):  # that day gets one less
            await self._db.write(warm_up_counts.give_back, counted)
