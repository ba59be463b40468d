"""The way into the queue: the guards, and what a message that passes them claims.

API sends, drafts and scheduled messages enter here, inside the transaction that makes them `queued`:
either the recipients are in the queue and everything is counted, or nothing is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from conf.settings import Settings
from controlplane.contract.refusals import Refusal
from controlplane.sending.admitting import guards
from controlplane.sending.admitting.guards import Attempt, Fence, Terms
from controlplane.sending.admitting.participants import RULED_LOOK
from controlplane.sending.submission import Submission
from maild.message.fields.address import normalize
from storage import usage
from storage.agents import policies, rules
from storage.agents.rules import Ruling
from storage.audit.acts import Act, system
from storage.audit.trail import Records
from storage.clock import day_of, iso, month_of
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import correspondents, inboxes, tripwire
from storage.publishing import events
from storage.records import InboxRow, MessageRow, RecipientRow, answers_to, recipients_of
from storage.sending import outbound
from storage.tenants import circuit_breaker


@dataclass(frozen=True, slots=True)
class Refused:
    """A refusal that leaves something behind, and so must commit."""

    error: Refusal


@dataclass(frozen=True, slots=True)
class SendingWakes:
    """Who is told of a message that may go, after its commit: the queue, or the scheduler of one that has a time."""

    queue: Callable[[], None]
    scheduler: Callable[[], None]


TRIPWIRE = system("tripwire")


class Admission:
    """Collects what the guards ask (`attempt`), and enqueues what passed them; both inside the caller's transaction."""

    def __init__(self, settings: Settings, ids: Ids, audit: Records) -> None:
        self._settings = settings
        self._ids = ids
        self._audit = audit
        self._shared_domains = frozenset(settings.server.shared_domains)

    def attempt(
        self,
        tx: Tx,
        organization_id: str,
        inbox_id: str,
        recipients: Sequence[tuple[str, str]],
        *,
        mode: str,
        thread_id: str | None,
        now_ms: int,
        goes_at_ms: int,
        terms: Terms,
        answers_to: Sequence[str],
    ) -> Attempt:
        """`recipients`: (kind, address) pairs. `thread_id`: the conversation that it answers in. `answers_to`: those of
        Reply-To, where its author wrote one."""
        sender = inboxes.sender(tx, organization_id, inbox_id)
        if sender is None:
            raise Refusal("inbox_not_found")
        organization, inbox = sender
        keys = [normalize(address) for _, address in recipients]
        written = tripwire.correspondents(tx, inbox_id, thread_id) if thread_id is not None else ()
        levels = policies.levels(tx, organization.id, inbox_id)
        rulings: Mapping[str, Ruling] = {}
        if "outbound" in levels.ruled:
            asked = [*keys, *map(normalize, answers_to[:RULED_LOOK])]
            rulings = rules.decide(tx, organization.id, inbox_id, "outbound", asked)
        return Attempt(
            organization=organization,
            plan=self._settings.plan(organization.plan),
            inbox_id=inbox_id,
            inbox=inbox,
            shared_domains=self._shared_domains,
            recipients=recipients,
            keys=keys,
            mode=mode,
            thread_id=thread_id,
            strangers=frozenset(keys) - {normalize(address) for address in written},
            bulk_recipients=self._settings.limits.bulk_recipients,
            now_ms=now_ms,
            goes_at_ms=goes_at_ms,
            terms=terms,
            policies=levels,
            rulings=rulings,
            answers_to=answers_to,
        )

    def attempt_of_stored(
        self,
        tx: Tx,
        message: MessageRow,
        *,
        now_ms: int,
        goes_at_ms: int,
        if_last: str | None,
        reads_mail: bool = False,
    ) -> Attempt:
        """The attempt that a message is which was accepted before, and is to go only now. `reads_mail`: may who lets it
        go be shown words of mail?"""
        return self.attempt(
            tx,
            message.organization_id,
            message.inbox_id,
            recipients_of(message),
            mode=message.mode,
            thread_id=message.thread_id,
            now_ms=now_ms,
            goes_at_ms=goes_at_ms,
            terms=Terms(if_last, message.authority, reads_mail=reads_mail),
            answers_to=answers_to(message.reply_to, message.reply_to_addresses),
        )

    def attempt_of(
        self,
        tx: Tx,
        submission: Submission,
        recipients: Sequence[tuple[str, str]],
        *,
        thread_id: str | None,
        now_ms: int,
    ) -> Attempt:
        """The attempt that a submission is."""
        request = submission.request
        return self.attempt(
            tx,
            submission.principal.organization_id,
            request.inboxId,
            recipients,
            mode=submission.principal.mode,
            thread_id=thread_id,
            now_ms=now_ms,
            goes_at_ms=request.sendAt or now_ms,
            terms=Terms(
                request.ifLastMessageId,
                submission.authority,
                _fence(submission),
                submission.principal.reads_mail,
            ),
            answers_to=submission.answers_to,
        )

    def enqueue(self, tx: Tx, attempt: Attempt, inbox: InboxRow, message_id: str) -> list[RecipientRow]:
        """Put the message into the queue, and count it; the rows of its recipients."""
        now_ms, organization_id = attempt.now_ms, attempt.organization.id
        give_up_at_ms = now_ms + self._settings.outbound.give_up_after_s * 1000
        queued = outbound.enqueue(tx, message_id, organization_id, attempt.recipients, now_ms, give_up_at_ms)
        correspondents.note(tx, inbox.id, attempt.keys, now_ms, attempt.mode)
        if attempt.mode == "live":
            domain = None if inbox.domain in self._shared_domains else inbox.domain
            usage.add_message(tx, organization_id, (day_of(now_ms), month_of(now_ms)), domain)
            if attempt.organization.is_watched:
                circuit_breaker.check(tx, self._ids.new("evt"), self._audit, organization_id, now_ms)
            if attempt.strangers:
                tripwire.note(tx, organization_id, attempt.strangers, now_ms, guards.BULK_WINDOW_MS)
        return queued

    def trip(self, tx: Tx, attempt: Attempt) -> None:
        """Remember that the bulk tripwire was tripped. The send that did it is refused."""
        organization_id, now_ms = attempt.organization.id, attempt.now_ms
        tripwire.trip(tx, organization_id, now_ms)
        self._audit.record(tx, organization_id, Act.TRIPWIRE_TRIPPED, TRIPWIRE)
        data = {
            "status": "paused",
            "reason": "bulk_pattern",
            "action": "ask_operator_to_reset_tripwire",
            "trippedAt": iso(now_ms),
        }
        events.publish(
            tx,
            self._ids.new("evt"),
            now_ms,
            organization_id=organization_id,
            type="sending.paused",
            data=data,
        )


def _fence(submission: Submission) -> Fence | None:
    """A person answers beside the workers, without a claim, also where they need one (docs/decisions.md, "Console")."""
    request = submission.request
    if submission.principal.is_member and request.claimId is None:
        return None
    return Fence(request.claimId)
