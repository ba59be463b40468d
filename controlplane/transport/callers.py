"""Who makes a request: by its key, within the rate of its organization, whatever door it came to."""

from aiohttp import web

from controlplane.access.authentication import Authenticator, bearer
from controlplane.access.principal import Principal
from controlplane.access.rate_limit import RateLimit, RateVerdict
from controlplane.contract.refusals import Refusal
from controlplane.transport.connections import is_local

PRINCIPAL = web.RequestKey("principal", Principal)
REQUEST = web.RequestKey("request_id", str)  # its id, which the gate gives it
RATE = web.RequestKey("rate", RateVerdict)


class Callers:
    """Admits requests; what it found stays with them, for the headers of the answer and the log."""

    def __init__(self, authenticator: Authenticator, rate_limit: RateLimit) -> None:
        self._authenticator = authenticator
        self._rate_limit = rate_limit

    async def admit(self, request: web.Request) -> Principal:
        """The principal that calls; Refusal for what is not an active key, and over the rate."""
        found = await self._authenticator.principal(bearer(request.headers.get("Authorization")))
        principal = found._replace(request_id=request[REQUEST])
        request[PRINCIPAL] = principal
        verdict = await self._rate_limit.count(principal.organization_id)
        request[RATE] = verdict
        if not verdict.allowed:
            raise Refusal("rate_limit_exceeded", retry_after_s=verdict.retry_after_s)
        return principal


def address_of(request: web.Request) -> tuple[str, ...]:
    """The peer as a holder of bytes; a proxy's address stands for all clients, and so for none."""
    peer = request.remote or ""
    return () if is_local(peer) else (peer,)
