"""What became of recipients whose message was deleted meanwhile. Nothing is left that could change, and no event tells:
its organization answers for it all the same, once for each recipient."""

from collections.abc import Mapping

from maild.message.reports.bounces import Bounce
from maild.outcomes.outcome_context import OutcomeContext
from maild.outcomes.sender_reputation import SenderReputation
from storage.engine.tx import Tx
from storage.sending import deleted_mail
from storage.sending.deleted_mail import DeletedSend
from storage.usage import Counts


def bounced(tx: Tx, message: DeletedSend, found: Mapping[int, Bounce], context: OutcomeContext) -> None:
    """`found`: position → what its failure means."""
    taken = deleted_mail.take(tx, message, found.keys())
    counts = Counts()
    bounces = [(address, found[position]) for position, address in taken.items()]
    _reputation(tx, message, context, counts).answer_for(bounces)
    counts.write(tx)


def complained(tx: Tx, message: DeletedSend, position: int, context: OutcomeContext) -> None:
    """The recipient called it spam."""
    counts = Counts()
    reputation = _reputation(tx, message, context, counts)
    for address in deleted_mail.take(tx, message, {position}).values():
        reputation.complained(address)
        reputation.check()
    counts.write(tx)


def _reputation(tx: Tx, message: DeletedSend, context: OutcomeContext, counts: Counts) -> SenderReputation:
    return SenderReputation(tx, message.organization_id, message.message_id, context, counts)
