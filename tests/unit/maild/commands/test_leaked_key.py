"""A key that leaked, in the operator's hands: what it made and what it sent goes with it, beside a running daemon."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from conf.tuning import QueueTuning, Tuning
from storage.clock import DAY_MS, Clock, iso
from storage.engine.tx import Tx
from storage.mail import withdrawal
from storage.mail.withdrawal import Senders, WithdrawnMail
from storage.tenants import keys
from storage.upkeep import withdrawing
from tests.conftest import Start
from tests.support.clients.hands import Hands
from tests.support.running import Api, Running
from tests.support.worlds.reviewing import Held

HOUR_S = 3600


@pytest.fixture
async def maild(start: Start) -> AsyncIterator[Running]:
    """Nothing can be delivered: no nameserver answers, so what is sent waits."""
    yield await start(outbound={"first_retry_s": HOUR_S}, tuning=Tuning(queue=QueueTuning(look_again_s=0.02)))


@pytest.fixture
async def hands(maild: Running, tmp_path: Path) -> Hands:
    return Hands(maild, tmp_path)


async def mint(maild: Running, api: Api, name: str) -> tuple[str, Api]:
    made = await api.post("/v1/keys", {"name": name, "scopes": ["*"]})
    assert made.status == 201, made.body
    return made.data["id"], api.with_key(made.data["apiKey"])


async def shown(maild: Running, message: dict[str, Any]) -> tuple[str, str | None]:
    found = (await maild.api.get(f"/v1/messages/{message['id']}")).data
    return found["status"], found["failureReason"]


async def events(maild: Running) -> list[str]:
    found = (await maild.api.get("/v1/events?types=email.failed&limit=100")).data
    return [one["data"]["messageId"] for one in found]


async def leave_waiting(maild: Running, api: Api, inbox: dict[str, Any]) -> list[dict[str, Any]]:
    """One in the queue, one for tomorrow."""
    tomorrow = iso(Clock().now_ms() + DAY_MS)
    answers = [await api.send(inbox), await api.send(inbox, sendAt=tomorrow)]
    assert [one.status for one in answers] == [201, 201]
    return [one.data for one in answers]


async def test_what_a_killed_command_leaves_is_withdrawn_though_nobody_tells_of_it(
    maild: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It marks the keys before it withdraws."""
    monkeypatch.setattr(withdrawing, "LOOK_S", 0.02)
    maild.daemon.withdrawer.wake()
    key_id, leaked = await mint(maild, maild.api, "leaked")
    sent = await leave_waiting(maild, leaked, await maild.inbox("bot"))
    maild.sql("UPDATE api_keys SET withdraws_mail = 1 WHERE id = ?", key_id)
    await maild.until_withdrawn()
    assert [await shown(maild, one) for one in sent] == [("failed", "invalid_api_key")] * 2


async def test_what_a_leaked_key_leaves_is_told(maild: Running, hands: Hands) -> None:
    inbox = await maild.inbox("bot")
    key_id, leaked = await mint(maild, maild.api, "leaked")
    await mint(maild, leaked, "its own")
    left = await leave_waiting(maild, leaked, inbox)
    answer = await hands("keys", "revoke", key_id)
    assert answer == {
        "id": key_id,
        "status": "revoked",
        "minted": {"revoked": 0, "active": 1},
        "messages": {"withdrawn": 0, "waiting": 2},
    }
    told = (await hands.run("keys", "revoke", key_id)).error
    assert "live on (--with-minted ends them): 1" in told and "(--with-mail withdraws them): 2" in told
    assert {(await shown(maild, one))[0] for one in left} == {"queued", "scheduled"}
    assert (await leaked.get("/v1/inboxes")).status == 401


async def test_a_leaked_key_goes_with_what_it_minted_and_sent(maild: Running, hands: Hands) -> None:
    inbox = await maild.inbox("bot")
    key_id, leaked = await mint(maild, maild.api, "leaked")
    between_id, between = await mint(maild, leaked, "between")
    _, last = await mint(maild, between, "last")
    _, other = await mint(maild, maild.api, "other")
    withdrawn = [
        *await leave_waiting(maild, leaked, inbox),
        *await leave_waiting(maild, between, inbox),
        *await leave_waiting(maild, last, inbox),
    ]
    kept = await leave_waiting(maild, other, inbox)
    await maild.operate(maild.store.keys.revoke, between_id)  # one between them is gone already
    answer = await hands("keys", "revoke", key_id, "--with-minted", "--with-mail")
    assert answer["minted"] == {"revoked": 1, "active": 0}
    assert answer["messages"] == {"withdrawn": 6, "waiting": 0}
    assert [await shown(maild, one) for one in withdrawn] == [("failed", "invalid_api_key")] * 6
    assert [(await shown(maild, one))[0] for one in kept] == ["queued", "scheduled"]
    assert {one["id"] for one in withdrawn} == {*await events(maild)}
    told = (await maild.api.get(f"/v1/messages/{withdrawn[0]['id']}")).data["recipients"][0]
    assert told["response"] == "the key that sent it was revoked"
    assert [(await api.get("/v1/inboxes")).status for api in (leaked, between, last, other)] == [401] * 3 + [
        200
    ]
    again = await hands("keys", "revoke", key_id, "--with-minted", "--with-mail")
    assert (again["minted"]["revoked"], again["messages"]["withdrawn"]) == (0, 0)


async def test_what_a_leaked_key_has_on_hold_is_approved_by_nobody(maild: Running, hands: Hands) -> None:
    held = await Held.make(maild)
    sent = await held.held()
    (key_id,) = {one["submittedBy"] for one in (await held.reviewer.get("/v1/reviews")).data}
    answer = await hands("keys", "revoke", key_id, "--with-mail")
    assert answer["messages"] == {"withdrawn": 1, "waiting": 0}
    assert (await held.review(sent))["status"] == "withdrawn"
    assert await shown(maild, sent) == ("failed", "invalid_api_key")


async def test_keys_are_closed_some_at_a_time(
    maild: Running, hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between which the daemon writes: twenty thousand that a key had minted kept it waiting for 42 ms, and as long
    at the end."""
    key_id, leaked = await mint(maild, maild.api, "leaked")
    for name in ("first", "second"):
        await mint(maild, leaked, name)
    slices: list[tuple[str, int]] = []
    close_keys, end = withdrawal.close_keys, Senders.end

    def noted_close(tx: Tx, organization_id: str, key_ids: Sequence[str]) -> None:
        slices.append(("close", len(key_ids)))
        close_keys(tx, organization_id, key_ids)

    def noted_end(senders: Senders, tx: Tx, closed: Sequence[str]) -> None:
        slices.append(("end", len(closed)))
        end(senders, tx, closed)

    monkeypatch.setattr(keys, "REVOKED_AT_ONCE", 2)
    monkeypatch.setattr(withdrawal, "close_keys", noted_close)
    monkeypatch.setattr(Senders, "end", noted_end)
    await maild.operate(lambda: maild.store.keys.revoke(key_id, with_minted=True, with_mail=True))
    assert slices == [("close", 2), ("close", 1), ("end", 2), ("end", 1)]
    assert maild.sql("SELECT count(*) FROM api_keys WHERE withdraws_mail = 1") == [(0,)]


async def test_a_key_minted_meanwhile_does_not_escape(
    maild: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that was being answered mints one more, when the first of them are revoked."""
    key_id, leaked = await mint(maild, maild.api, "leaked")
    first_id, _ = await mint(maild, leaked, "first")
    revoke = keys.revoke

    def revoke_late(tx: Tx, organization_id: str, revoked_id: str, now_ms: int) -> bool:
        if revoked_id == first_id:
            keys.create(
                tx, "key_late", "svc_live_late", now_ms, organization_id=organization_id, name="late",
                scopes=["*"], mode="live", inbox_id=None, minted_by=first_id,
            )  # fmt: skip
        return revoke(tx, organization_id, revoked_id, now_ms)

    monkeypatch.setattr(keys, "revoke", revoke_late)
    answer = await maild.operate(lambda: maild.store.keys.revoke(key_id, with_minted=True))
    assert answer["minted"] == {"revoked": 2, "active": 0}


async def test_what_was_not_withdrawn_before_a_crash_is_by_the_same_command(
    maild: Running, hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    inbox = await maild.inbox("bot")
    key_id, leaked = await mint(maild, maild.api, "leaked")
    left = [(await leaked.send(inbox)).data for _ in range(3)]
    withdraw, calls = withdrawal.withdraw_slice, []

    def withdraw_one(tx: Tx, *arguments: Any) -> WithdrawnMail:
        calls.append(1)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return withdraw(tx, *arguments)

    monkeypatch.setattr(withdrawal, "SLICE_S", 0)
    monkeypatch.setattr(withdrawal, "withdraw_slice", withdraw_one)
    with pytest.raises(KeyboardInterrupt):
        maild.store.keys.revoke(key_id, with_mail=True)
    monkeypatch.undo()
    assert sorted([(await shown(maild, one))[0] for one in left]) == ["failed", "queued", "queued"]
    answer = await hands("keys", "revoke", key_id, "--with-mail")
    assert answer["messages"]["withdrawn"] == 2
    assert {await shown(maild, one) for one in left} == {("failed", "invalid_api_key")}


async def test_what_a_leaked_key_did_is_listed(maild: Running, hands: Hands) -> None:
    inbox = await maild.inbox("bot")
    key_id, leaked = await mint(maild, maild.api, "leaked")
    spy = {"url": "https://spy.example/x", "subscribedEvents": ["email.received"]}
    assert (await leaked.post("/v1/webhooks", spy)).status == 201
    sent = (await leaked.send(inbox)).data
    listing = ("audit", "list", "--org", maild.organization_id, "--actor", key_id)
    found = await hands(*listing)
    assert [one["type"] for one in found["rows"]] == ["message.queued", "webhook.created"]
    assert found["rows"][0]["subject"] == sent["id"] and not found["more"]
    assert found["rows"][1]["details"]["host"] == "spy.example"
    text = await hands.text(*listing, "--type", "webhook.created")
    assert f"  {key_id}  webhook.created  whk_" in text and 'host="spy.example"' in text
    assert "message.queued" not in text
    assert (await hands(*listing, "--limit", "1"))["more"]
    assert "there is no message.sent" in await hands.refused(*listing, "--type", "message.sent")
    assert "organization org_x" in await hands.refused("audit", "list", "--org", "org_x")
    assert (await hands(*listing[:-1], "key_none"))["rows"] == []
