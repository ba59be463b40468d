"""Where is my mail? The log of the real process answers it by one id: each decision is a line that has it.

Nothing of what a mail says is in the log, and no key; a flood of refusals is not a flood of lines.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from conf.strangers import LINES_PER_MINUTE
from tests.support.daemon import DOMAIN, Daemon, DaemonError, Sections
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.peers.webhook_sink import HOST, WebhookSink
from tests.support.running import Smtp
from tests.support.waiting import GIVES_UP_S

SUBJECT = "Xylophone-Subject"
BODY = "Quetzal-Body"


class World(NamedTuple):
    daemon: Daemon
    mx: Mx
    sink: WebhookSink
    inbox: dict[str, Any]

    def lines(self) -> list[dict[str, Any]]:
        """But for how long the loop was held in a request, which is up to the machine."""
        told = [json.loads(line) for line in self.daemon.log_lines()]
        return [one for one in told if one["event"] != "loop_held"]

    async def life(self, message_id: str, last: str, count: int = 1) -> list[dict[str, Any]]:
        """What `grep MESSAGE_ID` finds, once it has so many lines of the last event."""
        async with asyncio.timeout(GIVES_UP_S):
            while True:
                found = [one for one in self.lines() if message_id in json.dumps(one)]
                if sum(one["event"] == last for one in found) >= count:
                    return found
                await asyncio.sleep(0.02)  # the file has no signal to wait on


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with DnsServer() as dns, Mx() as mx, WebhookSink(tmp_path) as sink:
        dns.add(HOST, "A", "127.0.0.1")
        dns.add_mx("there.test")
        more: Sections = {
            "outbound": {"first_retry_s": 1},
            "webhooks": {"allow_private_networks": True, "ca_file": str(sink.ca_file)},
        }
        async with Daemon(tmp_path, dns_port=dns.port, outbound_port=mx.port, more=more) as daemon:
            inbox = await daemon.api.post("/v1/inboxes", username="bot")
            world = World(daemon, mx, sink, inbox)
            yield world
            text = daemon.log.read_text("utf-8")
            told = [daemon.api_key, daemon.test_key, SUBJECT, BODY, "Traceback"]
            assert [one for one in told if one in text] == []


async def bring(world: World, *recipients: str) -> list[str]:
    """One mail by SMTP, over TLS; the replies."""
    talk = await Smtp.connect(f"127.0.0.1:{world.daemon.smtp_port}")
    replies = [await talk.reply(), await talk.say("EHLO client.test"), await talk.say("STARTTLS")]
    await talk.start_tls()
    replies += [await talk.say("EHLO client.test"), await talk.say("MAIL FROM:<friend@elsewhere.test>")]
    replies += [await talk.say(f"RCPT TO:<{one}>") for one in recipients]
    replies += [await talk.say("DATA"), await talk.say(f"Subject: {SUBJECT}\r\n\r\n{BODY}\r\n.")]
    await talk.say("QUIT")
    talk.hang_up()
    return replies


async def test_a_mail_that_came_in(world: World) -> None:
    hook = await world.daemon.api.post(
        "/v1/webhooks", url=world.sink.url("/hook"), subscribedEvents=["email.received"]
    )
    replies = await bring(world, "nobody@" + DOMAIN, world.inbox["address"])
    message_id = replies[-1].rpartition(" ")[2]

    accepted, posted = await world.life(message_id, "webhook_attempted")
    assert (accepted["event"], accepted["level"], accepted["logger"]) == ("accepted", "info", "maild.smtp")
    assert accepted["message_id"] == message_id
    assert accepted["inboxes"] == [{"inbox_id": world.inbox["id"], "message_id": message_id}]
    assert (accepted["mail_from"], accepted["recipients"]) == (
        "friend@elsewhere.test",
        [world.inbox["address"]],
    )
    assert (accepted["peer"], accepted["helo"]) == ("127.0.0.1", "client.test")
    assert accepted["tls"].startswith("TLS")
    assert (posted["event"], posted["webhook_id"], posted["code"]) == ("webhook_attempted", hook["id"], 200)
    assert posted["message_id"] == message_id

    (refused,) = [one for one in world.lines() if one["event"] == "refused"]
    assert refused["session"] == accepted["session"]
    assert (refused["command"], refused["recipient"]) == ("RCPT", "nobody@" + DOMAIN)
    assert (refused["code"], refused["enhanced"], refused["reason"]) == (550, "5.1.1", "mailbox unavailable")
    assert refused["mail_from"] == "friend@elsewhere.test"


async def test_a_mail_that_went_out_is_followed_from_the_request_to_its_end(
    world: World, tmp_path: Path
) -> None:
    world.mx.starttls, world.mx.tls_context = "good", ThrowawayCa(tmp_path).server_context(["mx.there.test"])
    world.mx.script["RCPT"] = ["451 4.7.1 greylisted\x1b[31m"]
    world.mx.always[("RCPT", "bad@there.test")] = "550 5.1.1 no such user"
    sent = await world.daemon.api.post(
        "/v1/messages/send", inboxId=world.inbox["id"], to=["you@there.test"], subject=SUBJECT, text=BODY
    )
    life = await world.life(sent["id"], "delivered")
    assert [one["event"] for one in life] == ["queued", "attempted", "deferred", "attempted", "delivered"]
    queued, first, deferred, second, delivered = life
    assert (queued["recipients"], queued["inbox_id"]) == (["you@there.test"], world.inbox["id"])
    (request,) = [
        one for one in world.lines() if one.get("request_id") == queued["request_id"] and one != queued
    ]
    assert (request["event"], request["method"]) == ("request_done", "POST")
    assert (request["route"], request["status"]) == ("/v1/messages/send", 201)
    assert request["key_id"] == queued["key_id"] and request["organization_id"] == queued["organization_id"]
    assert (first["host"], first["address"], first["port"]) == ("mx.there.test", "127.0.0.1", world.mx.port)
    assert (first["code"], first["enhanced"], first["reason"]) == (451, "4.7.1", "greylisted [31m")
    assert (deferred["recipient"], deferred["code"], deferred["attempt"]) == ("you@there.test", 451, 1)
    assert deferred["next_attempt_at"] > deferred["timestamp"][:19]
    assert (deferred["class"], deferred["advice"]) == ("throttled", "retry_later")
    assert second["code"] == 250 and second["duration_ms"] >= 0
    assert (delivered["recipient"], delivered["host"], delivered["attempt"]) == (
        "you@there.test",
        "mx.there.test",
        2,
    )
    assert delivered["tls"].startswith("TLS") and delivered["reason"] == "taken"

    bad = await world.daemon.api.post(
        "/v1/messages/send", inboxId=world.inbox["id"], to=["bad@there.test"], text=BODY
    )
    *_, bounced = await world.life(bad["id"], "bounced")
    assert (bounced["recipient"], bounced["code"], bounced["reason"]) == (
        "bad@there.test",
        550,
        "no such user",
    )
    assert (bounced["class"], bounced["advice"]) == ("address", "fix_address")
    assert "class" not in delivered
    again = await world.daemon.api.post(
        "/v1/messages/send", inboxId=world.inbox["id"], to=["me@there.test", "you@there.test"], text=BODY
    )
    two = await world.life(again["id"], "delivered", 2)
    assert {one["recipient"] for one in two if one["event"] == "delivered"} == {
        "me@there.test",
        "you@there.test",
    }


async def test_a_mail_between_two_inboxes_names_the_copy_that_arrived(world: World) -> None:
    other = await world.daemon.api.post("/v1/inboxes", username="other")
    sent = await world.daemon.api.post(
        "/v1/messages/send", inboxId=world.inbox["id"], to=[other["address"]], text=BODY
    )
    *_, delivered = await world.life(sent["id"], "delivered")
    (copy,) = await world.daemon.api.get("/v1/messages", inboxId=other["id"])
    assert delivered["stored_as"] == copy["id"]


async def test_a_flood_of_refusals_is_not_a_flood_of_lines(world: World) -> None:
    talk = await Smtp.connect(f"127.0.0.1:{world.daemon.smtp_port}")
    await talk.reply()
    for _ in range(3 * LINES_PER_MINUTE):
        assert (await talk.say(f"{SUBJECT} {world.daemon.api_key}")).startswith("500 ")
    talk.hang_up()
    refused = [one for one in world.lines() if one["event"] == "refused"]
    assert len(refused) == LINES_PER_MINUTE
    assert {one.get("command") for one in refused} == {None}  # what was not understood is not told


async def test_a_request_that_was_refused_says_why(world: World) -> None:
    with pytest.raises(DaemonError):
        await world.daemon.api.get("/v1/messages/msg_0123456789abcdefghjkmnpqrs")
    (refused,) = [one for one in world.lines() if one["event"] == "request_refused"]
    assert (refused["method"], refused["route"]) == ("GET", "/v1/messages/{id}")
    assert (refused["status"], refused["refusal"]) == (404, "message_not_found")
    assert refused["key_id"].startswith("key_") and refused["request_id"].startswith("req_")


async def test_a_refusal_tells_what_of_its_details_is_in_words_of_ours(world: World) -> None:
    """Which scope, whose limit, what kind of fault: a code alone leaves an operator to ask the caller."""
    api = world.daemon.api
    await api.post("/v1/rules", direction="outbound", action="block", value="evil.test")
    for path, body in (
        ("/v1/messages/send", {"inboxId": world.inbox["id"], "to": ["a@evil.test"], "text": BODY}),
        ("/v1/inboxes", {SUBJECT: 1, "username": "x"}),
    ):
        with pytest.raises(DaemonError):
            await api.post(path, **body)
    by_rule, invalid = [one for one in world.lines() if one["event"] == "request_refused"]
    assert (by_rule["refusal"], by_rule["reason"]) == ("recipient_not_allowed", "rule")
    assert (invalid["refusal"], invalid["faults"]) == ("validation_failed", ["too_short", "unknown_field"])
    assert "reason" not in invalid and "faults" not in by_rule


async def test_a_field_is_of_one_kind_in_all_lines(world: World) -> None:
    """What indexes logs takes the kind of the first line for all, and refuses the others; and it makes a field of each
    key that it sees, until it has a thousand."""
    world.mx.always[("RCPT", "bad@there.test")] = "550 5.1.1 no such user"
    api, inbox_id = world.daemon.api, world.inbox["id"]
    sent = await api.post("/v1/messages/send", inboxId=inbox_id, to=["bad@there.test"], subject=SUBJECT)
    await world.life(sent["id"], "bounced")
    await bring(world, world.inbox["address"])
    with pytest.raises(DaemonError):
        await api.get("/v1/messages/msg_0123456789abcdefghjkmnpqrs")
    talk = await Smtp.connect(f"127.0.0.1:{world.daemon.smtp_port}")
    await talk.reply()
    await talk.say("NONSENSE")
    talk.hang_up()
    lines = world.lines()
    told = {one["event"] for one in lines}
    assert {"queued", "attempted", "bounced", "accepted", "refused", "request_refused"} <= told
    kinds: dict[str, set[type]] = {}
    for line in lines:
        for name, value in line.items():
            if value is not None:
                kinds.setdefault(name, set()).add(float if isinstance(value, int) else type(value))
    assert {name: kind for name, kind in kinds.items() if len(kind) > 1 or dict in kind} == {}
