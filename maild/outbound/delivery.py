"""One message to the recipients that it has at one destination: which host takes it, and a verdict each.

Nothing is stored here; a crash leaves leases, and their time to try again. Hosts are tried in the
router's order until one takes part in a transaction. Once the final dot may have been read, no
other host is tried: a connection that is lost then is a deferral that may become a second copy
(RFC 1047), and the verdict says so.

What a peer says never raises out of `deliver`; every recipient gets exactly one verdict.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

import structlog
from aiosmtplib import SMTPException

from conf.log_events import LogEvent, clean, tell
from maild.message.envelope_sender import EnvelopeSenders
from maild.outbound.connections import Connections, Lent, Unreachable
from maild.outbound.content import Content, Contents
from maild.outbound.dkim import NoKey
from maild.outbound.replies import SmtpReply
from maild.outbound.route import Hop, RouteError, Router
from maild.outbound.smtp_client import reason
from maild.outbound.transaction import Transaction, Unwilling, domain_of
from maild.outcomes import Verdict
from storage.blobs import BlobDamaged, BlobMissing
from storage.clock import Clock
from storage.outbound import Due
from storage.sealing import SealError

# A destination may name thirty addresses that hang one after the other: the next attempt begins anew.
HOSTS_FOR_S = 300

log = structlog.get_logger("maild.outbound")


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    """The verdicts by position. `was_reached`: some host of the destination spoke with us; `was_lost`: it did not go
    on to the end."""

    verdicts: Mapping[int, Verdict]
    was_reached: bool
    was_lost: bool = False


class Deliverer:
    def __init__(
        self,
        router: Router,
        connections: Connections,
        contents: Contents,
        senders: EnvelopeSenders,
        clock: Clock,
    ) -> None:
        self._senders = senders
        self._clock = clock
        self._router = router
        self._connections = connections
        self._contents = contents

    async def close(self) -> None:
        """End kept sessions and the threads that sign; nothing is delivered any more."""
        await self._connections.close()
        self._contents.close()

    async def deliver(self, rows: Sequence[Due], is_doubtful: bool = False) -> DeliveryResult:
        """Rows of one message at one domain. `is_doubtful`: it has not been heard of lately."""
        course = _Course(rows, is_doubtful)
        delivery = await self._deliver(course)
        left = {at: replace(verdict, left=course.left) for at, verdict in delivery.verdicts.items()}
        return replace(delivery, verdicts=left, was_lost=course.was_lost)

    async def _deliver(self, course: "_Course") -> DeliveryResult:
        rows = course.rows
        try:
            async with self._contents.room_for(rows[0], course.is_doubtful):
                return DeliveryResult(await self._to_some_host(course), was_reached=True)
        except Unreachable as error:
            # A host's 5xx greeting is about us and now, not about this recipient: temporary.
            answer = error.answer if error.answer.code < 500 else replace(error.answer, enhanced=None)
            verdict = Verdict("deferred", answer.code, answer.enhanced, answer.text, error.host)
            return _the_same(rows, verdict, was_reached=isinstance(error, Unwilling))
        except RouteError as error:
            verdict = Verdict.of(error.code, error.enhanced, error.text)
            return _the_same(rows, verdict, was_reached=False)
        except (NoKey, SealError) as error:
            log.error("no_dkim_key", message_id=rows[0].message_id, error=str(error))
            verdict = Verdict("deferred", 451, "4.7.5", "no DKIM key for the sender's domain")
            return _the_same(rows, verdict, was_reached=True)
        except BlobDamaged as error:  # the operator may bring the bytes back
            log.error("blob_damaged", message_id=rows[0].message_id, error=str(error))
            verdict = Verdict("deferred", 451, "4.3.0", "the stored message is damaged")
            return _the_same(rows, verdict, was_reached=True)
        except BlobMissing as error:
            log.error("blob_missing", message_id=rows[0].message_id, error=str(error))
            verdict = Verdict("bounced", 550, "5.3.0", "the stored message is gone")
            return _the_same(rows, verdict, was_reached=True)

    async def _to_some_host(self, course: "_Course") -> Mapping[int, Verdict]:
        until = self._clock.monotonic() + HOSTS_FOR_S
        trouble: Unreachable | None = None
        content: Content | None = None
        async with aclosing(self._router.hops(course.rows[0].domain)) as hops:
            async for hop in hops:
                if trouble is not None and self._clock.monotonic() >= until:
                    break
                content = content or await self._contents.load(course.rows[0])
                try:
                    return await self._to_host(hop, course, content)
                except Unreachable as error:
                    # What a host said tells more than that another one was silent.
                    trouble = error if trouble is None or error.host is not None else trouble
        assert trouble is not None  # a router without a hop raises RouteError
        raise trouble

    async def _to_host(self, hop: Hop, course: "_Course", content: Content) -> Mapping[int, Verdict]:
        sender = self._sender(course.rows[0])
        while True:
            lent: Lent | None = None
            attempt = _Attempt(hop, course.rows, self._clock.monotonic)
            try:
                async with self._connections.session(hop, course.is_doubtful) as lent:
                    transaction = Transaction(hop, lent, course.rows, content, sender)
                    try:
                        verdicts = await transaction.run()
                        attempt.ended(lent, next(iter(verdicts.values())))
                        return verdicts
                    finally:
                        course.left |= transaction.told_sender
                        course.was_lost |= transaction.was_lost
            except Unreachable as error:
                attempt.ended(lent, error.answer)
                raise
            except (SMTPException, OSError) as error:
                text = f"{hop.host} [{hop.address}]: {reason(error)}"
                lost = SmtpReply.of(421, f"4.4.2 {text}")
                attempt.ended(lent, lost)
                if lent is None or lent.is_fresh:
                    raise Unreachable(lost, hop.host) from error
                # A kept-open session had died meanwhile; the next one, at last a new one, will do.

    def _sender(self, row: Due) -> str:
        """The envelope sender; of a message from before they had tags the one that it was given."""
        token = row.bounce_token or row.message_id
        return row.envelope_from or self._senders.of(token, domain_of(row), row.domain)


class _Attempt:
    """What is told of one host."""

    def __init__(self, hop: Hop, rows: Sequence[Due], now: Callable[[], float]) -> None:
        self._hop = hop
        self._rows = rows
        self._now = now
        self._began = now()

    def ended(self, lent: Lent | None, said: SmtpReply | Verdict) -> None:
        """`said`: of several recipients' replies the first."""
        tell(
            log,
            LogEvent.ATTEMPTED,
            message_id=self._rows[0].message_id,
            recipients=len(self._rows),
            host=self._hop.host,
            address=self._hop.address,
            port=self._hop.port,
            tls=lent.session.tls if lent is not None else None,
            is_reused=lent is not None and not lent.is_fresh,
            code=said.code,
            enhanced=said.enhanced,
            reason=clean(said.text),
            duration_ms=round((self._now() - self._began) * 1000),
        )


@dataclass
class _Course:
    """One delivery under way. `left`: some host was told MAIL FROM; `was_lost`: one did not answer to the message."""

    rows: Sequence[Due]
    is_doubtful: bool
    left: bool = False
    was_lost: bool = False


def _the_same(rows: Sequence[Due], verdict: Verdict, was_reached: bool) -> DeliveryResult:
    return DeliveryResult({row.position: verdict for row in rows}, was_reached)
