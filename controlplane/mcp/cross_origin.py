"""What lets web pages of other origins call, by the browser's leave: those that the operator names, and nobody else.

A browser asks first (a preflight), since a call has a key and JSON. To pages of any other origin nothing here is said,
and what is not said a browser keeps from them. No cookie plays a part, so none is let in.
"""

from collections.abc import Iterable
from urllib.parse import urlsplit

from aiohttp import web

from controlplane.mcp.routing_headers import ROUTING_HEADERS

PATH = "/mcp"
METHODS = "GET, POST, DELETE"  # the first and the last to be refused with a status that clients understand
TAKEN = ", ".join((
    "Authorization", "Content-Type", "Accept", *ROUTING_HEADERS, "Mcp-Session-Id", "Last-Event-ID",
))  # fmt: skip
SHOWN = ", ".join((
    "X-Request-Id", "Retry-After", "WWW-Authenticate", "Allow",
    "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset",
))  # fmt: skip
KNOWN_FOR_S = 600  # that a browser need not ask again


class CrossOrigin:
    """`origins`: those of the pages."""

    def __init__(self, origins: Iterable[str]) -> None:
        self._origins = frozenset(map(origin, origins))

    def add_to(self, app: web.Application) -> None:
        """Answer preflights, and say to browsers who may read an answer. Without an origin, nothing of it is there."""
        if self._origins:
            app.router.add_route("OPTIONS", PATH, self._preflight)
            app.on_response_prepare.append(self._share)

    async def _preflight(self, request: web.Request) -> web.Response:
        """Fetch §4.8: the status is of no matter but that it is fine; `_share` says the rest."""
        is_asked = "Access-Control-Request-Method" in request.headers
        if not is_asked or self._origin_of(request) is None:
            raise web.HTTPMethodNotAllowed(request.method, ["POST"])
        headers = {
            "Access-Control-Allow-Methods": METHODS,
            "Access-Control-Allow-Headers": TAKEN,
            "Access-Control-Max-Age": str(KNOWN_FOR_S),
        }
        return web.Response(status=204, headers=headers)

    async def _share(self, request: web.Request, response: web.StreamResponse) -> None:
        if request.path != PATH:
            return
        response.headers["Vary"] = "Origin"
        origin = self._origin_of(request)
        if origin is not None:
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Expose-Headers"] = SHOWN

    def _origin_of(self, request: web.Request) -> str | None:
        """The one that the request names, as it names it; None: it may not read the answer."""
        named = request.headers.getall("Origin", [])
        return named[0] if len(named) == 1 and named[0].lower() in self._origins else None


def origin(url: str) -> str:
    """RFC 6454 §6.1: scheme, host and port, as browsers write them, in lower case."""
    parts = urlsplit(url.lower())
    return f"{parts.scheme}://{parts.netloc}"
