"""The operator's hands on the queue: what waits is listed, tried now, held, released and dropped, beside a daemon."""

import json
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from conf.tuning import QueueTuning, Tuning
from maild.commands.store_commands import REST_MIN_S
from maild.message.delivery_evidence import Evidence, HostEvidence, pack
from storage.clock import Clock
from storage.engine.tx import Tx
from storage.sending import queue_selection
from storage.sending.queue_selection import FoundForChange, QueueSelection
from tests.conftest import Start
from tests.support.clients.hands import Hands
from tests.support.running import Running, until

HOUR_S = 3600


@pytest.fixture
async def maild(start: Start) -> AsyncIterator[Running]:
    """Nothing can be delivered: no nameserver answers, so all recipients are deferred for an hour."""
    tuning = Tuning(queue=QueueTuning(look_again_s=0.02))
    yield await start(outbound={"first_retry_s": HOUR_S}, tuning=tuning)


@pytest.fixture
async def hands(maild: Running, tmp_path: Path) -> Hands:
    return Hands(maild, tmp_path, "queue")


async def waiting(maild: Running, *to: str) -> str:
    """A message of ours whose recipients have been deferred once."""
    inbox = (await maild.api.get("/v1/inboxes")).data[0]
    made = (await maild.api.send(inbox["id"], to=list(to))).data

    async def are_deferred() -> bool | None:
        return set(await statuses(maild, made["id"])) == {"deferred"} or None

    await until(are_deferred)
    return str(made["id"])


async def statuses(maild: Running, message_id: str) -> list[str]:
    shown = (await maild.api.get(f"/v1/messages/{message_id}")).data
    return [one["status"] for one in shown["recipients"]]


async def attempts(maild: Running, message_id: str) -> list[int]:
    shown = (await maild.api.get(f"/v1/messages/{message_id}")).data
    return [one["attempts"] for one in shown["recipients"]]


async def test_what_waits_is_listed_by_what_is_asked(maild: Running, hands: Hands) -> None:
    await maild.inbox("bot")
    first = await waiting(maild, "a@one.test", "b@two.test")
    second = await waiting(maild, "c@one.test")
    listed = (await hands("list", "--destination", "ONE.test"))["recipients"]
    assert sorted((one["messageId"], one["address"]) for one in listed) == [
        (first, "a@one.test"),
        (second, "c@one.test"),
    ]
    assert {one["status"] for one in listed} == {"deferred"}
    assert listed[0]["attempts"] == 1 and "DNS does not answer" in listed[0]["response"]
    assert len((await hands("list", "--message", first))["recipients"]) == 2
    assert "there is no organization org_nobody" in (await hands.run("list", "--org", "org_nobody")).error
    short = await hands("list", "--all", "--limit", "1")
    assert (len(short["recipients"]), short["more"]) == (1, True)
    assert (
        "and more, which --limit beyond 1 shows" in (await hands.run("list", "--all", "--limit", "1")).error
    )
    assert (await hands("list", "--all", "--limit", "3"))["more"] is False
    assert "and more" not in (await hands.run("list", "--all", "--limit", "3")).error
    assert "b@two.test" in await hands.text("list", "--message", first)
    shown = await hands("show")
    assert [(one["destination"], one["waiting"]) for one in shown["destinations"]] == [
        ("one.test", 2),
        ("two.test", 1),
    ]
    assert "2  one.test, next 20" in await hands.text("show")


async def test_attempts_are_shown_with_what_was_said(maild: Running, hands: Hands) -> None:
    message_id = await waiting(maild, "you@there.test")
    shown = (await maild.api.get(f"/v1/messages/{message_id}/attempts")).data
    assert await hands("attempts", message_id) == {"status": "queued", "reviewId": None, "attempts": shown}
    assert (await hands.text("attempts", message_id)).splitlines() == [
        f"{shown[0]['createdAt']}  you@there.test  1: deferred  451 4.4.3 {shown[0]['response']}",
        "  ended at dns",
    ]
    host = HostEvidence(
        "mx.there.test", "192.0.2.1", 25, False, "mta-sts", "verify", "envelope", (), False, "192.0.2.9",
        "mail.ours.test", "TLSv1.3", "AES", "webpki", "connection lost", "S: 220 hm\nC: EHLO mail.ours.test",
    )  # fmt: skip
    evidence = pack(Evidence("envelope", 1, (host,), (("mx2.there.test", "no address"),)))
    maild.sql("UPDATE delivery_evidence SET evidence = ?", evidence)
    assert (await hands.text("attempts", message_id)).splitlines()[1:] == [
        "  mx2.there.test was not tried: no address",
        "  mx.there.test [192.0.2.1]:25, TLSv1.3 AES, policy mta-sts (verify), ended at envelope",
        "    S: 220 hm",
        "    C: EHLO mail.ours.test",
        "    connection lost",
    ]
    assert "there is no message msg_none" in await hands.refused("attempts", "msg_none")


async def test_a_message_that_nobody_tried_says_why(maild: Running, hands: Hands) -> None:
    """It is in no queue: an empty answer would leave an operator to guess."""
    bot = await maild.inbox("bot")
    await maild.api.call("PUT", "/v1/organization/policy", {"version": 0, "outbound": {"review": "external"}})
    held = (await maild.api.send(bot, to=["you@there.test"])).data
    said = (await hands.run("attempts", held["id"])).error
    assert said == f"no attempt: the message is held; look at review {held['review']['id']}\n"
    review_id = held["review"]["id"]
    assert await hands("attempts", held["id"]) == {"status": "held", "reviewId": review_id, "attempts": []}
    await maild.api.call("POST", f"/v1/messages/{held['id']}/withdraw")
    assert (await hands.run("attempts", held["id"])).error == "no attempt: the message is cancelled\n"


async def test_a_retry_is_tried_now_and_what_is_held_waits(maild: Running, hands: Hands) -> None:
    await maild.inbox("bot")
    held = await waiting(maild, "a@one.test")
    other = await waiting(maild, "b@two.test")
    assert await hands("hold", "--message", held) == {"recipients": 1}
    assert await hands("hold", "--message", held) == {"recipients": 0}
    assert (await hands("list", "--all"))["recipients"][0]["status"] == "held"
    shown = (await maild.api.get(f"/v1/messages/{held}")).data["recipients"][0]
    assert (shown["status"], shown["nextAttemptAt"]) == ("deferred", None)
    assert await hands("retry", "--all") == {"recipients": 1}

    async def tried(message_id: str = other) -> bool | None:
        return await attempts(maild, message_id) == [2] or None

    await until(tried)
    assert await attempts(maild, held) == [1]
    assert await hands("release", "--destination", "one.test") == {"recipients": 1}
    await until(lambda: tried(held))


async def test_a_drop_fails_with_all_that_follows(maild: Running, hands: Hands) -> None:
    await maild.inbox("bot")
    message_id = await waiting(maild, "a@one.test", "b@two.test")
    assert await hands("drop", "--message", message_id, "--destination", "one.test") == {"recipients": 1}
    assert await statuses(maild, message_id) == ["failed", "deferred"]
    assert await hands("drop", "--all") == {"recipients": 1}
    shown = (await maild.api.get(f"/v1/messages/{message_id}")).data
    assert (shown["status"], shown["failureReason"]) == ("failed", "dropped")
    assert {one["response"] for one in shown["recipients"]} == {"the operator took it out of the queue"}
    failed = (await maild.api.get("/v1/events", types="email.failed")).data
    assert [one["data"]["messageId"] for one in failed] == [message_id]
    organization = (await maild.api.get("/v1/organization")).data
    assert organization["usage"]["messagesDaily"] == 0  # it never left: the quota is back
    assert (await maild.api.get("/v1/suppressions")).data == []


async def waiting_at_many(maild: Running, count: int) -> str:
    """A message as `waiting` gives, with so many more recipients at many.test, whose next attempt is in HOUR_S."""
    inbox = await maild.inbox("bot")
    message_id = await waiting(maild, "a@one.test")
    far_ms = Clock().now_ms() + HOUR_S * 1000
    maild.sql(
        """INSERT INTO recipients (message_id, position, organization_id, address, domain, kind, status,
             next_attempt_at, expires_at)
           WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
           SELECT ?, i, ?, 'u' || i || '@many.test', 'many.test', 'to', 'queued', ?, ? FROM n""",
        count,
        message_id,
        inbox["organizationId"],
        far_ms,
        far_ms,
    )
    return message_id


async def test_a_long_drop_goes_by_small_units_and_lets_the_daemon_write_in_between(
    maild: Running, hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A unit ends with the fifty in which its time is over; a thousand of them held up everybody's mail."""
    await waiting_at_many(maild, 250)
    rests: list[float] = []
    monkeypatch.setattr("maild.commands.outbound_queue.DROPPING_S", 0)
    monkeypatch.setattr("maild.commands.store_commands.rest", rests.append)
    assert await hands("drop", "--destination", "many.test") == {"recipients": 250}
    told = "(SELECT type FROM audit UNION ALL SELECT type FROM audit_waiting)"
    dropped = maild.sql(f"SELECT count(*) FROM {told} WHERE type = 'queue.dropped'")
    assert (dropped, len(rests)) == ([(5,)], 5)
    assert min(rests) >= REST_MIN_S


async def test_a_unit_of_a_drop_goes_on_while_it_has_time(
    maild: Running, hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transaction for each fifty waited longer for the disk, and for the daemon, than it took."""
    await waiting_at_many(maild, 250)
    monkeypatch.setattr("maild.commands.outbound_queue.DROPPING_S", 60)
    assert await hands("drop", "--destination", "many.test") == {"recipients": 250}
    told = "(SELECT type, details FROM audit UNION ALL SELECT type, details FROM audit_waiting)"
    dropped = maild.sql(f"SELECT details FROM {told} WHERE type = 'queue.dropped'")
    assert [json.loads(one) for (one,) in dropped] == [{"recipients": 250}]


async def test_nothing_leaves_while_it_is_dropped(
    maild: Running, hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A drop takes seconds: what waited at its end had the time to be delivered."""
    message_id = await waiting_at_many(maild, 120)
    may_leave: list[int] = []

    def count(_: float) -> None:
        sql = "SELECT count(*) FROM recipients WHERE domain = 'many.test' AND next_attempt_at IS NOT NULL"
        ((found,),) = maild.sql(sql)
        may_leave.append(found)

    monkeypatch.setattr("maild.commands.store_commands.rest", count)
    monkeypatch.setattr("maild.commands.outbound_queue.DROPPING_S", 0)
    assert await hands("drop", "--destination", "many.test") == {"recipients": 120}
    assert may_leave == [0, 0]
    assert await statuses(maild, message_id) == ["deferred", *["failed"] * 120]


async def test_what_stands_in_front_is_looked_through_while_others_write(
    maild: Running, hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of hundreds of thousands that are not selected: a third of a second, in each thousand that was changed."""
    message_id = await waiting_at_many(maild, 2500)
    looks: list[int] = []
    found = queue_selection.found

    def find(tx: Tx, *arguments: Any) -> FoundForChange:
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            tx.run("UPDATE recipients SET attempts = attempts")
        answer = found(tx, *arguments)
        looks.append(len(answer.parts))
        if len(looks) == 1:  # what is being delivered by now, or was, is not touched
            maild.sql("UPDATE recipients SET lease = 'run_1' WHERE position IN (7, 1700)")
            maild.sql("UPDATE recipients SET status = 'sent', next_attempt_at = NULL WHERE position = 8")
        return answer

    monkeypatch.setattr(queue_selection, "FOUND_AT_ONCE", 2000)
    monkeypatch.setattr(queue_selection, "found", find)
    assert await hands("hold", "--destination", "many.test") == {"recipients": 2497}
    assert looks == [2, 1]
    touched = (
        "SELECT position FROM recipients WHERE domain = 'many.test' AND held_at IS NULL ORDER BY position"
    )
    assert maild.sql(touched) == [(7,), (8,), (1700,)]
    assert maild.sql("SELECT held_at FROM recipients WHERE domain = 'one.test'") == [(None,)]
    assert (await statuses(maild, message_id))[8] == "sent"


async def test_what_is_being_delivered_is_left_alone_and_told(maild: Running, hands: Hands) -> None:
    message_id = await waiting(maild, "a@one.test", "b@two.test")
    maild.sql("UPDATE recipients SET lease = 'run_1' WHERE domain = 'one.test'")
    for verb in ("hold", "drop"):
        ended = await hands.run(verb, "--destination", "one.test")
        assert "recipients: 0" in ended.text
        assert "being delivered at this moment, and left alone: 1" in ended.error
    ended = await hands.run("drop", "--destination", "two.test")
    assert "recipients: 1" in ended.text and "delivered" not in ended.error
    assert await statuses(maild, message_id) == ["deferred", "failed"]


async def test_many_are_changed_a_thousand_at_a_time(maild: Running, hands: Hands) -> None:
    inbox = await maild.inbox("bot")
    message_id = await waiting(maild, "a@one.test")
    soon_ms = Clock().now_ms() + 600_000
    maild.sql(
        """INSERT INTO recipients (message_id, position, organization_id, address, domain, kind, status,
             next_attempt_at, expires_at)
           WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
           SELECT ?, i, ?, 'u' || i || '@many.test', 'many.test', 'to', 'queued', ?, ? FROM n""",
        message_id,
        inbox["organizationId"],
        soon_ms,
        soon_ms,
    )
    assert await hands("hold", "--destination", "many.test") == {"recipients": 2500}
    assert await hands("hold", "--destination", "many.test") == {"recipients": 0}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["drop"], "say which: --message, --org, --destination"),
        (["retry", "--all", "--org", "org_1"], "say which"),
        (["hold", "--destination", "\u2024"], "is no domain name"),
        (["retry", "--destination", "you@there.test"], "is no domain name"),
        (["drop", "--destination", "a.test,b.test"], "is no domain name"),
        (["list", "--destination", "*.test"], "is no domain name"),
        (["list", "--destination", ""], "say which"),
    ],
)
async def test_nothing_is_changed_by_mistake(hands: Hands, arguments: list[str], says: str) -> None:
    assert says in await hands.refused(*arguments)


async def test_who_waits_for_a_long_change_hears_after_each_transaction_how_far_it_is(
    maild: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    await maild.inbox("bot")
    monkeypatch.setattr(queue_selection, "ROWS_AT_ONCE", 2)
    message_id = await waiting(maild, "a@one.test", "b@one.test", "c@one.test")
    heard: list[tuple[str, int]] = []
    await maild.operate(
        maild.store.queue.change,
        "drop",
        QueueSelection(message_id),
        lambda step, recipients: heard.append((step, recipients)),
    )
    assert heard == [("hold", 2), ("hold", 3), ("drop", 2), ("drop", 3)]
