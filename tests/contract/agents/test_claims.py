"""Claims: an inbox as a queue of work (docs/contract.md, "Mail as work")."""

import asyncio
import json
from typing import Any

import pytest

from controlplane.mail.claim_keeper import ClaimKeeper
from controlplane.webhooks.event_streams import Streams
from storage.agents.claims import EndedClaim
from storage.clock import iso
from storage.engine.tx import Tx
from tests.conftest import Start
from tests.support.running import Answer, Api, Running, until
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.store import ManualClock

LEASE_S = 300
YEAR_S = 365 * 86_400
EVENTS = "claim.expired,claim.dead"


def mail(number: int, thread: int | None = None, more: str = "") -> str:
    """Message `number`, the first of its thread, or one that answers the first of that."""
    head = f"From: Ada <ada@elsewhere.test>\nSubject: topic\nMessage-ID: <{number}@elsewhere.test>\n"
    return head + (f"In-Reply-To: <{thread}@elsewhere.test>\n" if thread else "") + more + "\nhello\n"


class Work:
    """An inbox whose mail is work."""

    def __init__(self, maild: Running, inbox: dict[str, Any]) -> None:
        self.maild = maild
        self.api = maild.api
        self.inbox = inbox
        self.path = f"/v1/inboxes/{inbox['id']}"

    async def policy(self, version: int = 0, **work: Any) -> Answer:
        return await self.api.call("PUT", f"{self.path}/policy", {"version": version, "work": work})

    async def arrive(self, number: int, thread: int | None = None, more: str = "") -> dict[str, Any]:
        return await self.maild.received(self.inbox, mail(number, thread, more))

    async def claim(self, api: Api | None = None, key: str | None = None, **body: Any) -> Answer:
        headers = {} if key is None else {"Idempotency-Key": key}
        return await (api or self.api).call("POST", f"{self.path}/claims", body, headers=headers)

    async def claimed(self, **body: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await self.claim(**body)).data
        return found

    async def act(self, claim: dict[str, Any], what: str, **body: Any) -> Answer:
        return await self.api.post(f"/v1/claims/{claim['id']}/{what}", body)

    async def listed(self, **query: str) -> list[str]:
        return [one["id"] for one in (await self.api.get("/v1/claims", **query)).data]

    async def events(self) -> list[tuple[str, dict[str, Any]]]:
        found = (await self.api.get("/v1/events", types=EVENTS)).data
        return [(one["type"], one["data"]) for one in found]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_795_219_200_000)


@pytest.fixture
async def work(start: Start, clock: ManualClock) -> Work:
    maild = await start(clock=clock)
    made = Work(maild, await maild.inbox("bot"))
    assert (await made.policy(enabled=True, maxAttempts=2)).status == 200
    return made


# Off and on ---------------------------------------------------------------------------------------


async def test_without_work_nothing_is_queued_or_offered(work: Work) -> None:
    await work.policy(1)
    message = await work.arrive(1)
    assert work.maild.sql("SELECT count(*) FROM work_items") == [(0,)]
    answer = await work.claim()
    assert (answer.status, answer.code) == (409, "work_not_enabled")
    assert (await work.api.call("POST", f"/v1/messages/{message['id']}/requeue")).code == "work_not_enabled"
    await work.policy(2, enabled=True)
    assert await work.claimed() == []
    answer = await work.api.call("POST", f"/v1/messages/{message['id']}/requeue")
    assert answer.data == message
    (claim,) = await work.claimed()
    assert claim["messageId"] == message["id"]


# Taking ------------------------------------------------------------------------------------------


async def test_the_oldest_is_claimed_with_the_whole_message(work: Work, clock: ManualClock) -> None:
    first, second = await work.arrive(1), await work.arrive(2)
    (claim,) = await work.claimed(holder="worker-3")
    assert claim["message"] == first
    at = clock.now_ms()
    assert {name: claim[name] for name in claim if name not in ("id", "keyId", "message")} == {
        "inboxId": work.inbox["id"], "threadId": first["threadId"], "messageId": first["id"], "mode": "live",
        "status": "live", "attempt": 1, "holder": "worker-3", "leaseExpiresAt": iso(at + LEASE_S * 1000),
        "createdAt": iso(at),
    }  # fmt: skip
    assert [one["messageId"] for one in await work.claimed(max=20)] == [second["id"]]
    assert await work.claimed() == []


async def test_one_conversation_has_one_worker_and_is_worked_on_in_order(work: Work) -> None:
    first, later, other = await work.arrive(1), await work.arrive(2, thread=1), await work.arrive(3)
    assert later["threadId"] == first["threadId"]
    claims = await work.claimed(max=20)
    assert [one["messageId"] for one in claims] == [first["id"], other["id"]]
    assert await work.claimed() == []
    assert (await work.act(claims[0], "done")).data["status"] == "done"
    assert [one["messageId"] for one in await work.claimed(max=20)] == [later["id"]]


@pytest.mark.parametrize(
    "raw",
    [
        mail(1, more="Auto-Submitted: auto-replied\n"),
        "From: ada@elsewhere.test\nFrom: eve@elsewhere.test\nSubject: x\n\nhello\n",
    ],
    ids=["automatic answer", "spam"],
)
async def test_what_wants_no_answer_is_no_work(work: Work, raw: str) -> None:
    message = await work.maild.received(work.inbox, raw)
    assert message["isAutoReply"] or message["isSpam"]
    assert await work.claimed() == []
    assert (await work.api.call("POST", f"/v1/messages/{message['id']}/requeue")).status == 200
    assert len(await work.claimed()) == 1  # somebody who asks for it gets it


@pytest.mark.parametrize(
    "lines",
    [
        "From: bot@agents.test\nMessage-ID: {id}\n",  # an alias, too
        "From: Bot via List <list@elsewhere.test>\nReply-To: bot@agents.test\nMessage-ID: {id}\n",
        "From: List <list@elsewhere.test>\nReply-To: Bot <BOT@agents.test>\nMessage-ID: <new@elsewhere.test>\n"
        "List-Post: <mailto:list@elsewhere.test>\n",
        "From: bot@agents.test\nReply-To: list@elsewhere.test\nMessage-ID: <new@elsewhere.test>\n"
        "List-Id: <list.elsewhere.test>\n",
    ],
    ids=["as it was sent", "by a list that writes From", "wrapped by a list", "by a list that writes ids"],
)
async def test_what_the_inbox_sent_and_a_list_sends_back_is_no_work(work: Work, lines: str) -> None:
    sent = (await work.api.send(work.inbox, to=["list@elsewhere.test"], subject="News", text="hello")).data
    raw = lines.format(id=sent["messageIdHeader"]) + "Subject: [List] News\n\nhello\n"
    message = await work.maild.received(work.inbox, raw)
    assert message["isAutoReply"]
    assert (message["threadId"] == sent["threadId"]) is (
        message["messageIdHeader"] == sent["messageIdHeader"]
    )
    assert await work.claimed() == []


@pytest.mark.parametrize(
    "lines",
    [
        "From: ada@elsewhere.test\nReply-To: bot@agents.test\nList-Post: <mailto:list@elsewhere.test>\n",
        "From: list@elsewhere.test\nReply-To: ada@elsewhere.test\nList-Post: <mailto:list@elsewhere.test>\n",
        "From: list@elsewhere.test\nList-Id: <list.elsewhere.test>\n",
    ],
)
async def test_what_others_write_to_a_list_is_work(work: Work, lines: str) -> None:
    message = await work.maild.received(work.inbox, lines + "Subject: topic\n\nhello\n")
    assert [one["messageId"] for one in await work.claimed()] == [message["id"]]


async def test_what_the_inbox_writes_to_itself_is_work(work: Work) -> None:
    sent = (await work.api.send(work.inbox, to=[work.inbox["address"]], subject="Tomorrow", text="note")).data
    note = await work.maild.arrival(work.inbox)
    assert (note["isAutoReply"], note["threadId"]) == (False, sent["threadId"])
    assert [one["messageId"] for one in await work.claimed()] == [note["id"]]


async def test_a_test_key_is_offered_test_mail_and_ends_no_live_claim(work: Work) -> None:
    await work.arrive(1)
    test = work.maild.test_api
    assert (await work.claim(test)).data == []
    (live,) = await work.claimed()
    for what in ("extend", "release", "done"):
        assert (await test.post(f"/v1/claims/{live['id']}/{what}", {})).code == "insufficient_scope"
    assert (await test.call("POST", f"/v1/messages/{live['messageId']}/requeue")).code == "insufficient_scope"
    path = f"/v1/messages/{live['messageId']}"
    batch = {"ids": [live["messageId"]], "delete": True}
    for answer in (await test.call("DELETE", path), await test.post("/v1/messages/batch", batch)):
        assert (answer.code, answer.error["details"]["requiredScope"]) == ("insufficient_scope", "live")
    assert await work.listed(status="live") == [live["id"]]
    sent = (await test.send(work.inbox, to=["reply@simulator.test"], text="hi")).data

    async def answered() -> dict[str, Any] | None:
        found = (await work.claim(test)).data
        return found[0] if found else None

    claim = await until(answered)
    assert (claim["mode"], claim["threadId"]) == ("test", sent["threadId"])
    fields = {"text": "x", "claimId": live["id"]}
    answer = await test.post(f"/v1/messages/{live['messageId']}/reply", fields)
    assert answer.code == "claim_not_found"
    fields = {"text": "x", "claimId": claim["id"], "completeClaim": True}
    assert (await test.post(f"/v1/messages/{claim['messageId']}/reply", fields)).status == 201


async def test_a_request_that_is_made_twice_takes_once(work: Work, clock: ManualClock) -> None:
    for number in (1, 2, 3):
        await work.arrive(number)
    first = await work.claim(key="a", max=2)
    again = await work.claim(key="a", max=2)
    assert "Idempotent-Replayed" not in first.headers and again.headers["Idempotent-Replayed"] == "true"
    assert again.data == first.data and len(first.data) == 2
    assert (await work.claim(key="a", max=1)).code == "idempotency_conflict"
    await work.act(first.data[0], "done")
    clock.forward(LEASE_S)
    assert [one["status"] for one in (await work.claim(key="a", max=2)).data] == ["done", "expired"]
    await work.api.call("DELETE", f"/v1/messages/{first.data[0]['messageId']}")
    assert (await work.claim(key="a", max=2)).data[0]["message"] is None


async def test_parallel_requests_under_one_key_take_once(work: Work) -> None:
    for number in range(5):
        await work.arrive(number + 1)
    answers = await asyncio.gather(*(work.claim(key="a", max=2) for _ in range(10)))
    assert len({tuple(one["id"] for one in answer.data) for answer in answers}) == 1
    assert work.maild.sql("SELECT count(*) FROM claims") == [(2,)]


async def test_an_empty_answer_is_not_kept(work: Work) -> None:
    assert (await work.claim(key="a")).data == []
    await work.arrive(1)
    assert len((await work.claim(key="a")).data) == 1


async def test_an_organization_has_so_many_claims_at_a_time(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.agents.claims.room", lambda *_: 1)
    await work.arrive(1), await work.arrive(2)
    assert len(await work.claimed(max=20)) == 1
    monkeypatch.setattr("storage.agents.claims.room", lambda *_: 0)
    answer = await work.claim()
    assert (answer.status, answer.code) == (402, "limit_reached")
    assert answer.error["details"] == {"resource": "claims", "limit": 1000, "used": 1000, "resetsAt": None}


async def test_claims_that_ended_leave_room_for_others(work: Work) -> None:
    for number in (1, 2, 3, 4):
        await work.arrive(number)
    ended, _ = await work.claimed(max=2)
    await work.act(ended, "done")
    work.maild.sql(
        """INSERT INTO claims SELECT c.id || value, organization_id, inbox_id, thread_id || value, message_id, key_id,
             mode, holder, status, attempt, lease_expires_at, created_at FROM claims c, json_each(?)""",
        json.dumps(list(range(998))),
    )
    assert len(await work.claimed(max=20)) == 1  # beside 999 that live, and 999 that ended
    assert (await work.claim()).code == "limit_reached"


async def test_a_lease_that_is_over_takes_no_room_before_it_is_settled(
    work: Work, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a day without the server there are many, each of which publishes events."""
    monkeypatch.setattr("storage.agents.claims.LIVE_MAX", 2)
    monkeypatch.setattr("storage.agents.claims.expire", lambda *_: [])
    for number in (1, 2, 3):
        await work.arrive(number)
    assert len(await work.claimed(max=20)) == 2
    clock.forward(LEASE_S - 1)
    assert (await work.claim()).code == "limit_reached"
    clock.forward(1)
    assert len(await work.claimed(max=20)) == 1


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ({"max": 0}, {"max": "out_of_range"}),
        ({"max": 21}, {"max": "out_of_range"}),
        ({"leaseSeconds": 29}, {"leaseSeconds": "out_of_range"}),
        ({"leaseSeconds": 3601}, {"leaseSeconds": "out_of_range"}),
        ({"waitSeconds": 51}, {"waitSeconds": "out_of_range"}),
        ({"holder": "x" * 101}, {"holder": "too_long"}),
        ({"holder": "a\nb"}, {"holder": "control_character"}),
    ],
)
async def test_bounds(work: Work, body: Any, faults: dict[str, str]) -> None:
    assert (await work.claim(**body)).faults == faults


# Waiting -----------------------------------------------------------------------------------------


async def waiting(work: Work, api: Api | None = None) -> "asyncio.Task[Answer]":
    waits = work.maild.daemon.operations._services.streams._waits
    count = len(waits) + 1
    task = asyncio.create_task(work.claim(api, waitSeconds=50))

    async def does() -> bool | None:
        assert not task.done(), task.result().body
        return len(waits) == count or None

    await until(does)
    return task


async def test_a_deactivated_inbox_ends_a_wait(work: Work) -> None:
    task = await waiting(work)
    await work.api.call("DELETE", work.path)
    assert (await task).code == "inbox_not_found"
    assert (await work.api.post(f"{work.path}/claims", {})).code == "inbox_not_found"


async def test_mail_that_comes_in_ends_a_wait(work: Work) -> None:
    task = await waiting(work)
    message = await work.arrive(1)
    assert [one["message"] for one in (await task).data] == [message]


@pytest.mark.parametrize("what", ["done", "release", "reply", "requeue", "lease", "delay"])
async def test_what_is_offered_again_ends_a_wait(work: Work, clock: ManualClock, what: str) -> None:
    first, later = await work.arrive(1), await work.arrive(2, thread=1)
    (claim,) = await work.claimed()
    if what == "requeue":
        await work.act(claim, "release")
        await work.act((await work.claimed())[0], "release")  # dead now
        await work.act((await work.claimed())[0], "done")
    if what == "delay":
        await work.act(claim, "release", delaySeconds=10)
    task = await waiting(work)
    if what in ("done", "release"):
        await work.act(claim, what)
    elif what == "reply":
        body = {"text": "x", "claimId": claim["id"], "completeClaim": True}
        assert (await work.api.post(f"/v1/messages/{first['id']}/reply", body)).status == 201
    elif what == "requeue":
        await work.api.call("POST", f"/v1/messages/{first['id']}/requeue")
    else:
        clock.forward(LEASE_S)
    expected = later if what in ("done", "reply") else first
    assert [one["messageId"] for one in (await task).data] == [expected["id"]]


async def test_a_wait_asks_nothing_while_nothing_happens(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    look, has_looked = Streams._look, asyncio.Event()

    async def noted(self: Streams, seen: int | None) -> int:
        try:
            return await look(self, seen)
        finally:
            has_looked.set()

    monkeypatch.setattr(Streams, "_look", noted)
    tasks = [await waiting(work) for _ in range(5)]
    async with asyncio.timeout(GIVES_UP_S):
        await has_looked.wait()  # at the first look all of them ask
    other = Work(work.maild, await work.maild.inbox("other"))
    asked: list[str] = []
    for name in ("run", "one", "all", "value"):
        ask = getattr(Tx, name)

        def counted(tx: Tx, sql: str, *more: Any, ask: Any = ask) -> Any:
            if "work_items" in sql or "claims" in sql or "policies" in sql:
                asked.append(sql)
            return ask(tx, sql, *more)

        monkeypatch.setattr(Tx, name, counted)
    for number in range(10):  # commits, events too, of a neighbour
        await other.arrive(number + 100)
    mine = [one for one in asked if "status = 'ready'" in one]
    assert mine == []
    await work.arrive(1)
    done, rest = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    assert [len(task.result().data) for task in done] == [1]
    assert len([one for one in asked if "SELECT 1 FROM work_items WHERE inbox_id" in one]) <= 20
    for task in rest:
        task.cancel()


async def test_a_wait_ends_with_its_key(work: Work) -> None:
    api = await work.maild.key("messages:label", "messages:read")
    task = await waiting(work, api)
    (key,) = [one for one in (await work.api.get("/v1/keys")).data if len(one["scopes"]) == 2]
    await work.api.call("DELETE", f"/v1/keys/{key['id']}")
    assert (await task).code == "invalid_api_key"


# What becomes of it ------------------------------------------------------------------------------


async def test_a_lease_that_is_over_is_lost_at_once_and_offered_again(work: Work, clock: ManualClock) -> None:
    message = await work.arrive(1)
    (claim,) = await work.claimed(leaseSeconds=30)
    clock.forward(29)
    extended = (await work.act(claim, "extend", leaseSeconds=60)).data
    assert extended["leaseExpiresAt"] == iso(clock.now_ms() + 60_000)
    clock.forward(59)
    assert await work.listed(status="live") == [claim["id"]]
    clock.forward(1)
    assert await work.listed(status="live") == []
    assert await work.listed(status="expired") == [claim["id"]]
    for what in ("extend", "release", "done"):
        answer = await work.act(claim, what)
        assert (answer.status, answer.code) == (409, "claim_lost")
        assert answer.error["details"] == {"claimId": claim["id"], "status": "expired"}
    (again,) = await work.claimed()
    assert (again["messageId"], again["attempt"]) == (message["id"], 2)
    (told,) = await work.events()
    assert told == (
        "claim.expired",
        {
            "claimId": claim["id"], "messageId": message["id"], "inboxId": work.inbox["id"],
            "threadId": message["threadId"], "attempt": 1, "holder": None,
        },
    )  # fmt: skip


@pytest.mark.parametrize("is_put_off", [False, True])
async def test_a_clock_that_was_ahead_leaves_no_message_claimed_or_put_off(
    work: Work, clock: ManualClock, is_put_off: bool
) -> None:
    """It was set back: nobody may have a message for a year."""
    message = await work.arrive(1)
    clock.forward(YEAR_S)
    (claim,) = await work.claimed()
    if is_put_off:
        await work.act(claim, "release", delaySeconds=60)
    clock.set_back(YEAR_S)

    async def offered() -> dict[str, Any] | None:
        found = await work.claimed()
        return found[0] if found else None

    assert (await until(offered))["messageId"] == message["id"]


async def test_what_nobody_claims_is_settled_by_itself(work: Work, clock: ManualClock) -> None:
    await work.arrive(1)
    await work.claimed()
    clock.forward(LEASE_S)

    async def told() -> bool | None:
        return bool(await work.events()) or None

    await until(told)
    assert work.maild.sql("SELECT status FROM claims") == [("expired",)]


async def test_what_ends_at_once_is_settled_by_and_by(
    work: Work, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each end publishes an event: a hundred in one unit held the loop for 40 to 70 ms beside many webhooks."""
    ended: list[int] = []
    settle = ClaimKeeper._settle

    def settled(keeper: ClaimKeeper, tx: Tx) -> list[EndedClaim]:
        found = settle(keeper, tx)
        ended.append(len(found))
        return found

    monkeypatch.setattr(ClaimKeeper, "_settle", settled)
    for number in range(21):
        await work.arrive(number)
    await work.claimed(max=20)
    await work.claimed(max=20)
    clock.forward(LEASE_S)

    async def over() -> bool | None:
        return work.maild.sql("SELECT count(*) FROM claims WHERE status = 'live'") == [(0,)] or None

    await until(over)
    assert (sum(ended), max(ended)) == (21, 20)


async def test_a_release_offers_it_again_after_the_delay_before_what_came_later(
    work: Work, clock: ManualClock
) -> None:
    first, later = await work.arrive(1), await work.arrive(2, thread=1)
    (claim,) = await work.claimed()
    released = (await work.act(claim, "release", delaySeconds=60)).data
    assert released["status"] == "released"
    assert (await work.act(claim, "release")).data == released  # asked again, for want of an answer
    assert (await work.act(claim, "done")).error["details"]["status"] == "released"
    assert await work.claimed() == []
    clock.forward(60)

    async def offered() -> dict[str, Any] | None:
        found = await work.claimed()
        return found[0] if found else None

    assert (await until(offered))["messageId"] == first["id"] != later["id"]


async def test_after_so_many_attempts_it_is_dead_until_it_is_requeued(work: Work, clock: ManualClock) -> None:
    first, later = await work.arrive(1), await work.arrive(2, thread=1)
    (claim,) = await work.claimed()
    await work.act(claim, "release")
    (claim,) = await work.claimed()
    assert (claim["attempt"], (await work.act(claim, "release")).data["status"]) == (2, "dead")
    assert [kind for kind, _ in await work.events()] == ["claim.dead"]
    assert await work.listed(status="dead") == [claim["id"]]
    (next_one,) = await work.claimed(max=20)
    assert next_one["messageId"] == later["id"]  # the conversation goes on
    assert (await work.api.call("POST", f"/v1/messages/{first['id']}/requeue")).data["id"] == first["id"]
    assert await work.claimed() == []  # its conversation is worked on
    await work.act(next_one, "done")
    (again,) = await work.claimed()
    assert (again["messageId"], again["attempt"]) == (first["id"], 1)
    # Who requeues all that is listed would have it answered once more.
    assert await work.listed(status="dead") == []
    await work.act(again, "done")
    assert await work.listed(status="dead") == []
    assert claim["id"] in await work.listed()


async def test_the_last_lease_that_is_over_tells_both(work: Work, clock: ManualClock) -> None:
    await work.arrive(1)
    for _ in range(2):
        assert await work.claimed()
        clock.forward(LEASE_S)
    assert await work.claimed() == []
    assert [kind for kind, _ in await work.events()] == ["claim.expired", "claim.expired", "claim.dead"]


async def test_what_is_requeued_has_all_attempts_before_it(work: Work) -> None:
    message = await work.arrive(1)
    (claim,) = await work.claimed()
    await work.act(claim, "release")
    api = await work.maild.key("messages:label")
    answer = await api.call("POST", f"/v1/messages/{message['id']}/requeue")
    assert (answer.data["id"], answer.data["subject"], answer.data["textBody"]) == (message["id"], "", None)
    (again,) = await work.claimed()
    assert again["attempt"] == 1


async def test_done_takes_unread_away_and_changes_labels(work: Work) -> None:
    message = await work.arrive(1)
    (claim,) = await work.claimed()
    labels = {"add": ["answered"], "remove": ["x"]}
    done = (await work.act(claim, "done", labels=labels)).data
    assert (done["status"], done["id"]) == ("done", claim["id"])
    assert (await work.api.get(f"/v1/messages/{message['id']}")).data["labels"] == ["answered"]
    assert (await work.act(claim, "done")).data == done  # asked again
    assert await work.claimed() == []


async def test_labels_are_given_to_what_an_answer_has_completed(work: Work) -> None:
    message = await work.arrive(1)
    (claim,) = await work.claimed()
    await work.api.post(
        f"/v1/messages/{message['id']}/reply", {"text": "x", "claimId": claim["id"], "completeClaim": True}
    )
    await work.api.call("PATCH", f"/v1/messages/{message['id']}", {"labels": ["x", "unread"]})
    done = await work.act(claim, "done", labels={"add": ["answered"], "remove": ["x"]})
    assert done.data["status"] == "done"
    assert (await work.api.get(f"/v1/messages/{message['id']}")).data["labels"] == ["unread", "answered"]


async def test_labels_that_can_not_be_given_end_no_claim(work: Work) -> None:
    message = await work.arrive(1)
    await work.api.call("PATCH", f"/v1/messages/{message['id']}", {"labels": [f"l{n}" for n in range(50)]})
    (claim,) = await work.claimed()
    answer = await work.act(claim, "done", labels={"add": ["x"]})
    assert answer.faults == {"labels.add": "too_many"}
    answer = await work.act(claim, "done", labels={"add": ["x"], "remove": ["x"]})
    assert answer.faults == {"labels.remove": "not_allowed"}
    assert await work.listed(status="live") == [claim["id"]]


async def test_a_worker_may_leave_the_bodies_out(work: Work) -> None:
    """As `curl -X POST` does, which names no media type then."""
    await work.arrive(1)
    (claim,) = (await work.api.call("POST", f"{work.path}/claims")).data
    for what, status in (("extend", "live"), ("release", "released")):
        assert (await work.api.call("POST", f"/v1/claims/{claim['id']}/{what}")).data["status"] == status
    (claim,) = await work.claimed()
    assert (await work.api.call("POST", f"/v1/claims/{claim['id']}/done")).data["status"] == "done"


async def test_a_revoked_key_loses_its_claims_at_once(work: Work) -> None:
    await work.arrive(1)
    api = await work.maild.key("messages:label", "messages:read")
    (claim,) = (await work.claim(api, leaseSeconds=3600)).data
    await work.api.call("DELETE", f"/v1/keys/{claim['keyId']}")
    assert (await work.act(claim, "done")).code == "claim_lost"
    assert [one["attempt"] for one in await work.claimed()] == [2]


async def test_a_deleted_message_is_done_and_the_next_follows(work: Work) -> None:
    first, later = await work.arrive(1), await work.arrive(2, thread=1)
    (claim,) = await work.claimed()
    await work.api.call("DELETE", f"/v1/messages/{first['id']}")
    assert (await work.act(claim, "extend")).error["details"]["status"] == "done"
    assert [one["messageId"] for one in await work.claimed()] == [later["id"]]
    await work.api.call("DELETE", f"/v1/messages/{later['id']}")
    assert work.maild.sql("SELECT count(*) FROM work_items") == [(0,)]


async def test_a_deactivated_inbox_ends_its_claims(work: Work) -> None:
    await work.arrive(1)
    (claim,) = await work.claimed()
    await work.api.call("DELETE", work.path)
    assert (await work.act(claim, "extend")).code == "claim_lost"
    assert (await work.claim()).code == "inbox_not_found"
    answer = await work.api.call("POST", f"/v1/messages/{claim['messageId']}/requeue")
    assert answer.code == "inbox_not_found"


# The list ----------------------------------------------------------------------------------------


async def test_claims_are_listed_newest_first(work: Work) -> None:
    other = Work(work.maild, await work.maild.inbox("other"))
    await other.policy(enabled=True)
    for number in (1, 2, 3):
        await work.arrive(number)
    await other.arrive(4)
    made = [*await work.claimed(max=3), *await other.claimed()]
    ids = [one["id"] for one in reversed(made)]
    await work.act(made[1], "done")
    assert await work.listed() == ids
    assert await work.listed(limit="2") == ids[:2]
    assert await work.listed(cursor=ids[1]) == ids[2:]
    assert await work.listed(inboxId=work.inbox["id"]) == ids[1:]
    assert await work.listed(status="done") == [made[1]["id"]]
    assert await work.listed(status="live", inboxId=work.inbox["id"]) == [made[2]["id"], made[0]["id"]]
    bound = await work.maild.key("messages:label", inbox=other.inbox)
    assert [one["id"] for one in (await bound.get("/v1/claims")).data] == [made[3]["id"]]
    assert (await bound.get("/v1/claims", inboxId=work.inbox["id"])).data == []
    strangers = await work.maild.organization()
    assert (await strangers.api.get("/v1/claims", inboxId=work.inbox["id"])).data == []


# The fence ---------------------------------------------------------------------------------------


async def reply(work: Work, message: dict[str, Any], **fields: Any) -> Answer:
    return await work.api.post(f"/v1/messages/{message['id']}/reply", {"text": "thanks", **fields})


def sent(work: Work) -> int:
    count: int = work.maild.sql("SELECT count(*) FROM messages WHERE direction = 'outbound'")[0][0]
    return count


async def test_an_answer_completes_its_claim(work: Work) -> None:
    message = await work.arrive(1)
    (claim,) = await work.claimed()
    assert (await reply(work, message, claimId=claim["id"])).status == 201  # and goes on
    assert await work.listed(status="live") == [claim["id"]]
    assert (await reply(work, message, claimId=claim["id"], completeClaim=True)).status == 201
    assert await work.listed(status="done") == [claim["id"]]
    assert (await work.api.get(f"/v1/messages/{message['id']}")).data["labels"] == []
    late = await reply(work, message, claimId=claim["id"])
    assert (late.status, late.code) == (409, "claim_lost")
    assert late.error["details"] == {"claimId": claim["id"], "status": "done"}
    assert sent(work) == 2
    assert (await work.act(claim, "done")).status == 200


async def test_a_claim_that_is_over_sends_nothing(work: Work, clock: ManualClock) -> None:
    message = await work.arrive(1)
    (claim,) = await work.claimed()
    clock.forward(LEASE_S)
    answer = await reply(work, message, claimId=claim["id"], completeClaim=True)
    assert (answer.code, answer.error["details"]["status"]) == ("claim_lost", "expired")
    assert answer.error["message"].startswith("Nothing was done")
    assert sent(work) == 0


async def test_a_claim_is_of_its_conversation(work: Work) -> None:
    first, other = await work.arrive(1), await work.arrive(2)
    (claim,) = await work.claimed()
    answer = await reply(work, other, claimId=claim["id"], completeClaim=True)
    assert (answer.code, answer.error["details"]["status"]) == ("claim_lost", "live")
    assert (await reply(work, other, claimId="clm_" + "0" * 26)).code == "claim_not_found"
    stranger = await work.maild.organization()
    inbox = (await stranger.api.post("/v1/inboxes", {"username": "theirs"})).data
    their = await work.maild.received(inbox, mail(9), stranger.api)
    answer = await stranger.api.post(
        f"/v1/messages/{their['id']}/reply", {"text": "x", "claimId": claim["id"]}
    )
    assert answer.code == "claim_not_found"
    assert await work.listed(status="live") == [claim["id"]]
    assert (await reply(work, first, claimId=claim["id"])).status == 201


async def test_a_replayed_answer_is_not_refused_by_the_claim_that_it_completed(work: Work) -> None:
    message = await work.arrive(1)
    (claim,) = await work.claimed()
    body = {"text": "x", "claimId": claim["id"], "completeClaim": True}
    path, headers = f"/v1/messages/{message['id']}/reply", {"Idempotency-Key": "k"}
    answers = await asyncio.gather(*(work.api.call("POST", path, body, headers=headers) for _ in range(5)))
    assert sorted(one.status for one in answers) == [200, 200, 200, 200, 201]
    assert sent(work) == 1


async def test_of_two_completing_answers_one_is_sent(work: Work) -> None:
    message = await work.arrive(1)
    (claim,) = await work.claimed()
    answers = await asyncio.gather(
        *(reply(work, message, claimId=claim["id"], completeClaim=True) for _ in range(10))
    )
    assert sorted(one.status for one in answers) == [201] + [409] * 9
    assert sent(work) == 1


async def test_what_a_guard_refuses_completes_nothing(work: Work) -> None:
    message = await work.arrive(1)
    await work.api.post("/v1/suppressions", {"email": "ada@elsewhere.test"})
    (claim,) = await work.claimed()
    answer = await reply(work, message, claimId=claim["id"], completeClaim=True)
    assert answer.code == "recipient_suppressed"
    assert await work.listed(status="live") == [claim["id"]]


async def test_sends_and_drafts_have_the_fence_too(work: Work, clock: ManualClock) -> None:
    message, other = await work.arrive(1), await work.arrive(2)
    first, second = await work.claimed(max=2)
    fields = {"inReplyTo": message["id"], "claimId": first["id"], "completeClaim": True}
    assert (await work.api.send(work.inbox, **fields)).status == 201
    assert (await work.api.send(work.inbox, **fields)).code == "claim_lost"
    draft = (await reply(work, other, asDraft=True, claimId=second["id"], completeClaim=True)).data
    assert (draft["claimId"], draft["completeClaim"]) == (second["id"], True)
    assert await work.listed(status="live") == [second["id"]]
    assert (await work.api.call("POST", f"/v1/drafts/{draft['id']}/send")).status == 201
    assert await work.listed(status="live") == []
    stale = (await reply(work, other, asDraft=True, claimId=second["id"])).data
    assert (await work.api.call("POST", f"/v1/drafts/{stale['id']}/send")).code == "claim_lost"
    cleared = {"claimId": None, "completeClaim": False}
    assert (await work.api.call("PATCH", f"/v1/drafts/{stale['id']}", cleared)).data["claimId"] is None
    assert (await work.api.call("POST", f"/v1/drafts/{stale['id']}/send")).status == 201


async def test_a_scheduled_answer_goes_though_its_claim_is_over(work: Work, clock: ManualClock) -> None:
    await work.policy(1, enabled=True, requireClaim=True)
    message = await work.arrive(1)
    (claim,) = await work.claimed()
    at = iso(clock.now_ms() + 60_000)
    waits = await reply(work, message, claimId=claim["id"], completeClaim=True, sendAt=at)
    assert (waits.status, await work.listed(status="done")) == (201, [claim["id"]])
    clock.forward(60)

    async def gone() -> dict[str, Any] | None:
        found: dict[str, Any] = (await work.api.get(f"/v1/messages/{waits.data['id']}")).data
        return None if found["status"] == "scheduled" else found

    assert (await until(gone))["status"] != "failed"


async def test_answers_may_need_a_claim(work: Work) -> None:
    message = await work.arrive(1)
    await work.policy(1, enabled=True, requireClaim=True)
    answer = await reply(work, message)
    assert (answer.status, answer.code) == (409, "claim_required")
    assert answer.error["details"] == {"inboxId": work.inbox["id"], "threadId": message["threadId"]}
    assert (await work.api.send(work.inbox, inReplyTo=message["id"])).code == "claim_required"
    assert (await work.api.send(work.inbox)).status == 201  # no answer
    body = {"reply": {"messageId": message["id"], "text": "x"}}
    checked = (await work.api.post("/v1/messages/check", body)).data
    assert [one["code"] for one in checked["errors"]] == ["claim_required"]
    (claim,) = await work.claimed()
    assert (await reply(work, message, claimId=claim["id"])).status == 201
    await work.policy(2, requireClaim=True)  # without work there are no claims
    assert (await reply(work, message)).status == 201


@pytest.mark.parametrize(
    ("fields", "faults"),
    [
        ({"claimId": "x"}, {"claimId": "invalid_id"}),
        ({"completeClaim": True}, {"completeClaim": "not_allowed"}),
    ],
)
async def test_faults_of_the_fence(work: Work, fields: dict[str, Any], faults: dict[str, str]) -> None:
    message = await work.arrive(1)
    assert (await reply(work, message, **fields)).faults == faults
    assert (await work.api.send(work.inbox, inReplyTo=message["id"], **fields)).faults == faults
    assert (await work.api.post("/v1/drafts", {"inboxId": work.inbox["id"], **fields})).faults == faults
    no_thread = await work.api.send(work.inbox, claimId="clm_" + "0" * 26)
    assert no_thread.faults == {"claimId": "not_allowed"}
