"""A bounce that a real Postfix writes: it takes our mail, fails at the next host, and its report counts."""

import asyncio
from pathlib import Path

import pytest

from tests.support import tools
from tests.support.daemon import Daemon
from tests.support.dns_server import DnsServer
from tests.support.mx import Mx
from tests.support.postfix import Postfix, free_port

pytestmark = pytest.mark.interop

THERE = "there.test"
ALICE, GONE = f"alice@{THERE}", f"gone@{THERE}"
TEST_S = 60


@tools.needs("postfix", root=True)
async def test_a_bounce_by_postfix_counts_for_the_recipient_that_it_names(tmp_path: Path) -> None:
    port = free_port()
    async with asyncio.timeout(TEST_S), DnsServer() as dns, Mx() as farther:
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
