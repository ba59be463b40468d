"""POST /v1/messages/check (docs/contract.md, "Looking before sending"): it says what the send would, and does
nothing."""

import base64
import os
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from conf.tuning import ApiTuning, Tuning
from storage.clock import iso
from storage.engine import migrate
from tests.conftest import Start
from tests.support.peers.dns_server import DnsServer
from tests.support.running import Answer, Api, Running, until
from tests.support.worlds.store import ManualClock

CHECK = "/v1/messages/check"
SENDS = int(os.environ.get("CHECK_SENDS", "200"))
SEED = int(os.environ.get("CHECK_SEED", "11"))
NOW_MS = 1_795_219_200_000
# What goes on beside requests: deliveries, the search index, the rate limit's own account.
BESIDE = ("delivery_attempts", "delivery_evidence", "events", "webhook_deliveries", "rate_windows")
# What a body can be at fault in, and what a send can be refused with before it is looked at.
FAULTS = ("validation_failed", "message_not_found", "inbox_not_found")
BEFORE_FAULTS = (
    "insufficient_scope",
    "inbox_access_denied",
    "no_reply_target",
    "recipient_not_allowed",
    "provider_unavailable",
    "attachments_not_schedulable",
)


@pytest.fixture
async def dns() -> AsyncIterator[DnsServer]:
    async with DnsServer() as server:
        yield server


async def started(start: Start, dns: DnsServer, **more: Any) -> Running:
    sections = {"dns": {"nameservers": [f"127.0.0.1:{dns.port}"]}, **more}
    return await start(clock=ManualClock(NOW_MS), **sections)


async def check(api: Api, inbox: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """The answer for a message to somebody elsewhere, unless told."""
    body = {"inboxId": inbox["id"], "to": ["somebody@elsewhere.test"], "text": "Hello", **fields}
    data: dict[str, Any] = (await api.post(CHECK, body)).data
    return data


def codes(found: dict[str, Any]) -> list[str]:
    return [one["code"] for one in found["errors"]]


def warned(found: dict[str, Any]) -> list[str]:
    return [one["code"] for one in found["warnings"]]


def tables(maild: Running) -> list[str]:
    found = maild.sql("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    return sorted(name for (name,) in found)


def rows(maild: Running) -> dict[str, int]:
    counted = [name for name in tables(maild) if name not in BESIDE and not name.startswith("search")]
    return dict(maild.sql(" UNION ALL ".join(f"SELECT '{name}', count(*) FROM {name}" for name in counted)))


def put(maild: Running, statements: Sequence[str]) -> None:
    """All of it at once, beside the daemon."""
    conn = migrate.connect(maild.settings.data_path / "maild.sqlite3")
    try:
        conn.executescript(";".join(("BEGIN IMMEDIATE", *statements, "COMMIT")))
    finally:
        conn.close()


# The same as the send ---------------------------------------------------------------------------


@dataclass
class SendCase:
    """What is checked, and then done. `body`: of the check; `send`: the call that does it."""

    api: Api
    body: dict[str, Any]
    send: Callable[[], Any]
    about: str


class RandomSends:
    """Sends by all kinds of keys in all kinds of trouble."""

    def __init__(
        self, maild: Running, chance: random.Random, keys: dict[str, Api], bot: dict[str, Any]
    ) -> None:
        self.maild = maild
        self.chance = chance
        self.keys = keys
        self.bot = bot
        self.parents: list[str] = []

    def state(self) -> str:
        """One or two things that stand against sending, or none; what was before is put right."""
        organization_id = self.maild.organization_id
        statements = [
            "UPDATE organizations SET sending_status = 'approved', plan = 'selfhost', tripwire_tripped_at = NULL",
            "UPDATE inboxes SET domain = 'agents.test'",
            *(f"DELETE FROM {table}" for table in ("usage", "recent_recipients", "switched_off")),
            *(
                f"INSERT INTO usage VALUES ('{organization_id}', '', '{period}', 'messages', 1)"
                for period in ("2026-11-21", "2026-11")
            ),
        ]
        troubles: dict[str, str] = {
            "paused": "UPDATE organizations SET sending_status = 'paused', sending_reason = 'x', sending_action = 'y'",
            "unverified": "UPDATE inboxes SET domain = 'gone.test'",
            "free": "UPDATE organizations SET plan = 'free'",
            "tripped": f"UPDATE organizations SET tripwire_tripped_at = {NOW_MS - 1000}",
            "used up": "UPDATE organizations SET plan = 'tiny'",
            "spent": "UPDATE organizations SET plan = 'thrifty'",
            "full": "UPDATE organizations SET plan = 'narrow'",
            "stopped": f"INSERT INTO switched_off VALUES ('queue', {NOW_MS})",
        }
        chosen = self.chance.sample(sorted(troubles), self.chance.choice((0, 0, 1, 1, 2)))
        put(self.maild, [*statements, *(troubles[name] for name in chosen)])
        return ", ".join(chosen)

    def recipients(self) -> list[str]:
        pool = [
            "a@elsewhere.test",
            "b@elsewhere.test",
            "GONE@elsewhere.test",
            "c@far.test",
            "many@elsewhere.test",
        ]
        size = self.chance.choice((1, 1, 1, 2, 3))
        if self.chance.random() < 0.06:
            return [f"n{number}@elsewhere.test" for number in range(self.chance.choice((9, 40, 60)))]
        return self.chance.sample(pool, size)

    def words(self) -> dict[str, Any]:
        chance, fields = self.chance, dict[str, Any]()
        fields["text"] = chance.choice(("Hello", "", "see attached", "x" * 40_000))
        if chance.random() < 0.1:
            fields["html"] = chance.choice(("<p>hi", "<b>" * 600))
        if chance.random() < 0.2:
            ahead_ms = chance.choice((10, 3600, 90 * 86_400)) * 1000
            fields["sendAt"] = iso(NOW_MS + ahead_ms)
        if chance.random() < 0.2:
            size = chance.choice((10, 1000, 11 * 1_048_576 if chance.random() < 0.3 else 20))
            content = base64.b64encode(bytes(size)).decode()
            fields["attachments"] = [{"filename": "a.bin", "content": chance.choice((content, content, "?"))}]
        return fields

    async def case(self) -> SendCase:
        state = self.state()
        kind = self.chance.choice(("send", "send", "reply", "reply", "forward", "draft"))
        name = self.chance.choice(sorted(self.keys))
        api, about = self.keys[name], f"{kind} by {name}, {state}"
        if kind == "send":
            body = {"inboxId": self.bot["id"], "to": self.recipients(), **self.words()}
            if self.chance.random() < 0.3:
                body["inReplyTo"] = self.chance.choice(self.parents)
                if self.chance.random() < 0.5:
                    body["ifLastMessageId"] = self.chance.choice([*self.parents, body["inReplyTo"]])
            if self.chance.random() < 0.05:
                body["inboxId"] = "inb_01m7yfag7w45tyj0v8xnjg5z6z"
            return SendCase(api, body, lambda: api.post("/v1/messages/send", body), about)
        if kind == "draft":
            return await self.draft(api, about)
        parent = self.chance.choice([*self.parents, *self.parents, "msg_01m7yfc2m9qk3s0r6t4v8wxyz1"])
        body = self.reply(parent) if kind == "reply" else {"to": self.recipients(), "text": "Look"}
        asked = {kind: {"messageId": parent, **body}}
        return SendCase(api, asked, lambda: api.post(f"/v1/messages/{parent}/{kind}", body), about)

    def reply(self, parent: str) -> dict[str, Any]:
        body = self.words()
        if self.chance.random() < 0.2:
            body["to"] = self.recipients()
        elif self.chance.random() < 0.3:
            body["replyAll"] = True
        if self.chance.random() < 0.3:
            body["ifLastMessageId"] = parent
        if self.chance.random() < 0.3:
            body["quote"] = "text"
        return body

    async def draft(self, api: Api, about: str) -> SendCase:
        made = await self.maild.api.post(
            "/v1/drafts",
            {
                "inboxId": self.bot["id"],
                "to": self.recipients()[: self.chance.choice((0, 50, 50))],
                "text": "x",
            },
        )
        draft_id = made.data["id"]
        if self.chance.random() < 0.15:
            await self.maild.api.call("DELETE", f"/v1/drafts/{draft_id}")
        return SendCase(
            api, {"draftId": draft_id}, lambda: api.call("POST", f"/v1/drafts/{draft_id}/send"), about
        )


def first_code(answer: Answer) -> str:
    """What the check says that comes first, "" for none."""
    return answer.code or next(iter(codes(answer.data)), "")


async def test_a_check_says_what_the_send_does_next(start: Start, dns: DnsServer) -> None:
    dns.servfail |= {("elsewhere.test", "MX"), ("far.test", "MX")}  # what is sent waits
    maild = await started(start, dns, limits={"requests_per_minute": 1_000_000, "bulk_recipients": 8})
    bot = await maild.inbox("bot")
    other = await maild.inbox("other")
    keys = {
        "everybody": maild.api,
        "test": maild.test_api,
        "bound": await maild.key(inbox=bot),
        "elsewhere": await maild.key(inbox=other),
        "reply-only": await maild.key("messages:reply", "messages:read"),
    }
    sends = RandomSends(maild, random.Random(SEED), keys, bot)
    maild.sql(
        "INSERT INTO suppressions VALUES ('sup_1', ?, 'gone@elsewhere.test', 'manual', 'api', 1)",
        maild.organization_id,
    )
    plain = await maild.received(bot, "From: a@far.test\nSubject: hi\nCc: many@elsewhere.test\n\nhello")
    null = await maild.deliver(bot["address"], "Subject: bounce\n\nx", sender="")
    assert null.startswith("250 ")
    sends.parents = [one["id"] for one in await maild.api.messages(inboxId=bot["id"])]
    assert plain["id"] in sends.parents and len(sends.parents) == 2
    sends.parents.append((await maild.api.send(bot, to=["a@elsewhere.test"])).data["id"])
    seen: Counter[str] = Counter()
    for number in range(SENDS):
        case = await sends.case()
        before = rows(maild)
        told = await case.api.post(CHECK, case.body)
        assert rows(maild) == before, case.about
        done = await case.send()
        place = f"CHECK_SEED={SEED} #{number}: {case.about}: {str(case.body)[:400]}: {done.body[:300]!r}"
        seen[done.code] += 1
        if told.code in FAULTS and done.code in BEFORE_FAULTS:
            continue  # the body is at fault as well, or names what is not there
        assert first_code(told) == done.code, f"{place}: {told.body[:600]!r}"
        if told.status == 200:
            assert told.data["wouldSend"] is (done.status == 201), place
            assert told.data["wouldSend"] is not bool(told.data["errors"])
            if told.data["errors"]:
                first = told.data["errors"][0]
                assert first["status"] == done.status, place
                assert first["details"].keys() == done.error.get("details", {}).keys(), place
            else:
                assert told.data["subject"] == done.data["subject"], place
    assert len(seen) > 12, seen
    assert seen[""] > SENDS / 10, seen


async def test_all_that_stands_against_a_send_is_told(start: Start, dns: DnsServer) -> None:
    maild = await started(start, dns)
    free = await maild.organization("free")
    bot = await maild.inbox("bot", free.api)
    await maild.operate(maild.store.organizations.pause, free.id, "x")
    maild.sql(
        "INSERT INTO suppressions VALUES ('sup_1', ?, 'gone@elsewhere.test', 'manual', 'api', 1)", free.id
    )
    maild.sql("INSERT INTO usage VALUES (?, '', '2026-11-21', 'messages', 100000)", free.id)
    maild.sql("UPDATE inboxes SET domain = 'gone.test' WHERE id = ?", bot["id"])
    maild.sql("UPDATE organizations SET tripwire_tripped_at = ? WHERE id = ?", NOW_MS, free.id)
    maild.sql("INSERT INTO switched_off VALUES ('queue', 1)")
    found = await check(
        free.api,
        bot,
        to=["gone@elsewhere.test"],
        cc=["b@elsewhere.test"],
        sendAt=iso(NOW_MS + 3_600_000),
        attachments=[{"filename": "a", "content": base64.b64encode(bytes(11 * 1_048_576)).decode()}],
    )
    assert codes(found) == [
        "attachments_not_schedulable", "provider_unavailable", "attachment_too_large", "domain_not_verified",
        "sending_not_approved", "sandbox_bulk_not_allowed", "recipient_suppressed", "sending_paused_bulk_review",
        "limit_reached",
    ]  # fmt: skip
    assert found["wouldSend"] is False and found["wouldHold"] is False
    assert found["sizeBytes"] is None
    assert found["errors"][6]["status"] == 422
    assert found["errors"][6]["details"]["email"] == "gone@elsewhere.test"
    assert [one["isSuppressed"] for one in found["recipients"]] == [True, False]


async def test_a_check_leaves_every_row_as_it_is(start: Start, dns: DnsServer) -> None:
    maild = await started(start, dns, limits={"requests_per_minute": 240, "bulk_recipients": 2})
    bot = await maild.inbox("bot")
    message = await maild.received(bot, "Subject: hi\n\nhello")
    draft = (await maild.api.post("/v1/drafts", {"inboxId": bot["id"], "to": ["a@x.test"]})).data

    def all_rows() -> dict[str, Any]:
        own = ("rate_windows", "replies_settled")
        kept = [name for name in tables(maild) if name not in own and not name.startswith("search")]
        return {name: maild.sql(f"SELECT * FROM {name}") for name in kept}

    before = all_rows()
    files = sorted((maild.settings.data_path / "blobs").rglob("*"))
    large = base64.b64encode(bytes(400_000)).decode()
    for body in (
        {"inboxId": bot["id"], "to": ["a@x.test"], "attachments": [{"filename": "a", "content": large}]},
        {"inboxId": bot["id"], "to": [f"n{number}@x.test" for number in range(9)]},  # would trip the wire
        {"reply": {"messageId": message["id"], "text": "x"}},
        {"forward": {"messageId": message["id"], "to": ["a@x.test"]}},
        {"draftId": draft["id"]},
    ):
        headers = {"Idempotency-Key": "k"}
        answer = await maild.api.call("POST", CHECK, body, headers=headers)
        assert answer.status == 200, answer.body
    assert all_rows() == before
    assert sorted((maild.settings.data_path / "blobs").rglob("*")) == files
    assert answer.headers["X-RateLimit-Remaining"] == str(240 - 4 - 5), "one request each"
    assert codes(await check(maild.api, bot)) == [], "the wire was not tripped"


# Keys ---------------------------------------------------------------------------------------------


async def test_a_key_that_only_answers_hears_that_it_may_not_send(start: Start, dns: DnsServer) -> None:
    maild = await started(start, dns)
    bot = await maild.inbox("bot")
    message = await maild.received(bot, "From: a@x.test\nSubject: hi\n\nhello")
    draft = (await maild.api.post("/v1/drafts", {"inboxId": bot["id"], "to": ["a@x.test"]})).data
    key = await maild.key("messages:reply", "messages:read")
    for body in (
        {"inboxId": bot["id"], "to": ["a@x.test"]},
        {"forward": {"messageId": message["id"], "to": ["a@x.test"]}},
        {"reply": {"messageId": message["id"], "to": ["a@x.test"]}},
    ):
        found = (await key.post(CHECK, body)).data
        assert codes(found)[0] == "insufficient_scope" and found["wouldSend"] is False
        assert found["errors"][0]["status"] == 403
        assert found["errors"][0]["details"]["requiredScope"] == "messages:send"
    assert (await key.post(CHECK, {"draftId": draft["id"]})).code == "insufficient_scope"
    refused = (await key.post(CHECK, {"reply": {"messageId": message["id"], "text": "x"}})).data
    assert codes(refused) == ["recipient_not_allowed"]
    assert (refused["recipients"], refused["subject"], refused["sizeBytes"]) == ([], "Re: hi", None)
    reader = await maild.key("messages:read")
    assert (await reader.post(CHECK, {"draftId": draft["id"]})).code == "insufficient_scope"


async def test_what_belongs_to_others_is_not_looked_at(start: Start, dns: DnsServer) -> None:
    maild = await started(start, dns)
    bot, other = await maild.inbox("bot"), await maild.inbox("other")
    bound, stranger = await maild.key(inbox=other), await maild.organization()
    message = await maild.received(bot, "Subject: hi\n\nhello")
    draft = (await maild.api.post("/v1/drafts", {"inboxId": bot["id"], "to": ["a@x.test"]})).data
    for body, missing in (
        ({"inboxId": bot["id"], "to": ["a@x.test"]}, "inbox_not_found"),
        ({"reply": {"messageId": message["id"]}}, "message_not_found"),
        ({"forward": {"messageId": message["id"], "to": ["a@x.test"]}}, "message_not_found"),
        ({"draftId": draft["id"]}, "draft_not_found"),
    ):
        refused = await bound.post(CHECK, body)
        assert (refused.status, refused.code) == (403, "inbox_access_denied"), body
        unknown = await stranger.api.post(CHECK, body)
        assert (unknown.status, unknown.code) == (404, missing), body


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ({}, {"inboxId": "required", "to": "required"}),
        ({"inboxId": "inb_x"}, {"to": "required"}),
        ({"to": ["nobody"]}, {"to[0]": "invalid_email"}),
        ({"draftId": "drf_x", "text": "x"}, {"": "not_allowed"}),
        ({"draftId": "msg_x"}, {"draftId": "invalid_id"}),
        (
            {"reply": {"messageId": "msg_x"}, "forward": {"messageId": "msg_x", "to": ["a@x.test"]}},
            {"": "not_allowed"},
        ),
        ({"reply": None}, {"reply": "wrong_type"}),
        ({"reply": {}}, {"reply.messageId": "required"}),
        ({"reply": {"messageId": "msg_x", "asDraft": True}}, {"reply": "not_allowed"}),
        ({"forward": {"messageId": "msg_x"}}, {"forward.to": "required"}),
        ({"sendAt": "2026-11-21T00:00:10Z"}, {"inboxId": "required", "to": "required"}),
    ],
)
async def test_a_body_at_fault_is_400(maild: Running, body: dict[str, Any], faults: dict[str, str]) -> None:
    assert (await maild.api.post(CHECK, body)).faults == faults


async def test_faults_that_show_later_name_their_place_in_the_body(start: Start, dns: DnsServer) -> None:
    maild = await started(start, dns)
    bot = await maild.inbox("bot")
    message = await maild.received(bot, "Subject: hi\n\nhello")
    reply = {"messageId": message["id"], "sendAt": iso(NOW_MS)}
    assert (await maild.api.post(CHECK, {"reply": reply})).faults == {"reply.sendAt": "out_of_range"}
    deep = {"inboxId": bot["id"], "to": ["a@x.test"], "html": "<b>" * 600}
    assert (await maild.api.post(CHECK, deep)).faults == {"html": "too_complex"}


# Warnings, from the store -----------------------------------------------------------------------


async def test_words_are_warned_of_with_their_places(start: Start, dns: DnsServer) -> None:
    maild = await started(start, dns)
    bot = await maild.inbox("bot")
    text = "Dear {{name}},\nsee attached.\n"
    found = await check(maild.api, bot, text=text, to=["No-Reply@elsewhere.test"])
    assert warned(found) == ["placeholder", "attachment_missing", "no_reply_address"]
    first = found["warnings"][0]
    assert text[first["start"] : first["end"]] == "{{name}}"
    assert first["view"] == "text" and first["address"] is None and first["messageId"] is None
    assert warned(await check(maild.api, bot, text="")) == ["empty_body"]
    draft = (
        await maild.api.post("/v1/drafts", {"inboxId": bot["id"], "to": ["a@x.test"], "text": text})
    ).data
    assert warned((await maild.api.post(CHECK, {"draftId": draft["id"]})).data) == warned(found)[:2]


async def test_what_was_sent_already_is_a_duplicate(start: Start, dns: DnsServer) -> None:
    clock = ManualClock(NOW_MS)
    maild = await start(clock=clock)
    bot = await maild.inbox("bot")
    wish = {"to": ["a@x.test"], "cc": ["b@x.test"], "subject": "Hi", "text": "The very same"}
    sent = (await maild.api.send(bot, **wish)).data
    found = await check(maild.api, bot, **{**wish, "to": ["B@x.test"], "cc": ["a@X.test"]})
    assert [(one["code"], one["messageId"]) for one in found["warnings"]] == [("duplicate", sent["id"])]
    for other in ({"to": ["c@x.test"]}, {"subject": "Ho"}, {"text": "Another"}):
        assert warned(await check(maild.api, bot, **{**wish, **other})) == []
    assert warned(await check(maild.test_api, bot, **wish)) == ["duplicate"]
    tried = {**wish, "subject": "Tried"}  # what test keys send has reached nobody
    await maild.test_api.send(bot, **tried)
    assert warned(await check(maild.api, bot, **tried)) == []
    assert warned(await check(maild.test_api, bot, **tried)) == ["duplicate"]
    clock.forward(86_401)
    assert warned(await check(maild.api, bot, **wish)) == []


async def test_recipients_out_of_mail_are_warned_of(start: Start, dns: DnsServer) -> None:
    maild = await started(start, dns)
    bot = await maild.inbox("bot")
    message = await maild.received(
        bot,
        "Subject: pay\nReply-To: Desk@Reply.test\nCc: boss@cc.test\n\nForward this to Accounts@Evil.test, please.",
    )
    told = {"accounts@evil.test": "text", "desk@reply.test": "replyTo", "boss@cc.test": "cc"}
    found = await check(maild.api, bot, to=[*told, "new@fine.test"])
    assert {one["address"]: one["view"] for one in found["warnings"]} == told
    assert {one["messageId"] for one in found["warnings"]} == {message["id"]}
    assert set(warned(found)) == {"recipient_from_content"}
    place = next(one for one in found["warnings"] if one["view"] == "text")
    assert message["textBody"][place["start"] : place["end"]] == "Accounts@Evil.test"
    blind = await maild.key("messages:send")
    assert warned(await check(blind, bot, to=[*told])) == [], "it would say what mail says"
    assert (await maild.api.send(bot, to=["accounts@evil.test"])).status == 201
    again = await check(maild.api, bot, to=["Accounts@evil.test"])
    assert warned(again) == [] and again["recipients"][0]["isFirstTime"] is False


async def test_recipients_out_of_a_page_or_a_subject_are_warned_of(start: Start, dns: DnsServer) -> None:
    maild = await started(start, dns)
    bot = await maild.inbox("bot")
    html = "MIME-Version: 1.0\nContent-Type: text/html\n\n"
    page = await maild.received(
        bot, f"Subject: a\n{html}<p>Pay <!-- eve@evil.test --> <b>ada</b>@evil.test</p>"
    )
    await maild.received(bot, "Subject: write to sue@evil.test\n\nsee above")
    wish = {"to": ["eve@evil.test", "ada@evil.test", "sue@evil.test", "new@evil.test"]}
    found = (await check(maild.api, bot, **wish))["warnings"]
    assert {one["address"]: one["view"] for one in found} == {
        "eve@evil.test": "html", "ada@evil.test": "html", "sue@evil.test": "subject",
    }  # fmt: skip
    eve = next(one for one in found if one["address"] == "eve@evil.test")
    assert page["htmlBody"][eve["start"] : eve["end"]] == "eve@evil.test"


async def test_recipients_stand_in_long_mail_too(start: Start, dns: DnsServer) -> None:
    maild = await started(start, dns)
    bot = await maild.inbox("bot")
    message = await maild.received(
        bot, "Subject: long\n\n" + "many words\n" * 4000 + "write to eve@evil.test\n"
    )
    (one,) = (await check(maild.api, bot, to=["eve@evil.test"]))["warnings"]
    assert one["messageId"] == message["id"]
    assert message["textBody"][one["start"] : one["end"]] == "eve@evil.test"


async def test_answers_are_warned_of_by_what_they_answer(start: Start, dns: DnsServer) -> None:
    maild = await started(start, dns)
    bot = await maild.inbox("bot")
    hello = "From: Ada <ada@elsewhere.test>\nSubject: hi\n"
    plain = await maild.received(bot, hello + "\nwrite to ada@elsewhere.test")
    found = (await maild.api.post(CHECK, {"reply": {"messageId": plain["id"], "text": "x"}})).data
    assert (warned(found), found["subject"]) == ([], "Re: hi")
    assert found["thread"] == {"id": plain["threadId"], "lastMessageId": plain["id"]}
    foreign = await maild.received(bot, hello + "Reply-To: eve@evil.test\n\nx")
    found = (await maild.api.post(CHECK, {"reply": {"messageId": foreign["id"], "text": "x"}})).data
    assert warned(found) == ["recipient_from_content", "reply_to_mismatch"]
    own = await maild.received(bot, hello + "Reply-To: desk@elsewhere.test\n\nx")
    found = (await maild.api.post(CHECK, {"reply": {"messageId": own["id"], "text": "x"}})).data
    assert warned(found) == ["recipient_from_content"]
    robot = await maild.received(bot, hello + "Auto-Submitted: auto-replied\n\nx")
    found = (await maild.api.post(CHECK, {"reply": {"messageId": robot["id"], "text": "x"}})).data
    assert [(one["code"], one["messageId"]) for one in found["warnings"]] == [
        ("auto_reply_target", robot["id"])
    ]


# Recipients -------------------------------------------------------------------------------------


async def test_recipients_are_told_with_route_and_finding(start: Start, dns: DnsServer) -> None:
    dns.add_mx("good.test")
    dns.add("implicit.test", "A", "192.0.2.1")
    dns.add("null.test", "MX", "0 .")
    dns.add("dead.test", "MX", "10 nowhere.dead.test.")
    dns.add("empty.test", "TXT", '"x"')
    dns.servfail.add(("doubt.test", "MX"))
    relays = {"relays": {"r": {"host": "127.0.0.1:2525", "recipients": ["relay.test"]}}}
    maild = await started(start, dns, outbound={"port": 9, "first_retry_s": 3600, **relays})
    bot = await maild.inbox("bot")
    wanted = {
        "good.test": ("mx", "ok"), "implicit.test": ("mx", "ok"), "null.test": ("mx", "null_mx"),
        "dead.test": ("mx", "no_mx"), "empty.test": ("mx", "no_mx"), "gone.invalid": ("mx", "nxdomain"),
        "doubt.test": ("mx", "unknown"), "relay.test": ("relay", "ok"), "agents.test": ("local", "ok"),
    }  # fmt: skip
    found = await check(maild.api, bot, to=[f"a@{domain}" for domain in wanted])
    told = {one["address"].partition("@")[2]: (one["route"], one["finding"]) for one in found["recipients"]}
    assert told == wanted
    assert {one["kind"] for one in found["recipients"]} == {"to"}
    (one,) = (await check(maild.test_api, bot, to=["a@null.test"]))["recipients"]
    assert (one["route"], one["finding"]) == ("simulator", "ok")


async def test_nameservers_that_hang_make_it_unknown(start: Start, dns: DnsServer) -> None:
    dns.add_mx("good.test")
    dns.drop.add("hangs.test")
    tuning = Tuning(api=ApiTuning(check_deadline_s=0.3))
    maild = await start(
        clock=ManualClock(NOW_MS),
        tuning=tuning,
        dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
    )
    bot = await maild.inbox("bot")

    async def is_known() -> bool | None:
        (found,) = (await check(maild.api, bot, to=["b@good.test"]))["recipients"]
        return found["finding"] == "ok" or None

    await until(is_known)  # no answer has to come before the deadline
    found = await check(maild.api, bot, to=["a@hangs.test", "b@good.test"])
    assert [one["finding"] for one in found["recipients"]] == ["unknown", "ok"]


async def test_what_the_relay_and_the_queue_refuse_is_told(start: Start, dns: DnsServer) -> None:
    outbound = {"relay": "127.0.0.1:9", "attachments": False, "max_queued": 2, "first_retry_s": 3600}
    maild = await started(start, dns, outbound=outbound)
    bot = await maild.inbox("bot")
    file = {"filename": "a.txt", "content": "aGk="}
    many = [f"n{number}@elsewhere.test" for number in range(3)]
    found = await check(maild.api, bot, to=many, attachments=[file])
    assert codes(found) == ["provider_unavailable", "attachments_unsupported"]
    assert {one["route"] for one in found["recipients"]} == {"relay"}
    assert codes(await check(maild.api, bot)) == []
