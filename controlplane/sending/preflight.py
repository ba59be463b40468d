"""Would this message be sent? What `pipeline.py` would say, and what looks wrong, without sending anything.

The steps before the transaction are the pipeline's own (`preparing.py`); the guards are those of the transaction
(`guards.py`), and run in one that only reads, together with all that is told of the recipients: one state of the store.
Every step that refuses is told, and the others go on. Nothing is claimed, counted or written: a wire that this message
would trip stays as it is.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from controlplane.contract.mail.messages import SendMessage
from controlplane.contract.refusals import Refusal
from controlplane.sending import rows
from controlplane.sending.admitting import guards, holding
from controlplane.sending.admitting.admission import Admission
from controlplane.sending.admitting.guards import Attempt
from controlplane.sending.admitting.participants import allowed_by_rules, correspondence, may_answer
from controlplane.sending.outgoing import OutgoingWarning
from controlplane.sending.preparing import Preparation, SendContext, look
from controlplane.sending.submission import Submission, subject_of
from controlplane.sending.writing.composing import unique_recipients
from maild.message.digest import KeptContent
from maild.message.fields.address import normalize, split, suppression_keys
from maild.message.writing import outgoing_warnings
from maild.message.writing.outgoing_warnings import (
    AddressFinder,
    AuthoredWords,
    content_warnings,
    is_no_reply,
)
from maild.message.writing.reply_recipients import is_foreign
from storage.agents.policies import Policy
from storage.agents.rules import Ruling
from storage.clock import DAY_MS, Clock
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.mail import conversation, correspondents
from storage.mail import correspondence as letters
from storage.mail.correspondence import CameIn, SentWords
from storage.records import MessageRow, answers_to, load
from storage.sending import outbound, suppressions
from storage.turns.cpu_threads import CpuThreads

AT_ONCE_CHARS = 2048  # some milliseconds of looking for what is wrong
READING = "messages:read"
FROM_CONTENT = "recipient_from_content"  # it tells what other mail says

# organization, mode, the sender's domain, the recipients' domains → (route, finding) of each
FindDestinations = Callable[[str, str, str, Sequence[str]], Awaitable[Mapping[str, tuple[str, str]]]]
# organization, message → the beginning of its text, its HTML
LoadBody = Callable[[str, str], Awaitable[str | None]]


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be judged. `words`: what its author wrote of it. `refusals`: what is known to stand against it
    already; then `submission` may lack recipients. `is_whole` False: it lacks what can't be had; it is not composed."""

    submission: Submission
    words: AuthoredWords
    refusals: Sequence[Refusal] = ()
    is_whole: bool = True


class JudgedRecipient(NamedTuple):
    """Of one recipient; as `CheckedRecipient` of the contract."""

    kind: str
    address: str
    is_first_time: bool
    is_suppressed: bool
    route: str
    finding: str
    ruling: Ruling | None


@dataclass(frozen=True, slots=True)
class Judgement:
    """`would_hold`: it would wait for a review. `thread`: the conversation that it answers in, and the last message
    there that counts. `size_bytes`: None where it could not be composed."""

    refusals: Sequence[Refusal]
    would_hold: bool
    warnings: Sequence[OutgoingWarning]
    recipients: Sequence[JudgedRecipient]
    subject: str
    size_bytes: int | None
    thread: tuple[str, str | None] | None


@dataclass(slots=True)
class _Grounds:
    """What the store says of what may be wrong, of one moment. `parent`: the message that is answered. `first_time`:
    keys of those who were never written to; `unknown`: of them whom no rule allows and who may not be answered in the
    conversation; `came_in`: where they may stand."""

    parent: MessageRow | None
    first_time: frozenset[str]
    duplicate_of: str | None = None
    unknown: Sequence[str] = ()
    came_in: Sequence[CameIn] = field(default_factory=list)


class _Facts(NamedTuple):
    """What the store says, of one moment. `reasons`: why it would be held, but for what is wrong in its words."""

    refusals: Sequence[Refusal]
    policy: Policy
    reasons: Sequence[str]
    suppressed: frozenset[str]
    rulings: Mapping[str, Ruling]
    last_message_id: str | None
    grounds: _Grounds


class Preflight:
    """Judges messages. `load_text`: of a message whose text is too large for its row; `load_html`: of any."""

    def __init__(
        self,
        preparation: Preparation,
        admission: Admission,
        clock: Clock,
        cpu: CpuThreads,
        find_destinations: FindDestinations,
        load_text: LoadBody,
        load_html: LoadBody,
    ) -> None:
        self._preparation = preparation
        self._admission = admission
        self._clock = clock
        self._cpu = cpu
        self._find_destinations = find_destinations
        self._load_text = load_text
        self._load_html = load_html

    async def judge(self, db: Database, wish: Wish) -> Judgement:
        """What would become of the message; Refusal where the request is at fault, or names what is not there."""
        submission, refusals = wish.submission, list(wish.refusals)
        principal, request = submission.principal, submission.request
        with telling(refusals):
            self._preparation.check_schedule(request)
        around = await db.lookup(look, submission)
        recipients = unique_recipients(request)
        await self._ask_queue(refusals, 0 if request.sendAt is not None else len(recipients))
        size_bytes, found = await self._compose(wish, around, recipients, refusals)
        facts = await db.read_for(
            principal.organization_id, self._look_up, submission, around, recipients, found
        )
        warnings = await self._warnings(principal.organization_id, wish.words, recipients, facts.grounds)
        refusals += facts.refusals
        reasons = [*facts.reasons, *holding.of_warnings(facts.policy, warnings)]
        parent = around.parent
        return Judgement(
            refusals=refusals,
            would_hold=bool(reasons) and not refusals,
            warnings=[one for one in warnings if one.code != FROM_CONTENT or principal.holds(READING)],
            recipients=await self._told(submission, around, recipients, facts),
            subject=subject_of(request),
            size_bytes=size_bytes,
            thread=None if parent is None else (parent.thread_id, facts.last_message_id),
        )

    async def warnings(
        self,
        db: Database,
        submission: Submission,
        around: SendContext,
        recipients: Sequence[tuple[str, str]],
        found: KeptContent,
    ) -> Sequence[OutgoingWarning]:
        """All that looks wrong in a composed message, whoever sends it: for whoever reviews it."""
        organization_id = submission.principal.organization_id
        grounds = await db.read_for(
            organization_id, self._look_for_warnings, submission, around, recipients, found
        )
        words = submission.words or words_of(submission.request)
        return await self._warnings(organization_id, words, recipients, grounds)

    async def _warnings(
        self,
        organization_id: str,
        words: AuthoredWords,
        recipients: Sequence[tuple[str, str]],
        grounds: _Grounds,
    ) -> list[OutgoingWarning]:
        return [
            *await self._of_words(organization_id, words),
            *_of_store(grounds),
            *await self._from_content(organization_id, grounds),
            *_of_recipients(grounds.parent, recipients),
        ]

    async def _ask_queue(self, refusals: list[Refusal], recipients: int) -> None:
        with telling(refusals):
            await self._preparation.refuse_when_full()
            self._preparation.room.refuse(recipients)

    async def _compose(
        self,
        wish: Wish,
        around: SendContext,
        recipients: Sequence[tuple[str, str]],
        refusals: list[Refusal],
    ) -> tuple[int | None, KeptContent | None]:
        submission = wish.submission
        count = len(submission.request.attachments) + len(submission.files)
        attachments = None
        with telling(refusals):
            attachments = await self._preparation.attachments(submission)
        with telling(refusals):
            self._preparation.check_attachments(count)
        if attachments is None or not recipients or not wish.is_whole:
            return None, None
        letter = self._preparation.letter(submission, around, recipients, attachments)
        raw, found = await self._preparation.compose(letter)
        return len(raw), found

    def _look_up(
        self,
        tx: Tx,
        submission: Submission,
        around: SendContext,
        recipients: Sequence[tuple[str, str]],
        found: KeptContent | None,
    ) -> _Facts:
        principal, parent = submission.principal, around.parent
        organization_id = principal.organization_id
        attempt = self._attempt(tx, submission, parent, recipients)
        policy = attempt.policies.effective
        looks_into_mail = principal.holds(READING) or FROM_CONTENT in policy.outbound.hold_on
        return _Facts(
            refusals=guards.every_refusal(tx, attempt),
            policy=policy,
            reasons=holding.reasons_to_hold(tx, attempt, policy, ()),
            suppressed=_suppressed(tx, organization_id, attempt.keys),
            rulings=attempt.rulings,
            last_message_id=(
                conversation.newest(tx, organization_id, parent.thread_id, principal.mode) if parent else None
            ),
            grounds=self._grounds(tx, submission, parent, attempt, found, looks_into_mail),
        )

    def _look_for_warnings(
        self,
        tx: Tx,
        submission: Submission,
        around: SendContext,
        recipients: Sequence[tuple[str, str]],
        found: KeptContent,
    ) -> _Grounds:
        parent = around.parent
        if submission.written is not None:  # its header says what it answers
            now_ms, principal = self._clock.now_ms(), submission.principal
            thread_id = rows.written_thread(tx, submission, submission.written, recipients, now_ms)
            parent = (
                conversation.newest_inbound(tx, principal.organization_id, thread_id, principal.mode)
                if thread_id
                else None
            )
        attempt = self._attempt(tx, submission, parent, recipients)
        return self._grounds(tx, submission, parent, attempt, found, looks_into_mail=True)

    def _attempt(
        self,
        tx: Tx,
        submission: Submission,
        parent: MessageRow | None,
        recipients: Sequence[tuple[str, str]],
    ) -> Attempt:
        thread_id = parent.thread_id if parent is not None else None
        return self._admission.attempt_of(
            tx, submission, recipients, thread_id=thread_id, now_ms=self._clock.now_ms()
        )

    def _grounds(
        self,
        tx: Tx,
        submission: Submission,
        parent: MessageRow | None,
        attempt: Attempt,
        found: KeptContent | None,
        looks_into_mail: bool,
    ) -> _Grounds:
        principal, now_ms = submission.principal, attempt.now_ms
        organization_id, inbox_id = principal.organization_id, attempt.inbox_id
        # What test keys send reaches nobody, so live ones have not written to anybody by it.
        modes = ("live",) if principal.mode == "live" else ("live", "test")
        first_time = correspondents.unknown(tx, inbox_id, attempt.keys, principal.mode)
        grounds = _Grounds(parent, first_time)
        if found is not None:
            said = SentWords(
                subject_of(submission.request),
                found.snippet,
                found.text_body or "",
                found.extracted_text or "",
            )
            same = letters.same_words(tx, organization_id, inbox_id, said, now_ms - DAY_MS, modes)
            keys = frozenset(attempt.keys)
            grounds.duplicate_of = next((one.id for one in same if _recipients_of(one) == keys), None)
        if looks_into_mail:
            thread_id = parent.thread_id if parent is not None else None
            allowed = may_answer(tx, organization_id, thread_id, principal.mode) if thread_id else frozenset()
            known = allowed | allowed_by_rules(attempt.rulings) | _authors(parent)
            strangers = first_time - known
            grounds.unknown = [address for address, key in attempt.addresses if key in strangers]
            grounds.came_in = letters.came_in(tx, organization_id, inbox_id) if grounds.unknown else ()
        return grounds

    async def _of_words(self, organization_id: str, words: AuthoredWords) -> Sequence[OutgoingWarning]:
        work = partial(content_warnings, words)
        is_small = len(words.text or "") + len(words.html or "") <= AT_ONCE_CHARS
        found = work() if is_small else await self._cpu.run(organization_id, work)
        return [OutgoingWarning(*one) for one in found]

    async def _from_content(self, organization_id: str, grounds: _Grounds) -> Sequence[OutgoingWarning]:
        """The newest place of each."""
        if not grounds.came_in:
            return ()
        finder = AddressFinder(grounds.unknown)
        left, found = set(grounds.unknown), []
        for message in grounds.came_in:
            text, html = message.text, None
            if text is None and message.is_large:
                text = await self._load_text(organization_id, message.id)
            if message.has_html:
                html = await self._load_html(organization_id, message.id)
            work = partial(_stand_in, message, text or "", html or "", finder)
            for one in await self._cpu.run(organization_id, work):
                if one.address in left:
                    left.discard(one.address)
                    found.append(one)
            if not left:
                break
        return found

    async def _told(
        self,
        submission: Submission,
        around: SendContext,
        recipients: Sequence[tuple[str, str]],
        facts: _Facts,
    ) -> Sequence[JudgedRecipient]:
        principal = submission.principal
        domains = {address: outbound.destination(address) for _, address in recipients}
        ways = await self._find_destinations(
            principal.organization_id,
            principal.mode,
            around.inbox.domain,
            list(dict.fromkeys(domains.values())),
        )
        return [
            JudgedRecipient(
                kind,
                address,
                normalize(address) in facts.grounds.first_time,
                any(key in facts.suppressed for key in suppression_keys(address)),
                *ways[domains[address]],
                facts.rulings.get(normalize(address)),
            )
            for kind, address in recipients
        ]


@contextmanager
def telling(refusals: list[Refusal]) -> Iterator[None]:
    """A Refusal, raised inside, is told with the others; one of the request itself is raised, as everywhere."""
    try:
        yield
    except Refusal as refusal:
        if refusal.code == "validation_failed":
            raise
        refusals.append(refusal.to_keep())


def words_of(request: SendMessage) -> AuthoredWords:
    """Of a message whose author wrote all of it."""
    return AuthoredWords(
        request.subject or "", request.text, request.html, has_files=bool(request.attachments)
    )


def _suppressed(tx: Tx, organization_id: str, keys: Sequence[str]) -> frozenset[str]:
    wanted = {key for address in keys for key in suppression_keys(address)}
    return frozenset(one.email for one in suppressions.find(tx, organization_id, wanted))


def _recipients_of(message: letters.SameWords) -> frozenset[str]:
    lists = (message.to_addresses, message.cc_addresses, message.bcc_addresses)
    return frozenset(normalize(address) for one in lists for address in load(one))


def _authors(parent: MessageRow | None) -> frozenset[str]:
    """Who wrote the message that is answered, by its From: to answer there is no stranger's advice."""
    if parent is None or parent.direction != "inbound":
        return frozenset()
    return frozenset(map(normalize, correspondence(parent, is_inbound=True).authors))


def _of_store(grounds: _Grounds) -> Iterator[OutgoingWarning]:
    if grounds.duplicate_of is not None:
        yield OutgoingWarning("duplicate", message_id=grounds.duplicate_of)


def _stand_in(message: CameIn, text: str, html: str, finder: AddressFinder) -> list[OutgoingWarning]:
    chars = outgoing_warnings.TEXT_CHARS
    in_markup, decoded = finder.find_in_markup(html[:chars])
    fields = (
        ("text", finder.find_disguised(text[:chars])),
        ("html", in_markup),
        ("subject", finder.find_disguised(message.subject[:chars])),
    )
    found = [
        OutgoingWarning(FROM_CONTENT, view, one.start, one.end, one.address, message.id)
        for view, places in fields
        for one in places
    ]
    found += (
        OutgoingWarning(FROM_CONTENT, "html", None, None, address, message.id) for address in sorted(decoded)
    )
    replies = answers_to(message.reply_to, message.reply_to_addresses)
    for view, addresses in (("replyTo", replies), ("cc", load(message.cc_addresses))):
        for written in addresses:
            found += (
                OutgoingWarning(FROM_CONTENT, view, None, None, address, message.id)
                for address, _, _ in finder.find_disguised(written)
            )
    return found


def _of_recipients(
    parent: MessageRow | None, recipients: Sequence[tuple[str, str]]
) -> Iterator[OutgoingWarning]:
    """What is wrong with whom it goes to, and with what it answers."""
    is_answer = parent is not None and parent.direction == "inbound"
    foreign = _foreign_replies(parent) if parent is not None and is_answer else frozenset()
    for _, address in recipients:
        if normalize(address) in foreign and parent is not None:
            yield OutgoingWarning("reply_to_mismatch", address=address, message_id=parent.id)
    for _, address in recipients:
        if is_no_reply(address):
            yield OutgoingWarning("no_reply_address", address=address)
    # RFC 3834 §2: programs don't answer programs, nor what came without a return path.
    if parent is not None and is_answer and (parent.is_auto_reply or not parent.envelope_from):
        yield OutgoingWarning("auto_reply_target", message_id=parent.id)


def _foreign_replies(parent: MessageRow) -> frozenset[str]:
    """Whom Reply-To names in another organization than that of From, proven or not."""
    domain = split(normalize(parent.from_address))[1]
    said = correspondence(parent, is_inbound=True)._replace(verified_domain=domain)
    return frozenset(normalize(one) for one in said.reply_to if is_foreign(one, said))
