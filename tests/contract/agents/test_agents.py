"""Agents, additive: decisions.md, "Agents"."""

from typing import Any

import pytest

from storage.agents import agents
from tests.support.running import Answer, Api, Running

ABSENT = "agt_01m7yg00000000000000000000"


async def create(api: Api, name: str = "Researcher") -> dict[str, Any]:
    made: dict[str, Any] = (await api.post("/v1/agents", {"name": name})).data
    return made


async def delete(api: Api, agent_id: str) -> Answer:
    return await api.call("DELETE", f"/v1/agents/{agent_id}")


async def test_a_new_agent_is_complete(maild: Running) -> None:
    answer = await maild.api.post("/v1/agents", {"name": "Researcher"})
    assert answer.status == 201
    agent = answer.data
    assert agent["id"].startswith("agt_") and agent["createdAt"].endswith("Z")
    assert agent == {
        "id": agent["id"],
        "organizationId": maild.organization_id,
        "name": "Researcher",
        "createdAt": agent["createdAt"],
    }
    assert (await maild.api.get(f"/v1/agents/{agent['id']}")).data == agent


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ({}, {"name": "required"}),
        ({"name": ""}, {"name": "too_short"}),
        ({"name": "n" * 101}, {"name": "too_long"}),
        ({"name": "a\tb"}, {"name": "control_character"}),
        ({"name": "n", "id": "agt_1"}, {"id": "unknown_field"}),
    ],
)  # fmt: skip
async def test_every_fault_is_named(maild: Running, body: Any, faults: dict[str, str]) -> None:
    answer = await maild.api.post("/v1/agents", body)
    assert (answer.status, answer.faults) == (400, faults)


async def test_the_list_is_newest_first_in_pages(maild: Running) -> None:
    made = [await create(maild.api, str(number)) for number in range(3)]
    assert (await maild.api.get("/v1/agents")).data == made[::-1]
    assert (await maild.api.get("/v1/agents", limit="1")).data == made[2:]
    assert (await maild.api.get("/v1/agents", cursor=made[1]["id"])).data == made[:1]


async def test_an_inbox_takes_a_known_agent_alone(maild: Running) -> None:
    agent = await create(maild.api)
    assert (await maild.inbox("one", agentId=agent["id"]))["agentId"] == agent["id"]
    foreign = await create((await maild.organization()).api)
    for agent_id in (foreign["id"], ABSENT, "x"):
        answer = await maild.api.post("/v1/inboxes", {"username": "two", "agentId": agent_id})
        assert (answer.status, answer.code) == (404, "agent_not_found")


async def test_inboxes_outlive_their_agent(maild: Running) -> None:
    agent, other = await create(maild.api), await create(maild.api)
    await maild.inbox("one", agentId=agent["id"])
    await maild.inbox("two", agentId=other["id"])
    answer = await delete(maild.api, agent["id"])
    assert (answer.status, answer.data) == (200, {"id": agent["id"], "status": "deleted"})
    inboxes = {one["username"]: one for one in (await maild.api.get("/v1/inboxes")).data}
    assert (inboxes["one"]["agentId"], inboxes["two"]["agentId"]) == (None, other["id"])
    for gone in (await maild.api.get(f"/v1/agents/{agent['id']}"), await delete(maild.api, agent["id"])):
        assert (gone.status, gone.code) == (404, "agent_not_found")


async def test_many_inboxes_part_from_their_agent_in_slices(
    maild: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between which others write."""
    monkeypatch.setattr(agents, "PARTED_AT_ONCE", 2)
    gone, kept = await create(maild.api), await create(maild.api, "Writer")
    with_agents = [
        (
            await maild.api.post(
                "/v1/inboxes", {"username": f"u{n}", "agentId": (kept if n == 5 else gone)["id"]}
            )
        ).data
        for n in range(6)
    ]
    units: list[int] = []
    part = agents.part

    def noted(*given: Any) -> int:
        units.append(part(*given))
        return units[-1]

    monkeypatch.setattr(agents, "part", noted)
    assert (await delete(maild.api, gone["id"])).status == 200
    assert units == [2, 2, 1, 0]  # the last with the agent itself
    shown = [(await maild.api.get(f"/v1/inboxes/{one['id']}")).data["agentId"] for one in with_agents]
    assert shown == [None] * 5 + [kept["id"]]


async def test_agents_of_others_are_not_found(maild: Running) -> None:
    stranger = await maild.organization()
    agent = await create(maild.api)
    assert (await stranger.api.get("/v1/agents")).data == []
    for agent_id in (agent["id"], ABSENT, "x", "%00"):
        for answer in (
            await stranger.api.get(f"/v1/agents/{agent_id}"),
            await delete(stranger.api, agent_id),
        ):
            assert (answer.status, answer.code) == (404, "agent_not_found")
    assert (await maild.api.get(f"/v1/agents/{agent['id']}")).data == agent


async def test_a_bound_key_sees_the_agent_of_its_inbox(maild: Running) -> None:
    mine, other = await create(maild.api, "mine"), await create(maild.api, "other")
    bound = await maild.key(inbox=await maild.inbox("bot", agentId=mine["id"]))
    assert (await bound.get("/v1/agents")).data == [mine]
    assert (await bound.get(f"/v1/agents/{mine['id']}")).data == mine
    assert (await bound.get(f"/v1/agents/{other['id']}")).code == "agent_not_found"
    assert (await bound.post("/v1/agents", {"name": "more"})).code == "insufficient_scope"
    assert (await delete(bound, mine["id"])).code == "insufficient_scope"
    without = await maild.key(inbox=await maild.inbox("plain"))
    assert (await without.get("/v1/agents")).data == []
