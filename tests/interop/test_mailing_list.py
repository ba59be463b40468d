"""An inbox that reads and writes a mailing list of mlmmj, as a real list edits and returns what it posts."""

import asyncio
from pathlib import Path

import pytest

from tests.support.daemon import Daemon
from tests.support.machine import tools
from tests.support.machine.ports import free_port
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx, Received
from tests.support.waiting import GIVES_UP_S

pytestmark = pytest.mark.interop

LIST = "list@there.test"


def make_list(folder: Path, subscribers: list[str], port: int) -> None:
    """As mlmmj-make-ml(1) leaves it; it sends to a port of 127.0.0.1."""
    for name in ("incoming", "queue", "queue/discarded", "archive", "bounce", "control", "text", "requeue",
                 "subconf", "unsubconf", "moderation", "subscribers.d", "nomailsubs.d", "digesters.d"):  # fmt: skip
        (folder / name).mkdir(parents=True)
    (folder / "index").touch()
    (folder / "subscribers.d/b").write_text("".join(f"{one}\n" for one in subscribers))
    control = {
        "listaddress": LIST,
        "owner": "owner@there.test",
        "relayhost": "127.0.0.1",
        "smtpport": str(port),
        "prefix": "[List]",
        "footer": f"{'_' * 47}\nList mailing list -- {LIST}",
        "customheaders": f"List-Id: <list.there.test>\nList-Post: <mailto:{LIST}>",
    }
    for name, value in control.items():
        (folder / "control" / name).write_text(f"{value}\n")


async def post(folder: Path, mail: Received) -> None:
    """As a mail server gives mlmmj what came for it."""
    process = await asyncio.create_subprocess_exec(
        tools.path_of("mlmmj-receive"), "-F", "-L", f"{folder}/", stdin=asyncio.subprocess.PIPE
    )
    head = f"Return-Path: <{mail.mail_from}>\nX-Original-To: {LIST}\n".encode()
    await process.communicate(head + mail.raw.replace(b"\r\n", b"\n"))


@tools.needs("mlmmj-receive", "mlmmj-send")
async def test_what_an_inbox_posts_comes_back_and_is_not_answered(tmp_path: Path) -> None:
    folder, port = tmp_path / "list", free_port()
    make_list(folder, ["bea@ours.test", "bot@ours.test"], port)
    async with (
        asyncio.timeout(GIVES_UP_S),
        DnsServer() as dns,
        Mx() as mx,
        Daemon(
            tmp_path,
            dns_port=dns.port,
            outbound_port=mx.port,
            more={"smtp": {"listen": [f"127.0.0.1:{port}"]}, "inbound": {"dmarc": "report"}},
        ) as daemon,
    ):
        dns.add_mx("there.test")
        bot, bea = [await daemon.api.post("/v1/inboxes", username=name) for name in ("bot", "bea")]
        for inbox in (bot, bea):
            await daemon.api.put(f"/v1/inboxes/{inbox['id']}/policy", version=0, work={"enabled": True})
        sent = await daemon.api.post(
            "/v1/messages/send", inboxId=bot["id"], to=[LIST], subject="Tea", text="Is there any?"
        )
        await mx.until("dot")
        await post(folder, mx.received[0])
        (own,), (theirs,) = [
            await daemon.api.until(
                "/v1/messages", lambda found: found, inboxId=one["id"], direction="inbound"
            )
            for one in (bot, bea)
        ]
        assert (own["messageIdHeader"], own["threadId"]) == (sent["messageIdHeader"], sent["threadId"])
        assert (own["isAutoReply"], theirs["isAutoReply"]) == (True, False)
        assert (theirs["subject"], theirs["extractedText"]) == ("[List] Tea", "Is there any?")
        assert (theirs["toAddresses"], theirs["deliveredTo"]) == ([LIST], "bea@ours.test")
        assert (theirs["mailingList"]["id"], theirs["mailingList"]["post"]) == ("list.there.test", LIST)
        claims = [await daemon.api.post(f"/v1/inboxes/{one['id']}/claims", max=20) for one in (bot, bea)]
        assert [[one["messageId"] for one in each] for each in claims] == [[], [theirs["id"]]]
