"""Who makes a request: by its key, within the rate of its organization, whatever door it came to."""

from aiohttp import web

from conf.addresses import network_of
from controlplane.access.authentication import Authenticator, bearer
from controlplane.access.principal import Principal
from controlplane.access.rate_limit import RateLimit, RateVerdict
from controlplane.contract.refusals import Refusal
from controlplane.transport.connections import connection_of

PRINCIPAL = web.RequestKey("principal", Principal)
KNOWN_KEYS = 10_000
STRANGERS = ""  # the owner of all requests whose key is not known
REQUEST = web.RequestKey("request_id", str)  # its id, which the gate gives it
RATE = web.RequestKey("rate", RateVerdict)


class Callers:
    """Admits requests; what it found stays with them, for the headers of the answer and the log."""

    def __init__(self, authenticator: Authenticator, rate_limit: RateLimit) -> None:
        self._authenticator = authenticator
        self._rate_limit = rate_limit
        self._known: dict[int, None] = {}  # hashes of headers, the newest last

    def owner_of(self, request: web.Request) -> str:
        """Whose turn it is, before anybody has asked the store who calls: the peer's or, behind a proxy, which has one
        address for all, the key's. Keys that were no good have one turn together: everybody can make up many."""
        connection = connection_of(request)
        if not connection.is_proxy:
            return network_of(connection.peer)
        header = request.headers.get("Authorization", "")
        return header if hash(header) in self._known else STRANGERS

    async def admit(self, request: web.Request) -> Principal:
        """The principal that calls; Refusal for what is not an active key, and over the rate."""
        principal = await self.identify(request)
        verdict = await self._rate_limit.count(principal.organization_id)
        request[RATE] = verdict
        if not verdict.allowed:
            raise Refusal("rate_limit_exceeded", retry_after_s=verdict.retry_after_s)
        return principal

    async def identify(self, request: web.Request) -> Principal:
        """The principal that calls, whose rate is not counted; Refusal for what is not an active key."""
        lines = request.headers.getall("Authorization", ())
        # Of several it is not known whose key counted on the way.
        header = lines[0] if len(lines) == 1 else None
        try:
            principal = await self._authenticator.principal(bearer(header), request[REQUEST])
        except Refusal:
            self._known.pop(hash(header), None)
            raise
        self._remember(hash(header))
        request[PRINCIPAL] = principal
        return principal

    def _remember(self, key: int) -> None:
        # Of the header its hash alone: what is a secret does not stay in memory, and nobody can make up its like, for
        # the interpreter's hash of a string has a secret of its own.
        self._known.pop(key, None)
        if len(self._known) >= KNOWN_KEYS:
            del self._known[next(iter(self._known))]
        self._known[key] = None


def client_of(request: web.Request) -> str:
    """The client's address, also where a proxy passes its request on."""
    # RFC 9110 §5.3: lines are one list. HAProxy puts one of its own behind those of the client.
    return connection_of(request).client(",".join(request.headers.getall("X-Forwarded-For", ())))


def address_of(request: web.Request) -> tuple[str, ...]:
    """The peer as a holder of bytes; a proxy's address stands for all clients, and so for none."""
    connection = connection_of(request)
    return () if connection.is_proxy else (network_of(connection.peer),)
