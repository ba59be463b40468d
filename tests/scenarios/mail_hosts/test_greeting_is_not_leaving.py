"""A message has left once some host was told MAIL FROM: what never came so far is not counted when its inbox goes."""

from typing import Any

import pytest

from tests.conftest import Start
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.running import until


@pytest.mark.parametrize(
    ("stage", "reply", "used"),
    [
        ("greeting", "421 4.3.2 busy", 0),
        ("greeting", "554 5.7.1 go away", 0),
        ("EHLO", "421 4.3.2 busy", 0),
        ("EHLO", "550 5.7.1 go away", 0),
        ("MAIL", "451 4.3.2 busy", 1),
        ("RCPT", "451 4.7.1 later", 1),
        ("DATA", "451 4.3.0 later", 1),
        ("dot", "451 4.3.0 later", 1),
    ],
)
@pytest.mark.parametrize("extensions", [["PIPELINING"], []])
async def test_the_deletion_of_an_inbox_gives_back(
    start: Start, extensions: list[str], stage: str, reply: str, used: int
) -> None:
    async with DnsServer() as dns, Mx(extensions=extensions) as mx:
        dns.add_mx("elsewhere.test")
        mx.always |= {stage: reply, "HELO": reply}
        maild = await start(
            dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
            outbound={"port": mx.port, "allow_private_networks": True},
        )
        bot = await maild.inbox("bot")
        sent = (await maild.api.send(bot)).data

        async def deferred() -> dict[str, Any] | None:
            (one,) = (await maild.api.get(f"/v1/messages/{sent['id']}")).data["recipients"]
            return one if one["status"] == "deferred" else None

        assert (await until(deferred))["remoteHost"] == "mx.elsewhere.test"
        assert (await usage(maild.api)) == 1
        await maild.api.call("DELETE", f"/v1/inboxes/{bot['id']}")
        assert (await maild.api.get(f"/v1/messages/{sent['id']}")).data["status"] == "failed"
        assert await usage(maild.api) == used


async def test_a_refused_recipient_has_left(start: Start) -> None:
    async with DnsServer() as dns, Mx() as mx:
        dns.add_mx("elsewhere.test")
        mx.always["RCPT"] = "550 5.1.1 no such user"
        maild = await start(
            dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
            outbound={"port": mx.port, "allow_private_networks": True},
        )
        sent = (await maild.api.send(await maild.inbox("bot"))).data

        async def failed() -> bool:
            return bool((await maild.api.get(f"/v1/messages/{sent['id']}")).data["status"] == "failed")

        await until(failed)
        assert await usage(maild.api) == 1


async def usage(api: Any) -> int:
    return int((await api.get("/v1/organization")).data["usage"]["messagesDaily"])
