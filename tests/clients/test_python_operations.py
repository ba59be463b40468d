"""Every operation, called by both Python clients against a real daemon, and its answer held to the client's types.

The table is one day of an organization, from its first inbox to its last. An operation without a row fails.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, get_type_hints

import httpx2
import pytest

from maild_client import AsyncEventStream, AsyncMaild, AsyncPages, EventStream, Maild, Pages, types
from scripts.client_names import NAMES, id_name
from tests.clients.shapes import misfits
from tests.conftest import Start
from tests.contract.sending.test_unsubscribe import token_for
from tests.support.clients.answered import route_of
from tests.support.peers.dns_server import DnsServer
from tests.support.running import Running, until

PDF = {"filename": "invoice.pdf", "contentType": "application/pdf", "content": "JVBERi0xLjQKJSVFT0YK"}
ELSEWHERE = "ada@elsewhere.test"
MAIL = "From: Ada <ada@elsewhere.test>\nSubject: {0}\nMessage-ID: <{0}@elsewhere.test>\n"
ATTACHED = (
    'Content-Type: text/plain; name="a.txt"\nContent-Disposition: attachment; filename="a.txt"\n\nPay.\n'
)
TOMORROW = (datetime.now(UTC) + timedelta(days=1)).isoformat()  # however long the run takes
Made = dict[str, Any]


class Row(NamedTuple):
    """One call. `given`: what it is given, the path's id first, out of what was `made` before."""

    operation: str
    given: Callable[[Made], dict[str, Any]] = lambda made: {}
    keep: str = ""
    by: str = "client"


def of(name: str, /, **more: Any) -> Callable[[Made], dict[str, Any]]:
    """The id of what was made, and more."""
    return lambda made: {"id": made[name]["id"], **more}


def send(**more: Any) -> Callable[[Made], dict[str, Any]]:
    return lambda made: {"inbox_id": made["bot"]["id"], "to": [ELSEWHERE], "text": "Hello", **more}


def nothing(made: Made) -> dict[str, Any]:
    return {}


# fmt: off
DAY: tuple[Row | str, ...] = (
    Row("getHealth"),
    Row("getOrganization"), Row("listMembers"),
    Row("createAgent", lambda made: {"name": "Billing"}, "agent"),
    Row("getAgent", of("agent")), Row("listAgents"),
    Row("createInbox", lambda made: {"username": "bot", "name": "Bot", "metadata": {"team": "a"}}, "bot"),
    Row("listInboxes", lambda made: {"is_active": True}),
    Row("getInbox", of("bot")), Row("updateInbox", of("bot", name=None)),
    Row("createKey", lambda made: {"name": "reader", "scopes": ["messages:read"]}, "key"),
    Row("listKeys"), Row("revokeKey", of("key")), Row("revokeKeyWithMail", of("key")),
    Row("createWebhook", lambda made: {"url": "https://hooks.elsewhere.test/"}, "hook"),
    Row("listWebhooks"), Row("getWebhook", of("hook")), Row("testWebhook", of("hook")),
    # Mail as work
    Row("replaceInboxPolicy", of("bot", version=0, work={"enabled": True}, outbound={"firstTimeDaily": 100})),
    Row("getInboxPolicy", of("bot")),
    "mail one", "mail two", "mail three",
    Row("listMessages", lambda made: {"from_": ELSEWHERE, "labels": ["unread"], "unread": True}, "inbound"),
    Row("claimMessages", of("bot", max=3, wait_seconds=1, holder="tests"), "claims"),
    Row("extendClaim", lambda made: {"id": made["claims"][0]["id"], "lease_seconds": 60}),
    Row("finishClaim", lambda made: {"id": made["claims"][0]["id"], "labels": {"add": ["done"]}}),
    Row("releaseClaim", lambda made: {"id": made["claims"][1]["id"], "delay_seconds": 0}),
    Row("listClaims", lambda made: {"inbox_id": made["bot"]["id"], "status": "live"}),
    Row("requeueMessage", lambda made: {"id": made["claims"][0]["messageId"]}),
    # Reading
    Row("waitForMessage", lambda made: {"after": "2026-01-01", "timeout_seconds": 1}, "told"),
    Row("getMessage", lambda made: {"id": made["told"]["message"]["id"]}, "first"),
    Row("getRawMessage", of("first")), Row("getEvidence", of("first")),
    Row("getAttachment", lambda made: {"id": made["first"]["attachments"][0]["id"], "range": "bytes=0-1"}),
    Row("labelMessage", of("first", add_labels=["invoice"], remove_labels=["unread"])),
    Row("changeMessages", lambda made: {"ids": [made["first"]["id"]], "add_labels": ["paid"]}),
    Row("listThreads", lambda made: {"labels": ["paid"], "is_archived": False}),
    Row("getThread", lambda made: {"id": made["first"]["threadId"]}, "thread"),
    Row("getThreadContext", lambda made: {"id": made["first"]["threadId"], "max_tokens": 500}, "context"),
    Row("updateThread", of("thread", is_archived=True)),
    Row("claimCode", of("bot", allow_unverified=True, after="2026-01-01", wait_seconds=0)),
    # Writing
    Row("sendMessage", send(subject="One", attachments=[PDF], headers={"X-One": "1"}), "sent"),
    Row("checkMessage", send()),
    Row("replyToMessage", of("first", text="Thanks", reply_all=True, quote="text"), "answer"),
    Row("replyToThread", lambda made: {"id": made["thread"]["id"], "text": "And",
                                       "if_last_message_id": made["answer"]["id"]}),
    Row("forwardMessage", of("first", to=[ELSEWHERE], as_="eml", text="Look")),
    Row("listAttempts", of("sent")),
    Row("sendMessage", send(send_at=TOMORROW), "scheduled"),
    Row("cancelScheduledMessage", of("scheduled")),
    Row("createDraft", lambda made: {"inbox_id": made["bot"]["id"], "to": [ELSEWHERE]}, "draft"),
    Row("listDrafts"), Row("getDraft", of("draft")), Row("updateDraft", of("draft", text="Hello", subject=None)),
    Row("sendDraft", of("draft")),
    Row("createDraft", lambda made: {"inbox_id": made["bot"]["id"]}, "other draft"),
    Row("discardDraft", of("other draft")),
    # Rules, and what is held
    Row("createRule", lambda made: {"direction": "outbound", "action": "block", "value": "evil.test"}, "rule"),
    Row("listRules", lambda made: {"direction": "outbound"}), Row("deleteRule", of("rule")),
    Row("createSuppression", lambda made: {"email": "no@elsewhere.test"}, "suppression"),
    Row("listSuppressions"), Row("deleteSuppression", of("suppression")),
    Row("getOrganizationPolicy", nothing, "policy"),
    Row("replaceOrganizationPolicy",
        lambda made: {"version": made["policy"]["version"], "outbound": {"review": "all"}}),
    Row("sendMessage", send(text="a"), "held a"), Row("sendMessage", send(text="b"), "held b"),
    Row("sendMessage", send(text="c"), "held c"),
    Row("withdrawMessage", of("held c")),
    Row("listReviews", lambda made: {"status": "pending"}, by="reviewer"),
    Row("getReview", lambda made: {"id": made["held a"]["review"]["id"]}, "review", by="reviewer"),
    Row("approveReview", of("review", content_hash="the hash"), by="reviewer"),
    Row("rejectReview", lambda made: {"id": made["held b"]["review"]["id"], "note": "no"}, by="reviewer"),
    # Domains
    Row("registerDomain", lambda made: {"domain_name": "mail.elsewhere.test", "daily_cap": 10}, "domain"),
    Row("listDomains"), Row("getDomain", of("domain")), Row("listDomainReports", of("domain")),
    Row("updateDomain", of("domain", daily_cap=None)), Row("verifyDomain", of("domain")),
    "the domain is verified",
    Row("rotateDkim", of("domain")), Row("deleteDomain", of("domain")),
    # What was
    Row("getSummary"), Row("getEventSeries", lambda made: {"types": ["email.received"], "period": 3600}),
    Row("listDestinations", lambda made: {"limit": 5}),
    Row("listEvents", lambda made: {"types": ["*"]}, "events"),
    Row("streamEvents", lambda made: {"after": made["events"][0]["id"], "types": ["*"]}),
    Row("listAudit", lambda made: {"types": ["key.minted", "inbox.created"]}), Row("getAuditHead"),
    "the webhook was tried",
    Row("listDeliveries", nothing, "deliveries"),
    Row("redeliver", lambda made: {"id": made["tried"]["id"]}),
    Row("rotateWebhookSecret", of("hook")), Row("updateWebhook", of("hook", is_active=False)),
    Row("deleteWebhook", of("hook")),
    Row("showUnsubscribe", lambda made: {"token": made["token"]}),
    Row("unsubscribe", lambda made: {"token": made["token"]}),
    # The operator
    *(Row(f"{verb}Queue", lambda made: {"destination": "elsewhere.test"}, by="operator")
      for verb in ("retry", "hold", "release", "drop")),
    *(Row(f"{verb}Queue", by="operator") for verb in ("pause", "resume", "show", "list")),
    # The end
    Row("deleteMessage", of("first")), Row("deleteAgent", of("agent")), Row("deleteInbox", of("bot")),
)
# fmt: on


class World:
    """The daemon, what was made so far, and what the client asked."""

    def __init__(self, maild: Running) -> None:
        self.maild = maild
        self.made: Made = {}
        self.asked: list[tuple[str, str]] = []

    def note(self, request: httpx2.Request) -> None:
        self.asked.append((request.method, request.url.path))

    async def happens(self, what: str) -> None:
        """What no client does."""
        kind, _, name = what.rpartition(" ")
        if kind == "mail":
            assert (await self.maild.deliver(self.made["bot"]["address"], MAIL.format(name) + ATTACHED))[
                0
            ] == "2"
        elif what == "the domain is verified":
            self.maild.sql("UPDATE domains SET status = 'verified', verified_at = 1")
        else:
            self.made["token"] = token_for(self.maild, self.made["bot"])
            self.made["tried"] = await until(self._tried)

    async def _tried(self) -> dict[str, Any] | None:
        found = (await self.maild.api.get("/v1/webhooks/deliveries")).data
        return next((one for one in found if one["eventType"] == "email.received"), None)

    def arguments(self, row: Row) -> tuple[list[Any], dict[str, Any]]:
        given = row.given(self.made)
        if "content_hash" in given:
            given["content_hash"] = self.made["review"]["contentHash"]
        return ([given.pop("id")] if "id" in given else []), given

    def keep(self, row: Row, method: Any, answer: Any) -> None:
        """Remember the answer, once the call was the operation's and the answer is what the method says."""
        asked = self.asked.pop()
        operation = route_of(*asked)
        assert asked == ("GET", "/health") or (operation is not None and operation.id == row.operation), asked
        assert misfits(get_type_hints(method)["return"], answer) == []
        if row.keep:
            self.made[row.keep] = answer


@pytest.fixture
async def world(start: Start) -> Any:
    async with DnsServer() as dns:  # a host that does not answer: mail waits
        dns.add_mx("elsewhere.test", "127.0.0.1")
        yield World(await start(dns={"nameservers": [f"127.0.0.1:{dns.port}"]}))


async def keys(maild: Running) -> dict[str, str | None]:
    return {
        "client": maild.api.key,
        "reviewer": (await maild.key()).key,
        "operator": (await maild.key("operator:queue")).key,
    }


def test_the_table_has_every_operation() -> None:
    assert {row.operation for row in DAY if isinstance(row, Row)} == NAMES.keys()


async def test_every_operation_in_coroutines(world: World) -> None:
    async def note(request: httpx2.Request) -> None:
        world.note(request)

    async with httpx2.AsyncClient(event_hooks={"request": [note]}) as http:
        clients = {
            name: AsyncMaild(key, world.maild.api.url, http_client=http)
            for name, key in (await keys(world.maild)).items()
        }
        for row in DAY:
            if isinstance(row, str):
                await world.happens(row)
                continue
            resource, verb = NAMES[row.operation]
            method = getattr(getattr(clients[row.by], resource), verb)
            ids, given = world.arguments(row)
            answer = method(*ids, **given)
            if isinstance(answer, AsyncPages):
                answer = await answer.page()
            elif isinstance(answer, AsyncEventStream):
                async with answer as stream:
                    answer = await anext(stream)
            else:
                answer = await answer
            world.keep(row, method, answer)


async def test_every_operation_in_plain_functions(world: World) -> None:
    def call(client: Maild, row: Row) -> None:
        resource, verb = NAMES[row.operation]
        method = getattr(getattr(client, resource), verb)
        ids, given = world.arguments(row)
        answer = method(*ids, **given)
        if isinstance(answer, Pages):
            answer = answer.page()
        elif isinstance(answer, EventStream):
            with answer as stream:
                answer = next(stream)
        world.keep(row, method, answer)

    with httpx2.Client(event_hooks={"request": [world.note]}) as http:
        clients = {
            name: Maild(key, world.maild.api.url, http_client=http)
            for name, key in (await keys(world.maild)).items()
        }
        for row in DAY:
            if isinstance(row, str):
                await world.happens(row)
            else:
                await asyncio.to_thread(call, clients[row.by], row)


def test_ids_of_paths_are_given_by_place_or_by_name() -> None:
    assert id_name("/v1/messages/{id}") == "message_id"
    with pytest.raises(ValueError, match="is no id"):
        Maild("svc_live_x", "http://127.0.0.1:9").messages.get(message_id="")


def test_what_fits_no_type_is_told() -> None:
    agent = {"id": "agt_1", "organizationId": "org_1", "name": "a", "createdAt": "…"}
    assert misfits(types.Agent, agent) == []
    assert misfits(types.Agent, {**agent, "name": None, "more": 1}) != []
    assert misfits(types.Agent, {"id": "agt_1"}) != []
    assert (
        misfits(types.AnalyticsSeries, {"period": 1, "since": "", "until": "", "series": [{"type": 1}]}) != []
    )
