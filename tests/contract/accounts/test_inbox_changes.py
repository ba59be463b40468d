"""GET, PATCH and DELETE /v1/inboxes/{id} (contract, section 4; decisions.md, "Inbox")."""

from collections.abc import Callable
from typing import Any

import pytest

from storage.agents import reviews
from storage.clock import iso
from storage.engine.tx import Tx
from storage.mail import messages, withdrawal
from storage.mail.inboxes import QUARANTINE_MS
from storage.mail.withdrawal import WithdrawnMail
from storage.sending import queue_selection
from storage.sending.queue_selection import QueueSelection
from tests.conftest import Start
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.running import Api, Running, until
from tests.support.worlds.store import ManualClock

EVERYTHING = QueueSelection()
ABSENT = "inb_01m7yg00000000000000000000"
ONE = "From: a@elsewhere.test\nSubject: one\n\nwords\n"


async def shown(api: Api, inbox: dict[str, Any]) -> dict[str, Any]:
    """The inbox alone, less its policy, which no other answer has."""
    found: dict[str, Any] = (await api.get(f"/v1/inboxes/{inbox['id']}")).data
    assert set(found.pop("policy")) == {"outbound", "inbound", "work", "review"}
    return found


async def test_one_inbox_is_shown_as_it_was_made(maild: Running, bot: dict[str, Any]) -> None:
    assert await shown(maild.api, bot) == bot


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
async def test_what_is_not_there_or_somebody_elses_is_not_found(maild: Running, method: str) -> None:
    stranger = await maild.organization()
    foreign = await maild.inbox("theirs", stranger.api)
    for inbox_id in (ABSENT, foreign["id"], "x", "%2e%2e"):
        body = {"name": "x"} if method == "PATCH" else None
        answer = await maild.api.call(method, f"/v1/inboxes/{inbox_id}", body)
        assert (answer.status, answer.code) == (404, "inbox_not_found")
    assert await shown(stranger.api, foreign) == foreign


async def test_patch_changes_what_is_given_alone(maild: Running) -> None:
    inbox = await maild.inbox("bot", name="Bot", metadata={"a": "1"})
    path = f"/v1/inboxes/{inbox['id']}"
    renamed = (await maild.api.call("PATCH", path, {"name": "Ada"})).data
    assert renamed == {**inbox, "name": "Ada", "updatedAt": renamed["updatedAt"]}
    described = (await maild.api.call("PATCH", path, {"metadata": {"b": "2"}})).data
    assert (described["name"], described["metadata"]) == ("Ada", {"b": "2"})
    nameless = (await maild.api.call("PATCH", path, {"name": None})).data
    assert (nameless["name"], nameless["metadata"]) == (None, {"b": "2"})
    assert await shown(maild.api, inbox) == nameless


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ({}, {"": "nothing_to_change"}),
        ({"name": "x" * 101}, {"name": "too_long"}),
        ({"name": "a\nb"}, {"name": "control_character"}),
        ({"name": 1, "username": "x"}, {"name": "wrong_type", "username": "unknown_field"}),
        ({"metadata": None}, {"metadata": "wrong_type"}),
        ({"metadata": {"k": 1}}, {"metadata.k": "wrong_type"}),
    ],
)
async def test_patch_refuses(
    maild: Running, bot: dict[str, Any], body: dict[str, Any], faults: dict[str, str]
) -> None:
    answer = await maild.api.call("PATCH", f"/v1/inboxes/{bot['id']}", body)
    assert answer.status == 400 and answer.faults == faults


async def test_a_bound_key_changes_its_own_inbox_alone(maild: Running, bot: dict[str, Any]) -> None:
    other = await maild.inbox("other")
    bound = await maild.key("messages:read", inbox=bot)
    assert (await bound.call("PATCH", f"/v1/inboxes/{bot['id']}", {"name": "mine"})).data["name"] == "mine"
    refused = await bound.call("PATCH", f"/v1/inboxes/{other['id']}", {"name": "x"})
    assert (refused.status, refused.code) == (403, "inbox_access_denied")
    refused = await bound.call("DELETE", f"/v1/inboxes/{bot['id']}")
    assert (refused.status, refused.code) == (403, "insufficient_scope")
    reader = await maild.key("inboxes:read")
    refused = await reader.call("PATCH", f"/v1/inboxes/{bot['id']}", {"name": "x"})
    assert (refused.status, refused.code) == (403, "insufficient_scope")


async def test_a_deactivated_inbox(start: Start) -> None:
    clock = ManualClock()
    maild = await start(clock=clock)
    bot = await maild.inbox("bot")
    kept = await maild.received(bot, ONE)
    at_ms = clock.now_ms()
    gone = (await maild.api.call("DELETE", f"/v1/inboxes/{bot['id']}")).data
    assert gone == {"id": bot["id"], "status": "deactivated", "cooldownUntil": iso(at_ms + QUARANTINE_MS)}

    for method, body in (("GET", None), ("PATCH", {"name": "x"}), ("DELETE", None)):
        answer = await maild.api.call(method, f"/v1/inboxes/{bot['id']}", body)
        assert (answer.status, answer.code) == (404, "inbox_not_found"), method
    assert (await maild.api.send(bot)).code == "inbox_not_found"
    assert (await maild.api.post("/v1/drafts", {"inboxId": bot["id"]})).code == "inbox_not_found"

    talk = await maild.smtp()
    await talk.say("EHLO x.test")
    await talk.say("MAIL FROM:<a@elsewhere.test>")
    assert (await talk.say(f"RCPT TO:<{bot['address']}>")).startswith("550 5.1.1 ")

    assert (await maild.api.get(f"/v1/messages/{kept['id']}")).data == kept
    assert bot["id"] not in {one["id"] for one in (await maild.api.get("/v1/inboxes")).data}
    (listed,) = (await maild.api.get("/v1/inboxes", isActive="false")).data
    assert (listed["id"], listed["isActive"], listed["deactivatedAt"]) == (bot["id"], False, iso(at_ms))
    taken = await maild.api.post("/v1/inboxes", {"username": "bot"})
    assert (taken.code, taken.error["details"]["cooldownDaysRemaining"]) == ("address_in_cooldown", 90)


async def test_what_is_queued_is_not_sent_from_a_deactivated_inbox(start: Start) -> None:
    maild = await start(clock=ManualClock())
    bot = await maild.inbox("bot")
    waiting = (await maild.api.send(bot)).data
    beside = (await maild.api.send(bot)).data
    used = (await maild.api.get("/v1/organization")).data["usage"]["messagesDaily"]
    maild.sql("UPDATE messages SET status = 'scheduled', scheduled_at = 1 WHERE id = ?", beside["id"])
    maild.sql("DELETE FROM recipients WHERE message_id = ?", beside["id"])
    maild.sql("UPDATE recipients SET remote_host = 'mx.there.test', smtp_code = 450, enhanced_code = '4.2.1'")

    await maild.api.call("DELETE", f"/v1/inboxes/{bot['id']}")
    for message_id in (waiting["id"], beside["id"]):
        shown = (await maild.api.get(f"/v1/messages/{message_id}")).data
        assert (shown["status"], shown["failureReason"]) == ("failed", "inbox_not_found")
        for one in shown["recipients"]:
            assert (one["status"], one["response"]) == ("failed", "the sending inbox was deactivated")
            assert (one["remoteHost"], one["smtpCode"], one["enhancedCode"]) == (None, None, None)
    assert maild.sql("SELECT count(*) FROM recipients WHERE status IN ('queued', 'deferred')") == [(0,)]
    # It had not left the host.
    assert (await maild.api.get("/v1/organization")).data["usage"]["messagesDaily"] == used - 1
    told = (await maild.api.get("/v1/events", types="email.failed")).data
    assert {(one["data"]["messageId"], one["data"]["failureReason"]) for one in told} == {
        (message_id, "inbox_not_found") for message_id in (waiting["id"], beside["id"])
    }


async def test_what_is_withdrawn_in_slices_has_one_outcome(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Queued and held mail. Between two slices the operator lets the queue go on, and somebody rejects: what has gone
    by then has gone once, and what was withdrawn goes nowhere."""
    async with DnsServer() as dns, Mx() as mx:
        dns.add_mx("elsewhere.test")
        mx.script["RCPT"] = ["450 4.2.1 later"] * 5
        maild = await start(
            dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
            outbound={"port": mx.port, "allow_private_networks": True, "first_retry_s": 3600},
        )
        bot = await maild.inbox("bot")
        queued = [(await maild.api.send(bot, to=[f"q{number}@elsewhere.test"])).data for number in range(5)]
        await until(lambda: has_rows(maild, "SELECT 1 FROM recipients WHERE status = 'deferred'", 5))
        await maild.operate(maild.store.queue.change, "hold", EVERYTHING)
        policy = {"version": 0, "outbound": {"review": "all"}}
        await (await maild.key()).call("PUT", f"/v1/inboxes/{bot['id']}/policy", policy)
        held = [(await maild.api.send(bot, to=[f"h{number}@elsewhere.test"])).data for number in range(5)]
        slices: list[WithdrawnMail] = []
        withdraw = withdrawal.withdraw_slice

        def beside_others(
            tx: Tx,
            waiting: WithdrawnMail,
            new_id: Callable[[str], str],
            now_ms: int,
            is_over: Callable[[], bool],
        ) -> WithdrawnMail:
            slices.append(waiting)
            if len(slices) == 4:
                queue_selection.release(tx, EVERYTHING, now_ms)
            if len(slices) == 6:
                rejected = reviews.pending_of_message(tx, waiting.message_ids[0])
                assert rejected is not None
                reviews.resolve(tx, rejected, "rejected", None, None, new_id("evt"), now_ms)
                messages.end_held(tx, rejected.message_id, "cancelled", None)
            return withdraw(tx, waiting, new_id, now_ms, is_over)

        monkeypatch.setattr(withdrawal, "FEW", 2)
        monkeypatch.setattr(withdrawal, "SLICE_S", 0)
        monkeypatch.setattr(withdrawal, "withdraw_slice", beside_others)
        assert (await maild.api.call("DELETE", f"/v1/inboxes/{bot['id']}")).status == 200
        await maild.until_withdrawn()
        assert len(slices) == 10

        await maild.operate(maild.store.queue.change, "release", EVERYTHING)
        await maild.operate(maild.store.queue.change, "retry", EVERYTHING)
        await until(lambda: has_rows(maild, "SELECT 1 FROM recipients WHERE lease IS NOT NULL", 0))
        left = [one.recipients for one in mx.received]
        failed = set()
        for sent in [*queued, *held]:
            found = (await maild.api.get(f"/v1/messages/{sent['id']}")).data
            assert left.count(sent["toAddresses"]) == (found["status"] == "delivered"), found
            failed |= {sent["id"]} if found["status"] == "failed" else set()
        assert {one["id"] for one in queued[:4]} <= failed
        assert {one["id"] for one in held} - failed == {slices[5].message_ids[0]}
        told = (await maild.api.get("/v1/events", types="email.failed", limit="100")).data
        assert sorted(one["data"]["messageId"] for one in told) == sorted(failed)
        assert maild.sql("SELECT count(*) FROM recipients WHERE status IN ('queued', 'deferred')") == [(0,)]


async def has_rows(maild: Running, query: str, count: int) -> bool | None:
    """For `until`."""
    return len(maild.sql(query)) == count or None
