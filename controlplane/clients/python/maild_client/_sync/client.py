# Derived from maild_client/_async/client.py by scripts/clients: change that one.
"""The client itself: where its key and address come from, and what hangs on it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Generic, ParamSpec, Self, TypeVar

import httpx2

from maild_client import _wire, webhooks
from maild_client._sync.resources import Resources, Webhooks
from maild_client._sync.transport import Connections, Transport
from maild_client._sync.work import WorkInboxes
from maild_client.errors import ConfigurationError

P = ParamSpec("P")
T = TypeVar("T")


def http_client_for(url: str, **options: Any) -> httpx2.Client:
    """One that obeys the environment (proxies, certificates) where the key goes encrypted. ConfigurationError."""
    try:
        return httpx2.Client(trust_env=_wire.is_sealed(url), **options)
    except (OSError, ValueError, ImportError, httpx2.InvalidURL) as fault:
        raise _wire.unusable(fault) from fault


@dataclass(frozen=True)
class Response(Generic[T]):
    """What a call returned, and the answer that brought it."""

    data: T
    status: int
    headers: Mapping[str, str]

    @property
    def request_id(self) -> str | None:
        """What names the request in the server's log."""
        return self.headers.get("x-request-id")


class SignedWebhooks(Webhooks):
    """Webhooks, and the signatures of their requests."""

    verify = staticmethod(webhooks.verify)


class Maild(Resources):
    """A maild, as the key sees it.

        with Maild() as client:
            client.messages.send(inbox_id="inb_…", to=["ada@example.com"], subject="Hello", text="Hi Ada!")

    Key and address are arguments, or MAILD_API_KEY and MAILD_URL. `timeout` is in seconds, for each step of a
    request; waits take their own time and 10 s, what is sent 1 s more for each 4 kB. `max_retries`: of reads and of
    what has an Idempotency-Key.
    `http_client` is yours to close, and says what httpx2 can: proxies, certificates, limits.
    """

    inboxes: WorkInboxes
    webhooks: SignedWebhooks

    def __init__(
        self,
        api_key: str | None = None,
        url: str | None = None,
        *,
        timeout: float = _wire.TIMEOUT_S,
        max_retries: int = _wire.RETRIES,
        http_client: httpx2.Client | None = None,
    ) -> None:
        key, options = _wire.settings(api_key, url, timeout, max_retries)
        if http_client is not None and not isinstance(http_client, httpx2.Client):
            raise ConfigurationError("http_client is no httpx2.Client")
        self._is_ours = http_client is None
        connections = Connections(http_client or http_client_for(options.url))
        self._use(Transport(key, options, connections))

    def _use(self, transport: Transport) -> None:
        super().__init__(transport)
        self._transport = transport
        self.inboxes = WorkInboxes(transport)
        self.webhooks = SignedWebhooks(transport)

    def with_options(self, *, timeout: float | None = None, max_retries: int | None = None) -> Self:
        """This client with another time-out or number of retries; they share their connections."""
        options = self._transport.options
        if timeout is not None:
            options = replace(options, timeout_s=timeout)
        if max_retries is not None:
            options = replace(options, max_retries=max_retries)
        other = object.__new__(type(self))
        other._is_ours = False
        other._use(self._transport.with_options(options))
        return other

    def with_response(self, method: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Response[T]:
        """What the method returns, with status and headers of the answer.

        response = client.with_response(client.messages.get, "msg_…")
        """
        transport = getattr(getattr(method, "__self__", None), "_transport", None)
        if not isinstance(transport, Transport):
            raise TypeError("with_response takes a method of the client, not called yet, then its arguments")
        with transport.watched() as answers:
            data = method(*args, **kwargs)
        if not answers:
            raise TypeError("with_response takes a method that asks once: of a list, its .page")
        return Response(data, answers[-1].status_code, answers[-1].headers)

    def close(self) -> None:
        """Close the connections, unless they are those of an `http_client` of yours."""
        if self._is_ours:
            self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._transport.options.url!r})"
