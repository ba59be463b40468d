"""The one door to foreign HTTP hosts.

What holds for every call, whatever the URL, the DNS and the far end try:
- The name is resolved once, every address of the answer is checked, and a checked address is dialled, with
  Host and SNI as in the URL. The check stands again in the socket factory, the last step before connect().
- TLS is verified against the system's CAs and `ca_file`. Nothing of the environment is used: no proxies, cookies
  or credentials; no redirects, no decompression.
- One deadline covers look-up, connect, TLS, request and the whole answer, of which no more than
  http1.ANSWER_BYTES_MAX are read.
- What is raised carries a fixed text of ours, never words of the far end or addresses behind a name.
"""

import asyncio
import errno
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Any, Protocol, cast

import aiohappyeyeballs

from conf.addresses import is_public
from conf.tls import LongHandshake, client_context, receive_little
from controlplane.egress import http1
from controlplane.egress.http1 import EndpointConnection, HttpResponse
from controlplane.egress.targets import EgressRefused, Endpoint, Target, is_local_name, parse
from storage.exhaustion import is_exhaustion
from storage.service import Service

# A kept-open connection saves a handshake within a burst. Servers close idle ones after 2 s or more.
KEEPALIVE_S = 1.5
PARSED_MAX = 512
USER_AGENT = "maild-webhooks/1"
NEXT_ADDRESS_S = 0.25  # RFC 8305 §8

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


class Network(Protocol):
    """maild.own_network.OwnNetwork, as far as it is needed here."""

    async def is_away(self, addresses: Sequence[str], is_named: bool) -> bool: ...


OnSent = Callable[[], None]


def nobody_waits() -> None:
    """The default of `on_sent`: most callers don't ask when their request left."""


class EgressFailed(Exception):
    """There was no whole answer. `status`: that of an answer whose body did not arrive."""

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


class EgressStarved(EgressFailed):
    """There was no descriptor or memory to call with: the far end was not asked."""

    def __init__(self) -> None:
        super().__init__("not called: this host is out of descriptors or memory")


class EgressCutOff(EgressFailed):
    """This host's own network is away: the far end was not asked."""

    def __init__(self) -> None:
        super().__init__("not called: this host's own network is away")


class Unresolved(EgressFailed):
    """Its name gave no address."""

    def __init__(self) -> None:
        super().__init__("the host name does not resolve")


class Egress(Service):
    """HTTP/1.1 calls to targets that others chose, on connections that are kept open; started before the first call.

    `network`: who tells its fault from theirs; without it, all of it is theirs."""

    name = "egress"

    def __init__(
        self,
        rules: Rules,
        resolve: Resolve,
        user_agent: str = USER_AGENT,
        network: Network | None = None,
    ) -> None:
        self._rules = rules
        self._network = network
        self._fields = {"User-Agent": user_agent, "Accept": "*/*", "Accept-Encoding": "identity"}
        self._guard = _Guard(resolve, rules.allow_private_networks)
        self._parse = lru_cache(maxsize=PARSED_MAX)(parse)  # a burst calls the same few again and again
        self._tls: ssl.SSLContext | None = None
        self._kept = _Kept()

    async def start(self) -> None:
        if self._tls is None:
            self._tls = _trust(self._rules.ca_file) if self._rules.ca_file else _system_trust()

    async def stop(self) -> None:
        self._tls = None
        self._kept.close()

    async def check_url(self, url: str) -> None:
        """For a URL that is being registered: EgressRefused when we would not call it.

        A name that doesn't resolve now passes: it may tomorrow, and each connect checks again.
        """
        try:
            async with asyncio.timeout(self._rules.timeout_s):
                await self._guard.addresses(parse(url))
        except (EgressFailed, TimeoutError):
            return

    async def post(
        self, url: str, body: bytes, headers: Mapping[str, str], on_sent: OnSent = nobody_waits
    ) -> HttpResponse:
        """POST once; EgressRefused when we don't call the target, EgressFailed without a whole answer, EgressStarved
        and EgressCutOff where we can't call any now.

        `on_sent` is called when the request is on its way, maybe more than once, maybe never.
        """
        target = self._parse(url)
        fields = {"Host": target.authority, **self._fields, **headers}
        return await self._call(target, http1.post(target.path, fields.items(), body), on_sent)

    async def get(self, url: str) -> HttpResponse:
        """GET once, otherwise as `post`. The caller judges whether the answer is whole, and what it is."""
        target = self._parse(url)
        fields = {"Host": target.authority, **self._fields}
        return await self._call(target, http1.get(target.path, fields.items()), nobody_waits)

    async def _call(self, target: Target, request: bytes, on_sent: OnSent) -> HttpResponse:
        deadline_s = asyncio.get_running_loop().time() + self._rules.timeout_s
        while True:
            connection = self._kept.take(target.endpoint)
            is_fresh = connection is None
            if connection is None:
                connection = await self._dial(target, deadline_s)
            try:
                asked = connection.ask(request, deadline_s)
                on_sent()
                try:
                    return await asked
                finally:
                    del asked  # its exception knows this frame
            except http1.NoResponse as failure:
                # The far end closed a kept-open connection as we took it up. That says nothing
                # of the endpoint: ask again, with the same ids, until a connection is a fresh one.
                if is_fresh or not isinstance(failure, http1.Closed):
                    raise EgressFailed(self._reason(failure), connection.status) from failure
            finally:
                if self._tls is None:  # stopped meanwhile
                    connection.close()
                self._kept.put(target.endpoint, connection)

    async def _dial(self, target: Target, deadline_s: float) -> EndpointConnection:
        tls, connection = self._tls, EndpointConnection()
        if tls is None:
            raise EgressFailed("shutting down")
        opening = _Opening(self._guard.open_socket)
        try:
            async with asyncio.timeout_at(deadline_s):
                addresses = opening.addresses = await self._guard.addresses(target)
                connected = await aiohappyeyeballs.start_connection(
                    [_info(address, target.endpoint.port) for address in addresses],
                    happy_eyeballs_delay=NEXT_ADDRESS_S,
                    interleave=1,
                    loop=cast(asyncio.AbstractEventLoop, opening),
                    socket_factory=opening.open_socket,
                )
                opening.is_done = True
                try:
                    await asyncio.get_running_loop().create_connection(
                        lambda: connection, sock=connected, ssl=tls, server_hostname=target.endpoint.host
                    )
                except BaseException:
                    # Where the handshake was done just before, the loop would wait for the far end's goodbye,
                    # on a descriptor that is closed here and soon another's.
                    connection.close()
                    connected.close()
                    raise
                return connection
        # TimeoutError is an OSError; TLS takes not every name; IndexError: aiohappyeyeballs has no OSError to raise.
        except (OSError, ValueError, MemoryError, IndexError, Unresolved) as error:
            error.__traceback__ = None  # a frame of aiohappyeyeballs keeps it, and knows this one
            want = error if is_exhaustion(error) else opening.want
            if want is not None:
                raise EgressStarved from want
            if not opening.is_done and await self._is_cut_off(target, opening.addresses, error):
                raise EgressCutOff from error
            if isinstance(error, Unresolved):
                raise
            if isinstance(error, TimeoutError):
                raise EgressFailed(f"timeout: {opening.lacks} within {self._rules.timeout_s} s") from error
            raise EgressFailed(self._reason(error)) from error

    async def _is_cut_off(self, target: Target, addresses: Sequence[str], error: Exception) -> bool:
        if self._network is None or isinstance(error, ConnectionError):  # it was heard
            return False
        is_named = target.address is None and not is_local_name(target.endpoint.host)
        return await self._network.is_away(addresses, is_named)

    def _reason(self, error: Exception) -> str:
        if isinstance(error, http1.TooLate):
            return f"timeout: no whole answer within {self._rules.timeout_s} s"
        if isinstance(error, http1.NoResponse):
            return error.reason
        return next((reason for kind, reason in _REASONS if isinstance(error, kind)), "the connection failed")


def _trust(ca_file: str) -> ssl.SSLContext:
    tls = client_context()
    tls.set_alpn_protocols(["http/1.1"])
    if ca_file:
        tls.load_verify_locations(ca_file)
    return tls


@cache
def _system_trust() -> ssl.SSLContext:
    """Of all egresses that have no CA file: each of its own would take 20 ms and 0.8 MiB. Nobody changes it."""
    return _trust("")


_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (ssl.SSLCertVerificationError, "tls: the certificate does not verify"),
    (LongHandshake, "tls: the handshake is too long"),
    (ssl.SSLError, "tls: the handshake failed"),
    (ConnectionRefusedError, "the connection was refused"),
    (ConnectionError, http1.Closed.reason),
)


def _info(address: str, port: int) -> tuple[Any, ...]:
    if ":" in address:
        return socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port, 0, 0)
    return socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port)


class _Guard:
    """Between us and the network: resolves, and lets through what may be called."""

    def __init__(self, resolve: Resolve, allow_private_networks: bool) -> None:
        self._resolve = resolve
        self._allow_all = allow_private_networks

    async def addresses(self, target: Target) -> Sequence[str]:
        """All addresses of its host, each one fit to be called. EgressRefused, or EgressFailed when none."""
        if target.address is not None:
            found: Sequence[str] = [target.address]
        elif is_local_name(target.endpoint.host):
            found = ["127.0.0.1", "::1"]
        else:
            try:
                found = await self._resolve(target.endpoint.host)
            except Exception as error:  # whatever the DNS library raises means: no answer
                if is_exhaustion(error):
                    raise EgressStarved from error
                raise Unresolved from error
        if not found:
            raise Unresolved
        # One bad address spoils the rest: a mixed answer is an attack, or a mistake to be seen.
        if not self._allow_all and not all(is_public(address) for address in found):
            raise EgressRefused(_REFUSED_TEXT)
        return found

    def open_socket(self, info: tuple[Any, ...]) -> socket.socket:
        family, kind, protocol, _, address = info
        if not self._allow_all and not is_public(address[0]):
            raise PermissionError(errno.EACCES, _REFUSED_TEXT)
        opened = socket.socket(family, kind, protocol)
        receive_little(opened)
        return opened


class _Opening:
    """The sockets of one connection, and what of the event loop opens them. `want`: for which one was not opened here;
    `addresses`: once they are known; `is_done`: one is connected.

    aiohappyeyeballs would not tell: it makes one OSError of several, without a number, and passes over a MemoryError.
    """

    def __init__(self, open_socket: Callable[[tuple[Any, ...]], socket.socket]) -> None:
        self._open_socket = open_socket
        self._loop = asyncio.get_running_loop()
        self.want: Exception | None = None
        self.addresses: Sequence[str] = ()
        self.is_done = False

    @property
    def lacks(self) -> str:
        """What it was that took too long."""
        if not self.addresses:
            return "its name was not resolved"
        return "the TLS handshake was not done" if self.is_done else "there was no connection"

    def open_socket(self, info: tuple[Any, ...]) -> socket.socket:
        with self._noting():
            return self._open_socket(info)

    async def sock_connect(self, sock: socket.socket, address: tuple[Any, ...]) -> None:
        with self._noting():
            await self._loop.sock_connect(sock, address)

    @contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if is_exhaustion(error):
                self.want = error
            raise


class _Kept:
    """Connections that are open and idle, by host and port; each for KEEPALIVE_S."""

    def __init__(self) -> None:
        self._idle: dict[Endpoint, list[tuple[EndpointConnection, float]]] = {}
        self._sweep: asyncio.TimerHandle | None = None

    def take(self, place: Endpoint) -> EndpointConnection | None:
        """The one used last, so that the others run out when there are more than needed."""
        now_s = asyncio.get_running_loop().time()
        line = self._idle.get(place, [])
        while line:
            connection, until_s = line.pop()
            if connection.is_idle and now_s < until_s:
                return connection
            connection.close()
        return None

    def put(self, place: Endpoint, connection: EndpointConnection) -> None:
        """Keep it if it can be asked again; close it if it can't."""
        if not connection.is_idle:
            connection.close()
            return
        loop = asyncio.get_running_loop()
        self._idle.setdefault(place, []).append((connection, loop.time() + KEEPALIVE_S))
        if self._sweep is None:
            self._sweep = loop.call_later(KEEPALIVE_S, self._close_old)

    def close(self) -> None:
        for line in self._idle.values():
            for connection, _ in line:
                connection.close()
        self._idle.clear()
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None

    def _close_old(self) -> None:
        self._sweep = None
        idle, self._idle = self._idle, {}
        now_s = asyncio.get_running_loop().time()
        for place, line in idle.items():
            for connection, until_s in line:
                if connection.is_idle and now_s < until_s:
                    self._idle.setdefault(place, []).append((connection, until_s))
                else:
                    connection.close()
        if self._idle:
            self._sweep = asyncio.get_running_loop().call_later(KEEPALIVE_S, self._close_old)
