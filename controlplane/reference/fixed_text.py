"""A text that is the same for every reader, as it is served: packed once, and sent to nobody who has it."""

import gzip
from collections.abc import Mapping
from hashlib import sha256

from aiohttp import web

from controlplane.transport.downloads import is_known


class FixedText:
    """`content_type` with its charset; `headers`: what its answers have besides."""

    __slots__ = ("_headers", "_octets", "_packed", "_tag")

    def __init__(self, octets: bytes, content_type: str, headers: Mapping[str, str]) -> None:
        self._octets = octets
        self._packed = gzip.compress(octets, mtime=0)
        self._tag = sha256(octets).hexdigest()[:32]
        # RFC 9110 §8.8.1: weak, for it names both representations.
        tag = {"ETag": f'W/"{self._tag}"', "Vary": "Accept-Encoding"}
        self._headers = {"Content-Type": content_type, **headers, **tag}

    def answer(self, request: web.Request) -> web.Response:
        """The text, packed for those who take it so; 304 for who names it (RFC 9110 §15.4.5)."""
        if is_known(request, self._tag):
            kept = {name: text for name, text in self._headers.items() if name != "Content-Type"}
            return web.Response(status=304, headers=kept)
        if _takes_gzip(request):
            return web.Response(body=self._packed, headers={**self._headers, "Content-Encoding": "gzip"})
        return web.Response(body=self._octets, headers=self._headers)


def _takes_gzip(request: web.Request) -> bool:
    """RFC 9110 §12.5.3; who refuses it gives it no weight."""
    asked = ",".join(request.headers.getall("Accept-Encoding", ())).lower()
    found = (one.partition(";") for one in asked.split(","))
    weights = {name.strip(): weight.replace(" ", "") for name, _, weight in found}
    return "gzip" in weights and weights["gzip"].rstrip("0.") != "q="
