"""Every operation as the document says it, by the Python client and by hand: the same request leads to the same status,
and the client returns what the answer holds.

Requests are made of the document alone: its examples of bodies, and for every parameter a value that its schema takes,
one at a time and all at once. Two organizations that are made alike are asked, one by each.
"""

import json
import keyword
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import aiohttp
import pytest

from controlplane.contract.scopes import OPERATOR_SCOPES
from maild_client import ApiError, AsyncEventStream, AsyncMaild, AsyncPages
from scripts.client_names import NAMES
from scripts.clients import read
from tests.clients.test_python_operations import ATTACHED, MAIL, TOMORROW
from tests.conftest import Start
from tests.contract.sending.test_unsubscribe import token_for
from tests.support.peers.dns_server import DnsServer
from tests.support.running import Running
from tests.support.worlds.reviewing import Held

JSON = "application/json"
NAMED_IDS = {
    "organizationId": "org",
    "inboxId": "inb",
    "threadId": "thd",
    "messageId": "msg",
    "draftId": "drf",
    "agentId": "agt",
}
# What the client says in other words: the position of a stream, which it keeps itself.
NOT_GIVEN = ("Last-Event-ID", "lastEventId", "Idempotency-Key")
WAITS = ("timeoutSeconds", "waitSeconds")  # nobody waits here
ID = re.compile(r"\(?([a-z]{3})[|)_]")


class Told(NamedTuple):
    """What became of a request: `data` is what the caller has of the answer."""

    status: int
    code: str | None
    data: Any


class Question(NamedTuple):
    """`path`: with its id in it; `given`: parameters by their names on the wire, and where they go."""

    operation: str
    method: str
    path: str
    id: str | None
    query: Mapping[str, Any]
    headers: Mapping[str, str]
    body: Mapping[str, Any] | None


# What has no room in one day: no inbox is one of work, no webhook was tried, no domain is verified; the address of the
# examples is suppressed by one of them, the queue is dropped, the draft sent and the review approved by others.
REFUSED = {
    "claimMessages": 409, "requeueMessage": 409, "extendClaim": 404, "releaseClaim": 404, "finishClaim": 404,
    "redeliver": 404, "rotateDkim": 400, "forwardMessage": 422, "cancelScheduledMessage": 409, "discardDraft": 409,
    "rejectReview": 409,
}  # fmt: skip


def _order(one: tuple[str, str, Mapping[str, Any]]) -> tuple[bool, bool, bool]:
    method, path, _ = one
    return method == "delete", path.endswith(("/policy", "/rules", "/pause", "/hold")), method != "get"


class World:
    """An organization that has one of everything, and the daemon that it is in."""

    def __init__(
        self, maild: Running, ids: Mapping[str, str], own: Mapping[str, str], token: str, operator: str
    ) -> None:
        self.maild = maild
        self.ids = ids
        self.own = own  # what some operations want instead
        self.token = token
        self.operator = operator

    @classmethod
    async def make(cls, maild: Running) -> "World":
        held = await Held.make(maild)
        inbox, api = await maild.inbox("seeded"), maild.api

        async def post(path: str, **body: Any) -> Any:
            return (await api.post(path, body)).data

        message = await maild.received(inbox, MAIL.format("seeded") + ATTACHED)
        waiting = await held.held(to=["ada@elsewhere.test"])
        later = {"inboxId": inbox["id"], "to": ["ada@elsewhere.test"], "sendAt": TOMORROW}
        own = {
            "cancelScheduledMessage": (await post("/v1/messages/send", **later))["id"],
            "withdrawMessage": (await held.held(to=["ada@elsewhere.test"]))["id"],
            "contentHash": (await held.review(waiting))["contentHash"],
        }
        made = {
            "inb": inbox, "msg": message, "thd": {"id": message["threadId"]}, "att": message["attachments"][0],
            "rev": waiting["review"],
            "agt": await post("/v1/agents", name="seeded"),
            "drf": await post("/v1/drafts", inboxId=inbox["id"], to=["ada@elsewhere.test"]),
            "dom": await post("/v1/domains", domainName="seeded.test"),
            "sup": await post("/v1/suppressions", email="seeded@elsewhere.test"),
            "rul": await post("/v1/rules", direction="inbound", action="block", value="worse.test"),
            "whk": await post("/v1/webhooks", url="https://hooks.elsewhere.test/"),
            "key": await post("/v1/keys", name="seeded"),
            "evt": (await api.get("/v1/events", types="*")).data[0],
        }  # fmt: skip
        ids = {prefix: one["id"] for prefix, one in made.items()}
        return cls(maild, ids, own, token_for(maild, inbox), (await maild.key(*OPERATOR_SCOPES)).key or "")

    def id_of(self, prefix: str) -> str:
        return self.ids.get(prefix, f"{prefix}_{'0' * 26}")

    def key_for(self, operation: str) -> str:
        return self.operator if operation.endswith("Queue") else self.maild.api.key or ""

    # Requests ------------------------------------------------------------------------------------

    def questions(self, document: Mapping[str, Any]) -> Iterator[Question]:
        """Those that read first, and those that stop others last."""
        found = [
            (method, path, operation)
            for path, operations in document["paths"].items()
            for method, operation in operations.items()
        ]
        for method, path, operation in sorted(found, key=_order):
            yield from self._questions(method, path, operation)

    def _questions(self, method: str, path: str, operation: Mapping[str, Any]) -> Iterator[Question]:
        named = [
            one
            for one in operation.get("parameters", ())
            if one["in"] != "path" and one["name"] not in NOT_GIVEN
        ]
        values = {one["name"]: self._value(one["name"], one["schema"]) for one in named}
        needed = {one["name"] for one in named if one.get("required") or one["name"] in WAITS}
        if operation["operationId"] == "streamEvents":  # which tells what is new, or what came after an event
            needed |= {"after", "types"}
        # All at once, each alone, none: what is given one time where it changes something.
        sets = [{*values}, *({*needed, name} for name in values), needed] if method == "get" else [{*values}]
        headers = {one["name"] for one in named if one["in"] == "header"}
        prefix = self._prefix(path)
        id = self.own.get(operation["operationId"], self.id_of(prefix)) if prefix else None
        for names in {frozenset(one): one for one in sets}.values():
            given = {name: values[name] for name in sorted(names)}
            yield Question(
                operation["operationId"],
                method.upper(),
                path.replace("{id}", id or ""),
                id,
                {name: value for name, value in given.items() if name not in headers},
                {name: value for name, value in given.items() if name in headers},
                self._body(operation),
            )

    def _prefix(self, path: str) -> str:
        """Of the id in the path."""
        if "{id}" not in path:
            return ""
        kind = path.removeprefix("/v1/").partition("/{id}")[0]
        last = kind.rpartition("/")[2]
        known = {"inboxes": "inb", "messages": "msg", "threads": "thd", "attachments": "att", "reviews": "rev",
                 "agents": "agt", "drafts": "drf", "domains": "dom", "suppressions": "sup", "rules": "rul",
                 "webhooks": "whk", "keys": "key", "claims": "clm", "deliveries": "del", "scheduled": "msg",
        }  # fmt: skip
        return known[last]

    def _value(self, name: str, schema: Mapping[str, Any]) -> Any:
        if name == "token":
            return self.token
        if name in NAMED_IDS:
            return self.id_of(NAMED_IDS[name])
        if "enum" in schema:
            return "*" if "*" in schema["enum"] else schema["enum"][-1]
        if schema.get("type") == "array":
            return [self._value(name, schema["items"])]
        if schema.get("type") == "integer":
            return schema.get("minimum", 1) if name != "maxTokens" else 500
        if schema.get("type") == "boolean":
            return True
        pattern = ID.match(schema.get("pattern", "").removeprefix("^"))
        if pattern is not None:
            return self.id_of(pattern[1])
        if "date" in json.dumps(schema):
            return "2026-01-01" if name != "until" else "2099-01-01"
        usual = {
            "Range": "bytes=0-1",
            "If-None-Match": '"no"',
            "If-Range": '"no"',
            "email": "a@elsewhere.test",
        }
        return usual.get(name, "elsewhere.test")

    def _body(self, operation: Mapping[str, Any]) -> Mapping[str, Any] | None:
        content = operation.get("requestBody", {}).get("content", {}).get(JSON)
        if content is None:
            return None
        (example,) = content["examples"].values()
        return {name: 0 if name in WAITS else self._real(value) for name, value in example["value"].items()}

    def _real(self, value: Any) -> Any:
        """With ids that there are."""
        if isinstance(value, list):
            return [self._real(one) for one in value]
        if isinstance(value, str) and value.startswith("sha256:"):
            return self.own["contentHash"]
        is_id = isinstance(value, str) and re.fullmatch(r"[a-z]{3}_[0-9a-z…]+", value)
        return self.ids.get(value[:3], value) if is_id else value

    # Asking --------------------------------------------------------------------------------------

    async def by_hand(self, question: Question, session: aiohttp.ClientSession) -> Told:
        """The request as the document says it, put together here."""
        query = [
            (
                name,
                ",".join(value)
                if isinstance(value, list)
                else str(value).lower()
                if value is True
                else str(value),
            )
            for name, value in question.query.items()
        ]
        headers = {**question.headers, "Authorization": f"Bearer {self.key_for(question.operation)}"}
        async with session.request(
            question.method,
            self.maild.api.url + question.path,
            params=query,
            headers=headers,
            json=question.body,
        ) as answer:
            if answer.content_type == "text/event-stream":
                async for line in answer.content:
                    if line.startswith(b"data:"):
                        return Told(answer.status, None, json.loads(line[5:]))
            if answer.content_type != JSON:
                return Told(answer.status, None, await answer.read())
            whole = await answer.json()
        if "error" in whole:
            return Told(answer.status, whole["error"]["code"], None)
        return Told(answer.status, None, whole.get("data", whole))

    async def by_client(self, question: Question, client: AsyncMaild) -> Told:
        resource, verb = NAMES[question.operation]
        method = getattr(getattr(client, resource), verb)
        given = {**question.query, **question.headers, **(question.body or {})}
        arguments = {argument(name): value for name, value in given.items()}
        statuses: list[int] = []

        async def called() -> Any:
            made = method(*([question.id] if question.id else []), **arguments)
            if isinstance(made, AsyncPages):
                return await made.page()
            if isinstance(made, AsyncEventStream):
                async with made as stream:
                    return await anext(stream)
            return await made

        with client._transport.watched() as answers:
            try:
                data = await called()
            except ApiError as error:
                return Told(error.status, error.code, None)
            statuses = [one.status_code for one in answers]
        return Told(statuses[-1] if statuses else 200, None, data)


def argument(name: str) -> str:
    """`inboxId` → `inbox_id`, `from` → `from_`, `If-Range` → `if_range`."""
    snake = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).replace("-", "_").lower()
    return f"{snake}_" if keyword.iskeyword(snake) else snake


def shape(value: Any) -> Any:
    """What kind of value stands where; of a list its first."""
    if isinstance(value, dict):
        return {name: shape(one) for name, one in value.items()}
    if isinstance(value, list):
        return [shape(one) for one in value[:1]]
    return type(value).__name__


def differing(one: Any, other: Any, at: str = "") -> list[str]:
    """Where shapes differ. What is null in one, or a list that is empty, may be there in the other: mail and webhooks
    go their way meanwhile."""
    if "NoneType" in (one, other) or one == [] or other == []:
        return []
    if isinstance(one, dict) and isinstance(other, dict):
        missing = [f"{at}.{name}" for name in sorted(one.keys() ^ other.keys())]
        return missing + [
            fault
            for name in one.keys() & other.keys()
            for fault in differing(one[name], other[name], f"{at}.{name}")
        ]
    if isinstance(one, list) and isinstance(other, list):
        return differing(one[0], other[0], f"{at}[]")
    return [] if one == other else [f"{at}: {one} and {other}"]


@pytest.fixture
async def worlds(start: Start) -> Any:
    async with DnsServer() as dns:
        dns.add_mx("elsewhere.test", "127.0.0.1")
        settings = {"dns": {"nameservers": [f"127.0.0.1:{dns.port}"]}}
        yield [await World.make(await start(**settings)) for _ in range(2)]


async def test_the_client_and_the_wire_say_the_same(worlds: list[World]) -> None:
    document = read()
    mine, theirs = worlds
    asked: dict[str, list[int]] = {}
    async with aiohttp.ClientSession() as session:
        clients = {
            key: AsyncMaild(key, theirs.maild.api.url, max_retries=0)
            for key in (theirs.operator, theirs.maild.api.key or "")
        }
        for by_hand, by_client in zip(mine.questions(document), theirs.questions(document), strict=True):
            expected = await mine.by_hand(by_hand, session)
            found = await theirs.by_client(by_client, clients[theirs.key_for(by_client.operation)])
            told = (by_client.operation, by_client.query, by_client.body, expected, found)
            assert (found.status, found.code) == (expected.status, expected.code), told
            assert differing(shape(expected.data), shape(found.data)) == [], told
            asked.setdefault(by_client.operation, []).append(found.status)
        for client in clients.values():
            await client.aclose()
    assert asked.keys() == NAMES.keys()
    refused = {operation: min(statuses) for operation, statuses in asked.items() if min(statuses) >= 400}
    assert refused == REFUSED
    assert sum(map(len, asked.values())) > 200
