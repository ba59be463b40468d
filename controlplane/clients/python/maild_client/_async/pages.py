"""Lists, page by page. A page is asked for when somebody comes to it."""

from collections.abc import AsyncIterator
from typing import Any, Generic, TypeVar

from maild_client._async.transport import AsyncTransport
from maild_client._given import UNSET
from maild_client._wire import Call
from maild_client.errors import EventsGap

T = TypeVar("T")


class AsyncPages(Generic[T]):
    """All items of a list, across its pages: `async for item in pages`. `limit` was the size of a page."""

    def __init__(self, transport: AsyncTransport, call: Call, cursor: str, of: str) -> None:
        self._transport = transport
        self._call = call
        self._cursor = cursor  # the parameter that takes the position
        self._of = of.split("@")  # the members of the last item that it is made of

    async def page(self) -> list[T]:
        """The first page alone: one request."""
        return await self._page(self._call.query.get(self._cursor, UNSET))

    async def pages(self) -> AsyncIterator[list[T]]:
        """Page after page, none of them empty."""
        position = self._call.query.get(self._cursor, UNSET)
        while page := await self._page(position):
            yield page
            last: Any = page[-1]
            position = "@".join(str(last[member]) for member in self._of)

    def __bool__(self) -> bool:
        raise TypeError("whether a list has items is not known before it is asked for: look at its .page()")

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page:
                yield item

    async def _page(self, position: Any) -> list[T]:
        with self._transport.watched() as answers:
            page: list[T] = await self._transport.json(self._call.asking(**{self._cursor: position}))
        if answers[-1].headers.get("x-events-gap") == "true":
            raise EventsGap(
                "the log does not go back so far: read the lists anew, then the log from its beginning"
            )
        return page
