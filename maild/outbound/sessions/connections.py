"""Kept-open sessions to other hosts, and how many there may be.

Sessions are shared by address, never by destination domain, so that a thousand domains at one provider use a few
connections, also where each has a host name of its own; where a receiver's policy demands something of a host, by its
name as well. `max_connections_per_destination` limits the sessions in use with one address (of IPv6 one /64 network),
however many names lead to it, `max_connections` those in use at all; idle ones are closed to make room for others. A
session whose host keeps it waiting lends its place to others, and all hosts of one network are one there (`places.py`).
Connecting has a limit of its own, so that hosts that do not answer do not hold up the ones that do; and destinations
that have not answered lately have half of all, and of one address DOUBTFUL_PER_ADDRESS, so that however many of them
hang, the mail of those that have answered goes on.

A session goes back to the pool only after a transaction that ended as the protocol wants; one from the pool may
have died meanwhile (`is_fresh` tells whether it was just opened). Who has more for the host takes the next message on
the same session (`may_go_on`), as long as nobody else waits for a place.
Nothing here outlives the process.
"""

import asyncio
import ssl
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field

import structlog
from aiosmtplib import SMTPException

from conf.addresses import network_of, site_of
from conf.log_events import LogEvent, clean, tell
from conf.settings import Settings
from maild.outbound.pace.pacing import MESSAGES_PER_SESSION
from maild.outbound.routing.relays import RelayHost, read_secret
from maild.outbound.routing.route import Hop
from maild.outbound.sessions.attempt_record import HostRecord
from maild.outbound.sessions.places import Places, SessionPlace
from maild.outbound.sessions.replies import SHOWN_CHARACTERS, SmtpReply
from maild.outbound.sessions.replies import clean as shown_line
from maild.outbound.sessions.session_faults import TlsFailed, reason, tls_failure
from maild.outbound.sessions.silent_addresses import SilentAddresses
from maild.outbound.sessions.smtp_client import NextHopSession, Timeouts
from maild.outbound.sessions.tls_policy import TlsPolicies, TlsPolicy
from maild.outbound.tls.tls_demand import NO_DEMAND
from maild.ways import has_way
from storage.clock import Clock
from storage.engine.failures import in_words
from storage.exhaustion import Exhausted, is_exhaustion

IDLE_S = 15
DOUBTFUL_PER_ADDRESS = 5
DIALS_PER_CONNECTION = 4  # sockets that are connecting, for each session that may be in use

log = structlog.get_logger("maild.outbound")


class Unreachable(Exception):
    """No connection to the host, or no session: the next host is tried. `answer`: the reply that refused it, or 421 for
    what went wrong; `host`: None when no host ever answered."""

    def __init__(self, answer: SmtpReply, host: str | None) -> None:
        super().__init__(answer.text)
        self.answer = answer
        self.host = host


class NoWay(Unreachable):
    """This host has no way to the address, or none from the source: no route, not that address. Of the host that says
    nothing."""


@dataclass
class PooledSession:
    """A session in use. `is_reusable` is set by its user when the transaction ended well; `places`: what it has."""

    session: NextHopSession
    is_fresh: bool
    messages_max: int  # that one session takes
    is_reusable: bool = False
    places: Sequence[SessionPlace] = ()

    def go_on(self, record: HostRecord) -> None:
        """The next message begins on it."""
        self.session.go_on(record)
        self.session.messages += 1
        self.is_fresh = self.is_reusable = False

    @contextmanager
    def waiting_for_host(self) -> Iterator[None]:
        """What takes time meanwhile is the host's affair."""
        self.host_has_the_word()
        try:
            yield
        finally:
            self.heard()

    def host_has_the_word(self) -> None:
        """It is waited for from now on."""
        for place in self.places:
            place.wait_for_host()

    def took(self, octets: int) -> None:
        """The host has taken so much of the message."""
        for place in self.places:
            place.took(octets)

    def give_way(self) -> bool:
        """Wait for the host no longer, where that does no harm: could it?"""
        return self.session.give_way()

    def heard(self) -> None:
        """What takes time from now on is our own affair."""
        for place in self.places:
            place.heard()


@dataclass
class _Address:
    slots: asyncio.Semaphore
    doubtful: asyncio.Semaphore
    users: int = 0


@dataclass
class _Host:
    users: int = 0
    idle: deque[NextHopSession] = field(default_factory=deque)


class Connections:
    """The pool. `timeouts`: RFC 5321's unless given. `silent`: the addresses that gave no sign lately."""

    def __init__(
        self, settings: Settings, tls: TlsPolicies, clock: Clock, timeouts: Timeouts | None = None
    ) -> None:
        outbound = settings.outbound
        self._hostname = settings.server.hostname
        self._timeouts = timeouts or Timeouts(connect=outbound.connect_timeout_s)
        self._tls = tls
        self._clock = clock
        self._max = outbound.max_connections
        self._per_host = outbound.max_connections_per_destination
        self.silent = SilentAddresses(clock)
        self._places = Places(outbound.max_connections, clock)
        self._dials = asyncio.Semaphore(outbound.max_connections * DIALS_PER_CONNECTION)
        self._doubtful = Places(max(outbound.max_connections // 2, 1), clock)
        self._addresses: dict[str, _Address] = {}
        self._hosts: OrderedDict[Hop, _Host] = OrderedDict()  # least recently used first
        self._idle = 0
        self._quitting: set[asyncio.Task[None]] = set()
        self._reaper: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def session(
        self,
        hop: Hop,
        record: HostRecord,
        is_doubtful: bool = False,
        messages_max: int = MESSAGES_PER_SESSION,
    ) -> AsyncIterator[PooledSession]:
        """A session with the host, kept or new; Unreachable, Exhausted. `record`: what is said goes there;
        `is_doubtful`: for a destination that has not answered lately; `messages_max`: that one session takes."""
        kept = _kept_as(hop)
        host = self._hosts.setdefault(kept, _Host())
        self._hosts.move_to_end(kept)
        host.users += 1
        try:
            async with self._slot_at(hop, is_doubtful), self._doubtful_place(hop, is_doubtful) as doubtful:
                pooled = self._from_pool(host, messages_max) or PooledSession(
                    await self._dial(hop, record), is_fresh=True, messages_max=messages_max
                )
                async with self._place_of(hop, pooled, doubtful):
                    if pooled.is_fresh:
                        with pooled.waiting_for_host():
                            pooled.session = await self._open(pooled.session, hop, record)
                        pooled.session.messages += 1
                    else:
                        pooled.go_on(record)
                    yield pooled
                    self._return_to_pool(host, pooled)
        finally:
            host.users -= 1
            if not host.users and not host.idle:
                self._hosts.pop(kept, None)

    def may_go_on(self, hop: Hop, pooled: PooledSession) -> bool:
        """May the next message be sent on the session in use, by the same user?"""
        session, address = pooled.session, self._addresses[network_of(hop.address)]
        return (
            pooled.is_reusable
            and session.is_usable
            and session.takes_another(pooled.messages_max)
            and address.users <= self._per_host
            and not self._places.is_full
        )

    @asynccontextmanager
    async def _slot_at(self, hop: Hop, is_doubtful: bool) -> AsyncIterator[None]:
        """One of the sessions that the address may have."""
        network = network_of(hop.address)
        address = self._addresses.get(network)
        if address is None:
            doubtful = asyncio.Semaphore(DOUBTFUL_PER_ADDRESS)
            address = self._addresses[network] = _Address(asyncio.Semaphore(self._per_host), doubtful)
        address.users += 1
        try:
            async with address.doubtful if is_doubtful else nullcontext(), address.slots:
                yield
        finally:
            address.users -= 1
            if not address.users:
                self._addresses.pop(network, None)

    @asynccontextmanager
    async def _doubtful_place(self, hop: Hop, is_doubtful: bool) -> AsyncIterator[Sequence[SessionPlace]]:
        """One of those that there are for destinations which have not answered lately, where it is for one."""
        if not is_doubtful:
            yield ()
            return
        async with self._doubtful.place(site_of(hop.address)) as place:
            place.wait_for_host()  # for its connection
            yield (place,)

    @asynccontextmanager
    async def _place_of(
        self, hop: Hop, pooled: PooledSession, doubtful: Sequence[SessionPlace]
    ) -> AsyncIterator[None]:
        """One of `max_connections`; what is not handed back is closed, whatever happens."""
        pooled.places = doubtful
        pooled.heard()
        for one in doubtful:
            one.give_way = pooled.give_way
        try:
            async with self._places.place(site_of(hop.address)) as place:
                pooled.places = (place, *doubtful)
                place.give_way = pooled.give_way
                self._make_room()
                yield
        except BaseException:
            pooled.session.close()
            raise
        finally:
            pooled.places = ()  # they know it

    def _from_pool(self, host: _Host, messages_max: int) -> PooledSession | None:
        oldest_use = self._clock.monotonic() - IDLE_S
        while host.idle:
            session = host.idle.pop()
            self._idle -= 1
            if session.is_usable and session.idle_since > oldest_use and session.takes_another(messages_max):
                return PooledSession(session, is_fresh=False, messages_max=messages_max)
            self._quit(session)
        return None

    def _return_to_pool(self, host: _Host, pooled: PooledSession) -> None:
        session = pooled.session
        if not pooled.is_reusable or not session.is_usable:
            session.close()
        elif not session.takes_another(pooled.messages_max):
            self._quit(session)
        else:
            session.idle_since = self._clock.monotonic()
            host.idle.append(session)
            self._idle += 1
            if self._reaper is None:
                self._reaper = asyncio.get_running_loop().call_later(IDLE_S, self.close_idle)

    def _make_room(self) -> None:
        while self._places.in_use + self._idle > self._max and self._idle:
            for hop, host in self._hosts.items():
                if host.idle:
                    self._quit(host.idle.popleft())
                    self._idle -= 1
                    if not host.users and not host.idle:
                        del self._hosts[hop]
                    break

    async def _dial(self, hop: Hop, record: HostRecord) -> NextHopSession:
        policy = self._tls.for_hop(hop)
        try:
            async with self._dials:
                return await NextHopSession.connect(
                    hop.address,
                    hop.port,
                    self._timeouts,
                    record,
                    source=hop.source.address,
                    tls=policy.context if policy.is_implicit else None,
                    host=hop.host,
                )
        except TimeoutError:
            self.silent.was_silent(hop)
            raise _unreachable(hop, "connection timed out") from None
        except OSError as error:
            _not_for_want(error)
            if isinstance(error, ssl.SSLError):
                record.facts.tls_failure = tls_failure(error)
                _tell_operator(hop, reason(error))
            elif not has_way(hop.address, hop.source.address):
                raise _no_way(hop, reason(error)) from error
            raise _unreachable(hop, reason(error)) from error

    async def _open(self, session: NextHopSession, hop: Hop, record: HostRecord) -> NextHopSession:
        policy = self._tls.for_hop(hop)
        try:
            # RFC 7672 §8.1: where the TLSA records are, the certificate is asked for by that name.
            name = hop.demand.names[0] if hop.demand.names else hop.host
            refusal = await session.open(hop.source.hostname or self._hostname, name, policy)
            if refusal is None and hop.relay is not None and hop.relay.username:
                refusal = await self._authenticate(session, hop.relay)
        except TlsFailed as error:
            session.facts.tls_failure = error.failure
            if policy.requires_tls:
                _tell_operator(hop, str(error))
                raise _unprotected(hop, policy, error) from error
            _tell_unmet(hop, policy, str(error))
            self._tls.handshake_failed(hop.host, policy)
            record.remark(f"TLS failed: {error}; once more, " + _weaker(policy))
            again = await self._dial(hop, record)
            again.facts.tls_failure = error.failure
            return await self._open(again, hop, record)
        except (SMTPException, OSError) as error:
            session.close()
            if isinstance(error, TimeoutError):
                self.silent.was_silent(hop)
            raise _unreachable(hop, reason(error)) from error
        self.silent.spoke(hop)
        if refusal is not None:
            if policy.requires_tls and session.facts.tls_failure is not None:
                _tell_operator(hop, refusal.text)
            self._quit(session)
            raise Unreachable(refusal, hop.host)
        if policy.name == "testing" and session.tls is None:
            _tell_unmet(hop, policy, "STARTTLS is not offered")
        return session

    async def _authenticate(self, session: NextHopSession, relay: RelayHost) -> SmtpReply | None:
        """The reply to AUTH where it is refused. It is our configuration's fault, never the recipient's."""
        if relay.auth not in session.mechanisms:  # RFC 4954 §4
            text = "the smarthost " + _offered(relay.auth, session.mechanisms)
            log.error("relay_refuses_login", relay=relay.name, code=None, reason=clean(text))
            return SmtpReply(454, "4.7.0", text)
        try:
            password = await asyncio.to_thread(read_secret, relay)
        except (OSError, UnicodeDecodeError) as error:
            _not_for_want(error)
            told = in_words(error) if isinstance(error, OSError) else "it is not UTF-8"
            log.error("relay_secret_unreadable", relay=relay.name, reason=told)
            return SmtpReply(454, "4.7.0", "the smarthost's password can't be read")
        refusal = await session.authenticate(relay.auth, relay.username, password)
        if refusal is None:
            return None
        log.error("relay_refuses_login", relay=relay.name, code=refusal.code, reason=clean(refusal.text))
        return SmtpReply(454, "4.7.0", f"the smarthost refuses our login: {refusal.text}")

    def close_idle(self) -> None:
        """QUIT those that have been idle for IDLE_S; looks again while there are any."""
        self._reaper = None
        oldest_use = self._clock.monotonic() - IDLE_S
        for hop, host in list(self._hosts.items()):
            while host.idle and host.idle[0].idle_since <= oldest_use:
                self._quit(host.idle.popleft())
                self._idle -= 1
            if not host.users and not host.idle:
                del self._hosts[hop]
        if self._idle:
            self._reaper = asyncio.get_running_loop().call_later(IDLE_S, self.close_idle)

    def _quit(self, session: NextHopSession) -> None:
        task = asyncio.create_task(session.quit())
        self._quitting.add(task)
        task.add_done_callback(self._quitting.discard)

    async def close(self) -> None:
        """Close what is idle. Idempotent; sessions in use are their users' to end."""
        if self._reaper is not None:
            self._reaper.cancel()
            self._reaper = None
        for host in self._hosts.values():
            while host.idle:
                self._quit(host.idle.popleft())
        self._idle = 0
        if self._quitting:
            await asyncio.wait(self._quitting)


def _offered(wanted: str, mechanisms: Sequence[str]) -> str:
    """What there is in place of the mechanism."""
    shown = shown_line(" ".join(mechanisms).upper())[:SHOWN_CHARACTERS]
    return f"offers no login by {wanted.upper()}, but by {shown}" if shown else "offers no login"


def _kept_as(hop: Hop) -> Hop:
    """What its sessions are kept under: a host has many names, but what is demanded of it goes by its name."""
    is_any_name = hop.relay is None and hop.demand == NO_DEMAND
    return hop._replace(host="", group="") if is_any_name else hop._replace(group="")


def _tell_unmet(hop: Hop, policy: TlsPolicy, why: str) -> None:
    """What a policy that does not require TLS wanted, and did not get."""
    fields = {"host": hop.host, "address": hop.address, "reason": clean(why)}
    if policy.name == "testing":
        tell(log, LogEvent.TLS_POLICY_UNMET, policy=hop.demand.policy, **fields)
    else:
        tell(log, LogEvent.STARTTLS_FAILED, **fields)


def _tell_operator(hop: Hop, why: str) -> None:
    """Where TLS with a smarthost fails that it must have: all its mail waits, as where it refuses our login."""
    if hop.relay is not None:
        log.error("relay_tls_failed", relay=hop.relay.name, host=hop.host, reason=clean(why))


def _weaker(policy: TlsPolicy) -> str:
    """What comes after a policy that does not require TLS."""
    return "with any certificate" if policy.name == "testing" else "in plain text"


def _unprotected(hop: Hop, policy: TlsPolicy, error: TlsFailed) -> Unreachable:
    """RFC 3463 §3.8: 4.7.0 where a policy keeps the mail from the host; a smarthost's TLS is our own affair."""
    if not policy.demanded_by:
        return _unreachable(hop, f"TLS failed: {error}")
    text = f"{policy.words}{hop.host} [{hop.address}]: {error}"
    return Unreachable(SmtpReply(454, "4.7.0", text), hop.host)


def _not_for_want(error: Exception) -> None:
    """Exhausted where the error is one of ours, of which the host knows nothing."""
    if is_exhaustion(error):
        raise Exhausted(f"no session could be begun: {reason(error)}") from error


def _no_way(hop: Hop, what: str) -> NoWay:
    text = f"{hop.host} [{hop.address}]: no way to it from {hop.source.address or 'this host'}: {what}"
    return NoWay(SmtpReply.of(421, f"4.4.1 {text}"), None)


def _unreachable(hop: Hop, what: str) -> Unreachable:
    text = f"{hop.host} [{hop.address}]: {what}"
    return Unreachable(SmtpReply.of(421, f"4.4.1 {text}"), None)  # RFC 3463 §3.5: no answer from host
