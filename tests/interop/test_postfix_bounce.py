"""What a real Postfix reports of mail that it took from us: that it failed at the next host, or arrived."""

import asyncio
from pathlib import Path

import pytest

from tests.support.daemon import Daemon, Sections
from tests.support.machine import tools
from tests.support.machine.ports import free_port
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.peers.postfix import Postfix
from tests.support.waiting import GIVES_UP_S

pytestmark = pytest.mark.interop

THERE = "there.test"
ALICE, BOB, GONE = f"alice@{THERE}", f"bob@{THERE}", f"gone@{THERE}"


@tools.needs("postfix", root=True)
async def test_a_bounce_by_postfix_counts_for_the_recipient_that_it_names(tmp_path: Path) -> None:
    port = free_port()
    async with asyncio.timeout(GIVES_UP_S), DnsServer() as dns, Mx() as farther:
        farther.always["RCPT"] = f"550 5.1.1 <{GONE}>: Recipient address rejected: User unknown"
        route = f"transport_maps = inline:{{ {{ {GONE} = smtp:[127.0.0.1]:{farther.port} }} }}"
        async with (
            Postfix(THERE, relay_port=port, extra=[route]) as postfix,
            Daemon(
                tmp_path,
                dns_port=dns.port,
                outbound_port=postfix.port,
                more={"smtp": {"listen": [f"127.0.0.1:{port}"]}},
            ) as daemon,
        ):
            dns.add_mx(THERE, "127.0.0.1")
            inbox = await daemon.api.post("/v1/inboxes", username="bot")
            sent = await daemon.api.post(
                "/v1/messages/send", inboxId=inbox["id"], to=[ALICE, GONE], subject="hi", text="hello"
            )
            message = await daemon.api.until(
                f"/v1/messages/{sent['id']}",
                lambda one: "bounced" in [recipient["status"] for recipient in one["recipients"]],
            )
            assert [one["status"] for one in message["recipients"]] == ["delivered", "bounced"]
            gone = message["recipients"][1]
            assert (gone["smtpCode"], gone["enhancedCode"]) == (550, "5.1.1")
            assert "User unknown" in gone["response"]
            assert message["status"] == "delivered"
            (suppression,) = await daemon.api.get("/v1/suppressions")
            assert (suppression["email"], suppression["source"]) == (GONE, "bounce")
            (mail,) = await daemon.api.get("/v1/messages", inboxId=inbox["id"], direction="inbound")
            assert mail["isAutoReply"] and mail["subject"] == "Undelivered Mail Returned to Sender"


@tools.needs("postfix", root=True)
async def test_what_postfix_delivers_as_our_smarthost_is_delivered(tmp_path: Path) -> None:
    """RFC 3461: it offers DSN, is asked for success, and says so to the envelope sender."""
    port = free_port()
    async with asyncio.timeout(GIVES_UP_S), DnsServer() as dns, Postfix(THERE, relay_port=port) as postfix:
        more: Sections = {
            "smtp": {"listen": [f"127.0.0.1:{port}"]},
            "outbound": {"relay": f"127.0.0.1:{postfix.port}"},
        }
        async with Daemon(tmp_path, dns_port=dns.port, more=more) as daemon:
            inbox = await daemon.api.post("/v1/inboxes", username="bot")
            sent = await daemon.api.post(
                "/v1/messages/send", inboxId=inbox["id"], to=[ALICE, BOB], subject="hi", text="hello"
            )
            path = f"/v1/messages/{sent['id']}"
            message = await daemon.api.until(path, lambda one: one["status"] == "delivered")
            assert [one["status"] for one in message["recipients"]] == ["delivered", "delivered"]
            assert len(await postfix.mail(2)) == 2
            # The reports were for us: nobody asked for them in the inbox.
            assert await daemon.api.get("/v1/messages", inboxId=inbox["id"], direction="inbound") == []
            assert (await daemon.api.get(f"/v1/inboxes/{inbox['id']}"))["unreadCount"] == 0
            assert await daemon.api.get("/v1/suppressions") == []
