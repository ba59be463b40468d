"""Who writes, against who they seem to be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from maild.message.evidence.confusables import skeleton
from maild.message.evidence.finding import Kind
from maild.message.evidence.links import registered
from maild.message.fields.address import split
from maild.message.fields.idn import ascii_domain, unicode_domain

LOOKS_KEPT = 4096  # correspondents are compared with each mail's author: 50 µs for an A-label that is decoded

_ADDRESS = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}@((?:[\w-]{1,63}\.){1,8}[\w-]{2,24})")


@dataclass(frozen=True, slots=True)
class SenderFacts:
    """What the store knows of who wrote. Domains are A-labels.

    `verified_domain`: of the message's verdict, None where there is none. `is_known`: their address has written to the
    inbox before, or was written to. `own_domains`: the organization's and the inbox's. `correspondents`: the domains
    that the inbox has written to. `is_bulk`: the mail says that it is one of many (List-Unsubscribe, List-Id).
    `organizations`: of some domains the organizational one (RFC 9989 §4.10); of others their names have to tell.
    """

    from_address: str
    from_name: str | None
    reply_to: Sequence[str]
    verified_domain: str | None
    is_known: bool
    has_several_from: bool = False
    is_bulk: bool = False
    own_domains: Set[str] = frozenset()
    correspondents: Set[str] = frozenset()
    organizations: Mapping[str, str] = field(default_factory=dict)


class SenderFact(NamedTuple):
    """One thing to tell of a sender; `is_light`: it weighs little here."""

    kind: Kind
    shown: str | None = None
    target: str | None = None
    is_light: bool = False


def sender_facts(sender: SenderFacts) -> Iterator[SenderFact]:
    """What there is to tell, in the order of the kinds."""
    domain = domain_of(sender.from_address)
    for found in _ADDRESS.finditer((sender.from_name or "")[:1000]):
        if found[0].lower() != sender.from_address.lower():
            yield SenderFact("display_name_address", found[0], sender.from_address)
            break
    if domain and (answers := _elsewhere(domain, sender)):
        # Newsletters that verifiably are the author's take answers where their makers want them.
        is_light = sender.is_bulk and sender.verified_domain is not None
        yield SenderFact("reply_to_mismatch", domain, answers, is_light)
    if sender.has_several_from:
        yield SenderFact("several_from")
    if domain and (imitated := _imitated(domain, sender.own_domains | sender.correspondents)):
        yield SenderFact("lookalike_domain", imitated, domain)
    if sender.verified_domain is None:
        yield SenderFact("unverified_sender", target=domain or None)
    if not sender.is_known:
        yield SenderFact("first_time_sender", target=sender.from_address or None)


def _elsewhere(domain: str, sender: SenderFacts) -> str | None:
    """The first domain in Reply-To that is of another organization than the author's."""
    own = sender.organizations.get(domain)
    for address in sender.reply_to:
        answers = domain_of(address)
        theirs = sender.organizations.get(answers)
        is_known = own is not None and theirs is not None
        if answers and (own != theirs if is_known else registered(domain) != registered(answers)):
            return answers
    return None


def domain_of(address: str) -> str:
    """The domain as an A-label; empty where there is none."""
    if "@" not in address:
        return ""
    try:
        return ascii_domain(split(address)[1])
    except ValueError:
        return ""


def foreign_addresses(text: str, known: Set[str]) -> Iterator[tuple[int, int]]:
    """Where addresses stand whose domain is none of `known` (registered names)."""
    for found in _ADDRESS.finditer(text):
        try:
            domain = ascii_domain(found[1])
        except ValueError:
            continue
        if registered(domain) not in known:
            yield found.span()


def _imitated(domain: str, known: Set[str]) -> str | None:
    """The domain of `known` that this one looks like; None where it is known itself, or looks like none."""
    name = registered(domain)
    names = {registered(one) for one in known}
    if name in names:
        return None
    looks = _looks_of(name)
    return min((one for one in names if _looks_of(one) == looks), default=None)


@lru_cache(LOOKS_KEPT)
def _looks_of(name: str) -> str:
    return skeleton(unicode_domain(name))
