"""How many sessions a group of mail hosts gets, and when it is written to again: what each sign of theirs changes.

    sign              sessions    back-off
    TAKEN             more        ends
    ANSWERED          the same    the same
    THROTTLED         half        begins at once
    REFUSED           half        begins with the n-th in a row
    UNREACHABLE       half        begins with the n-th in a row
    LOST              half        begins with the n-th in a row

n is the number of sessions: one failure among many that go well is an accident. Between two changes stands a round:
what twenty sessions hear at the same moment is one sign and not twenty, and a success that was under way before a
back-off began does not end it.

A group begins with one session. One that answers gets FIRST_SESSIONS, and one more for each message that it takes,
until half of what it had when it last complained; from there it gets one more for each round of messages (RFC 5681
§3.1 does so with segments). A back-off lasts `first_s`, and twice as long each time that it begins again without a
message taken in between, LONGEST_DOUBLINGS at most. After it one session tries.

There is always a session, if not now then at `waits_until`, and never more than `sessions_max`. Pure: times are
seconds of any clock that does not go back.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from maild.message.reports import bounces
from maild.outcomes.verdict import Verdict
from storage.clock import Clock

FIRST_SESSIONS = 5
ANSWERS_FOR_S = 300
LONGEST_DOUBLINGS = 6

# RFC 3463: what a host says about itself, whatever the message: it is closing or too busy (§3.4), or congested (§3.5).
_ABOUT_THE_HOST = ("3.2", "4.5")


class SessionChange(Enum):
    """What becomes of the number of sessions."""

    MORE = "one more, or one more a round"
    SAME = "no change"
    HALF = "half of them"


class BackOff(Enum):
    """What becomes of the back-off."""

    ENDS = "it ends"
    SAME = "no change"
    BEGINS = "it begins, or begins again for longer"
    BEGINS_WHEN_ALL_FAIL = "it begins with as many in a row as there are sessions"


class Sign(Enum):
    """What one delivery to a group of hosts showed, and what follows from it."""

    TAKEN = "a message was taken", SessionChange.MORE, BackOff.ENDS
    ANSWERED = "a host answered, and did not take this message", SessionChange.SAME, BackOff.SAME
    THROTTLED = "a host asked for less", SessionChange.HALF, BackOff.BEGINS
    REFUSED = "no host wanted a session", SessionChange.HALF, BackOff.BEGINS_WHEN_ALL_FAIL
    UNREACHABLE = "no host could be connected to", SessionChange.HALF, BackOff.BEGINS_WHEN_ALL_FAIL
    LOST = "a host fell silent or hung up", SessionChange.HALF, BackOff.BEGINS_WHEN_ALL_FAIL

    def __init__(self, meaning: str, sessions: SessionChange, back_off: BackOff) -> None:
        self.meaning = meaning
        self.sessions = sessions
        self.back_off = back_off


def asks_for_less(code: int | None, enhanced: str | None, text: str) -> bool:
    """Is the reply about how much comes from here, and not about this message or recipient?

    A greylisted recipient, a full mailbox, one that gets too much from everybody: these are the message's own affair.
    """
    if code is None or not bounces.is_transient(code):
        return False
    if code == 421:  # RFC 5321 §3.8: the host ends the session, whatever it was about
        return True
    status = enhanced or bounces.own_status(text)
    about = "" if status is None else status.partition(".")[2]
    if about in _ABOUT_THE_HOST:
        return True
    # RFC 3463 §3.8: x.7.z is policy about who sends; §3.2 and §3.3 are about the recipient, §3.6 about the envelope.
    if (status is None and code == 452) or (status is not None and not about.startswith("7.")):
        return False
    meaning = bounces.of_expiry(code, enhanced, text)
    return meaning.bounce_class in ("throttled", "reputation") and meaning.advice == "slow_down"


def sign_of(verdicts: Iterable[Verdict]) -> Sign:
    """The sign of a mail transaction, by its verdicts on recipients."""
    found = list(verdicts)
    if any(one.status == "deferred" and asks_for_less(one.code, one.enhanced, one.text) for one in found):
        return Sign.THROTTLED
    return Sign.TAKEN if any(one.status in ("sent", "delivered") for one in found) else Sign.ANSWERED


@dataclass
class GroupPace:
    """The pace of one group. `first_s`: how long its first back-off lasts."""

    clock: Clock
    sessions_max: int
    first_s: float
    _sessions: float = 1
    _slow_from: float = float("inf")
    _back_offs: int = 0  # how many back-offs have begun since a message was taken
    _waits_until: float = 0
    _failures: int = 0  # in a row
    _answers_until: float = 0
    _round: int = 0

    @property
    def sessions(self) -> int:
        """How many may be used now: 1 to `sessions_max`."""
        if self._back_offs or not self.answers:
            return 1
        return min(int(self._sessions), self.sessions_max)

    @property
    def answers(self) -> bool:
        """Has one of its hosts answered lately?"""
        return self._answers_until > self.clock.monotonic()

    @property
    def waits_s(self) -> float:
        """Seconds until it may be written to again; 0: now."""
        return max(0.0, self._waits_until - self.clock.monotonic())

    @property
    def began(self) -> int:
        """The round in which a delivery begins now: for `heard`."""
        return self._round

    def end_wait(self) -> None:
        """One session may try now. If that fails, the next back-off is the longer one that it would have been."""
        self._waits_until = 0

    def heard(self, sign: Sign, began: int) -> bool:
        """A delivery that began in this round showed the sign; did a back-off begin?"""
        is_late = began != self._round
        if sign.sessions is SessionChange.HALF:
            return self._complained(sign, is_late)
        self._failures = 0
        if not is_late and sign.back_off is BackOff.ENDS:
            self._grow()
            self._back_offs, self._waits_until = 0, 0
        elif not self.answers:
            self._sessions = self._first_sessions()
        self._answers_until = self.clock.monotonic() + ANSWERS_FOR_S
        return False

    def _complained(self, sign: Sign, is_late: bool) -> bool:
        if is_late and self._back_offs:
            return False  # it began before the back-off
        all_of_them = 1 if sign.back_off is BackOff.BEGINS else self.sessions
        self._failures += 1
        if not is_late:
            self._sessions = self._slow_from = max(self._sessions / 2, 1)
            self._round += 1
        if self._failures < all_of_them:
            return False
        self._back_offs += 1
        self._failures = 0
        self._round += 1
        self._sessions = 1
        doublings = min(self._back_offs - 1, LONGEST_DOUBLINGS)
        self._waits_until = self.clock.monotonic() + self.first_s * 2**doublings
        return True

    def _grow(self) -> None:
        if self._back_offs:
            self._sessions = 2
        elif not self.answers:
            self._sessions = self._first_sessions()
        elif self._sessions < self._slow_from:
            self._sessions += 1
        else:
            self._sessions += 1 / self._sessions
        self._sessions = max(1, min(self._sessions, self.sessions_max))

    def _first_sessions(self) -> float:
        return max(1, min(FIRST_SESSIONS, self._slow_from, self.sessions_max))
