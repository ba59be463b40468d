"""What becomes of a message that was sent: its status, and what it counts, as its recipients get their verdicts.

A status is changed only from the one that was read (`move_message`), or in the unit that read it (`move_messages`). A
message that failed is given back to its organization's plan, unless it left the host: another one was told MAIL FROM.
One that was withdrawn in that very moment counts again once the attempt is over (`note_withdrawn`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from storage import usage
from storage.clock import day_of, month_of
from storage.engine.dialect import THEN_JOIN, each_of
from storage.engine.tx import Tx
from storage.records import RecipientRow, columns, dump
from storage.sending import settlements
from storage.sending.settlements import RecipientSettlement


class MessageSummary(NamedTuple):
    """What an outcome needs of its message."""

    organization_id: str
    inbox_id: str
    thread_id: str
    mode: str
    status: str
    from_address: str
    to_addresses: str
    subject: str
    failure_reason: str | None
    sent_at: int | None
    created_at: int
    counted_at: int | None
    is_tls_report: int = 0

    @property
    def is_counted(self) -> bool:
        """Does it count for its organization? What this host sends on its own is nobody's use, nor behaviour."""
        return self.mode == "live" and not self.is_tls_report

    @property
    def periods(self) -> tuple[str, str]:
        """The UTC day and month in which it counted against the plan."""
        at_ms = self.created_at if self.counted_at is None else self.counted_at
        return day_of(at_ms), month_of(at_ms)

    @property
    def counters(self) -> Sequence[tuple[str, str, str]]:
        """Where it counted: organization, scope, period."""
        day, month = self.periods
        domain = self.from_address.rpartition("@")[2]
        return [(self.organization_id, *one) for one in (("", day), ("", month), (domain, day))]


_SUMMARY = f"""{", ".join("m." + field for field in MessageSummary._fields[:-1])},
      EXISTS (SELECT 1 FROM tls_reports_sent t WHERE t.message_id = m.id)"""
_SUMMARY_COLUMNS = len(MessageSummary._fields)
_ONE_SUMMARY = f"SELECT {_SUMMARY} FROM messages m WHERE m.id = ?"
_WITH_RECIPIENTS = f"""SELECT {_SUMMARY}, {columns(RecipientRow, "r")}
    FROM messages m {THEN_JOIN} recipients r ON r.message_id = m.id
    WHERE m.id IN {each_of("?")} ORDER BY r.message_id, r.position"""
_MOVE = "UPDATE messages SET status = ?, sent_at = ?, failure_reason = ? WHERE id = ? AND status = ?"


def summary(tx: Tx, message_id: str) -> MessageSummary | None:
    """The columns of a message that its outcome needs; None when it is gone."""
    row = tx.one(_ONE_SUMMARY, (message_id,))
    return MessageSummary(*row) if row else None


class SummaryWithRecipients(NamedTuple):
    """A message and all its recipients, as they stand."""

    summary: MessageSummary
    recipients: list[RecipientRow]

    def settle(self, it: RecipientSettlement) -> bool:
        """Show the recipient as `settle_all` leaves its row; False where it is gone or has another status by now."""
        for at, recipient in enumerate(self.recipients):
            if recipient.position == it.position and recipient.status == it.from_status:
                self.recipients[at] = recipient._replace(
                    status=it.status,
                    next_attempt_at=it.next_attempt_at,
                    remote_host=it.remote_host,
                    smtp_code=it.smtp_code,
                    enhanced_code=it.enhanced_code,
                    response=it.response,
                    tls=it.tls,
                )
                return True
        return False


def with_recipients(tx: Tx, message_ids: Sequence[str]) -> dict[str, SummaryWithRecipients]:
    """`summary` and `recipients` of several messages; what is gone, or has no recipients, is left out."""
    found: dict[str, SummaryWithRecipients] = {}
    for row in tx.all(_WITH_RECIPIENTS, (dump(message_ids),)):
        recipient = RecipientRow(*row[_SUMMARY_COLUMNS:])
        known = found.get(recipient.message_id)
        if known is None:
            found[recipient.message_id] = SummaryWithRecipients(
                MessageSummary(*row[:_SUMMARY_COLUMNS]), [recipient]
            )
        else:
            known.recipients.append(recipient)
    return found


class MessageMove(NamedTuple):
    """A change of a message's status; `reason`: why it failed."""

    status: str
    sent_at: int | None
    reason: str | None
    message_id: str
    origin: str


def move_messages(tx: Tx, moves: Sequence[MessageMove]) -> None:
    """Change what the same unit has found in the status `origin`; one move after the other."""
    tx.run_many(_MOVE, moves)


def move_message(
    tx: Tx, message_id: str, origin: str, status: str, sent_at: int | None, failure_reason: str | None
) -> bool:
    """Change the message's status; False, and nothing changed, when it was not `origin` any more."""
    return (
        tx.run(
            _MOVE,
            (status, sent_at, failure_reason, message_id, origin),
        )
        == 1
    )


def give_back_unless_left(tx: Tx, failed: Mapping[str, MessageSummary]) -> None:
    """Uncount live messages that failed (id → what they were), each in its day, its month and its domain's day, unless
    it left the host."""
    counted = {message_id: message for message_id, message in failed.items() if message.is_counted}
    left = left_the_host(tx, list(counted))
    given: Counter[tuple[str, str, str]] = Counter()
    for message_id, message in counted.items():
        if message_id not in left:
            given.update(message.counters)
    for (organization_id, scope, period), amount in given.items():
        usage.give_back(tx, organization_id, period, "messages", amount, scope)


def note_withdrawn(tx: Tx, attempt: RecipientSettlement, now_ms: int) -> bool:
    """Record what a host was told of a recipient that was withdrawn meanwhile; False where there was none. The message
    counts again where it was given back: this attempt is the first by which it left."""
    had_left = left_the_host(tx, [attempt.message_id])
    if not settlements.note_withdrawn(tx, attempt, now_ms):
        return False
    message = None if had_left else summary(tx, attempt.message_id)
    if message is not None and message.status == "failed" and message.is_counted:
        for organization_id, scope, period in message.counters:
            usage.take_again(tx, organization_id, period, "messages", scope)
    return True


def left_the_host(tx: Tx, message_ids: Sequence[str]) -> set[str]:
    """Of which of these was another host told MAIL FROM? A greeting alone does not count. Rows from before 0009 only
    know the host."""
    if not message_ids:
        return set()
    rows = tx.all(
        f"""SELECT DISTINCT message_id FROM delivery_attempts
            WHERE message_id IN {each_of("?")} AND coalesce(has_left, remote_host IS NOT NULL)""",
        (dump(message_ids),),
    )
    return {message_id for (message_id,) in rows}
