"""Labels, deletion, raw bytes, attempts, schedules of one message (contract, section 4; decisions.md, "Message")."""

from typing import Any

import pytest

from controlplane.operations.mail import messages as operations
from maild.message.delivery_evidence import STAGES, Evidence, HostEvidence, pack
from storage.clock import iso
from storage.engine.database import Database
from storage.mail import messages
from storage.records import dump
from tests.support.running import Running, until

ABSENT = "msg_01m7yg00000000000000000000"
ENDPOINTS = [("PATCH", ""), ("DELETE", ""), ("GET", "/raw"), ("GET", "/attempts"), ("DELETE", "/schedule")]

HOST = HostEvidence(
    "mx.there.test", "192.0.2.1", 25, False, "none", "opportunistic", "answer", (1,) * len(STAGES), False,
    "192.0.2.9", "mail.ours.test", None, None, None, None, "",
)  # fmt: skip


def mail(number: int = 1, words: str = "words", subject: str = "topic", **headers: str) -> str:
    more = "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in headers.items())
    named = f"From: Ada <ada@elsewhere.test>\nSubject: {subject}\nMessage-ID: <{number}@elsewhere.test>\n"
    return f"{named}{more}\n{words}\n"


def body_of(method: str) -> dict[str, Any] | None:
    return {"labels": []} if method == "PATCH" else None


@pytest.mark.parametrize(("method", "rest"), ENDPOINTS)
async def test_what_is_not_there_or_somebody_elses_is_not_found(
    maild: Running, bot: dict[str, Any], method: str, rest: str
) -> None:
    message = await maild.received(bot, mail())
    stranger = await maild.organization()
    for api, message_id in ((maild.api, ABSENT), (maild.api, "x"), (stranger.api, message["id"])):
        answer = await api.call(method, f"/v1/messages/{message_id}{rest}", body_of(method))
        assert (answer.status, answer.code) == (404, "message_not_found")


@pytest.mark.parametrize(("method", "rest"), ENDPOINTS)
async def test_a_key_of_another_inbox_is_denied(
    maild: Running, bot: dict[str, Any], method: str, rest: str
) -> None:
    message = await maild.received(bot, mail())
    bound = await maild.key(inbox=await maild.inbox("other"))
    answer = await bound.call(method, f"/v1/messages/{message['id']}{rest}", body_of(method))
    assert (answer.status, answer.code) == (403, "inbox_access_denied")


async def test_what_much_hangs_on_is_deleted_beside_the_event_loop_and_others_write_meanwhile(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each event of a message to 150 recipients shows them all, and each of them may bring some."""
    apart: list[object] = []
    write_apart = Database.write_apart

    async def noted(db: Database, unit: Any, *arguments: Any) -> Any:
        apart.append(unit)
        return await write_apart(db, unit, *arguments)

    monkeypatch.setattr(Database, "write_apart", noted)
    monkeypatch.setattr(messages, "MUCH", 3)
    monkeypatch.setattr(messages, "WORDS_AT_ONCE", 2)
    for count, is_much in ((3, False), (4, True)):
        message = await maild.received(bot, "From: ada@elsewhere.test\nSubject: secret\n\nwords\n")
        await tell_again(maild, message["id"], count - 1)
        assert (await maild.api.call("DELETE", f"/v1/messages/{message['id']}")).status == 200
        assert (operations._delete in apart) is is_much
        told = "SELECT json_extract(data, '$.subject') FROM events WHERE message_id = ?"
        assert maild.sql(told, message["id"]) == [("",)] * count
    assert apart.count(operations._forget_some) == 3  # two at a time, until there are none


async def tell_again(maild: Running, message_id: str, times: int) -> None:
    """As if so many more events told of the message."""
    db = maild.daemon._db
    assert db is not None
    for number in range(times):
        await db.write(
            lambda tx, number: tx.run(
                """INSERT INTO events (id, organization_id, inbox_id, message_id, type, mode, data, created_at)
                   SELECT id || ?, organization_id, inbox_id, message_id, type, mode, data, created_at FROM events
                   WHERE message_id = ? LIMIT 1""",
                (str(number), message_id),
            ),
            number,
        )


# Labels ------------------------------------------------------------------------------------------


async def test_counters_of_unread_mail_follow_the_labels(maild: Running, bot: dict[str, Any]) -> None:
    message = await maild.received(bot, mail())

    async def unread() -> tuple[int, int]:
        thread = (await maild.api.get(f"/v1/threads/{message['threadId']}")).data
        return thread["unreadCount"], (await maild.api.get(f"/v1/inboxes/{bot['id']}")).data["unreadCount"]

    path = f"/v1/messages/{message['id']}"
    assert await unread() == (1, 1)
    changed = (await maild.api.call("PATCH", path, {"labels": ["done", "x", "done"]})).data
    assert changed == {**message, "labels": ["done", "x"]}
    assert await unread() == (0, 0)
    await maild.api.call("PATCH", path, {"labels": []})
    assert await unread() == (0, 0)
    await maild.api.call("PATCH", path, {"labels": ["unread"]})
    assert await unread() == (1, 1)
    (listed,) = (await maild.api.get("/v1/threads")).data
    assert listed["labels"] == ["unread"]


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ({}, {"labels": "required"}),
        ({"labels": None}, {"labels": "wrong_type"}),
        ({"labels": [""]}, {"labels[0]": "too_short"}),
        ({"labels": ["x" * 65]}, {"labels[0]": "too_long"}),
        ({"labels": ["a\n"]}, {"labels[0]": "control_character"}),
        ({"labels": [str(number) for number in range(51)]}, {"labels": "too_many"}),
        ({"labels": [], "isSpam": True}, {"isSpam": "unknown_field"}),
    ],
)
async def test_labels_that_are_refused(
    maild: Running, bot: dict[str, Any], body: dict[str, Any], faults: dict[str, str]
) -> None:
    message = await maild.received(bot, mail())
    answer = await maild.api.call("PATCH", f"/v1/messages/{message['id']}", body)
    assert answer.status == 400 and answer.faults == faults


# Deletion ----------------------------------------------------------------------------------------


async def test_a_deleted_message_is_gone_with_its_words(maild: Running, bot: dict[str, Any]) -> None:
    large = "secretword " + "x" * 400_000
    first = await maild.received(bot, mail(words="earlier"))
    last = await maild.received(bot, mail(2, large, "Re: secretsubject", In_Reply_To="<1@elsewhere.test>"))
    files = list((maild.settings.data_path / "blobs").glob("??/blb_*"))
    assert first["threadId"] == last["threadId"] and len(files) == 1
    answer = await maild.api.call("DELETE", f"/v1/messages/{last['id']}")
    assert answer.data == {"id": last["id"], "deleted": True}

    assert (await maild.api.get(f"/v1/messages/{last['id']}")).code == "message_not_found"
    assert (await maild.api.call("DELETE", f"/v1/messages/{last['id']}")).code == "message_not_found"
    assert [one["id"] for one in await maild.api.messages()] == [first["id"]]
    assert await maild.api.messages(q="secretword") == []
    thread = (await maild.api.get(f"/v1/threads/{first['threadId']}")).data
    assert (thread["messageCount"], thread["unreadCount"], thread["snippet"]) == (1, 1, "earlier")
    assert thread["lastMessageAt"] == first["createdAt"]
    assert (await maild.api.get(f"/v1/inboxes/{bot['id']}")).data["unreadCount"] == 1
    assert not list((maild.settings.data_path / "blobs").glob("??/blb_*"))
    for table in ("messages", "attachments", "blobs", "events", "search_words", "threads"):
        assert "secret" not in str(maild.sql(f"SELECT * FROM {table}")), table


async def test_a_thread_goes_with_its_last_message(maild: Running, bot: dict[str, Any]) -> None:
    message = await maild.received(bot, mail())
    await maild.api.call("DELETE", f"/v1/messages/{message['id']}")
    assert (await maild.api.get(f"/v1/threads/{message['threadId']}")).code == "thread_not_found"
    assert (await maild.api.get("/v1/threads")).data == []


async def test_bytes_that_another_message_shows_stay(maild: Running, bot: dict[str, Any]) -> None:
    other = await maild.inbox("other")
    sent = (await maild.api.send(bot, to=[other["address"]], text="x" * 400_000)).data
    copy = await maild.arrival(other)
    await maild.api.call("DELETE", f"/v1/messages/{sent['id']}")
    assert len((await maild.api.get(f"/v1/messages/{copy['id']}")).data["textBody"]) == 400_000
    await maild.api.call("DELETE", f"/v1/messages/{copy['id']}")
    assert maild.sql("SELECT count(*) FROM blobs") == [(0,)]
    assert not list((maild.settings.data_path / "blobs").glob("??/blb_*"))


async def test_what_waits_to_be_sent_is_dropped(maild: Running, bot: dict[str, Any]) -> None:
    sent = (await maild.api.send(bot)).data
    assert sent["status"] == "queued"
    assert (await maild.api.call("DELETE", f"/v1/messages/{sent['id']}")).data["deleted"] is True
    assert maild.sql("SELECT count(*) FROM recipients") == [(0,)]


async def test_an_attachment_goes_with_its_message(maild: Running, bot: dict[str, Any]) -> None:
    attachments = [{"filename": "a.txt", "contentType": "text/plain", "content": "aGVsbG8="}]
    sent = (await maild.api.send(bot, attachments=attachments)).data
    attachment_id = sent["attachments"][0]["id"]
    assert (await maild.api.get(f"/v1/attachments/{attachment_id}")).body == b"hello"
    await maild.api.call("DELETE", f"/v1/messages/{sent['id']}")
    assert (await maild.api.get(f"/v1/attachments/{attachment_id}")).code == "attachment_not_found"


# Raw ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", ["words", "x" * 70 + "\n" + "y\n" * 200_000])
async def test_raw_is_what_came_in_under_our_trace(maild: Running, bot: dict[str, Any], words: str) -> None:
    message = await maild.received(bot, mail(words=words))
    answer = await maild.api.get(f"/v1/messages/{message['id']}/raw")
    assert answer.status == 200 and answer.headers["Content-Type"] == "message/rfc822"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{message["id"]}.eml"'
    assert int(answer.headers["Content-Length"]) == len(answer.body)
    stored = await maild.raw(message["id"])
    assert answer.body.endswith(stored)
    trace = answer.body.removesuffix(stored)
    assert trace.startswith(b"Return-Path: <friend@elsewhere.test>\r\n") and b"\r\nReceived: from " in trace


async def test_raw_of_what_was_sent_is_what_was_composed(maild: Running, bot: dict[str, Any]) -> None:
    sent = (await maild.api.send(bot, bcc=["hidden@elsewhere.test"], text="hello")).data
    answer = await maild.api.get(f"/v1/messages/{sent['id']}/raw")
    assert answer.body == await maild.raw(sent["id"]) and b"hidden@" not in answer.body


async def test_raw_of_removed_bytes_is_410_and_the_message_stays(maild: Running, bot: dict[str, Any]) -> None:
    message = await maild.received(bot, mail(words="x " * 300_000))
    for file in (maild.settings.data_path / "blobs").glob("??/blb_*"):
        file.unlink()
    answer = await maild.api.get(f"/v1/messages/{message['id']}/raw")
    assert (answer.status, answer.code) == (410, "attachment_bytes_missing")
    shown = (await maild.api.get(f"/v1/messages/{message['id']}")).data
    assert shown["textBody"] is None and shown["subject"] == "topic"


# Attempts and schedules --------------------------------------------------------------------------


async def test_attempts_tell_what_each_host_said(maild: Running, bot: dict[str, Any]) -> None:
    message = await maild.received(bot, mail())
    assert (await maild.api.get(f"/v1/messages/{message['id']}/attempts")).data == []
    sent = (await maild.test_api.send(bot, to=["bounce@simulator.test"])).data

    async def look() -> list[dict[str, Any]] | None:
        found = (await maild.api.get(f"/v1/messages/{sent['id']}/attempts")).data
        return found or None

    (attempt,) = await until(look)
    assert (attempt["address"], attempt["attempt"], attempt["outcome"]) == (
        "bounce@simulator.test", 1, "bounced",
    )  # fmt: skip
    assert (attempt["smtpCode"], attempt["enhancedCode"]) == (550, "5.1.1")
    assert (attempt["class"], attempt["permanence"], attempt["advice"]) == (
        "address",
        "permanent",
        "fix_address",
    )
    assert attempt["gaveUpAt"] == attempt["createdAt"]
    assert attempt["suppressed"] is False  # the simulator touches no suppression
    assert attempt["evidence"] is None  # no network


async def test_the_first_attempt_agrees_with_the_recipient(maild: Running, bot: dict[str, Any]) -> None:
    sent = (await maild.test_api.send(bot, to=["defer@simulator.test"])).data

    async def look() -> dict[str, Any] | None:
        found = (await maild.api.get(f"/v1/messages/{sent['id']}/attempts")).data
        return found[0] if found else None

    attempt = await until(look)
    (recipient,) = (await maild.api.get(f"/v1/messages/{sent['id']}")).data["recipients"]
    assert (attempt["outcome"], attempt["permanence"], attempt["gaveUpAt"]) == ("deferred", "transient", None)
    names = ("remoteHost", "smtpCode", "enhancedCode", "response", "tls", "nextAttemptAt")
    assert [attempt[name] for name in names] == [recipient[name] for name in names]


async def test_thousands_of_attempts_are_read_in_pages(maild: Running, bot: dict[str, Any]) -> None:
    sent = (await maild.test_api.send(bot, to=["you@elsewhere.test"])).data
    path = f"/v1/messages/{sent['id']}/attempts"

    async def look() -> list[dict[str, Any]] | None:
        return (await maild.api.get(path)).data or None

    await until(look)
    maild.sql(
        """INSERT INTO recipients (message_id, position, organization_id, address, domain, kind, status, expires_at)
           WITH RECURSIVE n (v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 149)
           SELECT message_id, v, organization_id, 'u' || v || '@there.test', 'there.test', 'cc', 'bounced', expires_at
           FROM recipients, n WHERE position = 0"""
    )
    maild.sql(
        """INSERT INTO delivery_attempts (message_id, position, attempt, outcome, duration_ms, created_at)
           WITH RECURSIVE n (v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 20)
           SELECT message_id, position, v, 'deferred', 1, v * 1000 FROM recipients, n WHERE position > 0"""
    )
    evidence = pack(Evidence("answer", 1, (HOST._replace(dialogue="S: 250 hm\n" * 500),)))
    shared = dump([[position, 20] for position in range(2, 150)])
    maild.sql("INSERT INTO delivery_evidence SELECT id, 1, 20, ?, ? FROM messages", shared, evidence)
    found = (await maild.api.get(path)).data
    assert [(one["createdAt"], one["address"]) for one in found[:-1]] == [
        (iso(attempt * 1000), f"u{position}@there.test")
        for attempt in range(1, 21)
        for position in range(1, 150)
    ]
    assert [bool(one["evidence"]) for one in found] == [False] * 149 * 19 + [True] * 149 + [False]
    assert found[-2]["evidence"]["hosts"][0]["dialogue"][0] == "S: 250 hm"


async def test_a_scheduled_message_is_cancelled_once(maild: Running, bot: dict[str, Any]) -> None:
    sent = (await maild.api.send(bot)).data
    path = f"/v1/messages/{sent['id']}"
    maild.sql("DELETE FROM recipients WHERE message_id = ?", sent["id"])
    maild.sql(
        "UPDATE messages SET status = 'scheduled', scheduled_at = 9999999999999 WHERE id = ?", sent["id"]
    )
    assert (await maild.api.call("DELETE", f"{path}/schedule")).data == {
        "id": sent["id"],
        "status": "cancelled",
    }
    assert (await maild.api.get(path)).data["status"] == "cancelled"
    again = await maild.api.call("DELETE", f"{path}/schedule")
    assert (again.status, again.code) == (409, "not_scheduled")


@pytest.mark.parametrize("status", ["queued", "sent", "delivered", "failed", "received"])
async def test_only_what_is_scheduled_is_cancelled(maild: Running, bot: dict[str, Any], status: str) -> None:
    sent = (await maild.api.send(bot)).data
    maild.sql("UPDATE messages SET status = ? WHERE id = ?", status, sent["id"])
    answer = await maild.api.call("DELETE", f"/v1/messages/{sent['id']}/schedule")
    assert (answer.status, answer.code) == (409, "not_scheduled")
    assert maild.sql("SELECT status FROM messages WHERE id = ?", sent["id"]) == [(status,)]
