"""What a session with a mail host was like, in the words of RFC 8460, and which policy of the receiver it was held to.

Told are sessions that this host opened with a receiver's own mail host, each once, however many messages went by it;
not those that tell nothing of TLS (no connection, no greeting), nor those where the operator's word stood in the
receiver's place, nor those after a failure that is remembered and was told.
"""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from maild.outbound.routing.route import Hop
from maild.outbound.sessions.attempt_record import SessionFacts
from maild.outbound.tls.dane import Tlsa
from maild.outbound.tls.receiver_policies import ReceiverPolicies
from maild.outbound.tls.sts_policy import StsPolicy
from storage.sending.tls_sessions import TlsSession

STRINGS_OCTETS_MAX = 4096  # of a policy's; who writes more is told of the first
NOT_NAMED = "mx-not-in-policy"


class _Applied(NamedTuple):
    """RFC 8460 §4.4. `mx_hosts`: of DANE the one that has the records; `failure`, `reason`: what is wrong with the
    policy, or with the host in its eyes."""

    type: str
    strings: tuple[str, ...] = ()
    mx_hosts: tuple[str, ...] = ()
    failure: str = ""
    reason: str = ""


class TlsWitness:
    """`policies`: which have been asked for the domain."""

    def __init__(self, policies: ReceiverPolicies) -> None:
        self._policies = policies

    def of_session(self, domain: str, hop: Hop, facts: SessionFacts) -> TlsSession | None:
        """Of a session that was opened, to deliver to the domain; None where nothing is to be told."""
        if hop.relay is not None or (facts.tls_failure is None and facts.tls_version is None):
            return None
        applied = self._applied(domain, hop)
        if applied is None:
            return None
        failure = facts.tls_failure or applied.failure
        if failure:
            reason = "" if facts.tls_failure else applied.reason
            return _session(applied, failure, hop.host, hop.address, facts.source_address or "", reason)
        wants_proof = hop.demand.level in ("testing", "verify", "dane")
        return None if wants_proof and facts.verified_by is None else _session(applied)

    def of_refusal(self, domain: str, host: str) -> TlsSession | None:
        """Of a mail host that was not tried: because the policy does not name it, or None."""
        sts, _ = self._policies.at_hand(domain)
        if sts is None or sts.mode != "enforce" or sts.names(host):
            return None
        applied = _by_sts(sts, host)
        return _session(applied, applied.failure, host, reason=applied.reason)

    def _applied(self, domain: str, hop: Hop) -> _Applied | None:
        demand = hop.demand
        match demand.policy:
            case "dane":
                failure = "tlsa-invalid" if demand.level == "encrypt" else ""  # §4.3.2.1: none can be used
                host = demand.names[0] if demand.names else hop.host
                strings = (_tlsa_string(host, hop.port, one) for one in demand.tlsa)
                return _Applied("tlsa", _bounded(strings), (host,), failure)
            case "mta-sts" | "mta-sts testing":
                sts, _ = self._policies.at_hand(domain)
                return _Applied("sts") if sts is None else _by_sts(sts, hop.host)
            case "" if demand.level == "opportunistic":
                _, fault = self._policies.at_hand(domain)
                return _Applied("no-policy-found") if fault is None else _Applied("sts", failure=fault)
            case _:
                return None


def _by_sts(sts: StsPolicy, host: str) -> _Applied:
    is_named = sts.names(host)
    return _Applied(
        "sts",
        _bounded(sts.lines),
        _bounded(sts.mx),
        "" if is_named else "validation-failure",
        "" if is_named else NOT_NAMED,
    )


def _tlsa_string(host: str, port: int, record: Tlsa) -> str:
    """RFC 6698 §2.3."""
    numbers = f"{record.usage} {record.selector} {record.matching}"
    return f"_{port}._tcp.{host}. IN TLSA {numbers} {record.data.hex()}"


def _bounded(strings: Iterable[str]) -> tuple[str, ...]:
    kept, room = [], STRINGS_OCTETS_MAX
    for one in strings:
        room -= len(one)
        if room < 0:
            break
        kept.append(one)
    return tuple(kept)


def _session(
    applied: _Applied,
    failure: str = "",
    host: str = "",
    receiving_ip: str = "",
    sending_ip: str = "",
    reason: str = "",
) -> TlsSession:
    policy = msgspec.json.encode((applied.strings, applied.mx_hosts)).decode()
    return TlsSession(applied.type, policy, failure, host, receiving_ip, sending_ip, reason)
