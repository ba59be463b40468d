"""From the body and the headers of a POST to what is asked, in which revision of the protocol.

The Model Context Protocol has two eras, both served on one path, without sessions. Up to 2025-11-25 ("handshake") a
client opens with `initialize` and may name its revision in a header; an error of what it asks is HTTP 200. From
2026-07-28 on ("modern") each request says in `_meta` what the client speaks, headers repeat what proxies route by, and
an error has a status of HTTP. The models of what is asked and answered are the official ones (`mcp_types`).
"""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    JSONRPC_VERSION,
    METHOD_NOT_FOUND,
    PROTOCOL_VERSION_META_KEY,
    UNSUPPORTED_PROTOCOL_VERSION,
)
from mcp_types.methods import validate_client_request
from mcp_types.version import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    KNOWN_PROTOCOL_VERSIONS,
    LATEST_HANDSHAKE_VERSION,
    MODERN_PROTOCOL_VERSIONS,
)
from pydantic import ValidationError

from controlplane.contract.validation import joined
from controlplane.mcp.routing_headers import METHOD_HEADER, NAME_HEADER, ROUTING_HEADERS, VERSION_HEADER

INITIALIZE, PING, DISCOVER = "initialize", "ping", "server/discover"
LIST_TOOLS, CALL_TOOL = "tools/list", "tools/call"
_METHODS = {
    **dict.fromkeys(HANDSHAKE_PROTOCOL_VERSIONS, frozenset((INITIALIZE, PING, LIST_TOOLS, CALL_TOOL))),
    **dict.fromkeys(MODERN_PROTOCOL_VERSIONS, frozenset((DISCOVER, LIST_TOOLS, CALL_TOOL))),
}

# What JSON-RPC leaves to implementations: HTTP refused the request.
REFUSED = -32000
_STATUSES = {METHOD_NOT_FOUND: 404}
ID_CHARS_MAX = 256
ID_MAX = 2**53 - 1  # what every reader of JSON can hold
_BASE64_NAME = re.compile(r"=\?base64\?(.*)\?=")

Id = str | int


class Rejection(Exception):
    """The request is answered with an error of JSON-RPC. `id`: of the request, None where it is not known."""

    def __init__(
        self, code: int, message: str, *, data: Any = None, id: Id | None = None, status: int = 400
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message.encode("utf-8", "replace").decode()  # it may name what was given
        self.data = data
        self.id = id
        self.status = status


class RpcMessage(NamedTuple):
    """A request of JSON-RPC, or a notification (`id` None)."""

    id: Id | None
    method: str
    params: Mapping[str, Any]


class Asked(NamedTuple):
    """A request whose params are those of its method in that revision."""

    id: Id
    method: str
    params: Mapping[str, Any]
    version: str

    @property
    def is_modern(self) -> bool:
        """Is it of the era without a handshake?"""
        return self.version in MODERN_PROTOCOL_VERSIONS


def message_of(document: Any) -> RpcMessage:
    """The one request or notification that the body is; Rejection."""
    if not isinstance(document, dict):
        raise Rejection(
            INVALID_REQUEST, "Send one request or notification as a JSON object; batches are not taken"
        )
    has_id = "id" in document
    id, params = document.get("id"), document.get("params", {})
    if has_id and not _is_id(id):
        raise Rejection(INVALID_REQUEST, "'id' must be a string or a whole number")
    known = id if has_id else None
    if document.get("jsonrpc") != JSONRPC_VERSION:
        raise Rejection(INVALID_REQUEST, "'jsonrpc' must be \"2.0\"", id=known)
    if not isinstance(document.get("method"), str):
        raise Rejection(INVALID_REQUEST, "'method' must be a string; this server takes no answers", id=known)
    if not isinstance(params, dict):
        raise Rejection(INVALID_REQUEST, "'params' must be an object", id=known)
    return RpcMessage(known, document["method"], params)


def asked(message: RpcMessage, headers: Mapping[str, Sequence[str]]) -> Asked:
    """What a request asks. `headers`: the values of each of ROUTING_HEADERS. Rejection, whose status is that of the
    request's era."""
    version = _version_of(message, headers)
    assert message.id is not None
    request = Asked(message.id, message.method, message.params, version)
    if request.method not in _METHODS[version]:
        raise rejection(request, METHOD_NOT_FOUND, "This server has no such method")
    try:
        validate_client_request(request.method, version, request.params)
    except ValidationError as error:
        faults = "; ".join(
            f"{reduce(joined, map(str, one['loc'][1:]), '') or 'params'}: {one['msg']}"
            for one in error.errors(include_url=False, include_input=False, include_context=False)[:5]
        )
        raise rejection(
            request, INVALID_PARAMS, f"The params are not those of {request.method}: {faults}"
        ) from error
    return request


def rejection(request: Asked, code: int, message: str) -> Rejection:
    """An error of what was asked: in the handshake era HTTP went well all the same."""
    status = _STATUSES.get(code, 400) if request.is_modern else 200
    return Rejection(code, message, id=request.id, status=status)


def agreed_version(offered: str) -> str:
    """What `initialize` answers to the revision that a client offers."""
    return offered if offered in HANDSHAKE_PROTOCOL_VERSIONS else LATEST_HANDSHAKE_VERSION


def check_notified_version(headers: Mapping[str, Sequence[str]]) -> None:
    """Rejection of a notification in a revision that is not served; nothing else of one matters here."""
    named = headers[VERSION_HEADER]
    if named and named[0] not in KNOWN_PROTOCOL_VERSIONS:
        raise _unsupported(None, named[0])


def _version_of(message: RpcMessage, headers: Mapping[str, Sequence[str]]) -> str:
    for name in ROUTING_HEADERS:
        if len(headers[name]) > 1:
            raise Rejection(HEADER_MISMATCH, f"Give the header {name} once", id=message.id)
    named = next(iter(headers[VERSION_HEADER]), None)
    meta = message.params.get("_meta")
    is_said = isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta
    if not is_said and (named is None or named in HANDSHAKE_PROTOCOL_VERSIONS):
        return named or LATEST_HANDSHAKE_VERSION
    if not is_said and named not in MODERN_PROTOCOL_VERSIONS:
        raise _unsupported(message.id, named)
    return _modern_version(message, meta, headers)


def _modern_version(message: RpcMessage, meta: Any, headers: Mapping[str, Sequence[str]]) -> str:
    """The version in `_meta`, which headers repeat; in the order of the specification's checks."""
    said = meta if isinstance(meta, dict) else {}
    missing = [one for one in (PROTOCOL_VERSION_META_KEY, CLIENT_CAPABILITIES_META_KEY) if one not in said]
    if missing:
        raise Rejection(INVALID_PARAMS, f"params._meta must have {' and '.join(missing)}", id=message.id)
    version: Any = said[PROTOCOL_VERSION_META_KEY]
    for name, value in (
        (VERSION_HEADER, version),
        (METHOD_HEADER, message.method),
        (NAME_HEADER, message.params.get("name") if message.method == CALL_TOOL else None),
    ):
        if value is None and name == NAME_HEADER:
            continue
        given = next(iter(headers[name]), None)
        if given is None or (_decoded(given) if name == NAME_HEADER else given) != value:
            raise Rejection(HEADER_MISMATCH, f"The header {name} must say what the body says", id=message.id)
    if version not in MODERN_PROTOCOL_VERSIONS:
        raise _unsupported(message.id, version)
    return str(version)


def _unsupported(id: Id | None, named: Any) -> Rejection:
    requested = str(named)[:100].encode("utf-8", "replace").decode()
    # Those that `server/discover` tells: who reads this error asks without a handshake.
    data = {"supported": list(MODERN_PROTOCOL_VERSIONS), "requested": requested}
    return Rejection(
        UNSUPPORTED_PROTOCOL_VERSION, "This revision of the protocol is not served", data=data, id=id
    )


def _decoded(name: str) -> str | None:
    """A header's value, which may be wrapped as `=?base64?…?=`; None: not in the one form that this has."""
    wrapped = _BASE64_NAME.fullmatch(name)
    if wrapped is None:
        return name
    try:
        octets = base64.b64decode(wrapped[1], validate=True)
        return octets.decode() if base64.b64encode(octets).decode() == wrapped[1] else None
    except (binascii.Error, ValueError):
        return None


def _is_id(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= ID_CHARS_MAX and not any("\ud800" <= one <= "\udfff" for one in value)
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= ID_MAX
