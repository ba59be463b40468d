"""Webhooks in a person's hands: added, tried, switched off; what became of an attempt, and trying it again."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Start
from tests.support.clients.console import LOCAL, Visitor
from tests.support.peers.webhook_sink import Reply, WebhookSink
from tests.support.running import Running, until


@pytest.fixture
async def sink(tmp_path: Path) -> AsyncIterator[WebhookSink]:
    async with WebhookSink(tmp_path) as opened:
        yield opened


@pytest.fixture
async def maild(start: Start, sink: WebhookSink) -> Running:
    return await start(server=LOCAL, webhooks={"allow_private_networks": True, "ca_file": str(sink.ca_file)})


async def attempts(maild: Running, count: int) -> list[dict[str, Any]]:
    """Newest first, once there are so many."""

    async def look() -> list[dict[str, Any]] | None:
        found: list[dict[str, Any]] = (await maild.api.get("/v1/webhooks/deliveries")).data
        return found if len(found) >= count else None

    found: list[dict[str, Any]] = await until(look)
    return found


async def test_a_webhook_is_added_tried_switched_off_and_deleted(maild: Running, sink: WebhookSink) -> None:
    member = await Visitor.sign_in(maild)
    assert "No webhook yet" in (await member.get("/console/webhooks")).said
    url = sink.url("/hook", "127.0.0.1")
    done = await member.post("/console/webhooks", url=f" {url} ", events=["email.received", "email.failed"])
    (hook,) = (await maild.api.get("/v1/webhooks")).data
    assert done.location == f"/console/webhooks/secret?id={hook['id']}"
    page = await member.follow(done)
    (secret,) = set(re.findall(r"whsec_[\w+/=]+", page.text))
    assert "whsec_" not in (await member.follow(done)).text, "it is shown once"
    assert hook["subscribedEvents"] == ["email.received", "email.failed"] and hook["url"] == url
    path = f"/console/webhooks/{hook['id']}"
    done = await member.post(f"{path}/test")
    assert done.location == "/console/webhooks?done=delivered" and sink.received[0].path == "/hook"
    assert "webhook.test" in (await member.follow(done)).said
    done = await member.post(f"{path}/rotate")
    again = set(re.findall(r"whsec_[\w+/=]+", (await member.follow(done)).text))
    assert len(again) == 1 and again != {secret}
    for active, told in (("0", "webhook_off"), ("1", "webhook_on")):
        done = await member.post(f"{path}/switch", active=active)
        assert done.location == f"/console/webhooks?done={told}"
        assert (await maild.api.get(f"/v1/webhooks/{hook['id']}")).data["isActive"] == (active == "1")
    assert (await member.post(f"{path}/delete")).location == "/console/webhooks?done=webhook_deleted"
    assert (await maild.api.get("/v1/webhooks")).data == []
    assert "a deleted webhook" in (await member.get("/console/webhooks")).said
    acts = (await maild.api.get("/v1/audit", types="webhook.created,webhook.deleted")).data
    assert len(acts) == 2 and all(one["actor"].startswith("mem_") for one in acts)


async def test_a_secret_is_for_the_session_that_made_it_and_no_key(maild: Running, sink: WebhookSink) -> None:
    member, other = await Visitor.sign_in(maild), await Visitor.sign_in(maild, email="eve@people.test")
    done = await member.post("/console/webhooks", url=sink.url("/hook", "127.0.0.1"), events="email.sent")
    assert "Shown already" in (await other.follow(done)).said
    assert "Shown already" in (await member.get("/console/webhooks/secret")).said
    assert "whsec_" in (await member.follow(done)).text


async def test_what_failed_is_tried_again(maild: Running, sink: WebhookSink) -> None:
    await maild.api.post("/v1/webhooks", {"url": sink.url("/hook", "127.0.0.1")})
    sink.script("/hook", Reply(500, body=b"<b>out of order</b>"), Reply(503))
    await maild.received(await maild.inbox(), "Subject: told\n\nhello\n")
    (first,) = await attempts(maild, 1)
    member = await Visitor.sign_in(maild)
    page = await member.get("/console/webhooks")
    assert "email.received" in page.said and "500" in page.said
    assert "<b>out of order</b>" in page.said and "<b>out" not in page.text
    path = f"/console/webhooks/deliveries/{first['id']}/redeliver"
    assert f'action="{path}"' in page.text
    assert (await member.post(path)).location == "/console/webhooks?done=not_delivered"
    assert (await member.post(path)).location == "/console/webhooks?done=delivered"
    assert [one["attempt"] for one in await attempts(maild, 3)] == [3, 2, 1]
    reader = await Visitor.sign_in(maild, "member", "reader@people.test")
    assert "Redeliver" not in (await reader.get("/console/webhooks")).said


async def test_attempts_are_walked_through(maild: Running, sink: WebhookSink) -> None:
    made = (await maild.api.post("/v1/webhooks", {"url": sink.url("/hook", "127.0.0.1")})).data
    for _ in range(35):
        await maild.api.call("POST", f"/v1/webhooks/{made['id']}/test")
    member = await Visitor.sign_in(maild)
    page = await member.get("/console/webhooks")
    (older,) = re.findall(r'href="(\?delivery=[^"]+)"', page.text)
    assert page.said.count("webhook.test") == 20
    assert (await member.get(f"/console/webhooks{older}")).said.count("webhook.test") == 15


async def test_what_is_wrong_with_a_webhook_is_told(maild: Running) -> None:
    member = await Visitor.sign_in(maild)
    done = await member.post("/console/webhooks", url="http://a.test", events=["email.opened"])
    assert done.status == 400 and "url:" in done.said and "events, no. 1:" in done.said
    assert (await member.post("/console/webhooks", url="https://a.test")).status == 400
    assert (await maild.api.get("/v1/webhooks")).data == []
