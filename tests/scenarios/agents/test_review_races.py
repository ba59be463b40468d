"""Somebody approves what another takes back, rejects, or lets expire at the same moment: one wins, one message goes."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from controlplane.sending.reviews.review_desk import ReviewKeeper
from tests.conftest import Start
from tests.support.running import Answer, Running, until
from tests.support.worlds.holding import held as arrived
from tests.support.worlds.holding import hold, mail
from tests.support.worlds.reviewing import Held
from tests.support.worlds.store import ManualClock

AT_ONCE = 50
ROUNDS = 10
EXPIRES_S = 60


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_795_219_200_000)


@pytest.fixture
async def held(start: Start, clock: ManualClock) -> Held:
    maild = await start(clock=clock)
    held = await Held.make(maild)
    await held.timing(expiresAfterSeconds=EXPIRES_S)
    return held


def in_queue(maild: Running, message_id: str) -> int:
    return int(maild.sql("SELECT count(*) FROM recipients WHERE message_id = ?", message_id)[0][0])


def resolved(maild: Running, message_id: str) -> int:
    """How many events told that it was decided."""
    return int(
        maild.sql(
            "SELECT count(*) FROM events WHERE type = 'review.resolved' AND message_id = ?", message_id
        )[0][0]
    )


def keeper_of(maild: Running) -> ReviewKeeper:
    return next(one for one in maild.daemon._supervisor._services if isinstance(one, ReviewKeeper))


async def test_fifty_approvals_are_one_message(held: Held) -> None:
    sent = await held.held()
    body = {"contentHash": (await held.review(sent))["contentHash"]}
    path = f"/v1/reviews/{sent['review']['id']}/approve"
    answers = await asyncio.gather(*(held.reviewer.post(path, body) for _ in range(AT_ONCE)))
    assert Counter(one.code for one in answers) == {"": 1, "review_resolved": AT_ONCE - 1}
    assert (in_queue(held.maild, sent["id"]), resolved(held.maild, sent["id"])) == (1, 1)
    assert held.maild.sql("SELECT value FROM usage WHERE length(period) = 10") == [(1,)]


async def test_of_all_that_end_it_one_wins(held: Held, clock: ManualClock) -> None:
    """Approvals, rejections, withdrawals, deletes and the end of its time, fifty at once."""
    winners: Counter[str] = Counter()
    for _ in range(ROUNDS):
        sent = await held.held()
        content_hash = (await held.review(sent))["contentHash"]
        path, message = f"/v1/reviews/{sent['review']['id']}", f"/v1/messages/{sent['id']}"

        async def approve(path: str = path, content_hash: str = content_hash) -> Answer:
            return await held.reviewer.post(f"{path}/approve", {"contentHash": content_hash})

        async def reject(path: str = path) -> Answer:
            return await held.reviewer.post(f"{path}/reject", {})

        async def withdraw(message: str = message) -> Answer:
            return await held.agent.call("POST", f"{message}/withdraw")

        clock.forward(EXPIRES_S)
        calls = [call() for call in (approve, withdraw, reject) * (AT_ONCE // 3)]
        answers, *_ = await asyncio.gather(asyncio.gather(*calls), keeper_of(held.maild).round())
        status = (await held.review(sent))["status"]
        succeeded = [one for one in answers if one.status == 200]
        assert len(succeeded) == (0 if status == "expired" else 1), status
        assert {one.code for one in answers} - {""} <= {"review_resolved", "not_held"}
        shown = await held.message(sent)
        assert shown["status"] == {"approved": "queued", "withdrawn": "cancelled"}.get(status, "failed")
        assert in_queue(held.maild, sent["id"]) == (status == "approved")
        assert resolved(held.maild, sent["id"]) == 1
        winners[status] += 1
    print(winners)


async def test_an_end_that_comes_too_late_changes_nothing(held: Held) -> None:
    """Somebody decided, or deleted the message, after the keeper had looked."""
    sent = await held.held()
    before = await held.approve(sent)
    keeper, organization_id = keeper_of(held.maild), held.maild.organization_id
    for review_id in (sent["review"]["id"], "rev_gone"):
        assert await keeper._db.write(keeper._reviewing.expire, organization_id, review_id) is None
    assert (await held.review(sent))["status"] == before.data["status"] == "approved"


async def test_mail_that_came_in_arrives_once_or_never(held: Held, clock: ManualClock) -> None:
    await hold(held.maild, held.inbox, "unverified")
    for number in range(ROUNDS):
        review = await arrived(held.maild, held.inbox, mail(f"number {number}"))
        path = f"/v1/reviews/{review['id']}"
        body = {"contentHash": (await held.reviewer.get(path)).data["contentHash"]}
        clock.forward(EXPIRES_S)
        calls = [
            held.reviewer.post(f"{path}/{verb}", given)
            for verb, given in (("approve", body), ("reject", {})) * (AT_ONCE // 2)
        ]
        answers, *_ = await asyncio.gather(asyncio.gather(*calls), keeper_of(held.maild).round())
        status = (await held.reviewer.get(path)).data["status"]
        assert [one.status for one in answers].count(200) == (0 if status == "expired" else 1), status
        seen = [one["id"] for one in await held.maild.api.messages(inboxId=held.inbox["id"])]
        assert seen.count(review["messageId"]) == (status == "approved")
        told = held.maild.sql(
            "SELECT count(*) FROM events WHERE type = 'email.received' AND message_id = ?",
            review["messageId"],
        )
        assert told == [(int(status == "approved"),)]


async def test_who_deletes_it_meanwhile_wins_or_loses_as_a_whole(held: Held) -> None:
    for _ in range(ROUNDS):
        sent = await held.held()
        body = {"contentHash": (await held.review(sent))["contentHash"]}
        path = f"/v1/reviews/{sent['review']['id']}/approve"
        approvals = [held.reviewer.post(path, body) for _ in range(4)]
        deleted = held.agent.call("DELETE", f"/v1/messages/{sent['id']}")
        *answers, gone = await asyncio.gather(*approvals, deleted)
        assert gone.status == 200
        status = (await held.review(sent))["status"]
        assert [one.status for one in answers].count(200) == (status == "approved")
        assert status in ("approved", "withdrawn")
        assert in_queue(held.maild, sent["id"]) == 0  # deleting drops what was not sent yet


async def test_what_reaches_the_recipient_is_what_was_shown(held: Held) -> None:
    """Others send, withdraw and approve meanwhile: each approval lets its own message go, byte for byte."""
    colleague = await held.maild.inbox("colleague")

    async def one(number: int) -> None:
        sent = await held.held(to=[colleague["address"]], subject=str(number), text=f"words of {number}")
        shown = await held.review(sent)
        if number % 3 == 0:
            assert (await held.withdraw(sent)).status == 200
            return
        answer = await held.approve(sent, contentHash=shown["contentHash"])
        assert answer.status == 200
        assert (await held.review(sent))["contentHash"] == shown["contentHash"]

    await asyncio.gather(*(one(number) for number in range(AT_ONCE)))

    async def delivered() -> list[dict[str, Any]] | None:
        found = await held.maild.api.messages(inboxId=colleague["id"], limit="100")
        return found if len(found) == sum(number % 3 != 0 for number in range(AT_ONCE)) else None

    for message in await until(delivered):
        assert message["snippet"] == f"words of {message['subject']}"
        assert int(message["subject"]) % 3
