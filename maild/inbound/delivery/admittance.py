"""What an inbox does with a message that comes in: it accepts it, holds it until somebody has decided, or refuses it
(docs/contract.md, "Rules").

    block, hold   name an author or the envelope sender, proven or not: what anybody may claim can only do harm to him
    allow         counts where From's domain is proven, by our own verdict alone (`verifiedDomain`)
    unlisted      whom no rule names; who claims an address that is allowed, and does not prove it, is unlisted too

The sternest wins: refuse, hold, accept. Pure.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from maild.inbound.reading.incoming_message import IncomingMessage
from maild.message.fields.address import normalize, split
from storage.agents.policies import InboundPolicy
from storage.agents.rules import Ruling

AUTHORS_LOOK = 100
UNLISTED = "unlisted"
UNVERIFIED = "unverified"
HIGH_RISK = "high_risk"

Fate = Literal["accept", "hold", "refuse"]


class ClaimedSender(NamedTuple):
    """Who a message says that it is from. `authors`: comparison keys of From, `envelope`: that of the envelope sender,
    empty where there is none. `verified_domain`: that of From, where it was proven."""

    authors: Sequence[str]
    envelope: str
    verified_domain: str | None

    @property
    def keys(self) -> Sequence[str]:
        """All that a rule may name."""
        return [*self.authors, self.envelope] if self.envelope else self.authors


class Admittance(NamedTuple):
    """`reasons`: ids of rules, `unlisted`, and what the policy holds mail for; none of what is accepted."""

    fate: Fate
    reasons: tuple[str, ...] = ()


ACCEPTED = Admittance("accept")


def sender_of(incoming: IncomingMessage) -> ClaimedSender:
    """Whom a rule may name."""
    parsed = incoming.digest.parsed
    named = [parsed.from_] if parsed.from_ else parsed.authors[:AUTHORS_LOOK]
    authors = [normalize(one.address) for one in named]
    return ClaimedSender(authors, normalize(incoming.envelope_from), incoming.auth["verifiedDomain"])


def concerns_of(sender: ClaimedSender) -> frozenset[str]:
    """What a policy may hold mail for, as far as it is true of this message."""
    return frozenset((UNVERIFIED,)) if sender.verified_domain is None else frozenset()


def admit(
    sender: ClaimedSender,
    rulings: Mapping[str, Ruling],
    policy: InboundPolicy,
    concerns: Collection[str],
    *,
    is_owed: bool = False,
) -> Admittance:
    """What becomes of the message. `is_owed`: nobody may refuse it, and nobody could have listed its sender before."""
    blocks = list(_ids(sender, rulings, "block"))
    if blocks:
        return Admittance("hold" if is_owed else "refuse", tuple(blocks))
    held_for = list(_ids(sender, rulings, "hold"))
    if not held_for and not is_owed and not _is_allowed(sender, rulings):
        if policy.unlisted == "refuse":
            return Admittance("refuse", (UNLISTED,))
        if policy.unlisted == "hold":
            held_for.append(UNLISTED)
    held_for += sorted(policy.hold.intersection(concerns))
    return Admittance("hold", tuple(held_for)) if held_for else ACCEPTED


def _ids(sender: ClaimedSender, rulings: Mapping[str, Ruling], action: str) -> Iterator[str]:
    found = (rulings[key] for key in sender.keys if key in rulings)
    yield from dict.fromkeys(ruling.rule_id for ruling in found if ruling.action == action)


def _is_allowed(sender: ClaimedSender, rulings: Mapping[str, Ruling]) -> bool:
    if len(sender.authors) != 1 or sender.verified_domain is None:
        return False
    (author,) = sender.authors
    ruling = rulings.get(author)
    is_proven = split(author)[1] == sender.verified_domain
    return ruling is not None and ruling.action == "allow" and is_proven
