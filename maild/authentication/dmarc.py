"""DMARC (RFC 9989): whose policy holds for an author's domain, and has anything that passed to do with that domain?

Organizations are found by walking up the DNS tree (§4.10), not by a list of public suffixes. Tags of RFC 7489 that are
gone (pct, rf, ri) are passed over, as all unknown ones. A domain costs at most MAX_QUERIES questions, each answered
from the resolver's cache where it was asked before.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from maild.message.fields.address import is_within
from maild.message.tags import read_loosely
from maild.resolver import DnsError, DnsTemporary, NxDomain

MAX_QUERIES = 8
MAX_RECORD_OCTETS = 4096
NO_ANSWER = "DNS does not answer for the policy"
_URI = re.compile(r"[a-z][a-z0-9+.-]*:[!-~]+")  # RFC 3986 §3, in short
_POLICIES = ("none", "quarantine", "reject")
_WHILE_TESTING = {"reject": "quarantine", "quarantine": "none", "none": "none"}  # §4.7, t=y: one level below


class PolicyRecords(Protocol):
    """DNS as DMARC needs it (maild.resolver.Resolver)."""

    async def txt(self, name: str) -> list[bytes]:
        """Each record as one string; DnsError."""
        ...

    async def ipv4(self, host: str) -> list[str]:
        """Addresses; DnsError."""
        ...


class DmarcRecord(NamedTuple):
    """A policy record of `domain`. The policies are none, quarantine, reject; None where one is not given."""

    domain: str
    policy: str | None
    subdomain_policy: str | None
    missing_policy: str | None
    is_valid: bool
    suffix: str
    is_strict_dkim: bool
    is_strict_spf: bool
    is_testing: bool


class DmarcWalk(NamedTuple):
    """What was found from a domain upwards (§4.10). `records`: the one of the longest name first; `is_whole`: False
    where DNS did not answer above the domain's own record: whose the domain is nobody can say then, but what its policy
    is."""

    records: list[DmarcRecord]
    is_whole: bool = True


class Identifier(NamedTuple):
    """A domain that SPF or DKIM speaks for. `method`: spf or dkim; `result`: theirs."""

    method: str
    domain: str
    result: str


class DmarcResult(NamedTuple):
    """`result`: none, pass, fail, temperror, permerror. `policy`: what the domain's owner asks for when it fails.
    `record_domain`: whose record that is."""

    result: str
    policy: str = "none"
    record_domain: str = ""
    reason: str = ""


async def discover(dns: PolicyRecords, author_domain: str) -> DmarcWalk:
    """The walk from the author's domain (an A-label in lower case); DnsError, if temporary, where not even its policy
    can be told."""
    found: list[DmarcRecord] = []
    for target in targets(author_domain):
        try:
            record = read_record(target, await dns.txt("_dmarc." + target))
        except DnsError as error:
            if not error.temporary:
                continue
            if found and found[0].domain == author_domain:
                return DmarcWalk(found, is_whole=False)
            raise
        if record is None:
            continue
        found.append(record)
        if record.suffix in ("n", "y"):  # §4.10 steps 2 and 6: wherever it stands, nothing above it counts
            break
    return DmarcWalk(found)


async def evaluate_dmarc(
    author_domain: str, walk: DmarcWalk, identifiers: Sequence[Identifier], dns: PolicyRecords
) -> DmarcResult:
    """Does anything that passed speak for the author's domain? `walk`: what `discover` gave for it."""
    record = _policy_record(author_domain, walk.records)
    if record is None or not record.is_valid:
        return DmarcResult("none")
    scope = _Scope(dns, author_domain, _organization(author_domain, walk), record)
    try:
        if await scope.first_aligned(identifiers, "pass") is not None:
            return DmarcResult("pass", "none", record.domain)
        # §5.3.5: what may pass later can't be held against the sender, if it would count.
        undecided = await scope.first_aligned(identifiers, "temperror")
        if undecided is not None:
            return DmarcResult(
                "temperror", "none", record.domain, reason=f"{undecided.method} can't be judged now"
            )
        return DmarcResult("fail", await _policy(dns, author_domain, record), record.domain)
    except DnsError:
        return DmarcResult("temperror", "none", record.domain, reason=NO_ANSWER)


def read_record(domain: str, records: Iterable[bytes]) -> DmarcRecord | None:
    """The record among the TXT records at `_dmarc.domain`; None where there is none, or more than one."""
    # §4.7: it begins with the version, with no blank before it.
    texts = [
        record.decode("utf-8", "replace")
        for record in records
        if len(record) <= MAX_RECORD_OCTETS and record.startswith((b"v", b"V"))
    ]
    found = [tags for text in texts if (tags := read_loosely(text)) and _begins_with_version(tags)]
    if len(found) != 1:
        return None
    tags = {name.lower(): value.lower() for name, value in reversed(found[0].items())}
    asked = {name: tags.get(name) for name in ("p", "sp", "np")}
    is_sound = asked["p"] in _POLICIES and all(asked[name] in (None, *_POLICIES) for name in ("sp", "np"))
    return DmarcRecord(
        domain=domain,
        policy=asked["p"] if is_sound else "none",
        subdomain_policy=asked["sp"] if is_sound else None,
        missing_policy=asked["np"] if is_sound else None,
        is_valid=is_sound or any(_URI.fullmatch(uri.strip(" \t")) for uri in tags.get("rua", "").split(",")),
        suffix=tags.get("psd", "u"),
        is_strict_dkim=tags.get("adkim") == "s",
        is_strict_spf=tags.get("aspf") == "s",
        is_testing=tags.get("t") == "y",
    )


def _begins_with_version(tags: Mapping[str, str]) -> bool:
    """§4.8: the grammar has a case for the version alone, not for its name."""
    name, value = next(iter(tags.items()))
    return name in ("v", "V") and value == "DMARC1"


def targets(domain: str) -> Iterator[str]:
    """The domains of a walk, the longest first (§4.10): at most MAX_QUERIES of them."""
    yield domain
    labels = domain.split(".")
    for start in range(max(1, len(labels) - (MAX_QUERIES - 1)), len(labels)):
        yield ".".join(labels[start:])


def organization(domain: str, records: list[DmarcRecord]) -> str:
    """The organizational domain (§4.10.2) that a walk from `domain` with these records tells."""
    for record in records:
        if record.suffix == "n":
            return record.domain
        if record.suffix == "y" and record.domain != domain:
            below = len(record.domain.split(".")) + 1
            return ".".join(domain.split(".")[-below:])
    return records[-1].domain if records else domain


def _organization(domain: str, walk: DmarcWalk) -> str | None:
    """The same of a walk; None where nobody can say now."""
    return organization(domain, walk.records) if walk.is_whole else None


def _policy_record(domain: str, records: list[DmarcRecord]) -> DmarcRecord | None:
    """§4.10.1: the author domain's own, else its organization's, else the public suffix's."""
    by_domain = {record.domain: record for record in records}
    suffix = records[-1] if records and records[-1].suffix == "y" else None
    return by_domain.get(domain) or by_domain.get(organization(domain, records)) or suffix


async def _policy(dns: PolicyRecords, domain: str, record: DmarcRecord) -> str:
    declared = await _declared(dns, domain, record)
    return _WHILE_TESTING[declared] if record.is_testing else declared


async def _declared(dns: PolicyRecords, domain: str, record: DmarcRecord) -> str:
    if record.domain == domain:
        return record.policy or "none"
    if record.missing_policy is not None and await _is_missing(dns, domain):
        return record.missing_policy
    return record.subdomain_policy or record.policy or "none"


async def _is_missing(dns: PolicyRecords, domain: str) -> bool:
    """RFC 8020: NXDOMAIN for one type says it for all."""
    try:
        await dns.ipv4(domain)
    except NxDomain:
        return True
    except DnsError as error:
        if error.temporary:
            raise
    return False


class _Scope(NamedTuple):
    """What belongs to an author's domain (§4.4). `own`: its organizational domain; None where nobody can say now."""

    dns: PolicyRecords
    author_domain: str
    own: str | None
    record: DmarcRecord

    async def first_aligned(self, identifiers: Sequence[Identifier], result: str) -> Identifier | None:
        """The first with that result that is aligned; DnsError where none is, and of one nobody can say now. The same
        name needs no look-up, so it is tried first."""
        found = [one for one in identifiers if one.result == result and one.domain]
        found.sort(key=lambda one: one.domain != self.author_domain)
        undecided: DnsError | None = None
        try:
            for one in found:
                try:
                    if one.domain == self.author_domain or await self._is_related(one):
                        return one
                except DnsError as error:
                    undecided = error
            if undecided is not None:
                raise undecided
            return None
        finally:
            del undecided  # its traceback knows this frame

    async def _is_related(self, one: Identifier) -> bool:
        if self.record.is_strict_dkim if one.method == "dkim" else self.record.is_strict_spf:
            return False
        # All names of an organization end in its own, and in the author's top label whatever that is: the walk of any
        # other is spared.
        if not is_within(one.domain, self.own or self.author_domain.rpartition(".")[2]):
            return False
        if self.own is None:
            raise DnsTemporary(self.author_domain)
        its_own = _organization(one.domain, await discover(self.dns, one.domain))
        if its_own is None:
            raise DnsTemporary(one.domain)
        return its_own == self.own
