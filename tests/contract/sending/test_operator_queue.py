"""The operator's hands on the queue over HTTP: every organization's mail, and for the operator's key alone."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from conf.tuning import QueueTuning, Tuning
from storage.clock import Clock
from tests.conftest import Start
from tests.support.running import Api, Running, until

HOUR_S = 3600


@pytest.fixture
async def maild(start: Start) -> AsyncIterator[Running]:
    """Nothing can be delivered: no nameserver answers, so all recipients are deferred for an hour."""
    yield await start(
        outbound={"first_retry_s": HOUR_S}, tuning=Tuning(queue=QueueTuning(look_again_s=HOUR_S))
    )


@pytest.fixture
async def operator(maild: Running) -> Api:
    return await maild.key("operator:queue")


async def deferred(api: Api, inbox: dict[str, Any], *to: str) -> str:
    """A message whose recipients have been tried once."""
    made = (await api.send(inbox["id"], to=list(to))).data

    async def is_deferred() -> bool | None:
        return {one["status"] for one in await recipients(api, made["id"])} == {"deferred"} or None

    await until(is_deferred)
    return str(made["id"])


async def recipients(api: Api, message_id: str) -> list[dict[str, Any]]:
    shown: list[dict[str, Any]] = (await api.get(f"/v1/messages/{message_id}")).data["recipients"]
    return shown


async def test_the_operator_sees_what_waits_of_every_organization(maild: Running, operator: Api) -> None:
    mine = await deferred(maild.api, await maild.inbox("bot"), "a@one.test", "b@two.test")
    other = await maild.organization()
    theirs = await deferred(other.api, await maild.inbox("theirs", other.api), "c@one.test")
    state = (await operator.get("/v1/operator/queue")).data
    assert (state["waiting"], state["pausedSince"]) == (3, None)
    assert [(one["destination"], one["waiting"], one["held"]) for one in state["destinations"]] == [
        ("one.test", 2, 0),
        ("two.test", 1, 0),
    ]
    listed = (await operator.get("/v1/operator/queue/recipients", destination="ONE.test")).data
    assert {(one["messageId"], one["address"], one["status"]) for one in listed} == {
        (mine, "a@one.test", "deferred"),
        (theirs, "c@one.test", "deferred"),
    }
    of_other = (await operator.get("/v1/operator/queue/recipients", organizationId=other.id)).data
    assert [one["messageId"] for one in of_other] == [theirs]
    assert len((await operator.get("/v1/operator/queue/recipients", limit="1")).data) == 1


async def test_what_is_held_waits_and_what_is_released_is_tried_at_once(
    maild: Running, operator: Api
) -> None:
    message_id = await deferred(maild.api, await maild.inbox("bot"), "a@one.test")
    changed = (await operator.post("/v1/operator/queue/hold", {"messageId": message_id})).data
    assert changed == {"recipients": 1, "more": False}
    (held,) = (await operator.get("/v1/operator/queue/recipients", isHeld="true")).data
    assert (held["status"], held["nextAttemptAt"]) == ("held", None)
    assert (await operator.post("/v1/operator/queue/retry", {"all": True})).data["recipients"] == 0
    await operator.post("/v1/operator/queue/release", {"destination": "one.test"})

    async def is_tried_again() -> bool | None:
        return [one["attempts"] for one in await recipients(maild.api, message_id)] == [2] or None

    await until(is_tried_again)

    async def is_retried() -> bool | None:  # once that attempt is over
        answer = await operator.post("/v1/operator/queue/retry", {"messageId": message_id})
        return answer.data["recipients"] == 1 or None

    await until(is_retried)


async def test_what_is_dropped_fails_and_its_sender_is_told(maild: Running, operator: Api) -> None:
    message_id = await deferred(maild.api, await maild.inbox("bot"), "a@one.test", "b@two.test")
    assert (await operator.post("/v1/operator/queue/drop", {"messageId": message_id})).data["recipients"] == 2
    shown = (await maild.api.get(f"/v1/messages/{message_id}")).data
    assert (shown["status"], shown["failureReason"]) == ("failed", "dropped")
    assert [one["type"] for one in (await maild.api.get("/v1/events", types="email.failed")).data] == [
        "email.failed"
    ]
    attempts = (await maild.api.get(f"/v1/messages/{message_id}/attempts")).data
    ended = [one for one in attempts if one["outcome"] == "failed"]
    assert {(one["class"], one["permanence"], one["advice"]) for one in ended} == {
        ("policy", "permanent", "stop")
    }


async def test_whose_mail_is_dropped_finds_it_in_the_audit_log(maild: Running, operator: Api) -> None:
    await deferred(maild.api, await maild.inbox("bot"), "a@one.test")
    other = await maild.organization()
    theirs = await maild.inbox("theirs", other.api)
    for _ in range(2):
        await deferred(other.api, theirs, "c@one.test")
    await operator.post("/v1/operator/queue/drop", {"organizationId": other.id})
    rows = maild.sql(
        "SELECT organization_id, json_extract(details, '$.recipients') FROM audit WHERE type = ?",
        "queue.dropped",
    )
    assert rows == [(other.id, 2)]


async def test_a_paused_queue_takes_nothing_until_it_goes_on(maild: Running, operator: Api) -> None:
    inbox = await maild.inbox("bot")
    assert (await operator.post("/v1/operator/queue/pause", None)).data["pausedSince"] is not None
    assert (await maild.api.send(inbox["id"], to=["a@one.test"])).status == 503
    assert (await operator.post("/v1/operator/queue/resume", None)).data["pausedSince"] is None
    assert (await maild.api.send(inbox["id"], to=["a@one.test"])).status == 201


@pytest.mark.parametrize("body", [{}, {"all": True, "destination": "one.test"}, {"all": False}, {"all": 1}])
async def test_nothing_is_changed_by_mistake(maild: Running, operator: Api, body: dict[str, Any]) -> None:
    message_id = await deferred(maild.api, await maild.inbox("bot"), "a@one.test")
    refused = await operator.post("/v1/operator/queue/drop", body)
    assert (refused.status, refused.code) == (400, "validation_failed")
    assert [one["status"] for one in await recipients(maild.api, message_id)] == ["deferred"]


@pytest.mark.parametrize(
    ("name", "value"), [("messageId", "inb_1"), ("messageId", ""), ("organizationId", "acme")]
)
async def test_what_is_no_such_id_is_told_and_not_taken_for_mail_that_is_gone(
    operator: Api, name: str, value: str
) -> None:
    listed = await operator.get("/v1/operator/queue/recipients", **{name: value})
    held = await operator.post("/v1/operator/queue/hold", {"destination": "one.test", name: value})
    for refused in (listed, held):
        assert (refused.status, refused.faults) == (400, {name: "invalid_id"})


async def test_one_call_changes_so_many_and_says_that_there_is_more(maild: Running, operator: Api) -> None:
    inbox = await maild.inbox("bot")
    message_id = await deferred(maild.api, inbox, "a@one.test")
    later_ms = Clock().now_ms() + HOUR_S * 1000
    maild.sql(
        """INSERT INTO recipients (message_id, position, organization_id, address, domain, kind, status,
             next_attempt_at, expires_at)
           WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12500)
           SELECT ?, i, ?, 'u' || i || '@many.test', 'many.test', 'to', 'queued', ?, ? FROM n""",
        message_id,
        inbox["organizationId"],
        later_ms,
        later_ms,
    )
    answers = [
        (await operator.post("/v1/operator/queue/hold", {"destination": "many.test"})).data for _ in "123"
    ]
    assert [(one["recipients"], one["more"]) for one in answers] == [(10000, True), (2500, False), (0, False)]


async def test_no_key_mints_the_operators_scope(maild: Running) -> None:
    refused = await maild.api.post("/v1/keys", {"name": "console", "scopes": ["operator:queue"]})
    assert (refused.status, refused.code) == (400, "validation_failed")
    for wildcard in ("*", "operator:*"):
        api = await maild.key(wildcard)
        answer = await api.get("/v1/operator/queue")
        assert (answer.status, answer.code) == (403, "insufficient_scope")
