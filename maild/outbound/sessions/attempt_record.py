"""What happens in an attempt, while it happens: the hosts, what is said, how long each stage takes.

Filled by those who talk to hosts (`delivery.py`, `connections.py`, `smtp_client.py`), packed once in the end. Only
strings that are there anyway are held meanwhile, cut to what is kept of them. Commands are noted by those who send
them, in words of their own where they carry a secret or the message; replies by the protocol that reads them, and the
n-th reply of a session answers its n-th command (RFC 5321 §4.1).
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from aiosmtplib.response import SMTPResponse

from maild.message.delivery_evidence import (
    STAGES,
    Before,
    Evidence,
    HostEvidence,
    Said,
    Stage,
    TlsFailure,
    TlsLevel,
    TlsPolicyName,
    VerifiedBy,
    clean,
    pack,
    write_dialogue,
)
from maild.outbound.routing.route import Hop

RECIPIENTS_KEPT = 30  # whose RCPT and its reply are kept, of one host
REPLY_CHARACTERS_KEPT = 4000
PASSED_OVER_MAX = 10

_Command = bytes | str | None  # str: words about it; None: a greeting's turn


@dataclass(slots=True)
class SessionFacts:
    """What holds for all messages of a session."""

    source_address: str | None = None
    ehlo_name: str | None = None
    tls_version: str | None = None
    cipher: str | None = None
    verified_by: VerifiedBy | None = None
    tls_failure: TlsFailure | None = None


class HostRecord:
    """One host. `secrets`: what is masked wherever it stands; `fault`: see HostEvidence."""

    __slots__ = ("_commands", "_entered", "_hop", "_next", "_now", "_recipients", "_replies", "_spent", "_stage",
                 "facts", "fault", "is_reused", "secrets")  # fmt: skip

    def __init__(self, hop: Hop, now: Callable[[], float], secrets: tuple[str, ...] = ()) -> None:
        self.secrets = secrets
        self._hop = hop
        self._now = now
        self._stage: Stage = "wait"
        self._entered = now()
        self._spent: dict[Stage, float] = {}
        self._commands: list[_Command] = []
        self._replies: list[SMTPResponse | str | None] = []  # str: a remark
        self._next = 0  # the command that the next reply answers
        self._recipients = 0
        self.facts = SessionFacts()
        self.is_reused = False
        self.fault: str | None = None

    def enter(self, stage: Stage) -> None:
        """What takes time from now on."""
        now = self._now()
        self._spent[self._stage] = self._spent.get(self._stage, 0.0) + now - self._entered
        self._stage, self._entered = stage, now

    def dial(self) -> None:
        """A connection is made: the host speaks first."""
        self.enter("connect")
        self._note(None, None)

    def say(self, command: bytes | str) -> None:
        """A command is sent. A str is no command, but words about it."""
        self._note(command, None)

    def say_recipient(self, command: bytes) -> None:
        """RCPT, one of many."""
        self._recipients += 1
        self._note(command if self._recipients <= RECIPIENTS_KEPT else "", None)

    def hear(self, reply: SMTPResponse) -> None:
        """The reply to the first command that has none."""
        if self._next == len(self._commands):
            return  # after the end: nobody asks for it
        if self._commands[self._next] != "":
            code, text = reply
            kept = text[:REPLY_CHARACTERS_KEPT]
            self._replies[self._next] = reply if len(kept) == len(text) else SMTPResponse(code, kept)
        self._next += 1

    def remark(self, text: str) -> None:
        """What happened between what was said; nothing said before is answered any more."""
        self._note("", text)
        self._next = len(self._commands)

    def _note(self, command: _Command, reply: str | None) -> None:
        self._commands.append(command)
        self._replies.append(reply)

    def ended(self) -> HostEvidence:
        """What is kept of it."""
        self.enter(self._stage)
        hop, facts = self._hop, self.facts
        dialogue = write_dialogue(map(self._said, self._commands, self._replies))
        self._commands, self._replies, self._next = [], [], 0  # its session may be idle for a while
        tls_policy, tls_level = _demanded(hop)
        return HostEvidence(
            clean(hop.host),
            hop.address,
            hop.port,
            hop.relay is not None,
            tls_policy,
            tls_level,
            self._stage,
            tuple([round(self._spent[one] * 1000) if one in self._spent else None for one in STAGES]),
            self.is_reused,
            facts.source_address,
            facts.ehlo_name,
            facts.tls_version,
            facts.cipher,
            facts.verified_by,
            None if self.fault is None else clean(self.fault),
            dialogue,
            facts.tls_failure,
        )

    def _said(self, command: _Command, reply: SMTPResponse | str | None) -> Said:
        if isinstance(reply, str):
            return Said(None, None, reply)
        if isinstance(command, bytes):
            return Said(masked(command.decode("utf-8", "replace"), self.secrets), reply)
        return Said(command, reply) if command != "" else Said(None)


def masked(text: str, secrets: Iterable[str]) -> str:
    """Without the secrets, which may be of any length but none."""
    for secret in secrets:
        if secret in text:
            text = text.replace(secret, "***")
    return text


def _demanded(hop: Hop) -> tuple[TlsPolicyName, TlsLevel]:
    """Whose word says what the session must be like, and what it says."""
    if hop.relay is not None:
        return "relay", hop.relay.tls
    match hop.demand.policy:
        case "":
            return "none", hop.demand.level
        case "mta-sts" | "mta-sts testing":
            return "mta-sts", hop.demand.level
        case "dane":
            return "dane", hop.demand.level
        case _:
            return "override", hop.demand.level


class AttemptRecord:
    """One attempt, at all hosts. `secrets`: see HostRecord. `ended_before`: where it ended if it came to no host."""

    def __init__(self, now: Callable[[], float], secrets: tuple[str, ...] = ()) -> None:
        self._now = now
        self._secrets = secrets
        self._hosts: list[HostEvidence] = []
        self._passed_over: list[tuple[str, str]] = []
        self._dns_s: float | None = None
        self.ended_before: Before = "dns"

    def host(self, hop: Hop) -> HostRecord:
        """Of a host that is tried now; `keep` it in the end."""
        return HostRecord(hop, self._now, self._secrets)

    def keep(self, record: HostRecord) -> None:
        """The host's part has ended."""
        self._hosts.append(record.ended())

    def pass_over(self, host: str, why: str) -> None:
        """A mail host is not tried."""
        if len(self._passed_over) < PASSED_OVER_MAX:
            self._passed_over.append((clean(host), clean(why)))

    async def found(self, finding: Awaitable[Hop | None]) -> Hop | None:
        """The next hop, and how long it took to find it."""
        began = self._now()
        try:
            return await finding
        finally:
            self._dns_s = (self._dns_s or 0.0) + self._now() - began

    def packed(self) -> str:
        """As it is stored."""
        ended_at = self._hosts[-1].stage if self._hosts else self.ended_before
        dns_ms = None if self._dns_s is None else round(self._dns_s * 1000)
        return pack(Evidence(ended_at, dns_ms, tuple(self._hosts), tuple(self._passed_over)))
