"""SMTP submission passes the guards of a send: each refusal is heard as a reply of its own, and leaves nothing."""

import re
from collections.abc import Callable
from email.utils import formataddr
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from controlplane.contract.refusals import MESSAGES
from controlplane.operations.table import SUBMIT_MESSAGE
from controlplane.sending.admitting.loop_brake import EXCHANGES
from maild.submission.replies import REPLIES, reply_to
from maild.submission_door import SubmissionDoor
from storage.turns.rounds import Kind, Overloaded
from tests.conftest import Start
from tests.support.clients.submitting import logged_in, submit, submitted, submitting
from tests.support.laws.words import ROOT
from tests.support.running import Api, Running
from tests.support.worlds.store import ManualClock

ADA, BOB = "ada@elsewhere.test", "bob@elsewhere.test"
HI = f"From: bot@agents.test\nTo: {ADA}\n\nhi\n"
EVERY_OPERATION = {
    "unauthorized", "invalid_api_key_format", "invalid_api_key", "insufficient_scope", "rate_limit_exceeded",
    "validation_failed", "provider_unavailable", "internal_error",
}  # fmt: skip


@pytest.fixture
async def maild(start: Start, tmp_path: Path) -> Running:
    return await submitting(start, tmp_path / "tls")


def test_every_refusal_of_a_send_has_a_reply_and_no_other_does() -> None:
    assert set(REPLIES) == {*SUBMIT_MESSAGE.refusals, *EVERY_OPERATION} <= set(MESSAGES)


@pytest.mark.parametrize("code", REPLIES)
def test_replies_are_well_formed_whatever_the_details(code: str) -> None:
    """RFC 5321 §4.2: the first digit is that of the enhanced code, and the text is one line of ASCII."""
    for details in ({}, {"email": "a\r\n250 b@{x}.test", "fields": [{"path": "ü", "message": "x" * 2000}]}):
        reply = reply_to(code, MESSAGES[code], details)
        assert 400 <= reply.code < 600 and reply.enhanced[0] == str(reply.code)[0]
        assert reply.text.isascii() and reply.text.isprintable() and 0 < len(reply.text) <= 500


@pytest.mark.parametrize("code", [one for one in REPLIES if one != "validation_failed"])  # that tells a field
def test_no_reply_leads_to_details_that_only_the_api_shows(code: str) -> None:
    assert "details" not in reply_to(code, MESSAGES[code], {}).text


def test_what_has_no_row_is_temporary() -> None:
    assert reply_to("brand_new", "secret", {}).temporary


async def heard(
    maild: Running, inbox: dict[str, Any], mail: str = HI, *to: str, api: Api | None = None
) -> str:
    talk = await logged_in(maild, inbox, (api or maild.api).key)
    reply = await submit(talk, inbox, mail.replace("bot@agents.test", inbox["address"]), *(to or (ADA,)))
    blobs = maild.settings.data_path / "blobs"
    if not reply.startswith("250"):
        kept = maild.sql("SELECT count(*) FROM blobs") + maild.sql("SELECT count(*) FROM messages")
        files = [one for one in blobs.glob("*/*") if one.is_file()]
        assert len(files) <= sum(count for (count,) in kept)
    return reply


async def test_a_suppressed_recipient(maild: Running, bot: dict[str, Any]) -> None:
    await maild.api.post("/v1/suppressions", {"email": BOB})
    reply = await heard(maild, bot, HI + "x" * 300_000, ADA, BOB)
    assert reply == f"550 5.7.1 {BOB} is on the suppression list (manual)"
    assert [one for one in (maild.settings.data_path / "blobs").glob("*/*") if one.is_file()] == []
    assert await maild.api.messages() == []


@pytest.mark.parametrize(
    ("author", "why"),
    [
        ("X-No: From", "The message has no From. "),
        (
            f"From: {formataddr(('zoë@elsewhere.test', 'bot@agents.test'))}",
            "Some readers take the name in From for",
        ),
        ("From: root@agents.test", "From must be one mailbox, bot@agents.test"),
    ],
)
async def test_what_is_wrong_with_the_author(
    maild: Running, bot: dict[str, Any], author: str, why: str
) -> None:
    """A contact form that names its visitor by an address wonders else: the mailbox is right."""
    reply = await heard(maild, bot, f"{author}\nTo: {ADA}\n\nhi\n")
    assert reply.startswith(f"550 5.7.1 {why}")


async def test_a_mail_merge_goes_on_behind_those_whom_it_may_not_write_to(
    maild: Running, bot: dict[str, Any]
) -> None:
    """As smtplib does it: one session, a message for each recipient, RSET behind each refusal."""
    await maild.api.post("/v1/suppressions", {"email": BOB})
    talk = await logged_in(maild, bot)
    for _ in range(60):
        assert (await submit(talk, bot, HI, BOB)).startswith("550 5.7.1 ")
        assert (await talk.say("RSET")).startswith("250 ")
    assert (await submit(talk, bot, HI, ADA)).startswith("250 ")


async def test_addresses_that_are_none_keep_nobody_else_from_a_message(
    maild: Running, bot: dict[str, Any]
) -> None:
    talk = await logged_in(maild, bot)
    await talk.say("MAIL FROM:<bot@agents.test>")
    for number in range(30):
        assert (await talk.say(f"RCPT TO:<typo{number}@intranet>")).startswith("553 5.1.3 ")
    assert (await talk.say(f"RCPT TO:<{ADA}>")).startswith("250 ")


async def test_a_recipient_whom_a_rule_blocks_or_a_policy_does_not_know(
    maild: Running, bot: dict[str, Any]
) -> None:
    blocks = {"direction": "outbound", "action": "block", "value": "*.evil.test"}
    assert (await maild.api.post("/v1/rules", blocks)).status == 201
    eve = "eve@a.evil.test"
    assert await heard(maild, bot, HI, ADA, eve) == f"550 5.7.1 {eve} may not be written to (rule)"
    document = {"version": 0, "outbound": {"recipients": "participants"}}
    assert (await maild.api.call("PUT", "/v1/organization/policy", document)).status == 200
    assert await heard(maild, bot) == f"550 5.7.1 {ADA} may not be written to (participants)"


@pytest.mark.parametrize(
    ("plan", "first", "second", "to"),
    [
        ("tiny", "250 ", "452 4.7.1 ", (ADA,)),
        ("monthly", "250 ", "452 4.7.1 ", (ADA,)),
        ("thrifty", "250 ", "550 5.7.1 ", (ADA,)),
        ("free", "550 5.5.3 ", "550 5.5.3 ", (ADA, BOB)),
    ],
)
async def test_what_the_plan_allows(
    maild: Running, plan: str, first: str, second: str, to: tuple[str, ...]
) -> None:
    organization = await maild.organization(plan)
    bot = await maild.inbox("bot", organization.api)
    assert (await heard(maild, bot, HI, *to, api=organization.api)).startswith(first)
    assert (await heard(maild, bot, HI, *to, api=organization.api)).startswith(second)


async def test_what_no_time_brings_back_is_refused_for_good(maild: Running) -> None:
    """A relay would try for days, and its author hear nothing of it."""
    narrow = await maild.organization("narrow")
    bot = await maild.inbox("bot", narrow.api)
    await maild.received(bot, "From: a@elsewhere.test\n\n" + "x" * 1000, narrow.api)
    reply = await heard(maild, bot, api=narrow.api)
    assert reply == "550 5.7.1 the allowance of storageBytes does not suffice, and time alone brings no more"


async def test_an_organization_that_is_paused(maild: Running, bot: dict[str, Any]) -> None:
    await maild.operate(maild.store.organizations.pause, maild.organization_id, "x")
    assert (await heard(maild, bot)).startswith("550 5.7.1 sending is paused")


async def test_a_queue_that_is_paused(maild: Running, bot: dict[str, Any]) -> None:
    await maild.operate(maild.store.queue.pause)
    assert (await heard(maild, bot)).startswith("451 4.3.2 The operator has paused sending")
    await maild.operate(maild.store.queue.resume)
    assert (await heard(maild, bot)).startswith("250 ")


async def test_a_broadcast(start: Start, tmp_path: Path) -> None:
    maild = await submitting(start, tmp_path / "tls", limits={"bulk_recipients": 3})
    bot = await maild.inbox("bot")
    strangers = [f"s{n}@elsewhere.test" for n in range(3)]
    assert (await heard(maild, bot, HI, *strangers)).startswith(
        "550 5.7.1 a broadcast pattern paused sending until 20"
    )
    assert (await heard(maild, bot)).startswith(
        "550 5.7.1 a broadcast pattern paused sending until 20"
    )  # it stays tripped
    asked = await maild.received(bot, f"From: {ADA}\nMessage-ID: <q@elsewhere.test>\n\nWhen?\n")
    answer = HI.replace("To:", "In-Reply-To: <q@elsewhere.test>\nTo:")
    message = await submitted(maild, bot, answer, ADA)  # a conversation goes on
    assert message["threadId"] == asked["threadId"]


async def test_two_programs_that_answer_each_other(start: Start, tmp_path: Path) -> None:
    clock = ManualClock(1_795_219_200_000)
    maild = await submitting(start, tmp_path / "tls", clock=clock)
    bot = await maild.inbox("bot")
    talk = await logged_in(maild, bot)
    reply = ""
    for turn in range(EXCHANGES + 1):
        clock.forward(1)
        theirs = (
            f"From: {ADA}\nSubject: Re: Order\nMessage-ID: <t{turn}@elsewhere.test>\n"
            f"References: <o0@laptop.test>\nAuto-Submitted: auto-replied\n\nWe got it.\n"
        )
        assert (await maild.deliver(bot["address"], theirs, ADA)).startswith("250 ")
        clock.forward(1)
        ours = (
            f"From: bot@agents.test\nTo: {ADA}\nSubject: Re: Order\nMessage-ID: <o{turn}@laptop.test>\n"
            f"References: <o0@laptop.test>\nIn-Reply-To: <t{turn}@elsewhere.test>\n\nSo did we.\n"
        )
        reply = await submit(talk, bot, ours, ADA)
    assert reply.startswith("450 4.7.1 two programs seem to answer each other"), reply
    assert "stop until 2026-11-21T0" in reply


async def test_a_domains_daily_ceiling(maild: Running) -> None:
    bot = await custom(maild)
    maild.sql("UPDATE domains SET daily_cap = 1")
    assert (await heard(maild, bot)).startswith("250 ")
    reply = await heard(maild, bot)
    assert reply.startswith("452 4.7.1 the domain's daily ceiling is reached until 20"), reply


async def test_a_domain_that_is_not_verified_any_more(maild: Running) -> None:
    bot = await custom(maild)
    maild.sql("UPDATE domains SET status = 'failed'")
    assert (await heard(maild, bot)).startswith("550 5.7.1 The domain is not verified")


async def custom(maild: Running) -> dict[str, Any]:
    """An inbox on a domain of the organization's own, which is verified."""
    await maild.api.post("/v1/domains", {"domainName": "acme.test"})
    maild.sql("UPDATE domains SET status = 'verified', verified_at = 1")
    return await maild.inbox("bot", domain="acme.test")


async def test_the_rate_of_requests_counts_messages(start: Start, tmp_path: Path) -> None:
    maild = await submitting(start, tmp_path / "tls", limits={"requests_per_minute": 3})
    bot = await maild.inbox("bot")  # one request
    talk = await logged_in(maild, bot)
    for _ in range(2):
        assert (await submit(talk, bot, HI, ADA)).startswith("250 ")
    assert (await submit(talk, bot, HI, ADA)).startswith("450 4.7.1 too many messages and requests")
    assert (await maild.api.get("/v1/organization")).status == 429
    assert maild.sql("SELECT count(*) FROM messages") == [(2,)]


async def test_a_smarthost_that_takes_no_attachments(start: Start, tmp_path: Path) -> None:
    relay = {"relay": "127.0.0.1:9", "attachments": False, "port": 9}
    maild = await submitting(start, tmp_path / "tls", outbound=relay)
    bot = await maild.inbox("bot")
    mail = HI.replace("\n\n", "\nMIME-Version: 1.0\nContent-Type: image/png\n\n", 1)
    assert (await heard(maild, bot, mail)).startswith("550 5.6.1 The configured relay takes no attachments")
    assert (await heard(maild, bot)).startswith("250 ")


def parts(count: int, size: int) -> str:
    part = "--b\nContent-Type: application/zip\nContent-Transfer-Encoding: base64\n\n{}\n"
    line = "QUFB" * 18 + "\n"  # 54 octets
    body = "".join(part.format(line * (size // 54)) for _ in range(count))
    return HI.replace("\n\nhi", f"\nContent-Type: multipart/mixed; boundary=b\n\n{body}--b--", 1)


@pytest.mark.parametrize(
    ("mail", "reply"),
    [
        (lambda: parts(1, 10_600_000), "552 5.3.4 One attachment exceeds 10 MB"),
        (lambda: parts(2, 7_950_000), "552 5.3.4 One attachment exceeds 10 MB, or all of them 15 MB"),
        (
            lambda: HI + ("x" * 899 + "\n") * 17_600,
            "552 5.3.4 Body and decoded attachments together exceed 15 MB",
        ),
        (lambda: parts(101, 54), "554 5.6.0 Send at most 100 attachments and pictures"),
        (lambda: parts(1100, 54), "554 5.6.0 The message has too many parts"),
        (
            lambda: HI.replace("To:", "X: " + "x\n " * 40_000 + "\nTo:"),
            "552 5.3.4 the header section is larger",
        ),
        (lambda: parts(100, 54), "250 "),
        (lambda: parts(1, 10_300_000), "250 "),
    ],
    ids=["a large one", "large ones", "a long text", "many", "too many", "header", "as many as go", "large"],
)
async def test_sizes_are_those_of_a_send(
    maild: Running, bot: dict[str, Any], mail: Callable[[], str], reply: str
) -> None:
    told = await heard(maild, bot, mail())
    assert told.startswith(reply), told


async def test_more_is_asked_than_there_is_time_for(maild: Running, bot: dict[str, Any]) -> None:
    class Full:
        async def begin(self, kind: Kind, owner: str) -> None:
            raise Overloaded

    talk = await logged_in(maild, bot)
    door: SubmissionDoor = maild.daemon.submission._log_in.__self__  # type: ignore[union-attr]
    door._rounds = Full()  # type: ignore[assignment]
    assert (await submit(talk, bot, HI + "x\n" * 200_000, ADA)).startswith("451 4.3.2 ")
    assert [one for one in (maild.settings.data_path / "blobs").glob("*/*") if one.is_file()] == []


async def test_the_log_says_who_was_refused_what(maild: Running, bot: dict[str, Any]) -> None:
    with capture_logs() as lines:
        await maild.api.post("/v1/suppressions", {"email": ADA})
        assert (await heard(maild, bot)).startswith("550 ")
    (refused,) = [one for one in lines if one["event"] == "refused"]
    assert refused["refusal"] == "recipient_suppressed" and refused["recipients"] == [ADA]
    assert refused["inbox_id"] == bot["id"] and refused["key_id"].startswith("key_")


async def test_a_key_that_is_revoked_meanwhile(maild: Running, bot: dict[str, Any]) -> None:
    made = (await maild.api.post("/v1/keys", {"name": "brief"})).data
    talk = await logged_in(maild, bot, made["apiKey"])
    assert (await submit(talk, bot, HI, ADA)).startswith("250 ")
    await maild.api.call("DELETE", f"/v1/keys/{made['id']}")
    assert (await submit(talk, bot, HI, ADA)).startswith("530 5.7.0 this API key was revoked")
    assert len(await maild.api.messages()) == 1


async def test_an_inbox_that_is_deactivated_meanwhile(maild: Running, bot: dict[str, Any]) -> None:
    talk = await logged_in(maild, bot)
    await maild.api.call("DELETE", f"/v1/inboxes/{bot['id']}")
    assert (await submit(talk, bot, HI, ADA)).startswith("550 5.1.8 this inbox is not active any more")


async def test_a_test_keys_mail_leaves_to_nobody(maild: Running, bot: dict[str, Any]) -> None:
    talk = await logged_in(maild, bot, maild.test_api.key)
    assert (
        await submit(talk, bot, HI.replace(ADA, "bounce@simulator.test"), "bounce@simulator.test")
    ).startswith("250 ")
    (message,) = await maild.api.messages()
    assert message["mode"] == "test"
    assert (await maild.api.get("/v1/organization")).data["usage"]["messagesDaily"] == 0


def test_the_contract_has_every_reply() -> None:
    text = (ROOT / "docs" / "contract.md").read_text("utf-8")
    section = text.split("### Submission by SMTP")[1].split("\n### ")[0]
    told = {
        code: row[1]
        for row in re.findall(r"^\| (`.*?) \| (\d{3} \d\.\d\.\d).*\|$", section, re.MULTILINE)
        for code in re.findall(r"`(\w+)`", row[0])
    }
    assert told == {code: f"{reply.code} {reply.enhanced}" for code, reply in REPLIES.items()}
