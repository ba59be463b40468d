"""Stored bytes over HTTP: whole or, where a client asks for it, a single range (RFC 9110 §14).

They are bytes that an unknown sender chose, served so that no browser is talked into running them.
"""

import re
from typing import NamedTuple
from urllib.parse import quote

from aiohttp import web

from controlplane.contract.refusals import Refusal
from controlplane.operations.results import Download
from controlplane.transport.statuses import HttpRefusal
from storage.mail.blobs import BlobMissing

_RANGE = re.compile(r"bytes=\s*(\d*)-(\d*)\s*", re.IGNORECASE)
# Some clients decode these in a name that is none of RFC 8187 (RFC 6266, appendix D).
_ENCODED = re.compile(r"%(?=[0-9A-Fa-f]{2})")
_ASCII_NAME = {code: "_" for code in (*range(32), ord('"'), ord("\\"), 127)}


class ByteRange(NamedTuple):
    """The bytes from `start` to before `stop`."""

    start: int
    stop: int


async def send_download(request: web.Request, download: Download) -> web.StreamResponse:
    """Send the bytes, or the range of them that is asked for. Refusal when they are gone, or the range lies outside."""
    size = download.size_bytes
    headers = _headers(download)
    if download.tag is not None and is_known(request, download.tag):  # RFC 9110 §15.4.5
        return web.Response(status=304, headers={"ETag": headers["ETag"]})
    span = None if download.tag is None else asked_range(request, size, headers["ETag"])
    start, stop = span or (0, size)
    pieces = download.open(start, stop)
    try:
        first = await anext(pieces, b"")
    except BlobMissing as error:
        raise Refusal("attachment_bytes_missing") from error
    response = web.StreamResponse(status=200 if span is None else 206, headers=headers)
    response.content_length = stop - start
    if span is not None:
        response.headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
    await response.prepare(request)
    if request.method != "HEAD":
        await response.write(first)
        async for piece in pieces:
            await response.write(piece)
    await response.write_eof()
    return response


def _headers(download: Download) -> dict[str, str]:
    kind = "inline" if download.is_inline else "attachment"
    headers = {
        "Content-Type": download.content_type,
        "Content-Disposition": disposition(kind, download.filename),
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
    }
    if download.tag is not None:
        headers |= {"Accept-Ranges": "bytes", "ETag": f'"{download.tag}"'}
    return headers


def is_known(request: web.Request, tag: str) -> bool:
    """Does If-None-Match name the tag, or any? Compared weakly (RFC 9110 §13.1.2)."""
    named = ",".join(request.headers.getall("If-None-Match", ()))
    return any(one.strip().removeprefix("W/") in ("*", f'"{tag}"') for one in named.split(","))


def asked_range(request: web.Request, size: int, etag: str) -> ByteRange | None:
    """The range that the request asks for; None: all. Refusal 416 when it lies behind the end.

    RFC 9110 §14.2: what is not a single valid range of bytes may be ignored, and is; so is any when
    `If-Range` names another representation (§13.1.5).
    """
    asked = _RANGE.fullmatch(request.headers.get("Range", ""))
    if asked is None or request.headers.get("If-Range", etag) != etag:
        return None
    first, last = asked.groups()
    if len(first) > 18 or len(last) > 18 or not (first or last):
        return None
    if not first:  # §14.1.2: the last so many
        start, stop = max(0, size - int(last)), size
        empty = int(last) == 0
    else:
        start, stop = int(first), min(size, int(last) + 1) if last else size
        if last and int(last) < start:
            return None
        empty = start >= size
    if empty or start >= size:
        raise HttpRefusal("range_not_satisfiable", {"Content-Range": f"bytes */{size}"})
    return ByteRange(start, stop)


def disposition(kind: str, filename: str) -> str:
    """RFC 6266 §4: the name in full for clients that read `filename*`, an ASCII likeness for the rest."""
    plain = filename.translate(_ASCII_NAME).encode("ascii", "replace").decode().replace("?", "_")
    plain = _ENCODED.sub("_", plain)
    if plain == filename:
        return f'{kind}; filename="{plain}"'
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(filename, safe='')}"
