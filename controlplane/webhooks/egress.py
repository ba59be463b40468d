"""The one door to foreign HTTP hosts.

What holds for every call, whatever the URL, the DNS and the far end try:
- The name is resolved once, every address of the answer is checked, and a checked address is dialled, with
  Host and SNI as in the URL. The check stands again in the socket factory, the last step before
  connect(): aiohttp asks no resolver for a URL whose host is an address.
- TLS is verified against the system's CAs and `ca_file`. No proxies, cookies or credentials from the
  environment, no redirects, no decompression.
- One deadline covers look-up, connect, TLS, request and the whole answer. At most `ANSWER_BYTES_MAX`
  of an answer are read; then the connection is closed and the answer counts as whole.
- What is raised carries a fixed text of ours, never words of the far end or addresses behind a name.
"""

import asyncio
import errno
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import aiohttp
from aiohttp.abc import AbstractResolver, AbstractStreamWriter, ResolveResult

from controlplane.webhooks.targets import EgressRefused, Target, is_local_name, is_public, parse
from storage.service import Service

ANSWER_BYTES_MAX = 64 * 1024
# A kept-open connection saves a handshake within a burst. Servers close idle ones after 2 s or more.
KEEPALIVE_S = 1.5
PARSED_MAX = 512
USER_AGENT = "maild-webhooks/1"

_REFUSED_TEXT = "is or resolves to a private, loopback, link-local or reserved address"

# The addresses of a host name; raises, or answers with none, when it has no answer.
Resolve = Callable[[str], Awaitable[Sequence[str]]]


class Rules(Protocol):
    """What one user of the door may do; the settings of webhooks are such rules.

    `allow_private_networks`: may targets have private addresses? For targets that the operator chose, or for
    development. `ca_file`: trusted besides the system's CAs. `timeout_s`: for one call in all.
    """

    @property
    def allow_private_networks(self) -> bool: ...
    @property
    def ca_file(self) -> str: ...
    @property
    def timeout_s(self) -> int: ...


OnSent = Callable[[], None]


def nobody_waits() -> None:
    """Most callers don't ask when their request left."""


class EgressFailed(Exception):
    """There was no whole answer. `status`: that of an answer whose body did not arrive."""

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


class Answer(NamedTuple):
    """`body`: its first ANSWER_BYTES_MAX bytes, as sent."""

    status: int
    body: bytes


class Egress(Service):
    name = "egress"

    def __init__(self, rules: Rules, resolve: Resolve, user_agent: str = USER_AGENT) -> None:
        self._rules = rules
        self._user_agent = user_agent
        self._guard = _Guard(resolve, rules.allow_private_networks)
        self._parse = lru_cache(maxsize=PARSED_MAX)(parse)  # a burst calls the same few again and again
        self._session: aiohttp.ClientSession | None = None

    async def start(self) -> None:
        if self._session is None:
            self._session = self._open_session()

    async def stop(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def check_url(self, url: str) -> None:
        """For a URL that is being registered: EgressRefused when we would not call it.

        A name that doesn't resolve now passes: it may tomorrow, and each connect checks again.
        """
        target = parse(url)
        try:
            async with asyncio.timeout(self._rules.timeout_s):
                await self._guard.addresses(target.host, target.address)
        except (EgressFailed, TimeoutError):
            return

    async def post(
        self, url: str, body: bytes, headers: Mapping[str, str], on_sent: OnSent = nobody_waits
    ) -> Answer:
        """POST once; EgressRefused when we don't call the target, EgressFailed without a whole answer.

        `on_sent` is called when the request is on its way, maybe more than once, maybe never.
        """
        target = self._parse(url)
        if target.address is not None:
            await self._guard.addresses(target.host, target.address)
        seen: list[int] = []
        try:
            async with asyncio.timeout(self._rules.timeout_s):
                return await self._exchange(target, body, headers, on_sent, seen)
        except (aiohttp.ClientError, OSError, ValueError) as error:  # TimeoutError is an OSError
            raise EgressFailed(self._reason(error), seen[-1] if seen else None) from error

    async def _exchange(
        self, target: Target, body: bytes, headers: Mapping[str, str], on_sent: OnSent, seen: list[int]
    ) -> Answer:
        if self._session is None:
            raise EgressFailed("shutting down")
        while True:
            dialled = self._guard.watch()
            try:
                async with self._session.post(
                    target.url, data=_Body(body, on_sent), headers=headers, allow_redirects=False
                ) as response:
                    seen.append(response.status)
                    return Answer(response.status, await _read(response))
            except (aiohttp.ServerDisconnectedError, ConnectionResetError, BrokenPipeError):
                # The far end closed a kept-open connection as we took it up. That says nothing
                # of the endpoint: ask again, with the same ids, until a connection is a fresh one.
                if seen or dialled:
                    raise

    def _open_session(self) -> aiohttp.ClientSession:
        tls = ssl.create_default_context()
        if self._rules.ca_file:
            tls.load_verify_locations(self._rules.ca_file)
        connector = aiohttp.TCPConnector(
            resolver=self._guard,
            use_dns_cache=False,
            socket_factory=self._guard.open_socket,
            ssl=tls,
            limit=0,  # the caller's limits count
            keepalive_timeout=KEEPALIVE_S,
        )
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
            raise_for_status=False,
            timeout=aiohttp.ClientTimeout(total=None, connect=None, sock_connect=None, sock_read=None),
            headers={"User-Agent": self._user_agent, "Accept": "*/*", "Accept-Encoding": "identity"},
        )

    def _reason(self, error: Exception) -> str:
        cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
        if isinstance(cause, _Unresolved):
            return "the host name does not resolve"
        if isinstance(cause, TimeoutError):
            return f"timeout: no whole answer within {self._rules.timeout_s} s"
        for kinds, reason in _REASONS:
            if isinstance(error, kinds) or isinstance(cause, kinds):
                return reason
        return "the connection failed"


_REASONS: tuple[tuple[tuple[type[BaseException], ...], str], ...] = (
    (
        (aiohttp.ClientConnectorCertificateError, ssl.SSLCertVerificationError),
        "tls: the certificate does not verify",
    ),
    ((aiohttp.ClientSSLError, ssl.SSLError), "tls: the handshake failed"),
    ((ConnectionRefusedError,), "the connection was refused"),
    ((aiohttp.ClientPayloadError,), "the answer broke off"),
    (
        (aiohttp.ServerDisconnectedError, ConnectionResetError, BrokenPipeError),
        "the connection was closed before an answer",
    ),
    ((aiohttp.ClientResponseError, ValueError), "the answer is not valid HTTP"),
)


class _Unresolved(OSError):
    """A name without addresses; an OSError, since that is what aiohttp expects of a resolver."""


class _Guard(AbstractResolver):
    """Between aiohttp and the network: resolves, and lets through what may be called."""

    def __init__(self, resolve: Resolve, allow_private_networks: bool) -> None:
        self._resolve = resolve
        self._allow_all = allow_private_networks
        # aiohttp may open a socket in a task of its own, which has a copy of the caller's context.
        self._dialled: ContextVar[list[str]] = ContextVar("dialled")

    def watch(self) -> list[str]:
        """The addresses that the caller's request will dial: none where a kept-open connection serves it."""
        dialled: list[str] = []
        self._dialled.set(dialled)
        return dialled

    async def addresses(self, host: str, literal: str | None) -> Sequence[str]:
        """All addresses of the host, each one fit to be called. EgressRefused, or EgressFailed when none."""
        if literal is not None:
            found: Sequence[str] = [literal]
        elif is_local_name(host):
            found = ["127.0.0.1", "::1"]
        else:
            try:
                found = await self._resolve(host)
            except Exception as error:  # whatever the DNS library raises means: no answer
                raise EgressFailed("the host name does not resolve") from error
        if not found:
            raise EgressFailed("the host name does not resolve")
        # One bad address spoils the rest: a mixed answer is an attack, or a mistake to be seen.
        if not self._allow_all and not all(is_public(address) for address in found):
            raise EgressRefused(_REFUSED_TEXT)
        return found

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        try:
            found = await self.addresses(host.removesuffix("."), None)
        except EgressFailed as error:
            raise _Unresolved(error.reason) from error
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in found
        ]

    def open_socket(self, info: tuple[Any, ...]) -> socket.socket:
        family, kind, protocol, _, address = info
        if not self._allow_all and not is_public(address[0]):
            raise PermissionError(errno.EACCES, _REFUSED_TEXT)
        self._dialled.get([]).append(address[0])
        return socket.socket(family, kind, protocol)

    async def close(self) -> None:
        """Nothing is held: the resolver belongs to whoever handed it in."""


class _Body(aiohttp.BytesPayload):
    """A request's body that tells when it was written: aiohttp's tracing would cost a sixth of the call."""

    def __init__(self, body: bytes, on_sent: OnSent) -> None:
        super().__init__(body)
        self._on_sent = on_sent

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        await super().write_with_length(writer, content_length)
        self._on_sent()


async def _read(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    while len(body) < ANSWER_BYTES_MAX:
        chunk = await response.content.read(ANSWER_BYTES_MAX - len(body))
        body += chunk
        if not chunk or response.content.at_eof():
            return bytes(body)
    response.close()  # the rest is not read, so the connection is of no further use
    return bytes(body)
