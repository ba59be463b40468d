"""Mail that comes in, in the order of its commits: the first behind a position that is as asked for.

A position is a message that came in. What stands for the time between two messages is an id that was never a message's
(`ids.stands_for`): such an id, and one that the log does not know (any more), stands at its time. What the clock has
not come to would hide all that comes until then. So a time that is still to come is now (the caller's clock is fast),
and such an id counts as none (ours was set back, or the store was restored). A message's time is read before its
commit, so what is looked at begins `MARGIN_MS` before, and what was made before the position's time is left out. And
the position that is handed out where nothing came is as much older than the moment, once all mail that was passed is
surely older still: ids don't tell that, for mail that was held comes long after it got its own.
"""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from maild.message.fields.address import is_within
from storage.agents import code_claims
from storage.engine.tx import Tx
from storage.ids import made_at, stands_for
from storage.mail import messages
from storage.publishing import events
from storage.publishing.events import Arrival
from storage.records import verified_domain
from storage.searching import search
from storage.searching.folding import fold_words, holds_words
from storage.searching.needle import Needle
from storage.searching.search_scope import Scope

DEFAULT_MS = 120_000  # how far back a wait looks that names no position
MARGIN_MS = 60_000
PAGE = 100
TYPES = ("email.received",)


class WantedMail(NamedTuple):
    """What a message must be like. `scope`: inbox and thread; `needle`: words and sender; `from_domain`: an A-label, or
    what lies below it; `is_verified`: that domain, or any, is proven; `subject`: a part of it, in any case;
    `is_unclaimed`: nobody has its code."""

    scope: Scope
    needle: Needle
    from_domain: str | None = None
    is_verified: bool = False
    subject: str | None = None
    is_unclaimed: bool = False


def position_now(tx: Tx, scope: Scope, now_ms: int) -> str:
    """The position behind all that is committed: a message, or a time where none came lately."""
    lately_ms = now_ms - MARGIN_MS
    last = events.last_arrival_since(tx, scope.organization_id, scope.inbox_id, lately_ms)
    return stands_for("msg", lately_ms) if last is None else last.message_id


class FewArrivals(NamedTuple):
    """Messages, each with its characters; where there are none, whether all were looked at."""

    sizes: Sequence[tuple[str, int]]
    is_end: bool


class Arrivals:
    """Where a look for the first of them stands. `cursor`: the position that goes on behind what was looked at."""

    def __init__(self, wanted: WantedMail, after: str | int | None, now_ms: int) -> None:
        self._wanted = wanted
        self._after = min(after, now_ms) if isinstance(after, int) else after or now_ms - DEFAULT_MS
        self._position: int | None = None
        self._since_ms: int | None = None
        self._fitting = deque[Arrival]()  # of those that were read, not answered yet
        self.cursor = ""
        self._passed_ms = 0  # nothing that was passed came later

    def step(self, tx: Tx, now_ms: int) -> tuple[str | None, bool]:
        """(the message, whether all were looked at) of the next few; to be called again while neither is true."""
        if self._position is None:
            self._position = self._begin(tx, now_ms)
        found = self._next_fitting(tx)
        if found is not None:
            return self._answer(found)
        scope = self._wanted.scope
        page = events.arrivals(tx, scope.organization_id, scope.inbox_id, after=self._position, limit=PAGE)
        arrived = [one for one in page.arrivals if self._since_ms is None or one.created_at >= self._since_ms]
        self._fitting.extend(self._fitting_of(tx, arrived))
        if self._fitting:
            return self._answer(self._fitting.popleft())
        self._position = page.position
        if arrived:
            self._stand_behind(arrived[-1])
        if page.is_end and self._passed_ms < now_ms - MARGIN_MS:
            self._stand_at(now_ms - MARGIN_MS)
        return None, page.is_end

    def few(self, tx: Tx, now_ms: int) -> FewArrivals:
        """As `step`, of all that one read has found to be as asked for: a page at most."""
        message_id, is_end = self.step(tx, now_ms)
        if message_id is None:
            return FewArrivals([], is_end)
        found = [message_id]
        while (one := self._next_fitting(tx)) is not None:
            found.append(self._answer(one)[0])
        return FewArrivals(code_claims.sizes(tx, self._wanted.scope.organization_id, found), False)

    def _begin(self, tx: Tx, now_ms: int) -> int:
        """The position of `after`; and the cursor that stands for it."""
        after = self._after
        if isinstance(after, int):
            self._stand_at(after)
            return self._begin_at(tx, after)
        position, came = self._known(tx, after)
        at_ms = made_at(after)
        if position is None and at_ms > now_ms:
            at_ms = now_ms - DEFAULT_MS
        if came is not None:
            self._stand_behind(came)
        else:
            self._stand_at(at_ms)
        return self._begin_at(tx, at_ms) if position is None else position

    def _known(self, tx: Tx, after: str) -> tuple[int | None, Arrival | None]:
        """(the position of what the log has, the message that came in last up to there)."""
        scope = self._wanted.scope
        if not after.startswith("evt_"):
            came = events.arrival_of(tx, scope.organization_id, after)
            return (None, None) if came is None else (came.seq, came)
        position = events.kept_position(tx, scope.organization_id, after)
        if position is None:
            return None, None
        return position, events.last_arrival(tx, scope.organization_id, scope.inbox_id, position)

    def _stand_at(self, at_ms: int) -> None:
        self.cursor, self._passed_ms = stands_for("msg", at_ms), at_ms

    def _stand_behind(self, came: Arrival) -> None:
        """What was committed before it may be made later, by less than `MARGIN_MS`."""
        self.cursor, self._passed_ms = came.message_id, came.created_at + MARGIN_MS

    def _begin_at(self, tx: Tx, at_ms: int) -> int:
        self._since_ms = at_ms
        return events.position_at(tx, self._wanted.scope.organization_id, TYPES, at_ms - MARGIN_MS)

    def _next_fitting(self, tx: Tx) -> Arrival | None:
        """The next that was read before, unless somebody claimed it meanwhile."""
        while self._fitting:
            found = self._fitting.popleft()
            if not self._wanted.is_unclaimed or code_claims.unclaimed(tx, [found.message_id]):
                return found
        return None

    def _answer(self, found: Arrival) -> tuple[str, bool]:
        self._position = found.seq
        self._stand_behind(found)
        return found.message_id, False

    def _fitting_of(self, tx: Tx, arrived: list[Arrival]) -> list[Arrival]:
        if not arrived:
            return []
        fitting = fitting_of(tx, self._wanted, [one.message_id for one in arrived])
        if self._wanted.is_unclaimed:
            fitting = code_claims.unclaimed(tx, fitting)
        wanted = set(fitting)
        return [one for one in arrived if one.message_id in wanted]


def fitting_of(tx: Tx, wanted: WantedMail, message_ids: Sequence[str]) -> list[str]:
    """Those of these messages that are as asked for, whoever has their codes."""
    return _as_wanted(tx, wanted, search.among(tx, wanted.scope, wanted.needle, message_ids))


def _as_wanted(tx: Tx, wanted: WantedMail, message_ids: list[str]) -> list[str]:
    if not message_ids or (wanted.from_domain, wanted.is_verified, wanted.subject) == (None, False, None):
        return message_ids
    return [
        one.id
        for one in messages.announced(tx, wanted.scope.organization_id, message_ids)
        if _is_from(wanted, one.from_address, one.auth) and _is_about(wanted, one.subject)
    ]


def _is_from(wanted: WantedMail, address: str, auth: str | None) -> bool:
    domain = verified_domain(auth) if wanted.is_verified else address.rpartition("@")[2].lower().rstrip(".")
    if not domain:
        return not wanted.is_verified and wanted.from_domain is None
    asked = wanted.from_domain
    return asked is None or is_within(domain, asked)


def _is_about(wanted: WantedMail, subject: str) -> bool:
    return wanted.subject is None or holds_words(subject, fold_words(wanted.subject))
