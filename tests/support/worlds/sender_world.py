"""A daemon, a DNS server, and domains elsewhere that publish what they like and sign their mail."""

import re
from dataclasses import dataclass, field
from typing import Any

from tests.support.mails.signers import Signer
from tests.support.peers.dns_server import DnsServer
from tests.support.running import Running

TEXT = (
    b"To: bot@agents.test\r\nSubject: Hello\r\nDate: Sun, 22 Nov 2026 10:00:00 +0000\r\n"
    b"Message-ID: <1@author.test>\r\n\r\nHello, bot\r\n"
)


class PublishedRecords:
    """TXT records for a `Signer`, in a DNS server."""

    def __init__(self, dns: DnsServer) -> None:
        self._dns = dns

    def add(self, name: str, *texts: str) -> None:
        for text in texts:
            strings = re.findall(".{1,255}", text)
            self._dns.add(name, "TXT", " ".join(f'"{one}"' for one in strings))


@dataclass
class SenderWorld:
    """`bot`: who gets the mail. SPF lets 127.0.0.1 send for a domain that was introduced with `spf`."""

    maild: Running
    dns: DnsServer
    bot: dict[str, Any]
    signers: dict[str, Signer] = field(default_factory=dict)

    def domain(self, name: str, dmarc: str | None = None, spf: str | None = None) -> Signer:
        """A domain that signs; `dmarc`: its policy ("p=reject"), `spf`: its terms ("ip4:127.0.0.1 -all")."""
        records = PublishedRecords(self.dns)
        if dmarc is not None:
            records.add(f"_dmarc.{name}", f"v=DMARC1; {dmarc}")
        if spf is not None:
            records.add(name, f"v=spf1 {spf}")
        self.signers[name] = Signer(records, name)
        return self.signers[name]

    async def judged(self, raw: bytes, sender: str = "bounces@sender.test") -> dict[str, Any]:
        """The message as GET shows it."""
        reply = await self.maild.deliver(self.bot["address"], raw, sender)
        assert reply.startswith("250 "), reply
        message_id = reply.split()[-1]
        whole: dict[str, Any] = (await self.maild.api.get(f"/v1/messages/{message_id}")).data
        return whole

    async def refused(self, raw: bytes, sender: str = "bounces@sender.test") -> str:
        """The reply to a message that is not taken; nothing of it is there afterwards."""
        before = await self.maild.api.messages()
        reply = await self.maild.deliver(self.bot["address"], raw, sender)
        assert await self.maild.api.messages() == before
        return reply


def mail_from(author: str, text: bytes = TEXT) -> bytes:
    """A message whose From is `author`, as it stands."""
    return b"From: " + author.encode() + b"\r\n" + text
