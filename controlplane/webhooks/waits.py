"""Callers that wait for something that a commit brings about: one place of a wait, and who it is woken for.

A wait asks the store when it begins, and again after a commit that published an event for its organization, or its
inbox; in between nothing is asked for it. The look-out of the event streams (`event_streams.py`) wakes it, and ends it
where its key is revoked, its inbox is deactivated, the caller leaves or the process stops.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from controlplane.contract.refusals import Refusal

T = TypeVar("T")

# Hands over what is to be done when the caller leaves; None: nothing any more.
OnLeave = Callable[[Callable[[], None] | None], None]


def no_more_mail() -> Refusal:
    """What a caller hears who finds nothing in an inbox that was deactivated."""
    return Refusal("inbox_not_found", "This inbox was deactivated: no mail comes in any more.")


class Wait:
    """One caller that waits. `inbox_id` None: for what happens in any inbox, or in none."""

    def __init__(self, key_id: str, organization_id: str, inbox_id: str | None) -> None:
        self.key_id = key_id
        self.organization_id = organization_id
        self.inbox_id = inbox_id
        self._news = asyncio.Event()
        self._is_ending = False
        self._is_revoked = False
        self._is_closed = False

    def hear(self) -> None:
        """There may be what it waits for."""
        self._news.set()

    def end(self) -> None:
        """Wait no longer."""
        self._is_ending = True
        self._news.set()

    def revoke(self) -> None:
        """The caller's key opens nothing any more."""
        self._is_revoked = True
        self._news.set()

    def close(self) -> None:
        """Its inbox takes nothing any more: what has come until now is all there will be."""
        self._is_closed = True
        self._news.set()

    async def until(self, ask: Callable[[], Awaitable[T | None]], timeout_s: float) -> T | None:
        """What `ask` answers once that is not None: at first, or after a commit. None when the time is over, the caller
        left or the process stops; Refusal `invalid_api_key`, or `inbox_not_found` where no mail comes in any more."""
        deadline = asyncio.get_running_loop().time() + timeout_s
        while not self._is_revoked:
            self._news.clear()
            is_closed = self._is_closed  # asked once more after that: what came before it counts
            found = await ask()
            if found is not None or self._is_ending:
                return found
            if is_closed:
                raise no_more_mail()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(deadline):
                    await self._news.wait()
            if not self._news.is_set() or (self._is_ending and not self._is_revoked):
                return None
        raise Refusal("invalid_api_key")
