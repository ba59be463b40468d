"""Suppressions: contract, sections 2 and 4; decisions.md, "Unsubscribe, suppressions"."""

from typing import Any

import pytest

from tests.support.running import Answer, Api, Running

ABSENT = "sup_01m7yg00000000000000000000"


async def add(api: Api, email: str, **fields: Any) -> Answer:
    return await api.post("/v1/suppressions", {"email": email, **fields})


async def emails(api: Api, **params: str) -> list[str]:
    return [one["email"] for one in (await api.get("/v1/suppressions", **params)).data]


async def test_a_new_one_is_complete(maild: Running) -> None:
    answer = await add(maild.api, "you@there.test")
    assert answer.status == 201
    row = answer.data
    assert row["id"].startswith("sup_") and row["createdAt"].endswith("Z")
    assert set(row) == {"id", "email", "reason", "source", "createdAt"}
    assert (row["email"], row["reason"], row["source"]) == ("you@there.test", "manual", "api")


@pytest.mark.parametrize("reason", ["manual", "unsubscribe", "hard_bounce", "complaint"])
async def test_every_reason_is_taken(maild: Running, reason: str) -> None:
    row = (await add(maild.api, "you@there.test", reason=reason)).data
    assert (row["reason"], row["source"]) == (reason, "api")
    assert await emails(maild.api, reason=reason) == ["you@there.test"]


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ({}, {"email": "required"}),
        ({"email": "nobody"}, {"email": "invalid_email"}),
        ({"email": "You <you@there.test>"}, {"email": "invalid_email"}),
        ({"email": "a@b.test\r\nX: y"}, {"email": "invalid_email"}),
        ({"email": None}, {"email": "wrong_type"}),
        ({"email": "a@b.test", "reason": "because"}, {"reason": "not_allowed"}),
        ({"email": "a@b.test", "source": "bounce"}, {"source": "unknown_field"}),
    ],
)  # fmt: skip
async def test_every_fault_is_named(maild: Running, body: Any, faults: dict[str, str]) -> None:
    answer = await maild.api.post("/v1/suppressions", body)
    assert (answer.status, answer.faults) == (400, faults)


async def test_one_that_exists_is_answered_as_it_stands(maild: Running) -> None:
    first = await add(maild.api, "You@There.Test", reason="complaint")
    for email in ("you@there.test", "YOU@THERE.TEST"):
        again = await add(maild.api, email, reason="manual")
        assert (again.status, again.data) == (201, first.data)
    assert len(await emails(maild.api)) == 1


@pytest.mark.parametrize(
    ("stored", "written"),
    [
        ("you@there.test", "YOU@There.TEST"),
        ("ÄÖ@there.test", "äö@there.test"),
        ("a@bücher.test", "a@xn--bcher-kva.test"),
    ],
)  # fmt: skip
async def test_it_stops_a_send_however_it_is_written(
    maild: Running, bot: dict[str, Any], stored: str, written: str
) -> None:
    assert (await add(maild.api, stored)).status == 201
    for where in ("to", "cc", "bcc"):
        lists = {"to": ["fine@there.test"], where: [written]}
        answer = await maild.api.send(bot, **lists)
        assert (answer.status, answer.code) == (422, "recipient_suppressed")
        details = answer.error["details"]
        assert set(details) == {"email", "reason", "source"}
        assert (details["reason"], details["source"]) == ("manual", "api")
    assert len(await emails(maild.api, email=written)) == 1


async def test_who_is_suppressed_is_so_under_every_tag(maild: Running, bot: dict[str, Any]) -> None:
    await add(maild.api, "you@there.test")
    for form in ("you+tag@there.test", "YOU+Tag+more@There.Test"):
        answer = await maild.api.send(bot, to=[form])
        assert (answer.status, answer.code) == (422, "recipient_suppressed")
        assert answer.error["details"]["email"] == "you@there.test"


async def test_a_suppressed_tag_is_that_tag_alone(maild: Running, bot: dict[str, Any]) -> None:
    await add(maild.api, "you+news@there.test")
    assert (await maild.api.send(bot, to=["you@there.test"])).status == 201
    assert (await maild.api.send(bot, to=["you+other@there.test"])).status == 201


async def test_the_list_is_newest_first_in_pages(maild: Running) -> None:
    for number in range(52):
        await add(maild.api, f"n{number}@there.test")
    newest_first = [f"n{number}@there.test" for number in reversed(range(52))]
    page = (await maild.api.get("/v1/suppressions")).data
    assert [one["email"] for one in page] == newest_first[:50]
    assert await emails(maild.api, cursor=page[-1]["id"]) == newest_first[50:]
    assert await emails(maild.api, limit="2") == newest_first[:2]


async def test_filters_hold_together(maild: Running) -> None:
    await add(maild.api, "a@there.test", reason="complaint")
    await add(maild.api, "b@there.test")
    assert await emails(maild.api, reason="complaint") == ["a@there.test"]
    assert await emails(maild.api, reason="manual", email="B@there.test") == ["b@there.test"]
    assert await emails(maild.api, reason="manual", email="a@there.test") == []
    assert await emails(maild.api, email="%@there.test") == []


@pytest.mark.parametrize(
    ("params", "faults"),
    [
        ({"limit": "0"}, {"limit": "out_of_range"}),
        ({"limit": "101"}, {"limit": "out_of_range"}),
        ({"reason": "spam"}, {"reason": "not_allowed"}),
        ({"cursor": "msg_01m7yg00000000000000000000"}, {"cursor": "invalid_cursor"}),
        ({"source": "api"}, {"source": "unknown_field"}),
    ],
)  # fmt: skip
async def test_the_lists_faults_are_named(maild: Running, params: dict[str, str], faults: Any) -> None:
    assert (await maild.api.get("/v1/suppressions", **params)).faults == faults


async def test_a_removed_one_lets_mail_pass(maild: Running, bot: dict[str, Any]) -> None:
    row = (await add(maild.api, "you@there.test")).data
    answer = await maild.api.call("DELETE", f"/v1/suppressions/{row['id']}")
    assert (answer.status, answer.data) == (200, {"id": row["id"], "status": "deleted"})
    assert (await maild.api.send(bot, to=["you@there.test"])).status == 201
    again = await maild.api.call("DELETE", f"/v1/suppressions/{row['id']}")
    assert (again.status, again.code) == (404, "suppression_not_found")


async def test_other_organizations_are_not_touched(maild: Running) -> None:
    stranger = await maild.organization()
    mine = (await add(maild.api, "you@there.test")).data
    theirs = (await add(stranger.api, "you@there.test", reason="complaint")).data
    assert mine["id"] != theirs["id"]
    foreign = await stranger.api.call("DELETE", f"/v1/suppressions/{mine['id']}")
    absent = await stranger.api.call("DELETE", f"/v1/suppressions/{ABSENT}")
    assert (foreign.status, foreign.code, foreign.body) == (404, "suppression_not_found", absent.body)
    assert await emails(maild.api) == ["you@there.test"]
    assert await emails(stranger.api, reason="manual") == []
