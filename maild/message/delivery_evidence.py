"""What is kept of an attempt to deliver beside its verdicts: which hosts were tried, what was said, how long it took.

Hosts write the replies, so what stands here is cleaned, cut and bounded, whatever they say: EVIDENCE_OCTETS_MAX for one
attempt. A command stands before its reply, also where several were sent at once (RFC 2920). The message and what AUTH
carries are not among what the writer is given.

Stored as JSON arrays, whose members are those of the tuples below: a new member goes to the end, with a default.
Pure, total, linear.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, NamedTuple, get_args

import msgspec

EVIDENCE_OCTETS_MAX: Final = 8 * 1024
HOSTS_KEPT: Final = 4  # the first, and the last three
REPLY_LINES_MAX: Final = 16  # EHLO of large receivers has ten
LINE_CHARACTERS_MAX: Final = 250
_NAME_OCTETS: Final = 255
_FAULT_OCTETS: Final = 200

Stage = Literal["wait", "connect", "greeting", "hello", "tls", "auth", "envelope", "data", "answer"]
STAGES: Final[tuple[Stage, ...]] = get_args(Stage)
# Where an attempt ended that tried no host: not begun, at DNS, at a TLS policy, before the message was at hand.
Before = Literal["not_tried", "dns", "policy", "message"]
TlsPolicyName = Literal["none", "mta-sts", "dane", "override", "relay"]
TlsLevel = Literal["none", "opportunistic", "testing", "encrypt", "verify", "dane", "starttls", "implicit"]
VerifiedBy = Literal["webpki", "dane"]
# Result types of RFC 8460 §4.3.1.
TlsFailure = Literal[
    "starttls-not-supported",
    "certificate-host-mismatch",
    "certificate-expired",
    "certificate-not-trusted",
    "validation-failure",
]

_ESCAPED: Final = str.maketrans({'"': "'", "\\": "/", "\n": " "})
_CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]+")


class Said(NamedTuple):
    """`command`: None for a greeting's turn; of what is not to be kept, words about it. `reply`: code and lines; None
    where none came. A `remark` stands alone."""

    command: str | None
    reply: tuple[int, str] | None = None
    remark: str = ""


class HostEvidence(NamedTuple):
    """One host that was tried. `durations_ms`: by STAGES, None for those it did not come to. `fault`: why it took no
    part in a transaction, or that it was lost; None where its replies tell all. `tls_failure`: of the first handshake,
    also where the session went on with less; None where TLS came about, or was not asked for."""

    host: str
    address: str
    port: int
    is_relay: bool
    tls_policy: TlsPolicyName
    tls_level: TlsLevel
    stage: Stage
    durations_ms: tuple[int | None, ...]
    is_reused: bool
    source_address: str | None
    ehlo_name: str | None
    tls_version: str | None
    cipher: str | None
    verified_by: VerifiedBy | None
    fault: str | None
    dialogue: str
    tls_failure: TlsFailure | None = None


class Evidence(NamedTuple):
    """One attempt. `ended_at`: where it ended, a host's stage or before any. `passed_over`: hosts that were not to be
    tried, and why. `hosts_left_out`: those between the first and the last three."""

    ended_at: Stage | Before
    dns_ms: int | None = None
    hosts: tuple[HostEvidence, ...] = ()
    passed_over: tuple[tuple[str, str], ...] = ()
    hosts_left_out: int = 0


NOT_TRIED: Final = Evidence("not_tried")
_DECODER: Final = msgspec.json.Decoder(Evidence)


def write_dialogue(said: Iterable[Said]) -> str:
    """Lines as in RFC 5321 Appendix D: `C: ` ours, `S: ` the host's, `* ` remarks."""
    lines: list[str] = []
    for command, reply, remark in said:
        if remark:
            lines.append("* " + _one_line(remark))
        if command is not None:
            lines.append("C: " + _one_line(command))
        if reply is not None:
            _add_reply(lines, *reply)
    text = clean("\n".join(lines))
    return text if len(text) <= EVIDENCE_OCTETS_MAX else _fitting(text, EVIDENCE_OCTETS_MAX)


def clean(text: str) -> str:
    """Without controls but line ends, and as UTF-8 can have it."""
    if text.replace("\n", "").isprintable():  # neither controls nor surrogates are; nearly all text is
        return text
    return _CONTROLS.sub(" ", text.encode("utf-8", "replace").decode())


def _one_line(text: str) -> str:
    return text[:LINE_CHARACTERS_MAX].replace("\n", " ")


def _add_reply(lines: list[str], code: int, text: str) -> None:
    if "\n" not in text:
        lines.append(f"S: {code} {text[:LINE_CHARACTERS_MAX]}")
        return
    *first, last = text.split("\n", REPLY_LINES_MAX)
    if len(first) == REPLY_LINES_MAX:
        last = f"({last.count(chr(10)) + 1} more lines)"
    for line in first:
        lines.append(f"S: {code}-{line[:LINE_CHARACTERS_MAX]}")
    lines.append(f"S: {code} {last[:LINE_CHARACTERS_MAX]}")


def pack(evidence: Evidence) -> str:
    """JSON of EVIDENCE_OCTETS_MAX at most; what is too much is left out, and the last host's dialogue last of all."""
    text = msgspec.json.encode(evidence)
    if len(text) > EVIDENCE_OCTETS_MAX or len(evidence.hosts) > HOSTS_KEPT:
        text = msgspec.json.encode(_reduced(evidence))
    return text.decode()


def _reduced(evidence: Evidence) -> Evidence:
    hosts = evidence.hosts
    left_out = max(0, len(hosts) - HOSTS_KEPT)
    kept = (*hosts[:1], *hosts[left_out + 1 :]) if left_out else hosts
    passed_over = tuple(
        (_cut(one, _NAME_OCTETS), _cut(why, _FAULT_OCTETS)) for one, why in evidence.passed_over
    )
    bare = evidence._replace(
        hosts=tuple(_without_dialogue(host) for host in kept),
        passed_over=passed_over[:HOSTS_KEPT],
        hosts_left_out=evidence.hosts_left_out + left_out,
    )
    room = EVIDENCE_OCTETS_MAX - len(msgspec.json.encode(bare))
    filled = []
    for host, short in zip(reversed(kept), reversed(bare.hosts), strict=True):
        dialogue = _fitting(host.dialogue, room)
        room -= sum(map(_octets, dialogue.split("\n")))
        filled.append(short._replace(dialogue=dialogue))
    return bare._replace(hosts=tuple(reversed(filled)))


def _without_dialogue(host: HostEvidence) -> HostEvidence:
    return host._replace(
        host=_cut(host.host, _NAME_OCTETS),
        ehlo_name=None if host.ehlo_name is None else _cut(host.ehlo_name, _NAME_OCTETS),
        fault=None if host.fault is None else _cut(host.fault, _FAULT_OCTETS),
        dialogue="",
    )


def _cut(text: str, octets: int) -> str:
    """So many octets of it in JSON at most; what would be escaped there is written otherwise."""
    return text.encode("utf-8", "replace")[:octets].decode("utf-8", "ignore").translate(_ESCAPED)


def _fitting(text: str, octets: int) -> str:
    """Its first and last lines; in between stands how many are missing."""
    lines = text.split("\n")
    costs = [_octets(line) for line in lines]
    if sum(costs) <= octets:
        return text
    room = octets - _octets(f"* ({len(lines)} lines left out)")
    if room < 0:
        return ""
    head = _count_within(costs, room // 3)
    tail = _count_within(reversed(costs[head:]), room - sum(costs[:head]))
    missing = len(lines) - head - tail
    return "\n".join((*lines[:head], f"* ({missing} lines left out)", *lines[len(lines) - tail :]))


def _count_within(costs: Iterable[int], room: int) -> int:
    """How many of the first of them have room together."""
    count = 0
    for cost in costs:
        room -= cost
        if room < 0:
            break
        count += 1
    return count


def _octets(line: str) -> int:
    """Of the line in JSON, with its end."""
    return len(line.encode("utf-8", "replace")) + line.count('"') + line.count("\\") + 2


def unpack(text: str) -> Evidence:
    """What `pack` made; msgspec.DecodeError."""
    return _DECODER.decode(text)


def shown(evidence: Evidence, path: str) -> dict[str, Any]:
    """As the API has it for one recipient. `path`: their address as RCPT said it; what was said of others is left
    out."""
    return {
        "endedAt": evidence.ended_at,
        "dnsMs": evidence.dns_ms,
        "passedOver": [{"host": host, "reason": reason} for host, reason in evidence.passed_over],
        "hostsLeftOut": evidence.hosts_left_out,
        "hosts": [_shown_host(host, path) for host in evidence.hosts],
    }


def _shown_host(host: HostEvidence, path: str) -> dict[str, Any]:
    return {
        "host": host.host,
        "address": host.address,
        "port": host.port,
        "isRelay": host.is_relay,
        "sourceAddress": host.source_address,
        "ehloName": host.ehlo_name,
        "isReused": host.is_reused,
        "tlsPolicy": host.tls_policy,
        "tlsLevel": host.tls_level,
        "tlsVersion": host.tls_version,
        "cipher": host.cipher,
        "verifiedBy": host.verified_by,
        "tlsFailure": host.tls_failure,
        "stage": host.stage,
        "durationsMs": dict(zip(STAGES, host.durations_ms, strict=False)),
        "fault": host.fault,
        "dialogue": list(_of_recipient(host.dialogue, path)),
    }


def _of_recipient(dialogue: str, path: str) -> Iterator[str]:
    is_others = False
    for line in dialogue.split("\n") if dialogue else ():
        if not line.startswith("S: "):
            is_others = line.startswith("C: RCPT TO:<") and not line.startswith(f"C: RCPT TO:<{path}>")
        if not is_others:
            yield line
