"""One recipient's fate in one attempt, and what it makes of the recipient's row. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from maild.message.reports import bounces
from maild.message.reports.bounces import Bounce
from storage import states
from storage.sending.leases import Due
from storage.sending.settlements import RecipientSettlement


@dataclass(frozen=True, slots=True)
class Verdict:
    """One recipient's fate in one attempt.

    `sent`: a smarthost took it; `delivered`: its own MX or a local inbox did; `deferred`: again later,
    or never if its time is over; `bounced`: refused for good; `suppressed`: not tried, the recipient is on
    the suppression list; `failed`: not tried, the sender's domain is not verified any more.
    """

    status: Literal["sent", "delivered", "deferred", "bounced", "suppressed", "failed"]
    code: int | None
    enhanced: str | None
    text: str
    host: str | None = None  # that replied so; None when no other host was reached
    tls: str | None = None
    has_left: bool = False  # a host was told MAIL FROM in this attempt: the message has left this one
    stored_as: str | None = None  # the id of an inbox of ours' copy
    failure: str | None = None  # the API's `failureReason`, where the status does not tell it
    refused_for: Sequence[str] = ()  # why an inbox of ours refused it, for the log
    known_as: str | None = None  # the Message-ID that a smarthost gave it
    not_before: int | None = None  # of `deferred`: no host was asked, and this (Unix ms) is when one may be

    @classmethod
    def of(
        cls,
        code: int,
        enhanced: str | None,
        text: str,
        host: str | None = None,
        tls: str | None = None,
        accepted: Literal["sent", "delivered"] = "delivered",
    ) -> "Verdict":
        """The verdict that an SMTP reply means; what is neither 2xx nor 5xx is temporary."""
        status: Literal["sent", "delivered", "deferred", "bounced"] = "deferred"
        if 200 <= code < 300:
            status = accepted
        elif bounces.is_permanent(code):
            status = "bounced"
        return cls(status, code, enhanced, text, host, tls)

    @property
    def bounce(self) -> Bounce | None:
        """What it means; None where nothing failed."""
        is_ours = self.host is None
        return bounces.of_outcome(self.status, self.code, self.enhanced, self.text, is_ours=is_ours)


class Settled(NamedTuple):
    """A leased row that has its verdict now. `outcome`: the verdict's status, or `expired`."""

    row: Due
    verdict: Verdict
    outcome: str


def settlement(row: Due, verdict: Verdict, now_ms: int, duration_ms: int) -> RecipientSettlement:
    """What the verdict makes of the leased row."""
    expired = verdict.status == "deferred" and now_ms >= row.expires_at
    status = "failed" if expired else verdict.status
    return RecipientSettlement(
        row.message_id,
        row.position,
        row.status,
        status,
        "expired" if expired else verdict.status,
        row.attempts,
        row.next_attempt_at if status == "deferred" else None,
        verdict.host,
        verdict.code,
        verdict.enhanced,
        verdict.text,
        verdict.tls,
        duration_ms,
        verdict.has_left,
        was_tried=verdict.not_before is None,
        known_as=verdict.known_as,
    )


def is_final(row: Due, verdict: Verdict, now_ms: int) -> bool:
    """Is this what becomes of the recipient? Else it is tried again, or may be told of by a report."""
    if verdict.status == "deferred":
        return now_ms >= row.expires_at
    return verdict.status not in states.RECIPIENT_ACCEPTED
