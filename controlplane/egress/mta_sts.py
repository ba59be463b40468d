"""The policy file of a mail domain (RFC 8461 §3.3), fetched through the door to foreign hosts. It is read elsewhere.

Only what a certificate for the policy host vouches for counts, and only as a whole: a file that was cut could lack a
host, or say another age.
"""

import ssl
from typing import NamedTuple

from conf.settings import Outbound
from controlplane.egress.client import Egress, EgressFailed, Resolve
from controlplane.egress.targets import EgressRefused
from storage.service import Service

# RFC 8461 §3.3 suggests a minute; the first mail to a domain waits so long for a host that hangs.
TIMEOUT_S = 30
USER_AGENT = "maild-mta-sts/1"
PATH = "/.well-known/mta-sts.txt"


class PolicyHostRules(NamedTuple):
    """Of the door that policies come through; those of connections to mail hosts."""

    allow_private_networks: bool
    ca_file: str
    timeout_s: int = TIMEOUT_S


class FetchedFile(NamedTuple):
    """`body`: None where there is no file; then `reason` says why. `is_unproven`: the host's certificate was not
    believed."""

    body: bytes | None
    reason: str = ""
    is_unproven: bool = False


class PolicyHosts(Service):
    """`port`: of HTTPS, for tests."""

    name = "mta-sts"

    def __init__(self, outbound: Outbound, resolve: Resolve, port: int = 443) -> None:
        rules = PolicyHostRules(outbound.allow_private_networks, outbound.ca_file)
        self._egress = Egress(rules, resolve, USER_AGENT)
        self._port = port

    async def start(self) -> None:
        await self._egress.start()

    async def stop(self) -> None:
        await self._egress.stop()

    async def fetch(self, domain: str) -> FetchedFile:
        """The file of the domain (an A-label); never raises for what its host does."""
        authority = f"mta-sts.{domain}" if self._port == 443 else f"mta-sts.{domain}:{self._port}"
        try:
            answer = await self._egress.get(f"https://{authority}{PATH}")
        except (EgressFailed, EgressRefused) as error:
            is_unproven = isinstance(error.__cause__, ssl.SSLCertVerificationError)
            return FetchedFile(None, error.reason, is_unproven)
        if answer.status != 200:  # RFC 8461 §3.3: redirects must not be followed
            return FetchedFile(None, f"the policy host answered {answer.status}")
        if answer.content_type.partition(";")[0].strip().lower() != "text/plain":
            return FetchedFile(None, "the policy file is not text/plain")
        if not answer.is_whole:
            return FetchedFile(None, "the policy file is too large, or of no told length")
        return FetchedFile(answer.body)
