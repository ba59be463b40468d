"""What waits in the store for the daemon to do it, over all organizations."""

from typing import NamedTuple

from storage.engine.tx import Tx
from storage.publishing import webhooks
from storage.searching import search_tail
from storage.sending import outbound
from storage.sending.outbound import QueueBacklog


class Backlogs(NamedTuple):
    """`queue`: recipients of mail that leaves. `webhook_due_at`: since when (Unix milliseconds) the delivery waits that
    is due for longest, None where none is. `unsearchable`: messages that the search index has yet to be told of."""

    queue: QueueBacklog
    webhook_due_at: int | None
    unsearchable: int


def backlogs(tx: Tx, now_ms: int) -> Backlogs:
    """All of them at one moment."""
    return Backlogs(outbound.backlog(tx, now_ms), webhooks.oldest_due_at(tx, now_ms), search_tail.length(tx))
