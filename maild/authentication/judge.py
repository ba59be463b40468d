"""The judge of inbound mail: asks all checks at once, and says what follows.

    read        signatures and chain, bodies hashed                      (computes; a thread for large mail)
    ask         SPF, the keys, the policy of the author's domain         (DNS, all under one deadline)
    verify      signatures and seals                                     (computes; a thread for large mail)
    align       has anything that passed to do with the author?          (DNS, under the same deadline)
    decide      the steps of `_DECISIONS`, the first that has something to say

A DNS that does not answer makes a check `temperror`; it never loses mail. Nothing here raises for what a stranger wrote
or publishes.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence, Set
from typing import Any, NamedTuple, Protocol, TypeVar

from maild.authentication import arc_check, dkim_check
from maild.authentication.arc_check import ArcChain, ArcResult
from maild.authentication.dkim_check import Claim, DkimResult
from maild.authentication.dmarc import (
    NO_ANSWER,
    DmarcRecord,
    DmarcResult,
    Identifier,
    discover,
    evaluate_dmarc,
)
from maild.authentication.domain_keys import DomainKeys
from maild.authentication.patience import Patience
from maild.authentication.signatures import PublicKey, Signature, SignedMessage, Unacceptable
from maild.authentication.spf import SpfDns, SpfResult, evaluate_spf
from maild.authentication.verdict import (
    Findings,
    SenderVerdict,
    auth_of,
    dmarc_passed,
    refusal_text,
    results_field,
    told_of,
)
from maild.message.address import normalize, split
from maild.message.headers import MAX_HEADER_BYTES, MAX_HEADER_FIELDS
from maild.message.model import ParsedMessage
from maild.message.octets import Buffer
from maild.resolver import DnsError
from storage.clock import Clock

T = TypeVar("T")
DEADLINE_S = 20.0  # RFC 7208 §4.6.4

_LATE = Unacceptable("temperror", "DNS did not answer in time")
_TOO_LARGE = "the header section is too large"


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
    """What DNS said. `keys`: of the claims (None where there is nothing to verify), then of the chain; `records`:
    policies, None when nobody could say."""

    spf: SpfResult
    keys: Sequence[PublicKey | Unacceptable | None]
    records: list[DmarcRecord] | None


class SenderJudge:
    """`enforces`: whether mail that a domain's owner asks to refuse is refused. `trusted_sealers`: domains whose word
    counts for mail that they changed on its way. `deadline_s`: of all look-ups for one message together."""

    def __init__(
        self,
        dns: SpfDns,
        clock: Clock,
        hostname: str,
        *,
        enforces: bool,
        patience: Patience,
        trusted_sealers: Set[str] = frozenset(),
        deadline_s: float = DEADLINE_S,
    ) -> None:
        self._dns = dns
        self._keys = DomainKeys(dns)
        self._clock = clock
        self._hostname = hostname
        self._enforces = enforces
        self._trusted_sealers = trusted_sealers
        self._patience = patience
        self._deadline_s = deadline_s

    async def judge(
        self, brought: Introduction, raw: Buffer, parsed: ParsedMessage, run: Run
    ) -> SenderVerdict:
        """The verdict on a message whose bytes and reading these are. PatienceOver."""
        author = author_domain(parsed)
        now_s = self._clock.now_ms() / 1000
        until = asyncio.get_running_loop().time() + self._deadline_s
        signed = await run(lambda: read_signers(raw, parsed, author, now_s))
        asked = await self._ask(brought, signed, author, until, now_s)
        dkim, arc = await run(lambda: _verify(signed, asked.keys))
        dmarc = await self._align(author, asked, dkim, until)
        return self._decide(Findings(author, asked.spf, dkim, arc, dmarc))

    # Questions ---------------------------------------------------------------------------------

    async def _ask(
        self, brought: Introduction, signed: _Signed, author: str, until: float, now_s: float
    ) -> _Asked:
        """All look-ups that don't wait for each other."""
        signatures = [claim.signature for claim in signed.claims]
        if isinstance(signed.chain, ArcChain):
            signatures += signed.chain.signatures()
        spf, records, *keys = await self._within(
            until,
            [self._spf(brought, now_s), self._records(author), *[self._key(one) for one in signatures]],
            [SpfResult("temperror", "", "mailfrom", None), None, *[_LATE for _ in signatures]],
        )
        return _Asked(spf, keys, records)

    async def _spf(self, brought: Introduction, now_s: float) -> SpfResult:
        peer, helo, mail_from = brought
        return await evaluate_spf(self._dns, peer, helo, mail_from, hostname=self._hostname, now_s=now_s)

    async def _records(self, author: str) -> list[DmarcRecord] | None:
        try:
            return await discover(self._dns, author) if author else []
        except DnsError:
            return None

    async def _key(self, signature: Signature | None) -> PublicKey | Unacceptable | None:
        try:
            return None if signature is None else await self._keys.find(signature)
        except Unacceptable as found:
            return found

    async def _align(
        self, author: str, asked: _Asked, dkim: Sequence[DkimResult], until: float
    ) -> DmarcResult:
        if not author:  # RFC 9989 §5.3.1: the mechanism is for one author's domain
            return DmarcResult("permerror", reason="From does not name one author")
        if asked.records is None:
            return DmarcResult("temperror", reason=NO_ANSWER)
        identifiers = [Identifier("dkim", one.domain, one.result) for one in dkim]
        identifiers.append(Identifier("spf", asked.spf.domain, asked.spf.result))
        work = evaluate_dmarc(self._dns, author, asked.records, identifiers)
        (found,) = await self._within(until, [work], [DmarcResult("temperror", reason=NO_ANSWER)])
        return found  # type: ignore[no-any-return]

    async def _within(
        self, until: float, questions: Sequence[Coroutine[Any, Any, Any]], late: Sequence[Any]
    ) -> list[Any]:
        """What the questions give, each replaced by its `late` when DNS takes too long over it. PatienceOver."""
        tasks = [asyncio.ensure_future(one) for one in questions]
        try:
            async with self._patience.until(until):
                await asyncio.wait(tasks)
        except TimeoutError:
            pass  # what is there is enough for a verdict
        finally:
            for task in tasks:
                task.cancel()  # of those that are done, nothing comes
        return [task.result() if task.done() else other for task, other in zip(tasks, late, strict=True)]

    # What follows ------------------------------------------------------------------------------

    def _decide(self, found: Findings) -> SenderVerdict:
        verdict = SenderVerdict(auth_of(found), results_field(self._hostname, found))
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


def author_domain(parsed: ParsedMessage) -> str:
    """The domain that From names, an A-label in lower case; "" when there is no author, or no domain of one."""
    if parsed.from_ is None or not _is_read_whole(parsed):
        return ""
    domain = split(normalize(parsed.from_.address))[1]
    return domain if domain.isascii() and not domain.startswith("[") else ""


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
    signed: _Signed, keys: Sequence[PublicKey | Unacceptable | None]
) -> tuple[Sequence[DkimResult], ArcResult]:
    of_claims, of_chain = keys[: len(signed.claims)], keys[len(signed.claims) :]
    dkim = dkim_check.results(signed.message, signed.claims, of_claims)
    if isinstance(signed.chain, ArcResult):
        return dkim, signed.chain
    return dkim, arc_check.verify_chain(signed.message, signed.chain, of_chain)
