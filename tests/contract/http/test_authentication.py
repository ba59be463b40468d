"""Contract, section 5, and decisions.md, "Keys, scopes, bound keys": every endpoint × every kind of key."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest

from controlplane.contract.scopes import HELD_BY, MAIL_SCOPES, OPERATOR_SCOPES, SCOPES, grants
from controlplane.operations.operation import BoundKeys, Operation
from controlplane.operations.table import OPERATIONS
from tests.conftest import Start
from tests.support.running import Answer, Api, Organization, Running
from tests.support.waiting import GIVES_UP_S

ABSENT = {
    "message": "msg_01m7yg00000000000000000000",
    "thread": "thd_01m7yg00000000000000000000",
    "attachment": "att_01m7yg00000000000000000000",
    "inbox": "inb_01m7yg00000000000000000000",
    "draft": "drf_01m7yg00000000000000000000",
    "claim": "clm_01m7yg00000000000000000000",
}
# Where the body is looked at before the resource: one that passes.
CHANGES: dict[str, dict[str, Any]] = {
    "/v1/inboxes/{id}/codes/claim": {"allowUnverified": True, "waitSeconds": 0},
    "/v1/inboxes/{id}": {"name": "renamed"},
    "/v1/messages/{id}": {"labels": []},
    "/v1/threads/{id}": {"isArchived": False},
    "/v1/drafts/{id}": {"subject": "changed"},
    "/v1/messages/{id}/forward": {"to": ["a@elsewhere.test"]},
    "/v1/inboxes/{id}/policy": {"version": 0},
    "/v1/threads/{id}/reply": {"ifLastMessageId": "msg_01m7yg00000000000000000000"},
}
WITH_FILE = (
    "From: a@elsewhere.test\nSubject: file\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
    "--b\nContent-Type: text/plain\n\nhello\n--b\nContent-Type: image/png\n"
    'Content-Disposition: attachment; filename="a.png"\n\nPNG\n--b--\n'
)

NEVER = BoundKeys.NEVER


@dataclass
class World:
    """Two inboxes of one organization, a stranger's organization, and resources of the first inbox."""

    maild: Running
    mine: dict[str, Any] = field(default_factory=dict)
    beside: dict[str, Any] = field(default_factory=dict)
    stranger: Organization | None = None
    ids: dict[str, str] = field(default_factory=dict)

    @classmethod
    async def make(cls, start: Start) -> "World":
        world = cls(await start())
        world.mine = await world.maild.inbox("mine")
        world.beside = await world.maild.inbox("beside")
        world.stranger = await world.maild.organization()
        message = await world.maild.received(world.mine, WITH_FILE)
        claim = await world.claim(message)
        world.ids = {
            "message": message["id"],
            "thread": message["threadId"],
            "attachment": message["attachments"][0]["id"],
            "inbox": world.mine["id"],
            "claim": claim["id"],
            "draft": (await world.maild.api.post("/v1/drafts", {"inboxId": world.mine["id"]})).data["id"],
        }
        return world

    async def claim(self, message: dict[str, Any]) -> dict[str, Any]:
        """One that any key may end; its inbox has no work any more."""
        api, path = self.maild.api, f"/v1/inboxes/{self.mine['id']}"
        await api.call("PUT", f"{path}/policy", {"version": 0, "work": {"enabled": True}})
        assert (await api.call("POST", f"/v1/messages/{message['id']}/requeue")).status == 200
        claim: dict[str, Any]
        (claim,) = (await api.post(f"{path}/claims", {})).data
        self.maild.sql("UPDATE claims SET mode = 'test'")
        await api.call("PUT", f"{path}/policy", {"version": 1})
        return claim

    async def call(self, route: Operation, api: Api, **options: Any) -> Answer:
        return await request(route, api, self.ids.get(route.names or "", "none"), **options)


async def request(route: Operation, api: Api, resource_id: str, **options: Any) -> Answer:
    path = route.path.replace("{id}", resource_id)
    if (
        path == "/v1/events/stream"
    ):  # who is admitted hears of a fault in the query instead of events without end
        path += "?after=x"
    if path == "/v1/messages/wait":
        path += "?timeoutSeconds=0"
    body = CHANGES.get(route.path, {}) if route.body is not None else None
    return await api.call(route.method, path, body, **options)


@dataclass(frozen=True)
class Case:
    """A way to call, and the answer: (status, code) or "admitted": whatever follows, it is not about the key."""

    who: str
    key: Callable[[World, Operation], Any]  # → awaitable of an Api, or headers
    answer: Callable[[Operation], tuple[int, str] | str]


def header(text: str) -> Callable[[World, Operation], Any]:
    async def make(world: World, _route: Operation) -> tuple[Api, dict[str, str]]:
        return world.maild.api.with_key(None), {"Authorization": text}

    return make


def scoped(
    choose: Callable[[Operation], list[str]], bound_to: str | None = None
) -> Callable[[World, Operation], Any]:
    async def make(world: World, route: Operation) -> tuple[Api, dict[str, str]]:
        inbox = {"mine": world.mine, "beside": world.beside, None: None}[bound_to]
        return await world.maild.key(*choose(route), inbox=inbox), {}

    return make


async def no_key(world: World, _route: Operation) -> tuple[Api, dict[str, str]]:
    return world.maild.api.with_key(None), {}


async def revoked(world: World, _route: Operation) -> tuple[Api, dict[str, str]]:
    api = await world.maild.key()
    assert (await api.get("/v1/inboxes")).status == 200
    world.maild.sql("UPDATE api_keys SET is_active = 0 WHERE id = (SELECT max(id) FROM api_keys)")
    return api, {}


async def test_key(world: World, _route: Operation) -> tuple[Api, dict[str, str]]:
    return world.maild.test_api, {}


test_key.__test__ = False  # type: ignore[attr-defined]


async def strangers(world: World, _route: Operation) -> tuple[Api, dict[str, str]]:
    assert world.stranger is not None
    return world.stranger.api, {}


def always(status: int, code: str) -> Callable[[Operation], tuple[int, str] | str]:
    return lambda _route: (status, code)


def admitted(_route: Operation) -> tuple[int, str] | str:
    return "admitted"


def with_star(route: Operation) -> tuple[int, str] | str:
    """`*` is all of an organization, and no more."""
    return (403, "insufficient_scope") if route.scope in OPERATOR_SCOPES else "admitted"


def bound_here(route: Operation) -> tuple[int, str] | str:
    if route.bound_keys is NEVER:
        return 403, "inbox_access_denied"
    if route.bound_keys is BoundKeys.BY_BINDING:
        return "admitted"
    return "admitted" if grants(MAIL_SCOPES, route.scope) else (403, "insufficient_scope")


def bound_elsewhere(route: Operation) -> tuple[int, str] | str:
    return (403, "inbox_access_denied") if route.names else bound_here(route)


def foreign(route: Operation) -> tuple[int, str] | str:
    return (404, f"{route.names}_not_found") if route.names else with_star(route)


# The world's draft was written by a live key.
OF_A_LIVE_DRAFT = {"PATCH /v1/drafts/{id}", "DELETE /v1/drafts/{id}", "POST /v1/drafts/{id}/send"}


def by_test_key(route: Operation) -> tuple[int, str] | str:
    if route.is_live_only or endpoint(route) in OF_A_LIVE_DRAFT:
        return 403, "insufficient_scope"
    return with_star(route)


def resource(scope: str) -> str:
    return scope.partition(":")[0]


CASES = (
    Case("no key", no_key, always(401, "unauthorized")),
    Case("empty header", header(""), always(401, "unauthorized")),
    Case("another scheme", header("Basic c3ZjOng="), always(401, "unauthorized")),
    Case("no scheme", header("svc_live_" + "0" * 48), always(401, "unauthorized")),
    Case("scheme alone", header("Bearer"), always(401, "unauthorized")),
    Case("two keys", header("Bearer svc_live_1 svc_live_2"), always(401, "unauthorized")),
    Case("wrong prefix", header("Bearer sk_live_" + "0" * 48), always(401, "invalid_api_key_format")),
    Case("upper case prefix", header("Bearer SVC_LIVE_" + "0" * 48), always(401, "invalid_api_key_format")),
    Case("unknown", header("Bearer svc_live_" + "0" * 48), always(401, "invalid_api_key")),
    Case("not ASCII", header("Bearer svc_live_\u00fc"), always(401, "invalid_api_key")),
    Case("endless", header("Bearer svc_live_" + "0" * 6000), always(401, "invalid_api_key")),
    Case("revoked", revoked, always(401, "invalid_api_key")),
    Case("all other scopes", scoped(lambda r: [s for s in SCOPES if not grants([s], r.scope)]),
         always(403, "insufficient_scope")),
    Case("its sibling's scope", scoped(lambda r: [r.scope + "s"]), always(403, "insufficient_scope")),
    Case("the scope", scoped(lambda r: [r.scope, *r.also]), admitted),
    Case("a scope that holds it",
         scoped(lambda r: [max(HELD_BY.get(one, {one})) for one in (r.scope, *r.also)]), admitted),
    Case("resource wildcard", scoped(lambda r: [f"{resource(one)}:*" for one in (r.scope, *r.also)]), with_star),
    Case("wildcard of another", scoped(lambda r: ["keys:*", "domains:*"]), always(403, "insufficient_scope")),
    Case("star", scoped(lambda r: ["*"]), with_star),
    Case("test key", test_key, by_test_key),
    Case("bound to this inbox", scoped(lambda r: list(MAIL_SCOPES), "mine"), bound_here),
    Case("bound to another inbox", scoped(lambda r: list(MAIL_SCOPES), "beside"), bound_elsewhere),
    Case("bound to another, without scopes", scoped(lambda r: ["keys:read"], "beside"),
         lambda r: (403, "inbox_access_denied" if r.names or r.bound_keys is NEVER else "insufficient_scope")),
    Case("another organization's", strangers, foreign),
)  # fmt: skip


def endpoint(route: Operation) -> str:
    return f"{route.method} {route.path}"


KEYED = [route for route in OPERATIONS if not route.is_public]


@pytest.mark.parametrize("route", KEYED, ids=endpoint)
async def test_who_may_call(route: Operation, start: Start) -> None:
    world = await World.make(start)
    is_gone = False
    for case in CASES:
        if case.who.startswith("wildcard of another") and resource(route.scope) in ("keys", "domains"):
            continue
        if is_gone:
            world = await World.make(start)
        api, headers = await case.key(world, route)
        answer = await world.call(route, api, headers=headers)
        expected = case.answer(route)
        is_gone = route.method == "DELETE" and answer.status < 300
        got = (answer.status, answer.code)
        if route.method == "HEAD" and not isinstance(expected, str):  # the status has to say it all
            got = (answer.status, expected[1])
        if expected == "admitted" and answer.code == "recipient_not_allowed":
            # A stranger wrote what it would answer: the key may answer, and not him.
            assert route.scope == "messages:reply"
        elif expected == "admitted":
            assert answer.status not in (401, 403, 429) and answer.status < 500, (case.who, answer.body)
        else:
            assert got == expected, (case.who, answer.body)
        if got == (403, "insufficient_scope") and answer.body:
            details = answer.error["details"]
            is_of_operator = route.scope in OPERATOR_SCOPES
            wanted = "live" if case.who == "test key" and not is_of_operator else route.scope
            assert details["requiredScope"] == wanted
            assert wanted not in details["grantedScopes"]
        assert ("X-RateLimit-Limit" in answer.headers) == (answer.status != 401), case.who
        # RFC 9110 §11.6.1: a 401 says what would do.
        asked_for = answer.headers.get("WWW-Authenticate")
        assert asked_for == ('Bearer realm="maild"' if answer.status == 401 else None), case.who


@pytest.mark.parametrize("route", [one for one in OPERATIONS if one.names], ids=endpoint)
async def test_foreign_and_absent_answer_with_the_same_bytes(route: Operation, start: Start) -> None:
    """Contract, section 1, rule 7: existence can't be probed, not by a byte."""
    world = await World.make(start)
    assert world.stranger is not None and route.names is not None
    foreign_one = await world.call(route, world.stranger.api)
    for resource_id in (
        ABSENT[route.names],
        "x",
        "0" * 300,
        "%00",
        "%2e%2e",
        "%F0%9F%98%80",
        "'%20OR%201=1--",
    ):
        absent = await request(route, world.stranger.api, resource_id)
        assert (absent.status, absent.body) == (foreign_one.status, foreign_one.body) == (404, absent.body)
        assert {*absent.headers} == {*foreign_one.headers}


async def test_the_scheme_is_case_insensitive_and_blanks_pass(maild: Running) -> None:
    """RFC 9110 §11.1."""
    for text in (f"bearer {maild.api.key}", f"BEARER   {maild.api.key}  "):
        answer = await maild.api.with_key(None).call("GET", "/v1/inboxes", headers={"Authorization": text})
        assert answer.status == 200


async def test_two_keys_are_no_key(maild: Running) -> None:
    """RFC 9110 §5.3: a proxy that checks the last, before a server that takes the first, would let anybody in."""
    key = ("Authorization", f"Bearer {maild.api.key}")
    for headers in ([key, ("Authorization", "Bearer svc_live_other")], [key, key]):
        async with maild._session.get(maild.api.url + "/v1/inboxes", headers=headers) as response:
            assert response.status == 401
            assert (await response.json())["error"]["code"] == "unauthorized"


async def test_a_key_of_octets_that_are_no_text_is_unknown(maild: Running) -> None:
    where = urlsplit(maild.api.url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    writer.write(b"GET /v1/inboxes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer svc_live_\xff\r\n\r\n")
    async with asyncio.timeout(GIVES_UP_S):
        assert (await reader.readline()).split()[1] == b"401"
    writer.transport.abort()


async def test_revoking_works_at_once_on_an_open_connection(maild: Running) -> None:
    api = await maild.key("inboxes:read")
    for _ in range(3):
        assert (await api.get("/v1/inboxes")).status == 200
    maild.sql("UPDATE api_keys SET is_active = 0 WHERE id = (SELECT max(id) FROM api_keys)")
    assert (await api.get("/v1/inboxes")).code == "invalid_api_key"


async def test_a_bound_key_sends_from_its_inbox_alone(maild: Running) -> None:
    mine, beside = await maild.inbox("mine"), await maild.inbox("beside")
    api = await maild.key(inbox=mine)
    assert (await api.send(mine)).status == 201
    refused = await api.send(beside)
    assert (refused.status, refused.code) == (403, "inbox_access_denied")


@pytest.mark.parametrize("path", ["/v1/messages/send", "/v1/messages/check"])
async def test_what_another_organization_has_is_not_there_for_a_bound_key(maild: Running, path: str) -> None:
    stranger = await maild.organization()
    api = await maild.key(inbox=await maild.inbox("mine"))
    for inbox_id in (ABSENT["inbox"], (await maild.inbox("theirs", stranger.api))["id"]):
        missing = await api.post(path, {"inboxId": inbox_id, "to": ["ada@elsewhere.test"]})
        assert (missing.status, missing.code) == (404, "inbox_not_found")


async def test_lists_of_a_bound_key_show_its_inbox_alone(maild: Running) -> None:
    mine, beside = await maild.inbox("mine"), await maild.inbox("beside")
    await maild.received(mine, "Subject: mine\n\n")
    await maild.received(beside, "Subject: beside\n\n")
    api = await maild.key(inbox=mine)
    assert [one["id"] for one in (await api.get("/v1/inboxes")).data] == [mine["id"]]
    assert [one["subject"] for one in await api.messages()] == ["mine"]
    assert [one["subject"] for one in (await api.get("/v1/threads")).data] == ["mine"]
    for path in ("/v1/messages", "/v1/threads"):
        assert (await api.get(path, inboxId=beside["id"])).data == []
    for query in ({"q": "beside"}, {"from": "friend"}, {"before": "msg_" + "z" * 26}):
        assert (await api.get("/v1/messages", inboxId=beside["id"], **query)).data == []
    other_thread = (await maild.api.messages(inboxId=beside["id"]))[0]["threadId"]
    assert await api.messages(threadId=other_thread) == []


async def test_no_list_shows_another_organization(maild: Running, bot: dict[str, Any]) -> None:
    """A3: lists, filters and cursors never cross."""
    message = await maild.received(bot, "Subject: mine\n\n")
    stranger = await maild.organization()
    theirs = await maild.inbox("theirs", stranger.api)
    await maild.received(theirs, "Subject: theirs\n\n", stranger.api)
    api = stranger.api
    assert [one["id"] for one in (await api.get("/v1/inboxes")).data] == [theirs["id"]]
    assert [one["subject"] for one in await api.messages()] == ["theirs"]
    assert await api.messages(inboxId=bot["id"]) == []
    assert await api.messages(threadId=message["threadId"]) == []
    assert (await api.get("/v1/threads", inboxId=bot["id"])).data == []
    assert [one["subject"] for one in (await api.get("/v1/threads")).data] == ["theirs"]
    assert (await api.get("/v1/webhooks/deliveries")).data == []
    # A foreign cursor is a place in time, and says nothing else.
    assert {one["subject"] for one in await api.messages(before=message["id"])} <= {"theirs"}


async def test_no_key_is_stored_or_shown_anywhere(maild: Running, bot: dict[str, Any]) -> None:
    """A5: a row holds a hash and a prefix; no answer and no file holds the key."""
    assert maild.api.key is not None
    secret = maild.api.key.removeprefix("svc_live_")
    await maild.api.send(bot)
    for file in maild.settings.data_path.rglob("*"):
        if file.is_file():
            assert secret.encode() not in file.read_bytes(), file
    for answer in (await maild.api.get("/v1/nowhere"), await maild.api.get("/v1/messages", limit="0")):
        assert secret not in answer.body.decode()
    ((prefix, key_hash),) = maild.sql(
        "SELECT key_prefix, key_hash FROM api_keys WHERE mode = 'live' ORDER BY id LIMIT 1"
    )
    assert prefix == maild.api.key[:16] and len(key_hash) == 32
    assert re.fullmatch(r"svc_live_[0-9a-f]{48}", maild.api.key)
