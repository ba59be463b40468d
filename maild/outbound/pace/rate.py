"""How many messages a minute, as a token bucket, and a place in time for each message that must wait.

What waits is planned one message after the other, as far apart as the rate says, so that a backlog comes due bit by bit
and not all at once. Messages that are younger than what is planned take their place behind it: else they would take
the tokens of those that wait. A bucket that is full shows that nobody comes for what was planned (it was dropped, or
held): then nothing waits for it, and once the bucket could be full a second time, the plan is none any more. Who asks
for what is planned to come at once has it planned anew (`forget_plan`): all of it would stand behind itself.

Nothing is planned further ahead than PLANNED_S: what would come later asks again then.

A full bucket is what the rate gives in BURST_S, one message at least; it begins with one. Pure: times are seconds of
any clock that does not go back, but for the ages of messages, which are only compared.
"""

BURST_S = 5.0
PLANNED_S = 3600.0
_WHOLE = 1 - 1e-6  # a token, as sums of fractions have it


class MessageRate:
    """`per_minute`: how many messages may begin in a minute, give or take what a full bucket has."""

    def __init__(self, per_minute: int, now: float) -> None:
        self._per_s = per_minute / 60
        self._full = max(1.0, self._per_s * BURST_S)
        self._tokens = 1.0
        self._counted_at = now
        self._planned_until = now
        self._youngest = 0  # of those that wait

    def take(self, now: float, created_at: int) -> float:
        """0: the message may begin now, and a token is taken for it; else the seconds that it must wait.

        `created_at`: the message's, in any unit.
        """
        filled = self._tokens + max(0.0, now - self._counted_at) * self._per_s
        self._tokens = min(self._full, filled)
        self._counted_at = max(now, self._counted_at)
        if filled >= 2 * self._full:
            self.forget_plan()
        waits_for_others = self._planned_until > now and created_at > self._youngest
        if self._tokens >= self._full or (self._tokens >= _WHOLE and not waits_for_others):
            self._tokens = max(0.0, self._tokens - 1)
            return 0
        self._youngest = max(created_at, self._youngest)
        planned = max(now, self._planned_until) + 1 / self._per_s
        if planned - now > PLANNED_S:
            return PLANNED_S
        self._planned_until = planned
        return planned - now

    def has_plan(self, now: float) -> bool:
        """Does anything wait for its time?"""
        return self._planned_until > now

    def forget_plan(self) -> None:
        """Begin to plan anew."""
        self._planned_until, self._youngest = self._counted_at, 0
