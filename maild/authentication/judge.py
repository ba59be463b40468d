"""The judge of inbound mail: asks all checks at once, and says what follows.

    read        signatures and chain, bodies hashed                      (computes; a thread for large mail)
    ask         SPF, the keys, the policy of the author's domain         (DNS, all under one deadline)
    verify      signatures and seals                                     (computes; a thread for large mail)
    align       has anything that passed to do with the author?          (DNS, under the same deadline)
    compare     whose are other domains that a verified author wants answers at?   (DNS, under the same deadline)
    decide      no one author: spam; a DMARC failure that nobody vouches for: refused or spam, as its policy asks

A DNS that does not answer makes a check `temperror`; it never loses mail. Nothing here raises for what a stranger wrote
or publishes. Only where nobody could even be asked for the author's policy, because this host's own places for
questions are all in use, is there no verdict (`PolicyNotAsked`): strangers who use them up would else be whom they
like.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence, Set
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, Protocol, TypeVar

from maild.authentication import arc_check, dkim_check
from maild.authentication.arc_check import ArcChain, ArcResult
from maild.authentication.dkim_check import Claim, DkimResult
from maild.authentication.dmarc import (
    NO_ANSWER,
    DmarcResult,
    DmarcWalk,
    Identifier,
    discover,
    evaluate_dmarc,
    organization,
)
from maild.authentication.domain_keys import DomainKeys
from maild.authentication.known_records import KnownSpfRecords
from maild.authentication.patience import Patience
from maild.authentication.signatures import PublicKeys, Signature, SignedMessage, Unacceptable
from maild.authentication.spf import SpfDns, SpfResult, evaluate_spf, fits_dns
from maild.authentication.verdict import (
    Findings,
    SenderVerdict,
    auth_of,
    dmarc_passed,
    is_one_click_signed,
    refusal_text,
    results_field,
    told_of,
)
from maild.message.fields.address import normalize, split
from maild.message.fields.headers import MAX_HEADER_BYTES, MAX_HEADER_FIELDS
from maild.message.model import ParsedMessage
from maild.message.octets import Buffer
from maild.resolver import DnsError, NotAtHand
from storage.clock import Clock

T = TypeVar("T")

FOREIGN_DOMAINS = 5  # of one Reply-To that are looked up; honest ones have one
KEYS_AT_ONCE = 4  # verifications on the loop: a third of a millisecond each, where a stranger chose the keys

_LATE = Unacceptable("temperror", "DNS did not answer in time")
_NO_POLICY = DmarcResult("temperror", reason=NO_ANSWER)
_TOO_LARGE = "the header section is too large"


class PolicyNotAsked(Exception):
    """The author's policy is to be enforced, and this host has no place left to ask for it; later it has."""


class Run(Protocol):
    """Does what only computes: here, or on a thread."""

    async def __call__(self, work: Callable[[], T]) -> T: ...


class Introduction(NamedTuple):
    """How a message was brought: the client's address, its HELO, and the envelope sender ("" for the null one)."""

    peer: str
    helo: str
    mail_from: str


class _Signed(NamedTuple):
    """What the message says of its signers."""

    message: SignedMessage
    claims: Sequence[Claim]
    chain: ArcChain | ArcResult


class _Asked(NamedTuple):
    """What DNS said. `keys`: of the claims (None where there is nothing to verify), then of the chain; `walk`: to
    policies, None when nobody could say."""

    spf: SpfResult
    keys: Sequence[PublicKeys | Unacceptable | None]
    walk: DmarcWalk | None


class Inquiry(NamedTuple):
    """What is asked of DNS, whichever of the two views of it, and what holds when the answer takes too long."""

    ask: Callable[[SpfDns], Coroutine[Any, Any, Any]]
    late: Any


class JudgeDns(SpfDns, Protocol):
    """DNS (maild.resolver.Resolver). `at_hand`: what is known without waiting; NotAtHand elsewhere. `is_exhausted`: no
    question can be asked now."""

    @property
    def at_hand(self) -> SpfDns: ...
    @property
    def is_exhausted(self) -> bool: ...


class SenderJudge:
    """`enforces`: whether mail that a domain's owner asks to refuse is refused. `trusted_sealers`: domains whose word
    counts for mail that they changed on its way. `deadline_s`: of all look-ups for one message together."""

    def __init__(
        self,
        dns: JudgeDns,
        clock: Clock,
        hostname: str,
        *,
        enforces: bool,
        patience: Patience,
        deadline_s: float,
        trusted_sealers: Set[str] = frozenset(),
    ) -> None:
        self._dns = dns
        self._keys = DomainKeys()
        self._spf_records = KnownSpfRecords()
        self._clock = clock
        self._hostname = hostname
        self._enforces = enforces
        self._trusted_sealers = trusted_sealers
        self._patience = patience
        self._deadline_s = deadline_s

    async def judge(
        self, brought: Introduction, raw: Buffer, parsed: ParsedMessage, run: Run, apart: Run
    ) -> SenderVerdict:
        """The verdict on a message whose bytes and reading these are. `run` does what takes a moment, `apart` what may
        take longer. PatienceOver, PolicyNotAsked."""
        author = author_domain(parsed)
        now_s = self._clock.now_ms() / 1000
        until = asyncio.get_running_loop().time() + self._deadline_s
        signed = await run(lambda: read_signers(raw, parsed, author, now_s))
        asked = await self._ask(brought, signed, author, until, now_s)
        verifications = sum(len(keys) for keys in asked.keys if isinstance(keys, tuple))
        verify = apart if verifications > KEYS_AT_ONCE else run
        dkim, arc = await verify(lambda: _verify(signed, asked.keys))
        dmarc = await self._align(author, asked, dkim, until)
        verdict = self._decide(Findings(author, asked.spf, dkim, arc, dmarc))
        foreign = foreign_domains(parsed, verdict.auth["verifiedDomain"])
        if not foreign or verdict.refusal is not None:
            return verdict
        return verdict._replace(org_domains=await self._compare(author, asked.walk, foreign, until))

    # Questions ---------------------------------------------------------------------------------

    async def _ask(
        self, brought: Introduction, signed: _Signed, author: str, until: float, now_s: float
    ) -> _Asked:
        """All look-ups that don't wait for each other."""
        signatures = [claim.signature for claim in signed.claims]
        if isinstance(signed.chain, ArcChain):
            signatures += signed.chain.signatures()
        spf, walk, *keys = await self._answers(
            until,
            [
                Inquiry(partial(self._spf, brought, now_s), SpfResult("temperror", "", "mailfrom", None)),
                Inquiry(partial(_policies, author), None),
                *[Inquiry(partial(self._key, one), _LATE) for one in signatures],
            ],
        )
        return _Asked(spf, keys, walk)

    async def _spf(self, brought: Introduction, now_s: float, dns: SpfDns) -> SpfResult:
        peer, helo, mail_from = brought
        return await evaluate_spf(
            dns, peer, helo, mail_from,
            hostname=self._hostname, now_s=now_s, records=self._spf_records,
        )  # fmt: skip

    async def _key(self, signature: Signature | None, dns: SpfDns) -> PublicKeys | Unacceptable | None:
        try:
            return None if signature is None else await self._keys.find(dns, signature)
        except Unacceptable as found:
            return found

    async def _align(
        self, author: str, asked: _Asked, dkim: Sequence[DkimResult], until: float
    ) -> DmarcResult:
        if not author:  # RFC 9989 §5.3.1: the mechanism is for one author's domain
            return DmarcResult("permerror", reason="From does not name one author")
        is_known = asked.walk is not None and asked.walk.is_whole
        if not is_known and self._enforces and self._dns.is_exhausted:
            raise PolicyNotAsked
        if asked.walk is None:
            return _NO_POLICY
        identifiers = [Identifier("dkim", one.domain, one.result) for one in dkim]
        identifiers.append(Identifier("spf", asked.spf.domain, asked.spf.result))
        work = partial(evaluate_dmarc, author, asked.walk, identifiers)
        (found,) = await self._answers(until, [Inquiry(work, _NO_POLICY)])
        return found  # type: ignore[no-any-return]

    async def _compare(
        self, author: str, walk: DmarcWalk | None, foreign: Sequence[str], until: float
    ) -> Mapping[str, str]:
        found = await self._answers(until, [Inquiry(partial(_policies, domain), None) for domain in foreign])
        walks = {author: walk, **dict(zip(foreign, found, strict=True))}
        # A walk that met no record tells nothing of who owns what.
        return {
            domain: organization(domain, one.records)
            for domain, one in walks.items()
            if one is not None and one.records and one.is_whole
        }

    async def _answers(self, until: float, questions: Sequence[Inquiry]) -> list[Any]:
        """To each its answer, or its `late` when DNS takes too long over it. PatienceOver.

        Most mail comes from where mail has come from before: its answers are at hand, and nobody is waited for."""
        try:
            return [await one.ask(self._dns.at_hand) for one in questions]
        except NotAtHand:
            pass
        tasks = [asyncio.ensure_future(one.ask(self._dns)) for one in questions]
        try:
            async with self._patience.until(until):
                await asyncio.wait(tasks)
        except TimeoutError:
            pass  # what is there is enough for a verdict
        finally:
            for task in tasks:
                task.cancel()  # of those that are done, nothing comes
        return [
            task.result() if task.done() else one.late for task, one in zip(tasks, questions, strict=True)
        ]

    # What follows ------------------------------------------------------------------------------

    def _decide(self, found: Findings) -> SenderVerdict:
        verdict = SenderVerdict(
            auth_of(found),
            results_field(self._hostname, found),
            is_one_click_signed=is_one_click_signed(found),
        )
        if not found.author_domain:
            return verdict._replace(is_spam=True)
        if found.dmarc.result != "fail" or found.dmarc.policy == "none" or self._is_vouched(found):
            return verdict
        if found.dmarc.policy == "reject" and self._enforces:
            return verdict._replace(refusal=refusal_text(found), told=told_of(found))
        return verdict._replace(is_spam=True)

    def _is_vouched(self, found: Findings) -> bool:
        """Did the first sealer see DMARC pass, and are all that sealed it trusted?"""
        return (
            found.arc.result == "pass"
            and set(found.arc.sealers) <= self._trusted_sealers
            and dmarc_passed(found.arc.first_results, found.author_domain)
        )


def foreign_domains(parsed: ParsedMessage, verified: str | None) -> list[str]:
    """The domains of Reply-To besides the verified one, FOREIGN_DOMAINS at most; none where nobody is verified."""
    if verified is None or not parsed.reply_to:
        return []
    domains = dict.fromkeys(split(normalize(one.address))[1] for one in parsed.reply_to)
    named = (one for one in domains if one.isascii() and one != verified and not one.startswith("["))
    return list(islice(named, FOREIGN_DOMAINS))


async def _policies(author: str, dns: SpfDns) -> DmarcWalk | None:
    """Those of the author's domain and above; None when nobody can say."""
    try:
        return await discover(dns, author) if author else DmarcWalk([])
    except DnsError:
        return None


def author_domain(parsed: ParsedMessage) -> str:
    """The domain that From names, an A-label in lower case; "" when there is no author, or no domain of one.

    Behind an empty line, blanks or a byte order mark strict readers see no field (RFC 5322 §2.1), so nobody is proven
    there who is an author for others.
    """
    if parsed.from_ is None or parsed.header_start or not _is_read_whole(parsed):
        return ""
    domain = split(normalize(parsed.from_.address))[1]
    return domain if domain.isascii() and fits_dns(domain) and not domain.startswith("[") else ""


def _is_read_whole(parsed: ParsedMessage) -> bool:
    """Has `parse` seen all fields? There may be another author among the others, and what is signed is not what is
    shown."""
    return parsed.header_length <= MAX_HEADER_BYTES and len(parsed.headers) < MAX_HEADER_FIELDS


def read_signers(raw: Buffer, parsed: ParsedMessage, author: str, now_s: float) -> _Signed:
    """What the message says of its signers: linear in its size."""
    if not _is_read_whole(parsed):
        refused = Claim(None, DkimResult("permerror", reason=_TOO_LARGE))
        return _Signed(SignedMessage(raw, 0), [refused], ArcResult("fail", _TOO_LARGE))
    message = SignedMessage(raw, parsed.header_length)
    return _Signed(message, dkim_check.claims(message, author, now_s), arc_check.read_chain(message))


def _verify(
    signed: _Signed, keys: Sequence[PublicKeys | Unacceptable | None]
) -> tuple[Sequence[DkimResult], ArcResult]:
    of_claims, of_chain = keys[: len(signed.claims)], keys[len(signed.claims) :]
    dkim = dkim_check.results(signed.message, signed.claims, of_claims)
    if isinstance(signed.chain, ArcResult):
        return dkim, signed.chain
    return dkim, arc_check.verify_chain(signed.message, signed.chain, of_chain)
