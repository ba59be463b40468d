"""402, 403, 422, 503 on send, and their order (decisions.md, "Order of refusals"); A16, A13."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from storage.clock import iso
from storage.engine.tx import Tx
from storage.sending import outbound
from tests.conftest import Start
from tests.support.running import Running
from tests.support.worlds.reviewing import Held
from tests.support.worlds.store import ManualClock


def suppress(maild: Running, organization_id: str, email: str, reason: str = "hard_bounce") -> None:
    maild.sql(
        "INSERT INTO suppressions VALUES (?, ?, ?, ?, 'bounce', 1)",
        f"sup_{email}",
        organization_id,
        email,
        reason,
    )


async def test_a_paused_organization_receives_and_does_not_send(start: Start) -> None:
    clock = ManualClock(1_795_219_200_000)
    maild = await start(clock=clock)
    bot = await maild.inbox("bot")
    await maild.operate(maild.store.organizations.pause, maild.organization_id, "manual_review")
    for api in (maild.api, maild.test_api):
        answer = await api.send(bot)
        assert (answer.status, answer.code) == (403, "sending_not_approved")
        assert answer.error["details"] == {
            "status": "paused", "reason": "manual_review", "action": "contact_operator",
            "trippedAt": "2026-11-21T00:00:00.000Z",
        }  # fmt: skip
    assert (await maild.received(bot, "Subject: still here\n\n"))["subject"] == "still here"
    await maild.operate(maild.store.organizations.approve, maild.organization_id)
    assert (await maild.api.send(bot)).status == 201


async def test_the_free_plan_has_a_single_recipient(maild: Running) -> None:
    free = await maild.organization("free")
    bot = await maild.inbox("bot", free.api)
    for fields in (
        {"to": ["a@elsewhere.test", "b@elsewhere.test"]},
        {"to": ["a@elsewhere.test"], "cc": ["b@elsewhere.test"]},
        {"to": ["a@elsewhere.test"], "bcc": ["b@elsewhere.test"]},
    ):
        answer = await free.api.send(bot, **fields)
        assert (answer.status, answer.code) == (403, "sandbox_bulk_not_allowed"), fields
    assert (await free.api.send(bot)).status == 201


@pytest.mark.parametrize(
    "address", ["gone@elsewhere.test", "GONE@Elsewhere.TEST", '"gone"@elsewhere.test', "gone@elsewhere.test."]
)
@pytest.mark.parametrize("kind", ["to", "cc", "bcc"])
async def test_a_suppressed_recipient_stops_the_send_wherever_it_stands(
    maild: Running, bot: dict[str, Any], address: str, kind: str
) -> None:
    suppress(maild, maild.organization_id, "gone@elsewhere.test")
    answer = await maild.api.send(bot, **{"to": ["ok@elsewhere.test"], kind: ["ok@elsewhere.test", address]})
    if answer.status == 400 and (address.endswith(".") or '"' in address):
        return  # refused for its syntax: not sent either
    assert (answer.status, answer.code) == (422, "recipient_suppressed")
    assert answer.error["details"] == {
        "email": "gone@elsewhere.test",
        "reason": "hard_bounce",
        "source": "bounce",
    }
    assert await maild.api.messages() == []


async def test_suppressions_are_the_organizations_own(maild: Running, bot: dict[str, Any]) -> None:
    stranger = await maild.organization()
    suppress(maild, stranger.id, "gone@elsewhere.test")
    assert (await maild.api.send(bot, to=["gone@elsewhere.test"])).status == 201


async def test_the_daily_allowance(start: Start) -> None:
    clock = ManualClock(1_795_219_200_000 + 3_600_000)  # 2026-11-21T01:00Z
    maild = await start(clock=clock)
    tiny = await maild.organization("tiny")
    bot = await maild.inbox("bot", tiny.api)
    many = [f"a{n}@elsewhere.test" for n in range(5)]
    assert (await tiny.api.send(bot, to=many)).status == 201  # one message, however many recipients
    answer = await tiny.api.send(bot)
    assert (answer.status, answer.code) == (402, "limit_reached")
    assert answer.error["details"] == {
        "resource": "messagesDaily", "limit": 1, "used": 1, "resetsAt": "2026-11-22T00:00:00.000Z",
    }  # fmt: skip
    clock.forward(23 * 3600)
    assert (await tiny.api.send(bot)).status == 201


async def test_the_monthly_allowance_and_the_spend_cap(start: Start) -> None:
    maild = await start(clock=ManualClock(1_795_219_200_000))
    for plan, code, extra in (
        ("monthly", "limit_reached", {"resource": "messagesMonthly"}),
        ("thrifty", "spend_cap_reached", {}),
    ):
        organization = await maild.organization(plan)
        bot = await maild.inbox(f"bot-{plan}", organization.api)
        assert (await organization.api.send(bot)).status == 201
        answer = await organization.api.send(bot)
        assert (answer.status, answer.code) == (402, code)
        assert answer.error["details"] == {
            **extra, "limit": 1, "used": 1, "resetsAt": "2026-12-01T00:00:00.000Z"
        }  # fmt: skip
        for at, status in (("2026-11-30T23:59:59.999Z", 402), ("2026-12-01T00:00:00.000Z", 201)):
            assert (await organization.api.send(bot, sendAt=at)).status == status


async def test_of_many_at_once_no_more_pass_than_are_allowed(maild: Running) -> None:
    tiny = await maild.organization("tiny")
    bot = await maild.inbox("bot", tiny.api)
    answers = await asyncio.gather(*(tiny.api.send(bot) for _ in range(30)))
    assert Counter(one.status for one in answers) == {201: 1, 402: 29}
    assert len(await tiny.api.messages()) == 1


async def test_what_was_refused_left_nothing(maild: Running) -> None:
    free = await maild.organization("free")
    bot = await maild.inbox("bot", free.api)
    large = "x" * 300_000  # a file, were it kept
    assert (await free.api.send(bot, cc=["b@elsewhere.test"], text=large)).status == 403
    assert await free.api.messages() == []
    assert (await free.api.get("/v1/threads")).data == []
    assert maild.sql("SELECT * FROM usage") == maild.sql("SELECT * FROM recipients") == []
    assert maild.sql("SELECT id FROM blobs") == []
    assert [one for one in (maild.settings.data_path / "blobs").glob("*/*") if one.is_file()] == []


async def test_the_order_of_refusals(maild: Running) -> None:
    """inbox, domain, approval, sandbox, suppression, tripwire, spend cap, allowance: the first that holds is told."""
    free = await maild.organization("free")
    bot = await maild.inbox("bot", free.api)
    maild.sql("UPDATE inboxes SET domain = 'gone.test' WHERE id = ?", bot["id"])
    await maild.operate(maild.store.organizations.pause, free.id, "x")
    suppress(maild, free.id, "gone@elsewhere.test")
    for later in ("+0 days", "+1 day"):
        today = "INSERT INTO usage VALUES (?, '', strftime('%Y-%m-%d', 'now', ?), 'messages', 100)"
        maild.sql(today, free.id, later)

    async def code() -> str:
        return (await free.api.send(bot, to=["gone@elsewhere.test"], cc=["b@elsewhere.test"])).code

    async def single() -> str:
        return (await free.api.send(bot, to=["gone@elsewhere.test"])).code

    assert (await free.api.send("inb_01m7yg00000000000000000000")).code == "inbox_not_found"
    assert await code() == "domain_not_verified"
    maild.sql("UPDATE inboxes SET domain = 'agents.test' WHERE id = ?", bot["id"])
    assert await code() == "sending_not_approved"
    await maild.operate(maild.store.organizations.approve, free.id)
    assert await code() == "sandbox_bulk_not_allowed"
    assert await single() == "recipient_suppressed"
    maild.sql("DELETE FROM suppressions")
    maild.sql("UPDATE organizations SET tripwire_tripped_at = strftime('%s') * 1000")
    assert await single() == "sending_paused_bulk_review"
    await maild.operate(maild.store.organizations.reset_tripwire, free.id)
    assert await single() == "limit_reached"
    maild.sql("DELETE FROM usage")
    assert (await free.api.send(bot)).status == 201


async def test_a_queue_over_its_limit_takes_nothing(start: Start) -> None:
    clock = ManualClock()
    maild = await start(clock=clock, outbound={"max_queued": 2})
    bot = await maild.inbox("bot")
    assert (await maild.api.send(bot, to=["a@elsewhere.test", "b@elsewhere.test"])).status == 201
    clock.forward(2)  # the depth is looked at once a second
    answer = await maild.api.send(bot)
    assert (answer.status, answer.code) == (503, "provider_unavailable")
    assert int(answer.headers["Retry-After"]) > 0
    assert maild.sql("SELECT sum(value) FROM usage WHERE length(period) = 7") == [(1,)]


async def test_a_burst_does_not_go_over_the_limit(start: Start) -> None:
    clock = ManualClock()  # stands still: the store is asked once
    maild = await start(clock=clock, outbound={"max_queued": 5})
    bot = await maild.inbox("bot")
    answers = await asyncio.gather(*(maild.api.send(bot) for _ in range(20)))
    assert sorted(answer.status for answer in answers) == [201] * 5 + [503] * 15
    assert (await maild.api.send(bot)).status == 503
    clock.forward(2)
    assert (await maild.api.send(bot)).status == 503


async def test_a_queue_far_from_its_limit_is_not_counted_each_second(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each sender of that moment waits for the count, which takes as long as the queue is."""
    looks: list[int] = []
    depth = outbound.depth

    def noted(tx: Tx) -> int:
        looks.append(1)
        return depth(tx)

    monkeypatch.setattr(outbound, "depth", noted)
    clock = ManualClock()
    maild = await start(clock=clock, outbound={"max_queued": 20})
    bot = await maild.inbox("bot")
    counted = []
    for seconds in (0, 2, 2, 2, 10):
        clock.forward(seconds)
        assert (await maild.api.send(bot)).status == 201
        counted.append(len(looks))
    # Two of the twenty are little of the room; of the seventeen that were left at the next look, one.
    assert counted == [1, 1, 1, 2, 3]


async def test_what_was_refused_for_another_reason_takes_no_place(start: Start) -> None:
    maild = await start(clock=ManualClock(), outbound={"max_queued": 1})
    bot = await maild.inbox("bot")
    maild.sql(
        "CREATE TRIGGER full BEFORE INSERT ON recipients BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
    )
    assert (await maild.api.send(bot)).status == 502
    maild.sql("DROP TRIGGER full")
    assert (await maild.api.send(bot, to=["a@elsewhere.test", "b@elsewhere.test"])).status == 503
    assert (await maild.api.send(bot)).status == 201
    assert (await maild.api.send(bot)).status == 503


async def test_what_waits_or_was_sent_before_takes_no_place(start: Start) -> None:
    clock = ManualClock()  # stands still: the store is asked once
    maild = await start(clock=clock, outbound={"max_queued": 3})
    await (await Held.make(maild)).held()
    other = await maild.inbox("other")
    assert (await maild.api.send(other, sendAt=iso(clock.at_ms + 60_000))).status == 201
    body = {"inboxId": other["id"], "to": ["a@elsewhere.test"], "text": "x"}
    path, headers = "/v1/messages/send", {"Idempotency-Key": "k"}
    answers = await asyncio.gather(*(maild.api.call("POST", path, body, headers=headers) for _ in range(3)))
    assert len({one.data["id"] for one in answers}) == 1
    assert [(await maild.api.send(other)).status for _ in range(3)] == [201, 201, 503]


async def test_what_the_queue_refuses_is_502_and_was_never_counted(
    maild: Running, bot: dict[str, Any]
) -> None:
    """The store fails after the allowance was claimed: all of it is taken back, and a retry is safe."""
    maild.sql(
        "CREATE TRIGGER full BEFORE INSERT ON recipients BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
    )
    large = "x" * 300_000
    headers = {"Idempotency-Key": "k"}
    body = {"inboxId": bot["id"], "to": ["a@elsewhere.test"], "text": large}
    answer = await maild.api.call("POST", "/v1/messages/send", body, headers=headers)
    assert (answer.status, answer.code) == (502, "email_delivery_failed")
    assert b"disk" not in answer.body
    assert answer.error["details"] == {"isRetrySafe": True}
    assert "with the same Idempotency-Key is safe" in answer.error["message"]
    keyless = await maild.api.call("POST", "/v1/messages/send", body)
    assert keyless.error["details"] == {"isRetrySafe": False}
    assert "second copy" in keyless.error["message"]
    draft = (await maild.api.post("/v1/drafts", {"inboxId": bot["id"], "to": ["a@elsewhere.test"]})).data
    sent = await maild.api.call("POST", f"/v1/drafts/{draft['id']}/send")
    assert sent.error["details"] == {"isRetrySafe": True}
    assert "the same request finds the message" in sent.error["message"]
    assert maild.sql("SELECT * FROM usage") == maild.sql("SELECT * FROM recent_recipients") == []
    assert maild.sql("SELECT * FROM messages") == maild.sql("SELECT * FROM idempotency") == []
    assert [one for one in (maild.settings.data_path / "blobs").glob("*/*") if one.is_file()] == []
    maild.sql("DROP TRIGGER full")
    assert (await maild.api.call("POST", "/v1/messages/send", body, headers=headers)).status == 201
