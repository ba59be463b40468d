"""One message to the recipients that it has at one destination: which host takes it, and a verdict each.

Nothing is stored here; a crash leaves leases, and their time to try again. Hosts are tried in the
router's order until one takes part in a transaction. Once the final dot may have been read, no
other host is tried: a connection that is lost then is a deferral that may become a second copy
(RFC 1047), and the verdict says so.

Nothing that a remote host does raises out of `deliver`; every recipient gets exactly one verdict.
"""

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import structlog
from aiosmtplib import SMTPException

from conf.log_events import LogEvent, clean, tell
from maild.message.envelope_sender import EnvelopeSenders, read
from maild.outbound.closings import Closings, SenderClosed
from maild.outbound.pace.pace import Sign, asks_for_less, sign_of
from maild.outbound.pace.pacing import (
    MESSAGES_PER_SESSION,
    GroupTurn,
    HostGroup,
    HostGroupRegistry,
    Postponed,
)
from maild.outbound.pace.warm_up import WarmUps
from maild.outbound.routing.relays import RelayHost
from maild.outbound.routing.route import Hop, RouteError, Router
from maild.outbound.sessions.attempt_record import AttemptRecord, HostRecord
from maild.outbound.sessions.connections import Connections, NoWay, PooledSession, Unreachable
from maild.outbound.sessions.replies import SmtpReply
from maild.outbound.sessions.session_faults import reason
from maild.outbound.sessions.tls_witness import TlsWitness
from maild.outbound.sessions.transaction import Transaction, TransientRefusal
from maild.outbound.signing.content import Content, Contents, MessageRoom
from maild.outbound.signing.dkim import PLAIN_FORM, NoKey, SignatureForm
from maild.outcomes.verdict import Verdict
from storage.clock import Clock
from storage.mail.blobs import BlobDamaged, BlobMissing
from storage.sealing import SealError
from storage.sending.leases import Due
from storage.sending.tls_sessions import TlsSession
from storage.sending.warm_up_counts import WarmUpDay
from storage.turns.rounds import Kind, Rounds

# A destination may name thirty addresses that hang one after the other: the next attempt begins anew.
HOSTS_FOR_S = 300

log = structlog.get_logger("maild.outbound")


class DeliveryResult(NamedTuple):
    """`verdicts`: by the row's position. `was_reached`: some host of the destination answered. `lost_after_data`: a
    connection was lost between the message and the reply to it. `evidence`: packed, for all rows. `postponed`: no host
    was asked, and the verdicts are its words. `group`: the last one that had a turn. `tls_sessions`: those that were
    opened, to be told to the domain. `surplus`: rows without a verdict, to be delivered next: the host takes so many
    recipients in one message."""

    verdicts: Mapping[int, Verdict]
    was_reached: bool
    lost_after_data: bool = False
    evidence: str | None = None
    postponed: Postponed | None = None
    group: HostGroup | None = None
    tls_sessions: Sequence[TlsSession] = ()
    surplus: Sequence[Due] = ()


class Lane:
    """What a worker that delivers one message after the other to a destination keeps in between: a place at the host
    that took the last one, and the session with it."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._place = AsyncExitStack()
        self._kept: tuple[Hop, PooledSession] | None = None

    @property
    def hop(self) -> Hop | None:
        """The host that takes the next message on the same session, if there is one."""
        return self._kept[0] if self._kept and self._connections.may_go_on(*self._kept) else None

    async def session(
        self, hop: Hop, record: HostRecord, is_doubtful: bool, messages_max: int = MESSAGES_PER_SESSION
    ) -> PooledSession:
        """The session of the last message where that may go on, else one from the pool or a new one; Unreachable."""
        if self._kept is not None and self.hop == hop:
            pooled = self._kept[1]
            pooled.go_on(record)
            return pooled
        await self.let_go()
        pooled = await self._place.enter_async_context(
            self._connections.session(hop, record, is_doubtful, messages_max)
        )
        self._kept = hop, pooled
        return pooled

    async def let_go(self, unless_reusable: bool = False) -> None:
        """Give place and session back; the session ends where its last transaction did not end well."""
        if unless_reusable and self._kept is not None and self._kept[1].is_reusable:
            return
        self._kept = None
        await self._place.aclose()


class Deliverer:
    """Delivers rows to remote hosts: the MX of their domain, or the smarthost."""

    def __init__(
        self,
        router: Router,
        connections: Connections,
        contents: Contents,
        groups: HostGroupRegistry,
        warm_ups: WarmUps,
        senders: EnvelopeSenders,
        clock: Clock,
        rounds: Rounds,
        closings: Closings,
        witness: TlsWitness | None = None,
    ) -> None:
        """`witness`: None where nobody is told what sessions were like."""
        self._router = router
        self._connections = connections
        self._contents = contents
        self._groups = groups
        self._warm_ups = warm_ups
        self._senders = senders
        self._clock = clock
        self._next_round = partial(rounds.begin, Kind.DELIVERY)
        self._closings = closings
        self._witness = witness

    async def close(self) -> None:
        """End kept sessions and the threads that sign; nothing is delivered any more."""
        await self._router.close()
        await self._connections.close()
        self._contents.close()

    def relay_of(self, domain: str, sender_domain: str) -> RelayHost | None:
        """The smarthost that takes mail to the domain, from the sender's; None where the MX does."""
        return self._router.relay(domain, sender_domain)

    def prepare(self, rows: Sequence[Due]) -> None:
        """They will be delivered soon: do what can be done before."""
        self._contents.sign_ahead(rows[0], self._form(rows[0]))

    def forget(self, rows: Sequence[Due]) -> None:
        """They were delivered, or will not be: keep nothing of them for another attempt."""
        self._contents.forget(rows[0])

    @asynccontextmanager
    async def lane(self) -> AsyncIterator[Lane]:
        """For messages to one destination, one after the other."""
        lane = Lane(self._connections)
        try:
            yield lane
        finally:
            await lane.let_go()

    async def deliver(
        self, rows: Sequence[Due], lane: Lane, is_doubtful: bool = False, is_alone: bool = False
    ) -> DeliveryResult:
        """Deliver rows of one message at one domain: a verdict for each. `is_doubtful`: no host of the destination has
        answered lately; `is_alone`: nothing else is being delivered. Nothing is durable: the caller settles the
        verdicts. SenderClosed, where that came before any host was asked."""
        sender = self._sender(rows[0])
        token = read(sender)
        record = AttemptRecord(self._clock.monotonic, (token.tag,) if token is not None and token.tag else ())
        witness = None if rows[0].is_tls_report else self._witness
        progress = _DeliveryProgress(rows, lane, is_doubtful, is_alone, sender, record, witness)
        if not self._contents.has_room_for(rows[0], is_doubtful):
            await lane.let_go()  # who has room may be waiting for a place
        try:
            delivery = await self._deliver(progress)
        except Postponed as later:
            kept = later.with_traceback(None)  # it knows this frame
            delivery = _the_same(rows, later.words, was_reached=False)._replace(postponed=kept)
        finally:
            await self._end(progress)
            # The next message's domain may demand more of a session than was asked for here.
            await lane.let_go(unless_reusable=not is_doubtful and not rows[0].is_tls_report)
        return DeliveryResult(
            {at: _with_left(verdict, progress.has_left) for at, verdict in delivery.verdicts.items()},
            delivery.was_reached,
            progress.lost_after_data,
            record.packed(),
            delivery.postponed,
            progress.group,
            progress.tls_sessions,
            progress.surplus,
        )

    async def _deliver(self, progress: "_DeliveryProgress") -> DeliveryResult:
        rows = progress.rows
        try:
            return DeliveryResult(await self._to_some_host(progress), was_reached=True)
        except Unreachable as error:
            return _the_same(rows, _deferral(error), was_reached=isinstance(error, TransientRefusal))
        except RouteError as error:
            verdict = Verdict.of(error.code, error.enhanced, error.text)
            # RFC 3463 §3.8: of a route, the receiver's TLS policy alone is about security.
            progress.record.ended_before = "policy" if error.enhanced == "4.7.0" else "dns"
            return _the_same(rows, verdict, was_reached=False)
        except (NoKey, SealError) as error:
            progress.record.ended_before = "message"
            log.error("no_dkim_key", message_id=rows[0].message_id, error=str(error))
            verdict = Verdict("deferred", 451, "4.7.5", "no DKIM key for the sender's domain")
            return _the_same(rows, verdict, was_reached=True)
        except BlobDamaged as error:  # the operator may bring the bytes back
            progress.record.ended_before = "message"
            log.error("blob_damaged", message_id=rows[0].message_id, error=str(error))
            verdict = Verdict("deferred", 451, "4.3.0", "the stored message is damaged")
            return _the_same(rows, verdict, was_reached=True)
        except BlobMissing as error:
            progress.record.ended_before = "message"
            log.error("blob_missing", message_id=rows[0].message_id, error=str(error))
            verdict = Verdict("bounced", 550, "5.3.0", "the stored message is gone")
            return _the_same(rows, verdict, was_reached=True)

    async def _to_some_host(self, progress: "_DeliveryProgress") -> Mapping[int, Verdict]:
        until = self._clock.monotonic() + HOSTS_FOR_S
        row, last = progress.rows[0], progress.lane.hop
        if last is not None and self._router.is_way(last, row.domain, row.sender_domain):
            verdicts = await self._from_host(last, progress)
            if verdicts is not None:
                return verdicts
        else:
            last = None
        async with aclosing(self._hops(progress, last)) as hops:
            async for hop in hops:
                if progress.trouble is not None and self._clock.monotonic() >= until:
                    break
                verdicts = await self._from_host(hop, progress)
                if verdicts is not None:
                    return verdicts
        if progress.trouble is not None:
            raise progress.trouble
        assert progress.postponed is not None  # a router without a hop raises RouteError
        raise progress.postponed

    async def _from_host(self, hop: Hop, progress: "_DeliveryProgress") -> Mapping[int, Verdict] | None:
        """None where the next host is to be tried; why is noted."""
        try:
            return await self._to_host(hop, progress)
        except Postponed as later:
            progress.postponed = progress.postponed or later
        except Unreachable as error:
            # A reply tells more than another host's silence, and that more than our own network.
            if isinstance(progress.trouble, NoWay | None) or error.host is not None:
                progress.trouble = error
        except SenderClosed:
            if progress.trouble is None:
                raise
            raise progress.trouble from None  # a host was asked before, and that attempt is shown
        return None

    async def _hops(self, progress: "_DeliveryProgress", last: Hop | None) -> AsyncGenerator[Hop, None]:
        """The hosts of the route, but for the one that took the message before this one, and was tried; those last that
        were silent lately. RouteError."""
        row, silent = progress.rows[0], deque[Hop]()
        obeys_policies = not row.is_tls_report  # RFC 8460 §3
        found = self._router.hops(row.domain, row.sender_domain, progress.pass_over, obeys_policies)
        try:
            async with aclosing(found) as hops:
                while (hop := await progress.record.found(anext(hops, None))) is not None:
                    if hop == last or hop.group in progress.passed_over:
                        continue
                    if self._connections.silent.comes_last(hop):
                        silent.append(hop)
                    else:
                        yield hop
            while silent:
                hop = silent.popleft()
                if hop.group not in progress.passed_over:
                    yield hop
        finally:
            for hop in silent:
                progress.record.pass_over(hop.host, f"[{hop.address}] did not answer lately")

    async def _turn_at(self, hop: Hop, progress: "_DeliveryProgress") -> GroupTurn:
        """The delivery's turn at the hop's group; Postponed."""
        if progress.turn is not None and progress.turn.group.name == hop.group:
            return progress.turn
        progress.end_turn()
        group = await self._groups.asked(hop.group, progress.rows[0].domain)
        if not group.has_room:
            await progress.lane.let_go()  # who has a turn may be waiting for the session
        # Who has a message in memory waits for nobody: others may be waiting for its room.
        may_wait = progress.content is None
        try:
            progress.turn = await group.turn(progress.rows[0].created_at, may_wait)
            if hop.relay is None:
                await self._count(progress, progress.turn)
        except Postponed:
            progress.end_turn()
            progress.passed_over.add(hop.group)
            raise
        return progress.turn

    async def _count(self, progress: "_DeliveryProgress", turn: GroupTurn) -> None:
        counted = await self._warm_ups.count(progress.rows[0].sender_domain, turn.group.name)
        if counted is not None:
            progress.counts.append((counted, turn))

    async def _end(self, progress: "_DeliveryProgress") -> None:
        """Give back what was not used, and let go of what refers to the progress in a circle: an exception knows the
        frames that it went through, and the message would be in memory until the collector of cycles comes."""
        progress.content = progress.trouble = progress.postponed = None
        progress.end_turn()
        if progress.room is not None:
            progress.room.give()
        for counted, turn in progress.counts:
            if not turn.may_have_taken:
                await self._warm_ups.give_back(counted)

    async def _content(self, progress: "_DeliveryProgress") -> Content:
        if progress.content is None:
            row = progress.rows[0]
            progress.room = await self._contents.room_for(row, progress.is_doubtful)
            progress.content = await self._contents.load(
                row, progress.room.stays, progress.is_alone, self._form(row)
            )
            progress.room.signed()
        return progress.content

    def _form(self, row: Due) -> SignatureForm:
        """No signature over header fields that a smarthost writes anew would reach the receiver whole."""
        relay = self.relay_of(row.domain, row.sender_domain)
        return PLAIN_FORM if relay is None else SignatureForm(relay.rewrites, not relay.takes_ed25519)

    async def _to_host(self, hop: Hop, progress: "_DeliveryProgress") -> Mapping[int, Verdict]:
        """Postponed before the host is asked; Unreachable."""
        turn = await self._turn_at(hop, progress)
        content = await self._content(progress)
        while True:
            attempt = _Attempt(hop, progress, self._clock.monotonic)
            try:
                return await self._transact(attempt, turn, content)
            except Unreachable as error:
                attempt.ended(error.answer, error.answer.text)
                if not isinstance(error, NoWay):
                    turn.heard(_sign_of(error), _deferral(error))
                raise
            except (SMTPException, OSError) as error:
                text = f"{hop.host} [{hop.address}]: {reason(error)}"
                lost = SmtpReply.of(421, f"4.4.2 {text}")
                attempt.ended(lost, lost.text)
                if attempt.pooled is None or attempt.pooled.is_fresh:
                    if isinstance(error, TimeoutError):
                        self._connections.silent.was_silent(hop)
                    # One with a name here would know this frame, which would know it.
                    turn.heard(Sign.LOST, _deferral(Unreachable(lost, hop.host)))
                    raise Unreachable(lost, hop.host) from error
                # A kept-open session had died meanwhile; the next one, at last a new one, will do.

    async def _transact(
        self, attempt: "_Attempt", turn: GroupTurn, content: Content
    ) -> Mapping[int, Verdict]:
        """The transaction on a session with the host, kept or new.

        Unreachable, SMTPException, OSError, SenderClosed.
        """
        hop, progress = attempt.hop, attempt.progress
        is_doubtful = progress.is_doubtful and not turn.group.pace.answers
        pooled = attempt.pooled = await progress.lane.session(
            hop, attempt.record, is_doubtful, turn.group.messages_per_session
        )
        await self._closings.refuse_closed(progress.rows[0])
        stand_back = partial(self._stand_back, pooled)
        transaction = Transaction(hop, pooled, progress.rows, content, progress.sender, stand_back)
        try:
            with pooled.waiting_for_host():
                verdicts = await transaction.run()
        finally:
            progress.has_left |= transaction.has_sent_mail_from
            progress.lost_after_data |= transaction.lost_after_data
        progress.surplus = transaction.surplus
        first, is_lost = _telling(verdicts), transaction.lost_after_data
        attempt.ended(first, first.text if is_lost else transaction.cut)
        turn.heard(Sign.LOST if is_lost else sign_of(verdicts.values()), first)
        return verdicts

    async def _stand_back(self, pooled: PooledSession) -> None:
        """Wait until the message may be sent, which is no fault of the host's."""
        pooled.heard()
        await self._next_round()
        pooled.host_has_the_word()

    def _sender(self, row: Due) -> str:
        """The envelope sender; of a message from before they had tags the one that it was given."""
        token = row.bounce_token or row.message_id
        return row.envelope_from or self._senders.of(token, row.sender_domain, row.domain)


class _Attempt:
    """One host in the log, and in the record. `pooled`: the session with it, once there is one."""

    def __init__(self, hop: Hop, progress: "_DeliveryProgress", now: Callable[[], float]) -> None:
        self.hop = hop
        self.progress = progress
        self.record = progress.record.host(hop)
        self.pooled: PooledSession | None = None
        self._now = now
        self._began = now()

    def ended(self, said: SmtpReply | Verdict, fault: str | None) -> None:
        """`said`: of several recipients' replies the most telling. `fault`: why the transaction did not come to its
        end; None: it did."""
        hop, progress, pooled = self.hop, self.progress, self.pooled
        self.record.fault = fault
        progress.record.keep(self.record)
        progress.tell_session(hop, self.record)
        tell(
            log,
            LogEvent.ATTEMPTED,
            message_id=progress.rows[0].message_id,
            recipient_count=len(progress.rows),
            host=hop.host,
            address=hop.address,
            port=hop.port,
            tls=pooled.session.tls if pooled is not None else None,
            tls_policy=hop.demand.policy or None,
            is_reused=pooled is not None and not pooled.is_fresh,
            code=said.code,
            enhanced=said.enhanced,
            reason=clean(said.text),
            duration_ms=round((self._now() - self._began) * 1000),
        )


def _telling(verdicts: Mapping[int, Verdict]) -> Verdict:
    """The verdict that says most of the host: the first that is not final, else the first."""
    first = next(iter(verdicts.values()))
    return next((one for one in verdicts.values() if one.status == "deferred"), first)


@dataclass
class _DeliveryProgress:
    """What is known so far. `has_left`: MAIL FROM was sent to some host. `witness`: None where nobody is told of
    sessions; `passed_over`: groups that it has no turn at; `counts`: what it counts as in warm-ups; `room`: what the
    content holds of the memory, once it is there; `trouble`, `postponed`: why hosts did not take part in a transaction.
    `lost_after_data`, `group`, `tls_sessions`, `surplus`: see DeliveryResult."""

    rows: Sequence[Due]
    lane: Lane
    is_doubtful: bool
    is_alone: bool
    sender: str
    record: AttemptRecord
    witness: TlsWitness | None
    tls_sessions: list[TlsSession] = field(default_factory=list)
    has_left: bool = False
    lost_after_data: bool = False
    turn: GroupTurn | None = None
    group: HostGroup | None = None
    passed_over: set[str] = field(default_factory=set)
    counts: list[tuple[WarmUpDay, GroupTurn]] = field(default_factory=list)
    content: Content | None = None
    room: MessageRoom | None = None
    trouble: Unreachable | None = None
    postponed: Postponed | None = None
    surplus: Sequence[Due] = ()

    def tell_session(self, hop: Hop, record: HostRecord) -> None:
        """It was tried; a session that others had opened is theirs to tell."""
        if self.witness is not None and not record.is_reused:
            self._keep(self.witness.of_session(self.rows[0].domain, hop, record.facts))

    def pass_over(self, host: str, why: str) -> None:
        """A mail host is not tried."""
        self.record.pass_over(host, why)
        if self.witness is not None:
            self._keep(self.witness.of_refusal(self.rows[0].domain, host))

    def _keep(self, session: TlsSession | None) -> None:
        if session is not None:
            self.tls_sessions.append(session)

    def end_turn(self) -> None:
        """The group, if it has one, was tried to the end."""
        if self.turn is not None:
            self.group = self.turn.group
            self.turn.end()
            self.turn = None


def _sign_of(error: Unreachable) -> Sign:
    if error.host is None:
        return Sign.UNREACHABLE
    if not isinstance(error, TransientRefusal):
        return Sign.REFUSED
    answer = error.answer
    return Sign.THROTTLED if asks_for_less(answer.code, answer.enhanced, answer.text) else Sign.ANSWERED


def _deferral(error: Unreachable) -> Verdict:
    # A host's 5xx greeting is about us and now, not about this recipient: temporary.
    answer = error.answer if error.answer.code < 500 else replace(error.answer, enhanced=None)
    return Verdict("deferred", answer.code, answer.enhanced, answer.text, error.host)


def _with_left(verdict: Verdict, has_left: bool) -> Verdict:
    return verdict if verdict.has_left == has_left else replace(verdict, has_left=has_left)


def _the_same(rows: Sequence[Due], verdict: Verdict, was_reached: bool) -> DeliveryResult:
    return DeliveryResult({row.position: verdict for row in rows}, was_reached)
