"""Operations can be called without HTTP: the same rules, refusals and answers behind another door.

The door here hands over plain values, as one for MCP, a console or SMTP submission would.
"""

import json
import threading
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from controlplane.access.authentication import Authenticator
from controlplane.access.principal import Principal
from controlplane.contract.refusals import Refusal
from controlplane.contract.scopes import MAIL_SCOPES
from controlplane.operations.operation import BoundKeys, Operation
from controlplane.operations.results import Download, EventFeed, HtmlPage, JsonArray, JsonPieces, Result
from controlplane.operations.table import OPERATIONS
from storage.clock import Clock
from tests.conftest import Start
from tests.support.running import Api, Running

BY_ID = {operation.id: operation for operation in OPERATIONS}


class PlainDoor:
    """Calls operations by their ids with plain values; answers `data` as plain values."""

    def __init__(self, maild: Running, principal: Principal) -> None:
        self._operations = maild.daemon.operations
        self._principal = principal

    @classmethod
    async def of(cls, maild: Running, api: Api) -> "PlainDoor":
        db = maild.daemon._db
        assert db is not None and api.key is not None
        return cls(maild, await Authenticator(db, Clock()).principal(api.key))

    async def call(self, name: str, id: str = "", /, *, key: str | None = None, **given: Any) -> Any:
        operation = BY_ID[name]
        result = await self._operations.invoke(
            operation,
            self._principal,
            self._operations.values(operation, self._principal, given),
            id=id,
            idempotency_keys=() if key is None else (key,),
        )
        return await plain(result)


async def plain(result: Any) -> Any:
    if isinstance(result, Result):
        return json.loads(msgspec.json.encode(result.data))
    if isinstance(result, JsonArray):
        return json.loads(b"[" + b",".join([part async for part in result.parts if part]) + b"]")
    if isinstance(result, JsonPieces):
        return json.loads(await joined(result.pieces))
    assert isinstance(result, Download)
    return await joined(result.open(0, result.size_bytes))


async def joined(pieces: AsyncIterator[bytes]) -> bytes:
    return b"".join([piece async for piece in pieces])


@pytest.fixture
async def door(maild: Running) -> PlainDoor:
    return await PlainDoor.of(maild, maild.api)


async def test_a_conversation_needs_no_http(maild: Running, door: PlainDoor) -> None:
    bot = await door.call("createInbox", username="bot")
    sent = await door.call("sendMessage", inboxId=bot["id"], to=["someone@simulator.test"], text="hello")
    raw = await door.call("getRawMessage", sent["id"])
    assert raw.endswith(b"\r\n\r\nhello") and b"\r\nMessage-ID: " in raw
    assert [one["id"] for one in await door.call("listMessages", inboxId=bot["id"])] == [sent["id"]]
    thread = await door.call("getThread", sent["threadId"])
    assert [one["text"] for one in thread["messages"]] == ["hello"]
    assert (await door.call("labelMessage", sent["id"], labels=["done"]))["labels"] == ["done"]
    assert await door.call("deleteMessage", sent["id"]) == {"id": sent["id"], "deleted": True}


async def test_an_idempotency_key_makes_one_message(maild: Running, door: PlainDoor) -> None:
    bot = await maild.inbox("bot")
    wish = {"inboxId": bot["id"], "to": ["someone@simulator.test"], "text": "once"}
    first = await door.call("sendMessage", key="k", **wish)
    assert await door.call("sendMessage", key="k", **wish) == first
    with pytest.raises(Refusal) as refused:
        await door.call("sendMessage", key="k", **{**wish, "text": "twice"})
    assert refused.value.code == "idempotency_conflict"


async def test_a_refusal_is_the_same_by_either_door(maild: Running) -> None:
    bot, other = await maild.inbox("bot"), await maild.inbox("other")
    bound = await maild.key("messages:read", inbox=bot)
    cases: list[tuple[Api, str, str, dict[str, Any]]] = [
        (maild.api, "getInbox", "inb_nobody", {}),
        (maild.api, "createInbox", "", {"username": "postmaster"}),
        (maild.api, "createInbox", "", {"username": "a b", "name": "\x00", "more": 1}),
        (maild.api, "createInbox", "", {}),
        (maild.api, "updateInbox", bot["id"], {}),
        (maild.api, "createWebhook", "", {"url": "https://127.0.0.1/"}),
        (maild.test_api, "deleteSuppression", "sup_nobody", {}),
        (bound, "getInbox", other["id"], {}),
        (bound, "createInbox", "", {"username": "more"}),
        (bound, "sendMessage", "", {"inboxId": bot["id"], "to": ["a@simulator.test"], "text": "x"}),
        (await maild.key("threads:read"), "listMessages", "", {}),
    ]
    for api, name, id, given in cases:
        operation = BY_ID[name]
        by_http = await api.call(
            operation.method, operation.path.replace("{id}", id), given if operation.body else None
        )
        with pytest.raises(Refusal) as refused:
            await (await PlainDoor.of(maild, api)).call(name, id, **given)
        told = refused.value
        assert (told.code, told.message, told.details) == (
            by_http.code,
            by_http.error["message"],
            by_http.error.get("details"),
        ), (name, given)


async def test_a_revoked_key_writes_nothing_by_any_door(maild: Running, door: PlainDoor) -> None:
    made = (await maild.api.call("POST", "/v1/keys", {"name": "brief"})).data
    theirs = await PlainDoor.of(maild, maild.api.with_key(made["apiKey"]))
    await door.call("revokeKey", made["id"])
    with pytest.raises(Refusal) as refused:
        await theirs.call("createInbox", username="late")
    assert refused.value.code == "invalid_api_key"


async def test_events_are_heard_without_http(maild: Running, door: PlainDoor) -> None:
    operation = BY_ID["streamEvents"]
    nothing = maild.daemon.operations.values(operation, door._principal, {})
    result = await maild.daemon.operations.invoke(operation, door._principal, nothing)
    assert isinstance(result, EventFeed)
    bot = await maild.inbox("bot")
    async with result.subscription as feed:
        await door.call("sendMessage", inboxId=bot["id"], to=["bounce@simulator.test"], text="x")
        async for event in feed.events():
            if event is not None:
                assert json.loads(event.body)["type"] == event.type
                break


async def test_a_person_may_unsubscribe_without_http(start: Start) -> None:
    maild = await start()
    page = await maild.daemon.operations.invoke_public(
        BY_ID["showUnsubscribe"], input=None, prefers_html=True
    )
    assert isinstance(page, HtmlPage) and page.refusal is not None and page.refusal.code == "missing_token"


def test_what_a_mail_key_may_name_is_confined_to_its_inbox() -> None:
    """A key bound to an inbox reaches one that names a resource only where the row says whose it is."""

    def is_confined(operation: Operation) -> bool:
        return operation.names is not None or operation.bound_keys is BoundKeys.NEVER

    named = [one for one in OPERATIONS if "{id}" in one.path and one.scope in MAIL_SCOPES]
    # An agent belongs to no inbox: its statement shows the agent of the key's inbox alone.
    assert [one.id for one in named if not is_confined(one)] == ["getAgent"]


async def test_a_member_calls_as_a_person(maild: Running) -> None:
    """A principal of a session: what it does is the member's, and ends with the session."""
    made = await maild.operate(
        maild.store.members.add, maild.organization_id, "ada@people.test", "admin", None
    )
    maild.sql(
        "INSERT INTO console_sessions VALUES ('ses_1', ?, ?, x'00', 0, 0, 0, '', '')",
        maild.organization_id,
        made["id"],
    )
    member = Principal(made["id"], maild.organization_id, None, ("*",), "live", "req_1", "ses_1")
    door = PlainDoor(maild, member)
    key = await door.call("createKey", name="of a person")
    assert key["mintedBy"] is None
    await maild.operate(maild.store.organizations.set_reviewers, maild.organization_id, "members")
    policy = {"version": 0, "outbound": {"review": "all"}}
    assert (await maild.api.call("PUT", "/v1/organization/policy", policy)).code == "member_required"
    await door.call("replaceOrganizationPolicy", version=0, outbound={"review": "all"})
    acts = (await maild.api.get("/v1/audit", types="key.minted,policy.replaced")).data
    assert [one["actor"] for one in acts][-2:] == [made["id"], made["id"]]
    assert acts[-1]["requestId"] == "req_1"
    bot = await door.call("createInbox", username="bot")
    held = await door.call("sendMessage", inboxId=bot["id"], to=["a@b.test"], text="hello")
    shown = await door.call("getReview", held["review"]["id"])
    assert shown["submittedBy"] == made["id"]
    done = await door.call("approveReview", shown["id"], contentHash=shown["contentHash"])
    assert done["status"] == "approved" and done["resolvedBy"] == made["id"]
    maild.sql("DELETE FROM console_sessions")
    with pytest.raises(Refusal, match="invalid_api_key"):
        await door.call("createKey", name="too late")


async def test_a_person_answers_without_a_claim(maild: Running) -> None:
    """Also where keys need one: members work beside the workers."""
    made = await maild.operate(
        maild.store.members.add, maild.organization_id, "ada@people.test", "owner", None
    )
    maild.sql(
        "INSERT INTO console_sessions VALUES ('ses_1', ?, ?, x'00', 0, 0, 0, '', '')",
        maild.organization_id,
        made["id"],
    )
    bot = await maild.inbox("bot")
    policy = {"version": 0, "work": {"enabled": True, "requireClaim": True}}
    assert (await maild.api.call("PUT", f"/v1/inboxes/{bot['id']}/policy", policy)).status == 200
    message = await maild.received(bot, "From: a@b.test\nSubject: hello\n\nwords\n")
    refused = await maild.api.post(f"/v1/messages/{message['id']}/reply", {"text": "hi"})
    assert refused.code == "claim_required"
    member = PlainDoor(
        maild, Principal(made["id"], maild.organization_id, None, ("*",), "live", None, "ses_1")
    )
    sent = await member.call("replyToMessage", message["id"], text="hi")
    assert sent["status"] == "queued" and sent["threadId"] == message["threadId"]


async def test_many_addresses_are_read_beside_the_event_loop(
    door: PlainDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each takes a millisecond where its domain is not ASCII."""
    threads: set[int] = set()

    def validate(address: str) -> str:
        threads.add(threading.get_ident())
        return address

    bot = await door.call("createInbox", username="bot")
    monkeypatch.setattr("controlplane.contract.fields.validate", validate)
    addresses = [f"a{number}@b.test" for number in range(50)]
    await door.call("createDraft", inboxId=bot["id"], to=addresses)
    assert threads
    assert threading.get_ident() not in threads
