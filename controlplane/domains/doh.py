"""Asking several resolvers the same questions, now: DNS over HTTPS (RFC 8484), or the plain resolver.

A domain's owner has just changed a record and wants to know, so nothing is cached here; and one resolver
may be wrong, stale or bought, so several are asked and none of their answers is mixed with another's.

Every `[dns] doh` resolver is asked. Where fewer than two are configured, the resolver of `[dns]` is asked
too: beside a single DoH resolver as the second voice, without any as the only one (quorum 1: a small
installation trusts its own resolver for everything else as well).

Whatever a resolver does (refuse, hang, answer garbage or something else than was asked) makes it
silent for that question, and nothing more.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

import dns.name
import dns.rcode

from conf.dns_wire import NOERROR, NXDOMAIN, TYPES, DnsGarbage, DnsQuestion, read_answer
from conf.log_events import LogEvent, clean
from conf.settings import Dns
from conf.strangers import StrangerLog
from controlplane.egress.client import EgressFailed
from controlplane.egress.http1 import HttpResponse
from controlplane.egress.targets import EgressRefused

VOICES_WANTED = 2
HEARINGS_MAX = 16  # at a time: each asks up to seven questions of every resolver
RECORDS_MAX = 100  # of one answer; a domain with more of them can't be checked
USER_AGENT = "maild-domains/1"
_TYPE = "application/dns-message"


class Question(NamedTuple):
    """What a resolver is asked: a name (A-label, without a last dot) and a record type."""

    name: str
    type: str  # MX or TXT


class Silent(Exception):
    """The resolver gave no answer that can be used."""


class Voice(Protocol):
    name: str

    async def ask(self, question: Question) -> Sequence[str]:
        """The records, `()` when there are none, as `checks.Answer` has them; Silent."""


class DohClient(Protocol):
    """What carries a DoH query, with the errors of `controlplane.egress.client`: EgressRefused, EgressFailed."""

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> HttpResponse: ...


class Plain(Protocol):
    """The resolver of `[dns]`."""

    async def mx(self, domain: str) -> Sequence[tuple[int, str]]: ...
    async def txt(self, name: str) -> Sequence[bytes]: ...


class DohRules(NamedTuple):
    """Of the door that DoH goes through. The operator chose the resolvers, so they may be private."""

    ca_file: str
    timeout_s: int
    allow_private_networks: bool = True


def rules(settings: Dns) -> DohRules:
    """The egress rules of the DoH resolvers."""
    return DohRules(settings.doh_ca_file, settings.timeout_s)


class Panel:
    """All resolvers that are asked, and how many of them must have answered."""

    def __init__(self, voices: Sequence[Voice], log: StrangerLog) -> None:
        self._voices = voices
        self._log = log
        self._slots = asyncio.Semaphore(HEARINGS_MAX)
        self.quorum = min(VOICES_WANTED, len(voices))

    async def hear(self, questions: Sequence[Question]) -> Mapping[Question, list[Sequence[str] | None]]:
        """To each question the answer of each resolver, None where it gave none."""
        async with self._slots:
            answers = await asyncio.gather(
                *(self._ask(voice, question) for question in questions for voice in self._voices)
            )
        size = len(self._voices)
        for number, voice in enumerate(self._voices):
            self._tell_silence(voice, questions, answers[number::size])
        return {
            question: [
                None if isinstance(one, Silent) else one for one in answers[at * size : (at + 1) * size]
            ]
            for at, question in enumerate(questions)
        }

    def _tell_silence(
        self, voice: Voice, questions: Sequence[Question], answers: Sequence[Sequence[str] | Silent]
    ) -> None:
        """One line for a hearing: where no resolver can be reached, every domain of the host brings one."""
        silent = [
            (asked, one) for asked, one in zip(questions, answers, strict=True) if isinstance(one, Silent)
        ]
        if silent:
            unanswered = [f"{question.type} {question.name}" for question, _ in silent]
            self._log.note(
                LogEvent.RESOLVER_SILENT,
                whose=voice.name,
                resolver=voice.name,
                questions=unanswered,
                reason=clean(str(silent[0][1])),
            )

    async def _ask(self, voice: Voice, question: Question) -> Sequence[str] | Silent:
        try:
            return await voice.ask(question)
        except Silent as error:
            return error


def panel(
    settings: Dns,
    poster: DohClient,
    plain: Callable[[], Plain],
    absent: tuple[type[Exception], ...],
    log: StrangerLog,
) -> Panel:
    """`plain`: a fresh resolver, without a cache; `absent`: what it raises when there is no such record."""
    voices: list[Voice] = [DohVoice(url, poster) for url in dict.fromkeys(settings.doh)]
    if len(voices) < VOICES_WANTED:
        voices.append(PlainVoice(plain, absent, settings.timeout_s))
    return Panel(voices, log)


class DohVoice:
    """One `[dns] doh` resolver."""

    def __init__(self, url: str, poster: DohClient) -> None:
        self.name = url
        self._poster = poster

    async def ask(self, question: Question) -> Sequence[str]:
        query = make_query(question)
        headers = {"Content-Type": _TYPE, "Accept": _TYPE}
        try:
            answer = await self._poster.post(self.name, query.to_wire(), headers)
        except (EgressFailed, EgressRefused) as error:
            raise Silent(error.reason) from error
        if answer.status != 200:  # RFC 8484 §4.2.1: DNS errors are in the message; this is HTTP's
            raise Silent(f"HTTP status {answer.status}")
        return read_records(query, answer.body)


class PlainVoice:
    name = "dns"

    def __init__(
        self, plain: Callable[[], Plain], absent: tuple[type[Exception], ...], timeout_s: int
    ) -> None:
        self._plain = plain
        self._absent = absent
        self._timeout_s = timeout_s

    async def ask(self, question: Question) -> Sequence[str]:
        resolver = self._plain()
        try:
            async with asyncio.timeout(self._timeout_s):
                if question.type == "MX":
                    return [_mx(*one) for one in (await resolver.mx(question.name))[:RECORDS_MAX]]
                return [_text(one) for one in (await resolver.txt(question.name))[:RECORDS_MAX]]
        except self._absent:
            return ()
        except Exception as error:  # whatever else the DNS library raises means: no answer
            raise Silent(f"no answer: {type(error).__name__}") from error


def make_query(question: Question) -> DnsQuestion:
    # RFC 8484 §4.1: an ID of 0, so that equal questions are equal requests.
    name = dns.name.from_text(question.name, dns.name.root).to_wire() or b""
    return DnsQuestion(0, name.lower(), TYPES[question.type])


def read_records(query: DnsQuestion, wire: bytes) -> Sequence[str]:
    """The records at the end of the chain of CNAMEs; Silent for what does not answer the query."""
    try:
        if not query.is_answered_by(wire):
            raise Silent("the answer is no DNS message, or to another question")
        answer = read_answer(wire, query)
    except DnsGarbage as error:
        raise Silent(f"the answer is no DNS message: {error}") from error
    if answer.truncated:
        raise Silent("the answer is truncated")
    if answer.rcode not in (NOERROR, NXDOMAIN):
        raise Silent(dns.rcode.to_text(dns.rcode.from_flags(answer.rcode, 0)))
    return [_record(record) for record in answer.records[:RECORDS_MAX]]


def _record(record: str | bytes | tuple[int, str]) -> str:
    if isinstance(record, bytes):
        return _text(record)
    assert not isinstance(record, str)
    return _mx(*record)


def _mx(preference: int, host: str) -> str:
    """RFC 7505 §3: the null MX, which has no host, is shown as `0 .`."""
    return f"{preference} {host.lower().removesuffix('.') or '.'}"


def _text(value: bytes) -> str:
    return value.decode("utf-8", "backslashreplace")
