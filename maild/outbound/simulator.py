"""Where mail of test keys ends: a capture with scripted outcomes. No network, no DNS.

The message itself is kept like any other; the outcome is decided here by the recipient's address
alone, so that the same test always sees the same. What a script does besides (an answer, a complaint) is a
unit of work that runs in the transaction that records the outcome: once, and only if that commits.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from maild.message.fields.thread_headers import base_subject, reply_references
from maild.message.model import Mailbox
from maild.message.writing.compose import Outgoing, compose
from maild.outcomes import reported
from maild.outcomes.outcome_context import OutcomeContext
from maild.outcomes.verdict import Verdict
from maild.ports import PrepareAnswer, SimulatedAnswer
from storage.audit.trail import Records
from storage.clock import Clock
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import messages
from storage.records import MessageRow, load
from storage.sending.leases import Due

DOMAIN = "simulator.test"
DEFERRALS = 2
ANSWERS_MAX = 3  # in one conversation: an agent that answers everything must not go on for ever
QUOTED_CHARS = 2000

_ACCEPTED = Verdict("delivered", 250, "2.0.0", "captured by the simulator")
_BOUNCED = Verdict("bounced", 550, "5.1.1", "no such user (simulated)")
_DEFERRED = Verdict("deferred", 451, "4.7.1", "try again later (simulated)")

FollowUp = Callable[[Tx], None]


@dataclass(frozen=True, slots=True)
class Played:
    """Verdicts by position, and what else happens in their transaction."""

    verdicts: Mapping[int, Verdict]
    follow_ups: Sequence[FollowUp] = ()


class Simulator:
    """Decides the outcomes of mail of test keys."""

    def __init__(
        self, db: Database, clock: Clock, ids: Ids, audit: Records, prepare_answer: PrepareAnswer
    ) -> None:
        self._db = db
        self._clock = clock
        self._ids = ids
        self._audit = audit
        self._prepare_answer = prepare_answer

    async def play(self, rows: Sequence[Due]) -> Played:
        """What becomes of the rows, all of one message."""
        follow_ups: list[FollowUp] = []
        for row in rows:
            match _script(row):
                case "complaint":
                    follow_ups.append(partial(self._complain, row))
                case "reply":
                    follow_ups += await self._answer(row)
        return Played({row.position: _verdict(row) for row in rows}, follow_ups)

    def _complain(self, row: Due, tx: Tx) -> None:
        context = OutcomeContext(self._ids.new, self._audit, self._clock.now_ms())
        reported.complained(tx, row.message_id, row.position, "abuse", context)

    async def _answer(self, row: Due) -> list[FollowUp]:
        message = await self._db.read(messages.by_id, row.message_id)
        if message is None:
            return []  # deleted meanwhile
        if await self._db.read(messages.answers_automatic, message):
            return []  # RFC 3834 §2: programs don't answer programs
        moment = datetime.fromtimestamp(self._clock.now_ms() // 1000, UTC)
        raw = write_answer(message, row.address, f"<{self._ids.token()}@{DOMAIN}>", moment)
        deliver = await self._prepare_answer(SimulatedAnswer(raw, row.address, message.from_address))

        def unless_enough_was_said(tx: Tx) -> None:
            if messages.test_answers(tx, message.thread_id) < ANSWERS_MAX:
                deliver(tx)

        return [unless_enough_was_said]


def write_answer(message: MessageRow, author: str, message_id: str, moment: datetime) -> bytes:
    """What a person would answer. It does not say that a program wrote it: agents leave such mail alone."""
    is_reply = base_subject(message.subject)[1]
    said = (message.text_body or message.snippet)[:QUOTED_CHARS]
    quoted = "".join(f"> {line}\n" for line in said.splitlines())
    head = f"On {moment:%Y-%m-%d at %H:%M}, {message.from_address} wrote:"
    return compose(
        Outgoing(
            from_=Mailbox("Simulator", author),
            to=(message.from_address,),
            cc=(),
            reply_to=None,
            subject=message.subject if is_reply else f"Re: {message.subject}",
            text=f"Thank you, this is the simulator's answer.\n\n{head}\n{quoted}",
            html=None,
            attachments=(),
            message_id=message_id,
            date=moment,
            in_reply_to=message.message_id_header,
            references=reply_references(message.message_id_header, load(message.reference_ids)),
            headers=(),
            boundary_seed=message_id,
        )
    ).raw


def _script(row: Due) -> str:
    """What the address asks for; "" for an address elsewhere, which only accepts."""
    return row.address.rpartition("@")[0].lower() if row.domain == DOMAIN else ""


def _verdict(row: Due) -> Verdict:
    match _script(row):
        case "bounce":
            return _BOUNCED
        case "defer" if row.attempts <= DEFERRALS:
            return _DEFERRED
        case _:
            return _ACCEPTED
