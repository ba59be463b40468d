"""Does a message wait until somebody has decided about it? Named reasons, in this order (docs/contract.md, "Reviews").

They are looked for inside the transaction that stores the message, behind the guards: what a guard refuses is refused,
and never held. What looks wrong in the words is found before that transaction, and handed in.
"""

from collections.abc import Callable, Iterator, Sequence

from controlplane.sending.admitting.guards import Attempt, rules_that_hold
from controlplane.sending.outgoing import OutgoingWarning
from storage.agents import reviews
from storage.agents.policies import Policy
from storage.engine.tx import Tx
from storage.mail import correspondents, inboxes
from storage.records import MessageRow, ReviewRow, dump


def reasons_to_hold(
    tx: Tx, attempt: Attempt, policy: Policy, warnings: Sequence[OutgoingWarning]
) -> list[str]:
    """Each reason once; none: it may go. `warnings`: all that were found; the policy says which of them count."""
    found = [
        *(reason for hold in HOLDS for reason in hold(tx, attempt, policy)),
        *of_warnings(policy, warnings),
    ]
    return list(dict.fromkeys(found))


def of_warnings(policy: Policy, warnings: Sequence[OutgoingWarning]) -> list[str]:
    """The codes of those that the policy holds messages for."""
    return [code for code in dict.fromkeys(one.code for one in warnings) if code in policy.outbound.hold_on]


def review_of(
    attempt: Attempt,
    message: MessageRow,
    reasons: Sequence[str],
    warnings: Sequence[OutgoingWarning],
    review_id: str,
) -> ReviewRow:
    """What the message, which is held, waits for from now on."""
    policy = attempt.policies.effective.review
    told = dump([one.shown() for one in warnings])
    return reviews.pending_of(message, policy, reasons, told, review_id, attempt.now_ms)


def by_recipients(tx: Tx, attempt: Attempt, policy: Policy) -> Iterator[str]:
    """How far somebody wants to see what goes out, from all mail to that to strangers. Each level includes the next;
    nobody is spared by `all`, neither an inbox of the same organization nor the sender itself."""
    level = policy.outbound.review
    if level == "all":
        yield level
    elif level != "off":
        external = inboxes.foreign(tx, attempt.organization.id, attempt.keys)
        if level == "first_time" and external:
            external = correspondents.unknown(tx, attempt.inbox_id, external, attempt.mode)
        if external:
            yield level


def by_rules(tx: Tx, attempt: Attempt, policy: Policy) -> Iterator[str]:
    """The ids of rules that say `hold` of a recipient whom no sterner one names (storage/agents/rules.py)."""
    yield from rules_that_hold(attempt)


Hold = Callable[[Tx, Attempt, Policy], Iterator[str]]
HOLDS: Sequence[Hold] = (by_recipients, by_rules)
