"""A domain with an MTA-STS policy: its DNS, its policy host over HTTPS, its MX, and the queue that sends to it.

async with StsWorld(tmp_path) as world:
    world.publish("enforce")                     the TXT record, and the file that the policy host serves
    row = await world.sent("delivered")          the recipient of a new message, once it has the status
"""

import asyncio
from pathlib import Path
from typing import Any

from conf.settings import Outbound
from controlplane.egress.mta_sts import PATH, PolicyHosts
from maild.outbound.tls.sts_refresh import StsRefresh
from storage.records import RecipientRow
from tests.support.peers.mx import Mx
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.peers.webhook_sink import Reply, WebhookSink
from tests.support.worlds.sending import Sending

DOMAIN = "there.test"
MX_HOST = f"mx.{DOMAIN}"


def policy_file(mode: str, *mx: str, max_age_s: int = 604_800) -> bytes:
    names = "".join(f"mx: {one}\r\n" for one in mx or (MX_HOST,))
    return f"version: STSv1\r\nmode: {mode}\r\n{names}max_age: {max_age_s}\r\n".encode()


class StsWorld:
    def __init__(
        self, folder: Path, mx: Mx | None = None, *, trusts_resolver: bool = False, **outbound: Any
    ) -> None:
        """`trusts_resolver`: DANE counts as well."""
        for name in ("web", "mx", "data"):
            (folder / name).mkdir()
        self.ca = ThrowawayCa(folder / "mx")
        self.mx = mx or Mx(starttls="good", tls_context=self.ca.server_context([MX_HOST]))
        self.host = WebhookSink(folder / "web", f"mta-sts.{DOMAIN}")
        self.both = folder / "both.pem"
        self.both.write_bytes(self.ca.ca_file.read_bytes() + self.host.ca_file.read_bytes())
        self._folder = folder
        self._outbound = {"ca_file": str(self.both), **outbound}
        self._dns = {"trust_ad": trusts_resolver}
        self.allow_private_networks = True

    async def __aenter__(self) -> "StsWorld":
        await self.host.__aenter__()
        rules = Outbound(allow_private_networks=self.allow_private_networks, ca_file=str(self.both))
        self._hosts = PolicyHosts(rules, self.host.resolve, self.host.port)
        await self._hosts.start()
        self.sending = Sending(
            self._folder / "data",
            mx=self.mx,
            outbound=self._outbound,
            dns_settings=self._dns,
            fetch_policy=self._hosts.fetch,
        )
        await self.sending.__aenter__()
        self.sending.dns.add_mx(DOMAIN, host=MX_HOST)
        await self.sending.queue.start()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.sending.__aexit__(*error)
        await self._hosts.stop()
        await self.host.__aexit__(*error)

    @property
    def fetches(self) -> int:
        return len(self.host.received)

    def publish(self, mode: str, *mx: str, id: str = "1", **options: Any) -> None:
        self.serve(Reply(headers={"Content-Type": "text/plain"}, body=policy_file(mode, *mx, **options)))
        self.tell_id(id)

    def serve(self, reply: Reply) -> None:
        self.host.always(PATH, reply)

    def tell_id(self, id: str | None) -> None:
        """What DNS says from now on; the resolver's memory of it ends with the TTL."""
        dns = self.sending.dns
        dns.records.pop((f"_mta-sts.{DOMAIN}", "TXT"), None)
        if id is not None:
            dns.add(f"_mta-sts.{DOMAIN}", "TXT", f'"v=STSv1; id={id};"')

    async def sent(self, status: str, to: str = f"you@{DOMAIN}") -> RecipientRow:
        message_id = await self.sending.send(to)
        await self.sending.until(message_id, status)
        (row,) = await self.sending.store.recipients(message_id)
        return row

    async def refresh(self) -> None:
        """Policies are looked at as they are every quarter of an hour."""
        sending = self.sending
        assert sending.sts is not None
        await StsRefresh(sending.sts, sending.store.db, sending.clock).round()

    async def until_fetched(self) -> None:
        """Nothing is being fetched any more of what deliveries have asked for."""
        assert self.sending.sts is not None
        await asyncio.gather(*self.sending.sts._fetches)

    async def restart(self) -> None:
        """The queue and all that it knows begin anew, on the same store."""
        await self.sending.queue.stop()
        self.sending.queue = self.sending.make_queue()
        await self.sending.queue.start()
