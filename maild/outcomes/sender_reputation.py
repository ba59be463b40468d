"""What an organization answers for, inside one transaction, when mail that it sent comes back or is complained of: its
counters, its suppressions, and the look at its reputation. It is the same whether the message is there still or not."""

from collections.abc import Sequence

from maild.message.fields.address import normalize
from maild.message.reports.bounces import Bounce
from maild.outcomes.outcome_context import OutcomeContext
from storage.audit.acts import Act, system
from storage.audit.trail import address_hash
from storage.clock import day_of, month_of
from storage.engine.tx import Tx
from storage.sending import suppressions
from storage.tenants import circuit_breaker
from storage.usage import Counts

OUTCOMES = system("outcomes")


class SenderReputation:
    """`message_id`: what was sent. Not `is_live`: test mail, which suppresses nothing. Not `is_counted`: neither its
    organization's use nor its behaviour."""

    def __init__(
        self,
        tx: Tx,
        organization_id: str,
        message_id: str,
        context: OutcomeContext,
        counts: Counts,
        *,
        is_live: bool = True,
        is_counted: bool = True,
    ) -> None:
        self._tx = tx
        self._organization_id = organization_id
        self._message_id = message_id
        self._new_id, self._audit, self._now_ms = context
        self._counts = counts
        self._is_live = is_live
        self._is_counted = is_counted

    def count(self, metric: str, amount: int = 1) -> None:
        if amount and self._is_counted:
            for period in (day_of(self._now_ms), month_of(self._now_ms)):
                self._counts.add(self._organization_id, period, metric, amount)

    def bounced(self, address: str, bounce: Bounce) -> bool:
        """Is the address suppressed by it?"""
        self.count("bounced", int(bounce.is_hard))
        return bounce.blames_address and self._suppress(address, "hard_bounce", "bounce")

    def answer_for(self, bounces: Sequence[tuple[str, Bounce]]) -> None:
        """For recipients of whose failure nothing else tells."""
        for address, bounce in bounces:
            self.bounced(address, bounce)
        if any(bounce.is_hard for _, bounce in bounces):
            self.check()

    def complained(self, address: str) -> bool:
        """Is the address suppressed by it?"""
        self.count("complained")
        return self._suppress(address, "complaint", "feedback_loop")

    def check(self) -> None:
        """After a hard bounce or a complaint."""
        if self._is_counted:
            self._counts.write(self._tx)  # which it reads
            circuit_breaker.check(
                self._tx, self._new_id("evt"), self._audit, self._organization_id, self._now_ms
            )

    def _suppress(self, address: str, reason: str, source: str) -> bool:
        if not self._is_live:
            return False
        organization_id, email, fresh = self._organization_id, normalize(address), self._new_id("sup")
        kept = suppressions.add(
            self._tx,
            fresh,
            self._now_ms,
            organization_id=organization_id,
            email=email,
            reason=reason,
            source=source,
        )
        if kept == fresh:  # else it was suppressed before
            hashed = address_hash(organization_id, email)
            told = {"addressHash": hashed, "reason": reason, "source": source, "messageId": self._message_id}
            self._audit.record(self._tx, organization_id, Act.SUPPRESSION_ADDED, OUTCOMES, fresh, told)
        return True
