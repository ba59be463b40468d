"""W1, W2: what we never call on a customer's word is refused at create, at PATCH and at each delivery, undialled.

The rows of tests/support/mails/hostile_urls.py, through the whole daemon with a scripted DNS.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.conftest import Start
from tests.support.mails.hostile_urls import Trap, hostile, publish
from tests.support.peers.dns_server import DnsServer
from tests.support.running import Running, until
from tests.support.worlds.store import ManualClock

HARMLESS = "https://hooks.elsewhere.test/in"
DAY_S = 86_400


@dataclass
class Net:
    maild: Running
    dns: DnsServer
    trap: Trap
    clock: ManualClock

    async def called(self, count: int) -> list[tuple[str, str | None, int | None, int]]:
        """A mail comes in; (url, error, response status, is it over?) of each attempt, once there are so many."""
        await self.maild.received(await self.maild.inbox(f"bot{count}"), "Subject: told\n\n")

        async def look() -> list[tuple[Any, ...]] | None:
            rows = self.maild.sql(
                """SELECT w.url, a.error, a.response_status, a.next_attempt_at IS NULL
                   FROM webhook_attempts a JOIN webhooks w ON w.id = a.webhook_id"""
            )
            return rows if len(rows) >= count else None

        found: list[tuple[str, str | None, int | None, int]] = await until(look)
        return found


@pytest.fixture
async def net(start: Start) -> AsyncIterator[Net]:
    clock = ManualClock()
    async with DnsServer() as dns, Trap() as trap:
        publish(dns)
        maild = await start(
            clock=clock,
            dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
            plans={"selfhost": {"webhooks": 1000}},
        )
        yield Net(maild, dns, trap, clock)
        assert trap.connections == 0


async def test_no_hostile_form_is_registered(net: Net) -> None:
    wrong = []
    webhook = (await net.maild.api.post("/v1/webhooks", {"url": HARMLESS})).data
    for url, code in hostile(net.trap.port):
        for answer in (
            await net.maild.api.post("/v1/webhooks", {"url": url}),
            await net.maild.api.call("PATCH", f"/v1/webhooks/{webhook['id']}", {"url": url}),
        ):
            if (answer.status, answer.code and answer.faults) != (
                400,
                {"url": "control_character" if "\x00" in url else code},
            ):
                wrong.append((url, answer.status, answer.body))
    assert wrong == []
    assert net.maild.sql("SELECT url FROM webhooks") == [(HARMLESS,)]


@pytest.mark.parametrize("host", ["xn--a.test", "xn--zz99999.test", "xn--bcher-kva.test"])
async def test_a_host_that_no_idna_reads_is_a_name_like_any_other(net: Net, host: str) -> None:
    """RFC 5891 §5.4: what begins with `xn--` need not be an A-label, and is looked up as it is."""
    made = await net.maild.api.post("/v1/webhooks", {"url": f"https://{host}/in"})
    assert made.status == 201
    changed = await net.maild.api.call(
        "PATCH", f"/v1/webhooks/{made.data['id']}", {"url": f"https://{host}/x"}
    )
    assert changed.status == 200
    rows = (await net.maild.api.get("/v1/audit")).data
    told = [one["details"]["host"] for one in rows if one["type"].startswith("webhook.")]
    assert told == [host, host]


async def test_no_hostile_form_is_called_though_it_stands_in_the_store(net: Net) -> None:
    """As if a rule had been younger than the registration."""
    urls = [
        url for url, code in hostile(net.trap.port) if code != "invalid_text"
    ]  # SQLite stores none of those
    for url in urls:
        made = (await net.maild.api.post("/v1/webhooks", {"url": HARMLESS})).data
        net.maild.sql("UPDATE webhooks SET url = ? WHERE id = ?", url, made["id"])
    attempts = await net.called(len(urls))
    assert sorted(url for url, *_ in attempts) == sorted(urls)
    assert [one for one in attempts if not (one[1] or "").startswith("not called: the URL ")] == []
    assert {(status, is_over) for _, _, status, is_over in attempts} == {(None, 0)}


@pytest.mark.parametrize("before", ["nowhere", "public"])
async def test_a_name_that_turns_private_is_not_called(net: Net, before: str) -> None:
    """It passes while it does not resolve or resolves publicly; every delivery looks again."""
    inside = {"loop.turned.test": "127.0.0.1", "ten.turned.test": "10.0.0.1", "meta.turned.test": "169.254.169.254",
              "six.turned.test": "::1", "mapped.turned.test": "::ffff:127.0.0.1"}  # fmt: skip
    urls = {name: f"https://{name}:{net.trap.port}/x" for name in inside}
    if before == "public":
        for name in inside:
            net.dns.add(name, "A", "93.184.215.14")
    webhooks = [(await net.maild.api.post("/v1/webhooks", {"url": url})).data for url in urls.values()]

    net.clock.forward(DAY_S)
    for name, address in inside.items():
        net.dns.records.pop((name, "A"), None)
        net.dns.add(name, "AAAA" if ":" in address else "A", address)
    attempts = await net.called(len(inside))

    refused = "not called: the URL is or resolves to a private, loopback, link-local or reserved address"
    assert sorted(attempts) == sorted((url, refused, None, 0) for url in urls.values())
    for webhook, url in zip(webhooks, urls.values(), strict=True):
        answer = await net.maild.api.call("PATCH", f"/v1/webhooks/{webhook['id']}", {"url": url})
        assert (answer.status, answer.faults) == (400, {"url": "refused_target"})
        ping = (await net.maild.api.post(f"/v1/webhooks/{webhook['id']}/test", None)).data
        assert (ping["error"], ping["responseStatus"]) == (refused, None)
