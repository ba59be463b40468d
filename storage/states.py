"""Every state machine of the store, as a table: state → the states that may follow.

Two rules. A status changes only by `UPDATE … SET status = :to … WHERE status = :from`, where
(from, to) stands in the table; and the schema's CHECK lists the same states (a test compares them).
"""

from collections.abc import Mapping

Machine = Mapping[str, frozenset[str]]


def _machine(**transitions: str) -> Machine:
    return {state: frozenset(after.split()) for state, after in transitions.items()}


# docs/contract.md, section 3. `received` never changes: what happens to such a message later is told by labels.
MESSAGE = _machine(
    received="",
    held="queued scheduled failed cancelled",
    scheduled="queued held failed cancelled",
    queued="sent delivered failed",
    sent="delivered failed",
    delivered="failed",
    failed="",
    cancelled="",
)

# Failure reasons of what was held and then not let go: nobody was ever to get it.
REVIEW_REJECTED, REVIEW_EXPIRED = "review_rejected", "review_expired"

# One recipient of an outbound message. `sent`: the next hop took it (a smarthost); `delivered`: its
# own MX or a local inbox did. A bounce may come after either.
RECIPIENT = _machine(
    queued="deferred sent delivered bounced failed suppressed",
    deferred="deferred sent delivered bounced failed suppressed",
    sent="delivered bounced",
    delivered="bounced",
    bounced="",
    failed="",
    suppressed="",
)
RECIPIENT_PENDING = frozenset({"queued", "deferred"})
RECIPIENT_ACCEPTED = frozenset({"sent", "delivered"})
RECIPIENT_FAILED = frozenset({"bounced", "failed", "suppressed"})

DRAFT = _machine(draft="sent discarded", sent="", discarded="")

DOMAIN = _machine(
    pending="verified failed deleted",
    verified="failed deleted",
    failed="pending verified deleted",
    deleted="",
)

SENDING = _machine(approved="pending paused", pending="approved paused", paused="approved")

DKIM_KEY = _machine(published="active retired", active="retired", retired="")

# A finished delivery is pending again when the organization asks for it once more.
WEBHOOK_DELIVERY = _machine(
    pending="pending succeeded failed halted", succeeded="pending", failed="pending", halted="pending"
)

# Of a conversation one message is offered, claimed or put off; the others are behind it. A row goes when it is done.
WORK = _machine(
    behind="ready", ready="claimed", claimed="ready delayed dead", delayed="ready", dead="ready behind"
)

# What is held is decided once; a message that is deleted is withdrawn.
REVIEW = _machine(
    pending="approved rejected expired withdrawn", approved="", rejected="", expired="", withdrawn=""
)

CLAIM = _machine(live="released expired done dead", released="", expired="", done="", dead="")

# (table, column) → machine: what the schema's CHECKs repeat.
COLUMNS: Mapping[tuple[str, str], Machine] = {
    ("messages", "status"): MESSAGE,
    ("recipients", "status"): RECIPIENT,
    ("drafts", "status"): DRAFT,
    ("domains", "status"): DOMAIN,
    ("organizations", "sending_status"): SENDING,
    ("dkim_keys", "status"): DKIM_KEY,
    ("webhook_deliveries", "status"): WEBHOOK_DELIVERY,
    ("work_items", "status"): WORK,
    ("claims", "status"): CLAIM,
    ("reviews", "status"): REVIEW,
}


def message_status(recipients: frozenset[str] | set[str]) -> str:
    """The status of an outbound message from those of its recipients (docs/contract.md, section 3).

    `recipients`: the distinct statuses that occur. The answer may equal the present status.
    """
    if recipients <= RECIPIENT_FAILED:
        return "failed"
    accepted = recipients & RECIPIENT_ACCEPTED
    if not accepted:
        return "queued"
    if "sent" in accepted or recipients & RECIPIENT_PENDING:
        return "sent"
    return "delivered"
