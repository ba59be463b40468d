"""Which tools a key sees at POST /mcp, how they are described, and that what is hidden is not there (L4, L16)."""

import inspect
import json
import re
import warnings
from typing import Any

import pytest

from controlplane.contract.refusals import MESSAGES
from controlplane.contract.scopes import ALL, MAIL_SCOPES
from controlplane.mcp import account_tools, reading_tools, refused, sending_tools
from controlplane.mcp.tools import TOOLS
from controlplane.operations.table import OPERATIONS
from tests.conftest import on_shared
from tests.support.clients.mcp import ERAS, Mcp, RpcError
from tests.support.laws.words import ROOT
from tests.support.running import Api, Running

with warnings.catch_warnings(
    action="ignore", category=DeprecationWarning
):  # it opens its vocabularies the old way
    from bpe_openai import get_encoding

    O200K = get_encoding("o200k_base")

READING = ["find_messages", "read_message", "get_attachment", "wait_for_message", "get_verification_code"]
# Refusals whose text says what to do already; and those of what no tool asks for.
SAY_IT_THEMSELVES = {
    "apex_domain_reserved", "username_reserved", "sandbox_bulk_not_allowed", "email_delivery_failed",
}  # fmt: skip
NOT_OF_TOOLS = {
    "agent_not_found", "attachments_not_schedulable", "idempotency_conflict", "not_found", "range_not_satisfiable",
}  # fmt: skip
ANSWERING = ["reply", "check_message", "cancel_message"]
SENDING = ["reply", "send_message", "forward_message", "check_message", "cancel_message"]
WORK = ["claim_work", "finish_work"]
SEVERAL = ["list_inboxes", "create_inbox"]
EVERYTHING = [
    "whoami", "find_messages", "read_thread", "read_message", "get_attachment", "wait_for_message",
    "get_verification_code", "reply", "send_message", "forward_message", "check_message", "cancel_message",
    "label_messages", *WORK, *SEVERAL,
]  # fmt: skip
DECIDING = "approve reject review rule polic key domain webhook suppress delete audit".split()


def without(names: list[str], *gone: str) -> list[str]:
    return [name for name in names if name not in gone]


def those(*names: str) -> list[str]:
    return [name for name in EVERYTHING if name == "whoami" or name in names]


MATRIX: list[tuple[tuple[str, ...], bool, list[str]]] = [
    ((ALL,), False, without(EVERYTHING, *WORK)),
    (MAIL_SCOPES, True, without(EVERYTHING, *WORK, *SEVERAL)),
    (MAIL_SCOPES, False, without(EVERYTHING, *WORK, "create_inbox")),
    (("messages:read",), False, those(*READING)),
    (("threads:read",), False, those()),
    (("threads:read", "messages:read"), True, those(*READING, "read_thread")),
    (("messages:send",), False, those(*SENDING, "label_messages")),
    (("messages:reply",), True, those(*ANSWERING, "label_messages")),
    (("messages:label",), True, those("label_messages")),
    (("messages:*",), False, those(*READING, *SENDING, "label_messages")),
    (("inboxes:*",), False, those(*SEVERAL)),
    (("inboxes:read",), True, those()),
    (("keys:read", "domains:*", "webhooks:*", "policies:*"), False, those()),
]


async def key_of(maild: Running, scopes: tuple[str, ...], bot: dict[str, Any], is_bound: bool) -> Api:
    return await maild.key(*scopes, inbox=bot if is_bound else None)


@on_shared
@pytest.mark.parametrize(("scopes", "is_bound", "seen"), MATRIX)
async def test_a_key_sees_what_its_scopes_allow_and_nothing_else_is_there(
    shared: Running, shared_bot: dict[str, Any], scopes: tuple[str, ...], is_bound: bool, seen: list[str]
) -> None:
    api = await key_of(shared, scopes, shared_bot, is_bound)
    for era in ERAS:
        mcp = Mcp(api, era)
        assert list(await mcp.tools()) == seen
        for name in without(EVERYTHING, *seen):
            with pytest.raises(RpcError) as hidden:
                await mcp.call(name)
            with pytest.raises(RpcError) as unknown:
                await mcp.call("nope")
            assert hidden.value.code == -32602
            assert hidden.value.answer.json["error"] == unknown.value.answer.json["error"]


@on_shared
async def test_a_tool_that_is_seen_can_be_called(shared: Running, shared_bot: dict[str, Any]) -> None:
    """Whatever it then says: no key sees a tool that its scopes don't reach."""
    for scopes, is_bound, seen in MATRIX:
        mcp = Mcp(await key_of(shared, scopes, shared_bot, is_bound))
        for name in seen:
            told = await mcp.call(name, **({"timeoutSeconds": 0} if name == "wait_for_message" else {}))
            assert not told.is_error or told.code == "validation_failed", (scopes, name, told.text)


async def test_tools_for_work_are_there_where_mail_is_work(maild: Running, bot: dict[str, Any]) -> None:
    other = await maild.inbox("other")
    bound, elsewhere = await maild.key(inbox=bot), await maild.key(inbox=other)
    labels_alone = await maild.key("messages:label")

    async def seen(api: Api) -> list[str]:
        return [name for name in await Mcp(api).tools() if name in WORK]

    assert await seen(maild.api) == await seen(bound) == []
    policy = {"version": 0, "work": {"enabled": True}}
    assert (await maild.api.call("PUT", f"/v1/inboxes/{bot['id']}/policy", policy)).status == 200
    assert await seen(maild.api) == await seen(bound) == WORK
    assert len(await Mcp(maild.api).tools()) == 17
    assert await seen(labels_alone) == ["finish_work"]
    assert await seen(elsewhere) == []
    stranger = (await maild.organization()).api
    assert await seen(stranger) == []
    with pytest.raises(RpcError):
        await Mcp(elsewhere).call("claim_work")


def test_no_tool_decides_what_people_decide() -> None:
    for tool in TOOLS:
        assert not any(word in tool.name for word in DECIDING), tool.name


def test_tools_are_described_as_hosts_want_them() -> None:
    names = [tool.name for tool in TOOLS]
    assert names == EVERYTHING
    for tool in TOOLS:
        assert len(tool.description.split()) <= 60
        assert tool.hints.reads_only or tool.hints.destroys == (tool.name == "cancel_message")
        assert (tool.facts is None) == (tool.run.__module__.endswith("reading_tools"))


def test_the_contract_has_a_line_for_each_tool() -> None:
    section = (ROOT / "docs/contract.md").read_text("utf-8").split("### MCP\n")[1].split("\n### ")[0]
    told = re.findall(r"^\| `(\w+)` \| ([\w:, ]+) \|", section, re.MULTILINE)
    assert told == [(tool.name, ", ".join(tool.scopes) or "none") for tool in TOOLS]


@on_shared
async def test_schemas_are_flat_and_forgiving(shared: Running) -> None:
    for name, tool in (await Mcp(shared.api).tools()).items():
        told = json.dumps(tool)
        for stumbling_block in ("$ref", "$defs", "anyOf", "oneOf", "allOf", 'default": null'):
            assert stumbling_block not in told, name
        assert set(tool["annotations"]) == {
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        }
        assert tool["inputSchema"]["type"] == "object"
        for property in tool["inputSchema"]["properties"].values():
            assert property["description"], name
            assert property["type"] in ("string", "integer", "boolean", "array")
            assert property["type"] != "array" or property["items"] == {"type": "string"}
            for bound in ("minimum", "maximum", "maxItems"):  # Gemini's schemas have none
                assert str(property.get(bound, "")) in property["description"], name
        if "outputSchema" in tool:
            assert tool["outputSchema"]["additionalProperties"] is True
            assert "required" not in tool["outputSchema"]
            assert tool["outputSchema"]["properties"]["error"] == {"type": "object"}


@on_shared
async def test_the_list_costs_a_model_little(shared: Running, shared_bot: dict[str, Any]) -> None:
    """In tokens by o200k: a list is in the context of each conversation."""

    async def tokens(api: Api) -> int:
        told = await Mcp(api).ask("tools/list")
        return len(O200K.encode(json.dumps(told, separators=(",", ":"))))  # as it is on the wire

    assert await tokens(shared.api) <= 4500
    assert await tokens(await shared.key(inbox=shared_bot)) <= 3500


@on_shared
async def test_instructions_say_whom_the_key_may_write_to(
    shared: Running, shared_bot: dict[str, Any]
) -> None:
    async def told(*scopes: str) -> str:
        key = await shared.key(*scopes, inbox=shared_bot)
        return str((await Mcp(key).ask("server/discover"))["instructions"])

    assert "only reads" in await told("messages:read")
    assert "only answers" in await told("messages:reply")
    assert "may write to anybody" in await told("messages:send")


async def test_instructions_say_what_the_policy_allows(maild: Running, bot: dict[str, Any]) -> None:
    bound = await maild.key(inbox=bot)
    policy = {"version": 0, "outbound": {"recipients": "allowlist"}}
    assert (await maild.api.call("PUT", f"/v1/inboxes/{bot['id']}/policy", policy)).status == 200
    assert "allow list" in (await Mcp(bound).ask("server/discover"))["instructions"]


def test_refusals_advise_tools_that_there_are() -> None:
    names = {tool.name for tool in TOOLS}
    for code, advice in refused._ADVICE.items():
        assert code in MESSAGES, code
        assert set(re.findall(r"[a-z]+_[a-z_]+", advice)) <= names, advice


def test_every_refusal_of_a_tool_says_what_to_do() -> None:
    asked = {
        one
        for module in (account_tools, reading_tools, sending_tools)
        for one in re.findall(r'"([a-z]+[A-Z][A-Za-z]+)"', inspect.getsource(module))
    }
    operations = [one for one in OPERATIONS if one.id in asked]
    assert len(operations) > len(TOOLS)
    codes = {code for one in operations for code in one.refusals}
    assert codes - refused._ADVICE.keys() == SAY_IT_THEMSELVES | NOT_OF_TOOLS
