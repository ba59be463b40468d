"""An inbox as a queue of work: claim, handle, done.

- One conversation is with one worker at a time, and its mail comes in order (the server sees to it).
- The lease is extended while the handler works. A worker that is killed loses it, and the message is offered again.
- `claim.reply` sends only while the claim lives, and ends it in the same transaction: nobody is answered twice.
- What a handler raises gives the message back; after `work.maxAttempts` of the inbox's policy it is dead.
"""

import logging
import os
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from maild_client import _wire
from maild_client._async import resources
from maild_client._async.crew import (
    AsyncCrew,
    AsyncStop,
    beside,
    check_handler,
    stopped_by_signals,
    wait_until,
)
from maild_client._async.transport import AsyncTransport
from maild_client._given import UNSET, listed, repeated_under
from maild_client.errors import ClaimLost, ConfigurationError, MaildError
from maild_client.types import (
    AttachmentInput,
    ClaimedMessage,
    DoneLabels,
    Message,
    SentReply,
    ThreadContext,
)

TAKEN_MAX = 20  # at once, says the API
LEASE_S = 300
WAIT_S = 10  # also how long a stop may take while nothing is there to do
RETRY_S = 30
INSISTS = 4
log = logging.getLogger("maild_client")


class AsyncClaim:
    """Your hold on a message. `is_over` once it was answered, finished, released or lost."""

    def __init__(self, transport: AsyncTransport, data: ClaimedMessage, lease_seconds: int) -> None:
        self.data = data
        self.id = data["id"]
        self.message_id = data["messageId"]
        self.thread_id = data["threadId"]
        self.attempt = data["attempt"]
        self.is_over = False
        self._lease_seconds = lease_seconds
        self._transport = transport
        self._claims = resources.AsyncClaims(transport)

    def __repr__(self) -> str:
        return f"<claim {self.id} of {self.message_id}, attempt {self.attempt}>"

    async def reply(
        self,
        text: str | None = UNSET,
        *,
        html: str | None = UNSET,
        reply_all: bool = UNSET,
        quote: Literal["none", "text"] = UNSET,
        attachments: Sequence[AttachmentInput | Path] = UNSET,
        headers: Mapping[str, str] = UNSET,
        if_last_message_id: str | None = UNSET,
        complete: bool = True,
    ) -> SentReply:
        """Answer the message, and end the claim with it. ClaimLost: nothing was sent, somebody else has the work.

        `complete=False`: the claim lives on, for more answers.
        """
        answer = await resources.AsyncMessages(self._transport).reply(
            self.message_id,
            text=text,
            html=html,
            reply_all=reply_all,
            quote=quote,
            attachments=attachments,
            headers=headers,
            if_last_message_id=if_last_message_id,
            claim_id=self.id,
            complete_claim=complete,
        )
        self.is_over = self.is_over or complete
        return answer

    async def context(self, *, max_tokens: int = UNSET) -> ThreadContext:
        """The conversation as text for a model, within a budget."""
        return await resources.AsyncThreads(self._transport).context(
            self.thread_id, max_tokens=max_tokens, focus=self.message_id
        )

    async def finish(self, *, add_labels: Sequence[str] = (), remove_labels: Sequence[str] = ()) -> None:
        """The message is done. The worker says so by itself when the handler returns."""
        labels: DoneLabels = {
            "add": list(listed("add_labels", add_labels)),
            "remove": list(listed("remove_labels", remove_labels)),
        }
        await self._insist(lambda: self._claims.finish(self.id, labels=labels))
        self.is_over = True

    async def release(self, *, delay_seconds: int = 0) -> None:
        """Give the message back, to be offered again after the delay."""
        await self._insist(lambda: self._claims.release(self.id, delay_seconds=delay_seconds))
        self.is_over = True

    async def extend(self) -> None:
        """Let the lease begin anew. The worker does, while the handler works."""
        await self._claims.extend(self.id, lease_seconds=self._lease_seconds)

    async def keep(self, stop: AsyncStop) -> None:
        """Extend the lease until `stop` is set or the claim is over."""
        pause_s = self._lease_seconds / 3
        while not self.is_over and not await wait_until(stop, pause_s):
            try:
                await self.extend()
                pause_s = self._lease_seconds / 3
            except MaildError as error:
                if self.is_over or stop.is_set():
                    return
                log.warning("%r was not extended: %s", self, error)
                self.is_over = not error.is_passing
                pause_s = self._lease_seconds / 10

    async def _insist(self, ask: Callable[[], Awaitable[object]]) -> None:
        """What ends a claim may be said twice, so it is, where no answer comes."""
        for failures in range(INSISTS):
            try:
                await ask()
                return
            except MaildError as error:
                if failures == INSISTS - 1 or not error.is_passing:
                    raise
                await self._transport.pause(_wire.pause_s(failures, self._transport.chance()))


AsyncHandler = Callable[[Message, AsyncClaim], Awaitable[object]]


class AsyncWorker:
    """Claims what an inbox offers, and hands it to the handler, `concurrency` messages at once."""

    def __init__(
        self,
        transport: AsyncTransport,
        inbox_id: str,
        handle: AsyncHandler,
        *,
        concurrency: int,
        lease_seconds: int,
        wait_seconds: int,
        retry_delay_seconds: int,
        holder: str,
        stop: AsyncStop,
    ) -> None:
        self._transport = transport
        self._claims = resources.AsyncClaims(transport)
        self._inbox_id = inbox_id
        self._handle = handle
        self._concurrency = concurrency
        self._lease_seconds = lease_seconds
        self._wait_seconds = wait_seconds
        self._retry_delay_seconds = retry_delay_seconds
        self._holder = holder
        self._stop = stop
        self._failures = 0
        self._asking: tuple[int, str] | None = None  # how many, and the Idempotency-Key

    async def run(self) -> None:
        """Work until `stop` is set; what was begun is finished. ApiError where it can't go on."""
        async with AsyncCrew(self._concurrency) as crew:
            while not self._stop.is_set():
                free = await crew.free()
                for data in await self._taken(min(free, TAKEN_MAX)):
                    crew.start(self._serve, AsyncClaim(self._transport, data, self._lease_seconds))

    async def _taken(self, at_most: int) -> list[ClaimedMessage]:
        if self._stop.is_set():
            return []
        # Where no answer came, the same is asked again: what was claimed meanwhile is ours.
        self._asking = self._asking or (at_most, repeated_under(None))
        try:
            found = await self._claims.take(
                self._inbox_id,
                max=self._asking[0],
                lease_seconds=self._lease_seconds,
                wait_seconds=self._wait_seconds,
                holder=self._holder,
                idempotency_key=self._asking[1],
            )
        except MaildError as error:
            if not error.is_passing:
                raise
            await self._pause(error)
            return []
        self._asking, self._failures = None, 0
        return found

    async def _pause(self, error: MaildError) -> None:
        pause_s = _wire.long_pause_s(error, self._failures, self._transport.chance())
        self._failures += 1
        log.warning("nothing is offered in %s: %s; again in %.1f s", self._inbox_id, error, pause_s)
        await wait_until(self._stop, pause_s)

    async def _serve(self, claim: AsyncClaim) -> None:
        message = claim.data["message"]
        if message is None or claim.data["status"] != "live":  # of an answer that came late: deleted, or over
            return
        if self._stop.is_set():
            await self._give_back(claim, 0)
            return
        async with beside(claim.keep):
            try:
                await self._handle(message, claim)
                if not claim.is_over:
                    await claim.finish()
            except ClaimLost as error:
                claim.is_over = True
                log.warning("%r: %s", claim, error)
            except Exception:
                log.exception("the handler of %r failed", claim)
                await self._give_back(claim, self._retry_delay_seconds)
            except BaseException:  # cancelled
                await self._give_back(claim, 0)
                raise

    async def _give_back(self, claim: AsyncClaim, delay_seconds: int) -> None:
        if claim.is_over:
            return
        try:
            await claim.release(delay_seconds=delay_seconds)
        except ClaimLost:  # it ended meanwhile, by an answer whose success nobody heard of perhaps
            claim.is_over = True
        except MaildError as error:
            log.warning("%r stays until its lease is over: %s", claim, error)


class AsyncWorkInboxes(resources.AsyncInboxes):
    """Inboxes, and working on their mail."""

    async def work(
        self,
        inbox_id: str,
        handle: AsyncHandler,
        *,
        concurrency: int = 1,
        lease_seconds: int = LEASE_S,
        wait_seconds: int = WAIT_S,
        retry_delay_seconds: int = RETRY_S,
        holder: str | None = None,
        stop: AsyncStop | None = None,
    ) -> None:
        """Claim what comes in and hand it to `handle(message, claim)`, until SIGTERM, Ctrl-C or `stop.set()`.

        Where the handler returns, the message is done; where it raises, it is given back and offered again after
        `retry_delay_seconds`. `claim.reply(text)` answers and ends the claim in one transaction. Leases are extended
        while handlers work. What was begun is finished before this returns. The inbox's policy must have
        `work.enabled`. ApiError where the server won't have it; what passes (no network, a restart) is waited for.

            async def handle(message, claim):
                await claim.reply(f"We have your mail about {message['subject']}.")

            await client.inboxes.work("inb_…", handle, concurrency=4)
        """
        check_handler(handle)
        if not isinstance(concurrency, int) or concurrency < 1:
            raise ConfigurationError("concurrency is a number of messages, 1 or more")
        stop = stop or AsyncStop()
        worker = AsyncWorker(
            self._transport,
            inbox_id,
            handle,
            concurrency=concurrency,
            lease_seconds=lease_seconds,
            wait_seconds=wait_seconds,
            retry_delay_seconds=retry_delay_seconds,
            holder=holder or f"{socket.gethostname()[:80]}-{os.getpid()}",
            stop=stop,
        )
        with stopped_by_signals(stop):
            await worker.run()
