"""Tells people by mail that something is held and waits for them: each address once an hour at most, and never in the
words of what is held.

What is to be told stands in rows (`storage/agents/review_digests.py`), and what was told is marked in the transaction
that queues the mail, so a crash neither forgets nor repeats. Nothing is written or looked at for reviews of inboxes
whose policy names nobody (`review.notify`). An address that is suppressed, of the organization or of the operator's own
mail, gets nothing.
"""

from collections.abc import Sequence
from typing import NamedTuple

import structlog

from conf.log_events import LogEvent, tell
from controlplane.sending.from_us.operator_mail import OperatorMail, plain_mail
from maild.message.fields.address import normalize, suppression_keys
from storage.agents import policies, review_digests
from storage.agents.review_digests import NO_DIGEST
from storage.clock import Clock, iso
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.mail import inboxes
from storage.mail.inboxes import RecipientInbox
from storage.records import ReviewRow, load
from storage.sending import suppressions
from storage.service import STORE_RETRY_S, EnduringOutages, LoopService
from storage.set_aside import SetAside
from storage.tenants import organizations

EVERY_MS = 3_600_000
LOOK_AGAIN_S = 30.0  # the wall clock may jump
REVIEWS_MAX = 1000  # of an organization, in a round
LINES_MAX = 50

log = structlog.get_logger("maild.reviews")


class DueDigest(NamedTuple):
    """What one address is to be told now, oldest first. `names`: inbox → its address."""

    organization_id: str
    organization: str
    address: str
    reviews: Sequence[ReviewRow]
    names: dict[str, str]


class Digests(NamedTuple):
    """What is due of an organization, when more may be (Unix ms; None: nothing waits), and what needs no telling."""

    due: Sequence[DueDigest]
    next_ms: int | None
    settled: Sequence[str]


class ReviewDigest(LoopService):
    """`host`: the name that the mail calls this server by."""

    name = "review digests"

    def __init__(self, db: Database, clock: Clock, mail: OperatorMail, host: str) -> None:
        super().__init__()
        self._db = db
        self._clock = clock
        self._mail = mail
        self._host = host
        self._set_aside = SetAside(clock, log, "review_digest_failed", "organization_id")

    async def run(self) -> None:
        enduring = EnduringOutages(log, "review_digests_failed")
        while True:
            rest_s: float | None = STORE_RETRY_S
            with enduring:
                rest_s = await self.round()
            await self.pause(rest_s)

    async def round(self) -> float | None:
        """Send what is due; how long there is nothing to do (None: until it is woken)."""
        later_ms: list[int] = []
        with_news = await self._db.lookup(review_digests.organizations_with_news)
        for organization_id in sorted(set(with_news) - self._set_aside.keys()):
            if not await self._set_aside.attempt(organization_id, self._tell(organization_id, later_ms)):
                return STORE_RETRY_S
        if not later_ms:
            return self._set_aside.rest_s
        return min(LOOK_AGAIN_S, max(0.0, (min(later_ms) - self._clock.now_ms()) / 1000))

    async def _tell(self, organization_id: str, later_ms: list[int]) -> None:
        """`later_ms`: gets when more of the organization may be due, where more waits."""
        sender = await self._mail.sender()
        now_ms = self._clock.now_ms()
        found = await self._db.read_for(organization_id, _digests, organization_id, sender, now_ms)
        for one in found.due:
            await self._send(one, sender)
        if found.settled:
            await self._db.write(review_digests.mark_told, found.settled)
        if found.next_ms is not None:
            later_ms.append(found.next_ms)

    async def _send(self, digest: DueDigest, sender: RecipientInbox | None) -> None:
        if sender is None:  # nobody to write as: then the reviews are all that tells
            return

        def write(token: str, address: str) -> bytes:
            return _mail(digest, address, self._host, token, self._clock.now_ms())

        def mark(tx: Tx, message_id: str) -> bool:
            newest, now_ms = digest.reviews[-1].id, self._clock.now_ms()
            return review_digests.mark_sent(
                tx, digest.organization_id, digest.address, newest, now_ms, now_ms + EVERY_MS
            )

        message_id = await self._mail.queue(sender, digest.address, write, mark)
        if message_id is not None:
            tell(
                log,
                LogEvent.REVIEW_DIGEST_SENT,
                message_id=message_id,
                recipients=[digest.address],
                reviews=len(digest.reviews),
                organization_id=digest.organization_id,
            )


def _digests(tx: Tx, organization_id: str, sender: RecipientInbox | None, now_ms: int) -> Digests:
    organization = organizations.get(tx, organization_id)
    rows = review_digests.untold(tx, organization_id, REVIEWS_MAX)
    people = {one: _people(tx, organization_id, one, sender) for one in {row.inbox_id for row in rows}}
    named = {address for several in people.values() for address in several}
    told = review_digests.last_of(tx, organization_id, named, now_ms + EVERY_MS)
    waiting: dict[str, list[ReviewRow]] = {}
    settled = []
    for row in rows:
        missing = [one for one in people[row.inbox_id] if told.get(one, NO_DIGEST).review_id < row.id]
        for address in missing:
            waiting.setdefault(address, []).append(row)
        if not missing:
            settled.append(row.id)
    names = {one: inboxes.address_of(tx, organization_id, one) or one for one in people}
    times = {address: told.get(address, NO_DIGEST).sent_at + EVERY_MS for address in waiting}
    due = [
        DueDigest(organization_id, organization.name if organization else "", address, reviews, names)
        for address, reviews in waiting.items()
        if times[address] <= now_ms
    ]
    # Those that are due now are looked at once more, to be settled.
    return Digests(due, min(times.values(), default=None), settled)


def _people(tx: Tx, organization_id: str, inbox_id: str, sender: RecipientInbox | None) -> Sequence[str]:
    """Whom the inbox's policy names, each once, less those who are suppressed; nobody, where nothing can be sent."""
    if sender is None:
        return ()
    notify = policies.effective(tx, organization_id, inbox_id).review.notify
    named = list({normalize(one): one for one in reversed(notify)}.values())[::-1]
    keys = {key for one in named for key in suppression_keys(normalize(one))}
    if not keys:
        return ()
    owners = {organization_id, sender.organization_id}
    found = {one.email for owner in owners for one in suppressions.find(tx, owner, keys)}
    return [one for one in named if found.isdisjoint(suppression_keys(normalize(one)))]


def _mail(digest: DueDigest, sender: str, host: str, token: str, now_ms: int) -> bytes:
    """`token`: of its Message-ID."""
    count = len(digest.reviews)
    what = "1 message waits" if count == 1 else f"{count} messages wait"
    subject = f"{what} for a review"
    return plain_mail(digest.address, subject, _lines(digest, host), sender, token, now_ms)


def _lines(digest: DueDigest, host: str) -> list[str]:
    """Ids, times and reasons; what is held is read where it can be decided about."""
    shown = digest.reviews[:LINES_MAX]
    lines = [
        f"Messages of {digest.organization} are held at {host}:",
        "",
        *(
            f"{one.id}  {digest.names[one.inbox_id]}  {one.direction}  {', '.join(load(one.reasons))}"
            f"  until {iso(one.expires_at)}"
            for one in shown
        ),
    ]
    if len(digest.reviews) > LINES_MAX:
        lines.append(f"and {len(digest.reviews) - LINES_MAX} more")
    return [
        *lines,
        "",
        "What nobody approves in time is not sent. Read them by GET /v1/reviews,",
        "or on the host by 'maild reviews list'.",
        "",
    ]
