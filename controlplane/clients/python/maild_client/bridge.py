"""`maildc mcp`: from a host that speaks the Model Context Protocol over stdio to `POST /mcp`.

One line of stdin is one POST, one answer is one line of stdout; what else there is to say goes to stderr. Requests run
beside each other. The bridge holds no rule of the protocol, caches no tool and renames none: what it adds are the key
and the headers that repeat what the body says. The key goes to one server: no redirect is followed, and no proxy sees
it in the clear.
"""

import asyncio
import base64
import errno
import json
import os
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

import httpx2

from maild_client.credentials import KEY_VARIABLE, URL_VARIABLE, ClientCredentials

PATH = "/mcp"
LINE_BYTES_MAX = ANSWER_BYTES_MAX = 32 * 1024 * 1024  # the server takes 22 MiB and answers less
AT_ONCE_MAX = 64
# A tool waits for mail up to 50 seconds.
TIMEOUT = httpx2.Timeout(connect=10, read=90, write=60, pool=None)
CONNECT_AGAIN_S = (0.3, 1.5)  # a server that starts anew is back by then
GRACE_S = 5.0  # for what runs when the host says no more

# JSON-RPC 2.0 §5.1; REFUSED is what it leaves to implementations.
PARSE_ERROR, INVALID_REQUEST, REFUSED = -32700, -32600, -32000
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CANCELLED, INITIALIZE = "notifications/cancelled", "initialize"
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_PLAIN = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_WRAPPED = re.compile(r"=\?base64\?.*\?=")
HEADER_CHARS_MAX = 2000

Tell = Callable[[str], None]
Write = Callable[[bytes], Awaitable[None]]
RpcId = str | int


class BridgeFault(Exception):
    """A request got no answer; the text says what to do. `code`: which fault, for programs."""

    def __init__(self, code: str, told: str) -> None:
        super().__init__(told)
        self.code = code


class HostRequest(NamedTuple):
    """A line of the host. `id`: None where nothing is to be answered, or where it can't be known."""

    raw: bytes
    document: Any
    id: RpcId | None
    is_answered: bool

    @property
    def method(self) -> str:
        found = self.document.get("method") if isinstance(self.document, dict) else None
        return found if isinstance(found, str) else ""

    @property
    def params(self) -> Mapping[str, Any]:
        found = self.document.get("params") if isinstance(self.document, dict) else None
        return found if isinstance(found, dict) else {}


class Bridge:
    """`client` calls the server; `write` puts one line before the host; `tell` says something to who reads the log."""

    def __init__(
        self,
        credentials: ClientCredentials,
        client: httpx2.AsyncClient,
        write: Write,
        tell: Tell,
        connect_again_s: Sequence[float] = CONNECT_AGAIN_S,
    ) -> None:
        self._credentials = credentials
        self._url = credentials.url.removesuffix(PATH) + PATH
        self._client = client
        self._write = write
        self._tell_raw = tell
        self._connect_again_s = connect_again_s
        self._running: set[asyncio.Task[None]] = set()
        self._by_id: dict[RpcId, asyncio.Task[None]] = {}
        self._agreed: str | None = None  # the revision of a handshake, which later requests name in a header

    async def run(self, lines: AsyncIterator[bytes | None]) -> None:
        """Until the host says no more (a line None: it was too long), or is gone."""
        try:
            async for line in lines:
                self._take(line)
                if len(self._running) >= 2 * AT_ONCE_MAX:  # the host does not read its answers
                    await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
            if self._running:
                await asyncio.wait(self._running, timeout=GRACE_S)
        finally:
            for task in self._running:
                task.cancel()
            await asyncio.gather(*self._running, return_exceptions=True)

    # What the host says ----------------------------------------------------------------------------

    def _take(self, line: bytes | None) -> None:
        if line is None:
            told = f"A message may be {LINE_BYTES_MAX} bytes long."
            self._begin(self._write(_error(None, INVALID_REQUEST, told)), None)
            return
        if not line.strip():
            return
        try:
            document: Any = json.loads(line)
        except (ValueError, RecursionError):
            self._begin(self._write(_error(None, PARSE_ERROR, "This line is no JSON.")), None)
            return
        request = _request(line, document)
        if request.method == CANCELLED:
            self._cancel(request.params.get("requestId"))
        elif (
            isinstance(document, dict) and "method" not in document and {"result", "error"} & document.keys()
        ):
            self._tell("the host answered what nobody asked")
        elif len(self._running) >= AT_ONCE_MAX and request.is_answered:
            told = f"More than {AT_ONCE_MAX} requests at once: wait for some to end."
            self._begin(self._write(_error(request.id, REFUSED, told)), None)
        else:
            self._begin(self._relay(request), request.id)

    def _cancel(self, id: Any) -> None:
        """Hanging up is how the server hears of it; the host wants no answer to what it cancelled."""
        task = self._by_id.get(id) if _is_id(id) else None
        if task is not None:
            task.cancel()

    def _begin(self, work: Awaitable[None], id: RpcId | None) -> None:
        task = asyncio.ensure_future(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        if id is not None:
            self._by_id[id] = task
            task.add_done_callback(lambda done: self._by_id.get(id) is done and self._by_id.pop(id))

    async def _relay(self, request: HostRequest) -> None:
        try:
            answer = await self._answer(request)
        except BridgeFault as fault:
            self._tell(f"{request.method or 'a message'}: {fault}")
            answer = _error(request.id, REFUSED, str(fault), {"code": fault.code})
        except Exception as error:  # the host must hear of its request, whatever a library of ours does
            self._tell(f"{request.method or 'a message'}: {type(error).__name__}: {error}")
            answer = _error(
                request.id, REFUSED, "The bridge failed; its log says more.", {"code": "bridge_failed"}
            )
        if request.is_answered:
            await self._write(answer)

    # What the server says --------------------------------------------------------------------------

    async def _answer(self, request: HostRequest) -> bytes:
        """The line for the host; b"" for a notification."""
        response, body = await self._posted(request)
        if response.is_redirect:
            self._tell(f"it redirects to {_shown(response.headers.get('Location', ''))}")
            raise BridgeFault(
                "redirected",
                f"The server redirects, and the key follows no redirect: set {URL_VARIABLE} to where it leads.",
            )
        if not request.is_answered:
            if response.status_code >= 400:
                self._tell(f"{request.method or 'a message'}: {response.status_code}")
            return b""
        document = _rpc_answer(body)
        if document is None:
            raise _no_answer(response.status_code, self._url)
        if "error" in document and document.get("id") is None:
            if response.status_code >= 400:
                self._tell(f"{request.method}: {response.status_code} {_message(document)}")
            # Refused before anybody read which request it is: the host needs the id, else it waits for ever.
            return _line(json.dumps({**document, "id": request.id}).encode())
        if document.get("id") != request.id:
            raise BridgeFault("not_understood", f"{self._url} answered another request.")
        self._note_revision(request, document)
        return _line(body)

    async def _posted(self, request: HostRequest) -> tuple[httpx2.Response, bytes]:
        headers = self._headers(request)
        for pause_s in (*self._connect_again_s, None):
            try:
                return await self._post(request, headers)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:  # nothing was sent
                if pause_s is None:
                    told = f"is the server up, and {URL_VARIABLE} right? Nothing was sent."
                    told = f"{self._url} can't be reached ({_cause(error)}): {told}"
                    raise BridgeFault("unreachable", told) from error
                await asyncio.sleep(pause_s)
            except httpx2.TimeoutException as error:
                raise BridgeFault("timed_out", f"{self._url} did not answer in time. {_AGAIN}") from error
            except httpx2.TransportError as error:
                raise BridgeFault(
                    "connection_lost", f"The connection to {self._url} broke. {_AGAIN}"
                ) from error
        raise AssertionError("the last attempt raises")

    async def _post(self, request: HostRequest, headers: Mapping[str, str]) -> tuple[httpx2.Response, bytes]:
        async with self._client.stream(
            "POST", self._url, content=request.raw, headers=headers, follow_redirects=False
        ) as response:
            body = bytearray()
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > ANSWER_BYTES_MAX:
                    raise BridgeFault(
                        "not_understood", f"{self._url} answered more than {ANSWER_BYTES_MAX} bytes."
                    )
            return response, bytes(body)

    def _headers(self, request: HostRequest) -> dict[str, str]:
        """What proxies and the server read beside the body: in the revision of 2026-07-28 they repeat it."""
        fixed = {
            "Authorization": f"Bearer {self._credentials.api_key}",
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
        }
        meta = request.params.get("_meta")
        version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
        named: dict[str, Any]
        if version is None:
            named = {} if request.method == INITIALIZE else {"MCP-Protocol-Version": self._agreed}
        else:
            name = request.params.get(_NAMED_BY.get(request.method, ""))
            named = {
                "MCP-Protocol-Version": version,
                "Mcp-Method": request.method,
                "Mcp-Name": _wrapped(name),
            }
        return fixed | {key: value for key, value in named.items() if _is_header(value)}

    def _note_revision(self, request: HostRequest, document: Mapping[str, Any]) -> None:
        result = document.get("result")
        if request.method == INITIALIZE and isinstance(result, dict):
            agreed = result.get("protocolVersion")
            self._agreed = agreed if isinstance(agreed, str) else None

    def _tell(self, told: str) -> None:
        self._tell_raw(_shown(told.replace(self._credentials.api_key, "…")))


_AGAIN = (
    "It may have been done all the same: call again with the very same arguments, "
    "a message that was sent is not sent again."
)


def _request(raw: bytes, document: Any) -> HostRequest:
    is_object = isinstance(document, dict)
    id = document.get("id") if is_object else None
    is_notification = is_object and "method" in document and "id" not in document
    return HostRequest(raw, document, id if _is_id(id) else None, not is_notification)


def _rpc_answer(body: bytes) -> dict[str, Any] | None:
    """The answer of JSON-RPC that the body is, else None."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    is_one = isinstance(document, dict) and document.get("jsonrpc") == "2.0"
    return document if is_one and ("result" in document) != ("error" in document) else None


def _no_answer(status: int, url: str) -> BridgeFault:
    told = {
        401: f"{url} refused the key: is {KEY_VARIABLE} a key of this server?",
        404: f"There is no MCP at {url}: is {URL_VARIABLE} the server's address, and http.mcp on?",
    }.get(status)
    if told is not None:
        return BridgeFault("not_found" if status == 404 else "key_refused", told)
    if status in (502, 503, 504):
        return BridgeFault(
            "unavailable", f"{url} is not available now ({status}): try again in a while. {_AGAIN}"
        )
    return BridgeFault(
        "not_understood", f"{url} answered {status} without an answer of MCP: is it a maild server?"
    )


def _error(id: RpcId | None, code: int, told: str, data: Mapping[str, Any] | None = None) -> bytes:
    error = {"code": code, "message": told} | ({} if data is None else {"data": data})
    return json.dumps({"jsonrpc": "2.0", "id": id, "error": error}).encode()


def _line(document: bytes) -> bytes:
    """JSON on one line: its strings hold no line end, so each that there is stands between them."""
    return document.replace(b"\r", b" ").replace(b"\n", b" ")


def _message(document: Mapping[str, Any]) -> str:
    error = document.get("error")
    return str(error.get("message", "")) if isinstance(error, dict) else ""


def _wrapped(value: Any) -> str | None:
    """As a header can hold it: as it stands, or in base64 (revision 2026-07-28, streamable HTTP)."""
    if not isinstance(value, str):
        return None
    if _PLAIN.fullmatch(value) and not _WRAPPED.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'replace')).decode()}?="


def _is_header(value: Any) -> bool:
    """What is none is left out: the server says what is missing."""
    return isinstance(value, str) and len(value) <= HEADER_CHARS_MAX and _PLAIN.fullmatch(value) is not None


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _cause(error: BaseException) -> str:
    """What the system says of it: `Connection refused`, `certificate verify failed: …`."""
    said = str(error) or type(error).__name__
    for one in _causes(error):
        if (
            isinstance(one, OSError)
            and one.errno
            and one.errno in errno.errorcode
            and not isinstance(one, ssl.SSLError)
        ):
            return os.strerror(one.errno)
    return _shown(said)[:200]


def _causes(error: Any) -> list[Any]:
    """Exceptions, the outermost first."""
    found: list[Any] = []
    while error is not None and len(found) < 10:
        found.append(error)
        group = getattr(error, "exceptions", None)  # one address after the other was tried
        error = group[0] if group else error.__cause__ or error.__context__
    return found


def _shown(text: str) -> str:
    """On one line of a terminal, whatever it holds."""
    return "".join(one if one.isprintable() else f"\\x{ord(one):02x}" for one in text[:2000])
