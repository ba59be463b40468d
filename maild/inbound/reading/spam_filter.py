"""The operator's spam filter (rspamd), asked about each message after the judge: its action decides.

    reject                          550 5.7.1
    greylist, soft reject           451 4.7.1: the client tries again, or is no mail server
    add header, rewrite subject     the message is spam
    quarantine, discard             the same: what was answered with 250 is there
    anything else                   nothing

A filter that does not answer loses no mail: the message is taken as if there were no filter, and the log says so.
It is told the client's name, for to rspamd a client that it hears no name of has none.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Protocol

import structlog

from conf.log_events import LogEvent, clean
from conf.strangers import StrangerLog
from maild.authentication.patience import Patience
from maild.authentication.verdict import SenderVerdict
from maild.errors import SmtpError
from maild.inbound.envelope import InboundEnvelope
from maild.inbound.reading.client_name import ReverseDns, client_name
from storage.mail.blobs import Stored

log = structlog.get_logger("maild.smtp")

DEADLINE_S = 10.0
NAME_DEADLINE_S = 2.0  # for the client's name: whoever owns its address decides how long that takes
AT_ONE_TIME = 20  # messages that the filter has; others wait their turn


class SpamOpinion(Protocol):
    """`action`: the filter's word, None where it has none; then `reason` says why."""

    @property
    def action(self) -> str | None: ...
    @property
    def score(self) -> float: ...
    @property
    def reason(self) -> str: ...


class AskSpamFilter(Protocol):
    """Given the message, its envelope and the client's name, it answers, whatever the filter does."""

    async def __call__(
        self,
        raw: bytes,
        peer: str,
        peer_name: str | None,
        helo: str,
        mail_from: str,
        recipients: Sequence[str],
        queue_id: str,
    ) -> SpamOpinion: ...


_REFUSALS: Mapping[str, tuple[int, str, str]] = {
    "reject": (550, "5.7.1", "the spam filter of this host refuses this message"),
    "soft reject": (451, "4.7.1", "the spam filter of this host asks to try again later"),
    "greylist": (451, "4.7.1", "greylisted, try again later"),
}
_SPAM = frozenset({"add header", "rewrite subject", "quarantine", "discard"})


class SpamFilter:
    """`ask`: the way to the filter."""

    def __init__(
        self, ask: AskSpamFilter, dns: ReverseDns, patience: Patience, strangers: StrangerLog
    ) -> None:
        self._ask = ask
        self._dns = dns
        self._patience = patience
        self._strangers = strangers
        self._turns = asyncio.Semaphore(AT_ONE_TIME)

    async def weigh(self, envelope: InboundEnvelope, stored: Stored, verdict: SenderVerdict) -> SenderVerdict:
        """The verdict with the filter's word in it; SmtpError when the filter refuses the message. PatienceOver."""
        recipients = [address for address, _ in envelope.recipients]
        try:
            async with self._patience.until(asyncio.get_running_loop().time() + DEADLINE_S):
                name = await self._name_of(envelope.peer)
                async with self._turns:
                    opinion = await self._ask(
                        bytes(stored.view()),
                        envelope.peer,
                        name,
                        envelope.helo,
                        envelope.mail_from,
                        recipients,
                        stored.id,
                    )
        except TimeoutError:
            self._note(envelope, "no answer in time")
            return verdict
        if opinion.action is None:
            self._note(envelope, opinion.reason)
            return verdict
        told = {"spam_action": clean(opinion.action), "spam_score": opinion.score}
        if opinion.action in _REFUSALS:
            code, enhanced, text = _REFUSALS[opinion.action]
            raise SmtpError(code, enhanced, text, told=told)
        return verdict._replace(is_spam=verdict.is_spam or opinion.action in _SPAM, told=told)

    async def _name_of(self, peer: str) -> str | None:
        try:
            async with asyncio.timeout(NAME_DEADLINE_S):
                return await client_name(self._dns, peer)
        except TimeoutError:
            return None

    def _note(self, envelope: InboundEnvelope, reason: str) -> None:
        self._strangers.note(LogEvent.SPAM_FILTER_SILENT, peer=envelope.peer, reason=clean(reason))
