"""Turns at groups of mail hosts: who may begin a delivery now, who waits for a moment, and who comes again later.

A delivery has one turn at a group for all hosts of the group that it tries, and the turn tells what became of it. Who
finds all sessions of the group in use waits in a line, WAITING_MAX deliveries long. Who finds the group backing off,
its rate used up or its line full hears `Postponed`, and leaves no trace in memory: what waits for long waits in the
store. A back-off sends the line away as well. It ends early where the operator asked for that after it began
(`end_wait`): one session tries then, and the next back-off is later than what was asked.

All of it may be forgotten at any time; it is rebuilt by trying. Called on the event loop.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import structlog

from conf.log_events import LogEvent, clean, tell
from conf.settings import Outbound, PaceRule
from maild.outbound.pace.pace import GroupPace, Sign, asks_for_less
from maild.outbound.pace.rate import MessageRate
from maild.outcomes.verdict import Verdict
from storage.clock import Clock

MESSAGES_PER_SESSION = 100
WAITING_MAX = 500
LINE_FULL_S = 5.0  # for those that find the line full
# Of the first retry: what is retried on schedule finds it over, whatever schedule.JITTER says.
FIRST_BACK_OFF = 0.85
GROUPS_MAX = 10_000

# A destination, Unix milliseconds → did the operator ask to try it after that time?
WasRetryAsked = Callable[[str, int], Awaitable[bool]]

_NO_RULE = PaceRule()

log = structlog.get_logger("maild.outbound")


@dataclass
class Postponed(Exception):
    """Not now: no host was asked. `wait_s`: until when; `words`: what the recipients' owners are told of it, if it
    takes long. `is_back_off`: the group is not written to at all until then. `until_ms`: Unix milliseconds, where the
    calendar says until when, which is then the same for all that wait."""

    wait_s: float
    words: Verdict
    is_back_off: bool = False
    until_ms: int | None = None

    def __str__(self) -> str:
        return f"in {self.wait_s:.0f} s: {self.words.text}"


class HostGroup:
    """Hosts that are one destination: its pace, its rate, and the line of those that wait for a session."""

    def __init__(self, name: str, rule: PaceRule, settings: Outbound, clock: Clock) -> None:
        self.name = name
        self.messages_per_session = rule.messages_per_connection or MESSAGES_PER_SESSION
        sessions_max = rule.max_connections or settings.max_connections_per_destination
        self.pace = GroupPace(clock, sessions_max, settings.first_retry_s * FIRST_BACK_OFF)
        self._clock = clock
        per_minute = rule.messages_per_minute
        self._rate = None if per_minute is None else MessageRate(per_minute, clock.monotonic())
        self._over_rate = f"not tried yet: {name} gets {per_minute} messages a minute at most"
        self._in_use = 0
        self._line: deque[asyncio.Future[None]] = deque()
        # What began the last back-off, and whether it was words about less mail.
        self._sign, self._asks_for_less = Sign.UNREACHABLE, False
        self.backed_off_at = 0  # when the last one began, in Unix milliseconds
        self.planned_at = clock.now_ms()  # when the rate last began to plan anew, likewise

    @property
    def has_plan(self) -> bool:
        """Do messages wait for the time that the rate has for them?"""
        return self._rate is not None and self._rate.has_plan(self._clock.monotonic())

    def plan_anew(self) -> None:
        """What waits for its time comes now, and is given another."""
        if self._rate is not None:
            self._rate.forget_plan()
        self.planned_at = self._clock.now_ms()

    @property
    def has_line(self) -> bool:
        """Do deliveries wait for a session?"""
        return bool(self._line)

    @property
    def is_idle(self) -> bool:
        """Could it be forgotten without harm to a delivery?"""
        return not self._in_use and not self._line

    @property
    def has_room(self) -> bool:
        """Would a turn begin without waiting for a session?"""
        return not self._line and self._in_use < self.pace.sessions

    async def turn(self, created_at: int, may_wait: bool = True) -> "GroupTurn":
        """A delivery's turn, perhaps after a while in the line; Postponed. `created_at`: the message's."""
        self._refuse_while_backing_off()
        if self.has_room:
            self._in_use += 1
        else:
            await self._stand_in_line(may_wait)
        try:
            self._refuse_while_backing_off()
            self._take_of_rate(created_at)
        except Postponed:
            self._leave()
            raise
        return GroupTurn(self, self.pace.began)

    def end(self, began: int, sign: Sign | None, words: Verdict | None) -> None:
        """A turn is over."""
        if sign is not None and self.pace.heard(sign, began):
            self._sign = sign
            self._asks_for_less = sign in (Sign.THROTTLED, Sign.REFUSED) and (
                words is not None and asks_for_less(words.code, words.enhanced, words.text)
            )
            self.backed_off_at = self._clock.now_ms()
            reason = "" if words is None else clean(words.text)
            tell(log, LogEvent.BACKED_OFF, group=self.name, wait_s=round(self.pace.waits_s), reason=reason)
            self._send_away()
        self._leave()

    def _leave(self) -> None:
        self._in_use -= 1
        while self._line and self._in_use < self.pace.sessions:
            place = self._line.popleft()
            if not place.done():
                self._in_use += 1
                place.set_result(None)

    async def _stand_in_line(self, may_wait: bool) -> None:
        if not may_wait or len(self._line) >= WAITING_MAX:
            text = f"not tried yet: {len(self._line)} messages wait for a session with {self.name}"
            raise Postponed(LINE_FULL_S, _throttled(text))
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled() and place.exception() is None:
                self._leave()
            raise
        finally:
            del place  # its exception knows this frame

    def _send_away(self) -> None:
        """Nobody waits for what will not be had for long."""
        while self._line:
            place = self._line.popleft()
            if not place.done():
                place.set_exception(self._backing_off())

    def _refuse_while_backing_off(self) -> None:
        if self.pace.waits_s:
            raise self._backing_off()

    def _backing_off(self) -> Postponed:
        # What a host said, and its name, was for another message's owner.
        words = _throttled(f"not tried yet: {self.name} asked for less mail")
        if not self._asks_for_less:  # RFC 3463 §3.5: no answer from host
            did = "wanted no session of ours" if self._sign is Sign.REFUSED else "did not answer"
            words = Verdict("deferred", 451, "4.4.1", f"not tried yet: {self.name} {did} lately")
        return Postponed(self.pace.waits_s, words, is_back_off=True)

    def _take_of_rate(self, created_at: int) -> None:
        wait_s = 0.0 if self._rate is None else self._rate.take(self._clock.monotonic(), created_at)
        if wait_s:
            raise Postponed(wait_s, _throttled(self._over_rate))


class GroupTurn:
    """One delivery's turn at a group. The last thing that it heard counts."""

    def __init__(self, group: HostGroup, began: int) -> None:
        self.group = group
        self._began = began
        self._sign: Sign | None = None
        self._words: Verdict | None = None

    def heard(self, sign: Sign, words: Verdict) -> None:
        """A host of the group showed the sign; `words`: its reply, or what went wrong."""
        self._sign, self._words = sign, words

    @property
    def may_have_taken(self) -> bool:
        """Did a host of the group take the message, or fall silent with it?"""
        return self._sign in (Sign.TAKEN, Sign.LOST)

    def end(self) -> None:
        """Let the next one begin."""
        self.group.end(self._began, self._sign, self._words)


class HostGroupRegistry:
    """The groups by name. Beyond GROUPS_MAX the least recently used are forgotten, those last that back off."""

    def __init__(
        self,
        settings: Outbound,
        rules: Mapping[str, PaceRule],
        clock: Clock,
        was_retry_asked: WasRetryAsked,
    ) -> None:
        self._settings = settings
        self._rules = rules
        self._clock = clock
        self._was_retry_asked = was_retry_asked
        self._groups: OrderedDict[str, HostGroup] = OrderedDict()

    def group(self, name: str) -> HostGroup:
        """The group of the name, made when there is none."""
        group = self._groups.get(name)
        if group is None:
            rule = self._rules.get(name, _NO_RULE)
            group = self._groups[name] = HostGroup(name, rule, self._settings, self._clock)
            self._forget()
        else:
            self._groups.move_to_end(name)
        return group

    async def asked(self, name: str, domain: str) -> HostGroup:
        """The group, which makes nobody wait any more for what the operator has asked to be tried since: mail to the
        domain."""
        group = self.group(name)
        if group.pace.waits_s and await self._was_retry_asked(domain, group.backed_off_at):
            group.pace.end_wait()
        planned_at = group.planned_at
        is_asked = group.has_plan and await self._was_retry_asked(domain, planned_at)
        if is_asked and planned_at == group.planned_at:  # else another delivery has done it meanwhile
            group.plan_anew()  # all that the rate had planned would be planned behind itself
        return group

    def _forget(self) -> None:
        if len(self._groups) <= GROUPS_MAX:
            return
        idle = [name for name, one in self._groups.items() if one.is_idle and name not in self._rules]
        idle.sort(key=lambda name: self._groups[name].pace.waits_s > 0)
        for name in idle[: GROUPS_MAX // 2]:
            del self._groups[name]


def _throttled(text: str) -> Verdict:
    return Verdict("deferred", 451, "4.4.5", text)  # RFC 3463 §3.5: congestion
