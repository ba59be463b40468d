"""Who may be answered in a conversation by those who may not write to anybody (docs/contract.md, "Keys that only
answer"), and in inboxes whose policy asks for it:

    (a)  who wrote in it, as far as it is proven that they did (`verifiedDomain`)
    (b)  whom these want to be answered at, in their own organization
    (c)  whom somebody who may write to anybody has written to in it
    (d)  whom a rule allows to be written to

It limits who is written to, not what is said: a stranger who writes first takes part.
"""

from collections.abc import Iterable, Mapping
from itertools import chain, islice

from controlplane.contract.refusals import Refusal
from maild.message.fields.address import normalize
from maild.message.writing.reply_recipients import Correspondence, is_foreign
from storage.agents import rules
from storage.agents.rules import Ruling
from storage.engine.tx import Tx
from storage.mail import conversation
from storage.mail.conversation import SaidOfPeople
from storage.records import MessageRow, answers_to, load, verified_domain

ADDRESSES_LOOK = 5000  # the newest: a stranger who takes part may name as many as he likes
RULED_LOOK = 1000  # of those whom a stranger's mail names
PARTICIPANTS = "participants"  # of `outbound.recipients` in a policy
REPLY_ONLY = "reply"  # the authority of a key that holds messages:reply, and not messages:send

WHY = {
    "rule": "the rule 'details.ruleId' blocks mail to 'details.address'.",
    "allowlist": "a policy allows those alone whom an outbound rule allows, and none allows 'details.address'.",
    PARTICIPANTS: "'details.address' takes no part in this conversation that is proven. Answers go"
    " to those who wrote in it and have an 'auth.verifiedDomain', to whom a key with messages:send has written in it,"
    " and whom an outbound rule allows.",
}


def may_answer(tx: Tx, organization_id: str, thread_id: str, mode: str) -> frozenset[str]:
    """Comparison keys of those who may be answered in the thread by a key of this mode, whatever rules say."""
    said = conversation.participants(tx, organization_id, thread_id, mode)
    newest = islice(chain.from_iterable(map(_named, said)), ADDRESSES_LOOK)
    return frozenset(map(normalize, newest))


def answerable(
    tx: Tx, organization_id: str, inbox_id: str, thread_id: str, mode: str, asked: Iterable[str]
) -> frozenset[str]:
    """The same with those of the first RULED_LOOK comparison keys of `asked` whom a rule allows."""
    rulings = rules.decide(tx, organization_id, inbox_id, "outbound", islice(asked, RULED_LOOK))
    return may_answer(tx, organization_id, thread_id, mode) | allowed_by_rules(rulings)


def allowed_by_rules(rulings: Mapping[str, Ruling]) -> frozenset[str]:
    """The comparison keys of those whom a rule allows, and none that is sterner names."""
    return frozenset(key for key, ruling in rulings.items() if ruling.action == "allow")


def not_allowed(address: str, reason: str = PARTICIPANTS, rule_id: str | None = None) -> Refusal:
    """The refusal of a recipient: `rule`, `allowlist`, or who does not take part."""
    details = {"address": address, "reason": reason, "ruleId": rule_id}
    return Refusal("recipient_not_allowed", f"Nothing was sent: {WHY[reason]}", details)


def correspondence(message: MessageRow | SaidOfPeople, *, is_inbound: bool) -> Correspondence:
    """What the message says of its people."""
    return Correspondence(
        is_inbound=is_inbound,
        authors=load(message.authors) if message.authors else [message.from_address],
        reply_to=answers_to(message.reply_to, message.reply_to_addresses),
        to=load(message.to_addresses),
        cc=load(message.cc_addresses),
        verified_domain=verified_domain(message.auth),
        org_domains=load(message.org_domains) if message.org_domains else {},
    )


def _named(said: SaidOfPeople) -> Iterable[str]:
    if not said.is_inbound:
        return [*load(said.to_addresses), *load(said.cc_addresses), *load(said.bcc_addresses)]
    people = correspondence(said, is_inbound=True)
    if people.verified_domain is None:
        return ()
    return [*people.authors, *(one for one in people.reply_to if not is_foreign(one, people))]
