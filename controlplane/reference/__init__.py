"""What is told of the API, to everybody: `/openapi.json`, `/docs`, `/llms.txt`, `/llms-full.txt`, and the documents.

`/docs` is the reference, rendered by Swagger UI 5.35.0 (Apache-2.0) from files that ship here. The page loads nothing
from anywhere else; its Content-Security-Policy sees to it. Below `/docs/` the documents lie as in docs/ of the source,
so their links lead to each other here as well.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources

import msgspec
from aiohttp import web

from controlplane.mcp.tool import Tool
from controlplane.operations.operation import Operation
from controlplane.reference import llms
from controlplane.reference.documents import documents
from controlplane.reference.fixed_text import FixedText
from controlplane.reference.openapi import document as openapi_document
from storage.turns.cpu_threads import CpuThreads

_SAFE = {"X-Content-Type-Options": "nosniff"}
# Editors and viewers of OpenAPI are pages of other origins. They read what everybody may (Fetch §3.3.2), and nothing of
# what needs a key.
_SHARED = {**_SAFE, "Access-Control-Allow-Origin": "*"}
# Hosts change their texts when they are upgraded. Programs that build on the API's own ask whether it is the same.
_FRESH_HEADERS = {**_SHARED, "Cache-Control": "public, no-cache"}
_LASTING = {"Cache-Control": "public, max-age=3600"}
_TEXT_HEADERS = {**_SHARED, **_LASTING}
_PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:",
    **_SAFE,
    **_LASTING,
}
# path → file, type
_PAGE = {
    "/docs": ("index.html", "text/html; charset=utf-8"),
    "/docs/swagger-ui-bundle.js": ("swagger-ui-bundle.js", "text/javascript; charset=utf-8"),
    "/docs/swagger-ui.css": ("swagger-ui.css", "text/css; charset=utf-8"),
    "/docs/start.js": ("start.js", "text/javascript; charset=utf-8"),
}


@lru_cache(2)  # daemons that share a process, as in tests, tell the same
def _texts(
    operations: tuple[Operation, ...], tools: tuple[Tool, ...], public_url: str
) -> Mapping[str, FixedText]:
    """Path → what is served there."""
    told = documents(public_url)
    described = msgspec.json.encode(openapi_document(operations, public_url, told["contract.md"]))
    plain = {
        "/llms.txt": llms.short(public_url, bool(tools)),
        "/llms-full.txt": llms.full(public_url, operations, tools, told),
    }
    return {
        "/openapi.json": FixedText(described, "application/json", _FRESH_HEADERS),
        **{path: _text(text, "text/plain") for path, text in plain.items()},
        **{f"/docs/{path}": _text(text, "text/markdown") for path, text in told.items()},
        **{path: FixedText(_read(name), kind, _PAGE_HEADERS) for path, (name, kind) in _PAGE.items()},
    }


class Reference:
    """The pages, made from the rows of operations and of MCP's tools (none: it is not served).
    `public_url`: the server that they name."""

    def __init__(
        self, operations: Sequence[Operation], tools: Sequence[Tool], public_url: str, cpu: CpuThreads
    ) -> None:
        # Once, for all readers: however many take them however slowly, there is one copy. Not before somebody reads:
        # it would be a quarter of what a start takes.
        self._texts = cpu.once(lambda: _texts(tuple(operations), tuple(tools), public_url))

    def add_to(self, app: web.Application) -> None:
        """Add the routes, which are open to callers without a key."""
        for path in ("/openapi.json", "/docs", "/docs/{document:.+}", "/llms.txt", "/llms-full.txt"):
            app.router.add_get(path, self._serve)

    async def _serve(self, request: web.Request) -> web.Response:
        text = (await self._texts()).get(request.path)
        if text is None:
            raise web.HTTPNotFound
        return text.answer(request)


def _text(text: str, kind: str) -> FixedText:
    return FixedText(text.encode(), f"{kind}; charset=utf-8", _TEXT_HEADERS)


def _read(name: str) -> bytes:
    return (resources.files("controlplane.reference") / name).read_bytes()
