"""What is scheduled, of whomever: the operator sees it and cancels it, beside a daemon. After a restore nobody else can
say that it has left already."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.conftest import Start
from tests.support.clients.hands import Hands
from tests.support.running import Organization, Running


@pytest.fixture
async def maild(start: Start) -> Running:
    return await start()


@pytest.fixture
async def hands(maild: Running, tmp_path: Path) -> Hands:
    return Hands(maild, tmp_path, "queue")


async def scheduled(maild: Running, customer: Organization, days: int, **fields: object) -> str:
    inbox = await maild.inbox(f"bot{days}", customer.api)
    at = (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="seconds")
    made = await customer.api.post(
        "/v1/messages/send", {"inboxId": inbox["id"], "subject": "x", "text": "x", "sendAt": at, **fields}
    )
    assert made.data["status"] == "scheduled"
    return str(made.data["id"])


async def test_what_customers_scheduled_is_listed_the_next_first(maild: Running, hands: Hands) -> None:
    one, other = await maild.organization(), await maild.organization()
    late = await scheduled(maild, one, 3, to=["a@one.test"], cc=["b@one.test"], bcc=["c@one.test"])
    soon = await scheduled(maild, other, 2, to=["d@two.test"])
    listed = (await hands("scheduled"))["messages"]
    assert [(row["messageId"], row["organizationId"], row["recipients"]) for row in listed] == [
        (soon, other.id, ["d@two.test"]),
        (late, one.id, ["a@one.test", "b@one.test", "c@one.test"]),
    ]
    assert listed[0]["scheduledAt"] < listed[1]["scheduledAt"]
    assert [row["messageId"] for row in (await hands("scheduled", "--org", one.id))["messages"]] == [late]
    assert f"{soon}  {other.id}  " in await hands.text("scheduled")
    short = await hands("scheduled", "--limit", "1")
    assert ([row["messageId"] for row in short["messages"]], short["more"]) == ([soon], True)
    assert (
        "there is no organization org_nobody" in (await hands.run("scheduled", "--org", "org_nobody")).error
    )


async def test_what_the_operator_cancels_does_not_leave(maild: Running, hands: Hands) -> None:
    customer = await maild.organization()
    message_id = await scheduled(maild, customer, 2, to=["a@one.test"])
    done = await hands("cancel", message_id)
    assert done == {"messageId": message_id, "changed": True, "status": "cancelled"}
    assert (await customer.api.get(f"/v1/messages/{message_id}")).data["status"] == "cancelled"
    assert (await hands("scheduled"))["messages"] == []
    assert "nothing is scheduled" in (await hands.run("scheduled")).error
    (row,) = (await customer.api.get("/v1/audit", types="message.cancelled")).data
    assert (row["subject"], row["actor"]) == (message_id, "operator")


async def test_what_is_not_scheduled_is_left_as_it_is(maild: Running, hands: Hands) -> None:
    customer = await maild.organization()
    inbox = await maild.inbox("bot", customer.api)
    sent = (await customer.api.send(inbox["id"], to=["a@one.test"])).data["id"]
    assert await hands("cancel", sent) == {"messageId": sent, "changed": False, "status": "queued"}
    assert "there is no message msg_none" in (await hands.run("cancel", "msg_none")).error
