"""A form that is pressed again before its answer is there, as where no script keeps a browser from it: it acts once.

Each page has a token of its own (`once`), which begins with the organization that the page is of. Forms have it that
make something, or that say something else when they are pressed again, so a form of a page that was loaded anew, or
whose fields were changed meanwhile, acts anew. The Idempotency-Keys of the API are no help here: what makes a key or
a webhook answers with a secret, which no table keeps.
"""

import asyncio
from collections.abc import Awaitable, Callable

from controlplane.console.forms import Form
from controlplane.console.page import PageAnswer

ONCE = "once"
AGAIN_S = 10.0  # after the answer, which may be on its way
HELD_MAX = 1000


class Presses:
    """What forms were answered with, for as long as they may be pressed again."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, str, int], asyncio.Future[PageAnswer | None]] = {}

    async def answer(
        self, session_id: str, path: str, form: Form, act: Callable[[], Awaitable[PageAnswer]]
    ) -> PageAnswer:
        """What `act` answers, or answered when this form was pressed before; Refusal."""
        if ONCE not in form:
            return await act()
        press = session_id, path, hash(tuple(form.pairs))
        while (before := self._answers.get(press)) is not None:
            answered = await asyncio.shield(before)
            if answered is not None:
                return answered
        return await (act() if len(self._answers) >= HELD_MAX else self._first(press, act))

    async def _first(
        self, press: tuple[str, str, int], act: Callable[[], Awaitable[PageAnswer]]
    ) -> PageAnswer:
        loop = asyncio.get_running_loop()
        self._answers[press] = future = loop.create_future()
        answer: PageAnswer | None = None
        try:
            answer = await act()
        finally:
            future.set_result(answer)
            if answer is None:  # refused: it may be pressed again
                del self._answers[press]
            else:
                loop.call_later(AGAIN_S, self._answers.pop, press)
        return answer
