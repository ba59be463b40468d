"""What is said to a host, by what it can do; and how sessions are kept."""

from pathlib import Path

import dkim
import pytest

from maild.outbound.sessions.smtp_client import Timeouts
from maild.ports import Reply
from tests.support.peers.mx import Mx
from tests.support.worlds.sending import SENDERS, Sending
from tests.support.worlds.store import RAW, SENDER, public_key


async def test_the_bytes_arrive_as_stored_and_signed(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        await sending.until(await sending.send("you@there.test"), "delivered")
        raw = sending.mx.received[0].raw
        signature, rest = raw[: -len(RAW)], raw[-len(RAW) :]
        assert signature.startswith(b"DKIM-Signature: v=1;")
        assert rest == RAW
        record = f"v=DKIM1; k=rsa; p={public_key()}".encode()
        assert dkim.verify(raw, dnsfunc=lambda name, timeout=5: record)


async def test_bare_line_ends_never_leave_the_host(tmp_path: Path) -> None:
    """Threat S2: exactly one message, whatever stands in it."""
    evil = RAW + b"a\n.\nMAIL FROM:<x@y>\r.\rb\r\n.\nc\n.\r\nd"
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        await sending.until(await sending.send("you@there.test", raw=evil), "delivered")
        (received,) = sending.mx.received
        lines = received.raw.split(b"\r\n")
        assert not any(b"\r" in line or b"\n" in line for line in lines)
        assert lines[-10:] == [b"a", b".", b"MAIL FROM:<x@y>", b".", b"b", b".", b"c", b".", b"d", b""]
        assert sending.mx.stages["MAIL"] == 1


@pytest.mark.parametrize(
    ("extensions", "raw", "expected"),
    [
        (["8BITMIME", "SIZE"], RAW, ""),
        (["8BITMIME"], RAW + "grüße\r\n".encode(), " BODY=8BITMIME"),
        ([], RAW + "grüße\r\n".encode(), ""),
        (["SMTPUTF8", "8BITMIME"], "Cc: <é@elsewhere.test>\r\n".encode() + RAW, " BODY=8BITMIME SMTPUTF8"),
        (["SMTPUTF8", "8BITMIME"], "Cc: a@é.test\r\n".encode() + RAW, " BODY=8BITMIME SMTPUTF8"),
        (["SMTPUTF8", "8BITMIME"], "X: é\r\nCc: É <a@elsewhere.test>\r\n".encode() + RAW, " BODY=8BITMIME"),
        (["SMTPUTF8", "8BITMIME"], "X: 5€@Ulm\r\nComments: “a@b.test”\r\n".encode() + RAW, " BODY=8BITMIME"),
    ],
)
async def test_mail_has_the_parameters_it_needs_and_no_other(
    tmp_path: Path, extensions: list[str], raw: bytes, expected: str
) -> None:
    async with Sending(tmp_path, mx=Mx(extensions=extensions)) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        message_id = await sending.send("you@there.test", raw=raw)
        await sending.until(message_id, "delivered")
        (received,) = sending.mx.received
        size = f" SIZE={len(received.raw)}" if "SIZE" in extensions else ""
        sender = SENDERS.of(message_id, "ours.test", "there.test")
        assert received.mail_line == f"MAIL FROM:<{sender}>{size}{expected}"


@pytest.mark.parametrize(
    ("address", "extensions", "enhanced"),
    [
        ("grüße@there.test", [], "5.6.7"),
        ("you@there.test", ["SIZE 100"], "5.3.4"),
        ("a b@there.test", [], "5.1.3"),
    ],
)
async def test_what_the_host_can_not_take_is_refused_here(
    tmp_path: Path, address: str, extensions: list[str], enhanced: str
) -> None:
    async with Sending(tmp_path, mx=Mx(extensions=extensions)) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        message_id = await sending.send(address)
        await sending.until(message_id, "bounced")
        assert (await sending.store.recipients(message_id))[0].enhanced_code == enhanced
        assert sending.mx.stages["MAIL"] == 0


async def test_an_internationalized_address_where_it_is_understood(tmp_path: Path) -> None:
    async with Sending(tmp_path, mx=Mx(extensions=["SMTPUTF8", "PIPELINING"])) as sending:
        sending.dns.add_mx("xn--bcher-kva.test")
        await sending.queue.start()
        await sending.until(await sending.send("grüße@bücher.test"), "delivered")
        assert sending.mx.received[0].recipients == ["grüße@xn--bcher-kva.test"]


async def test_one_session_carries_many_messages_and_no_more_than_are_allowed_run(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound={"max_connections_per_destination": 2}) as sending:
        sending.dns.add_mx("there.test")
        messages = [await sending.store.send(f"u{number}@there.test") for number in range(60)]
        await sending.queue.start()
        for message_id in messages:
            await sending.until(message_id, "delivered")
        assert sending.mx.open_max <= 2
        assert sending.mx.connections <= 2


async def test_a_kept_session_that_died_costs_nothing_but_a_new_one(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        await sending.until(await sending.send("a@there.test"), "delivered")
        sending.mx.script["MAIL"] = ["421 4.4.2 idle for too long"]
        second = await sending.send("b@there.test")
        await sending.until(second, "delivered")
        assert (await sending.store.attempts(second)) == ["delivered"]
        assert sending.mx.connections == 2


async def test_a_kept_session_that_died_without_a_word_holds_up_no_message(tmp_path: Path) -> None:
    """Its host is off, or a translator of addresses on the way has forgotten it: what is said gets no answer, not even
    a refusal. RFC 5321 §4.5.3.2 would have five minutes for that."""
    async with Sending(tmp_path, timeouts=Timeouts(kept=0.3)) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        await sending.until(await sending.send("a@there.test"), "delivered")
        sending.mx.vanish()
        second = await sending.send("b@there.test")
        await sending.until(second, "delivered")
        assert (await sending.store.attempts(second)) == ["delivered"]
        assert sending.mx.connections == len(sending.mx.received) == 2


@pytest.mark.parametrize("greeting", ["421 busy", "554 go away"])
async def test_an_unfriendly_greeting_tries_the_next_host_and_is_temporary(
    tmp_path: Path, greeting: str
) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test", host="one.there.test", preference=10)
        sending.dns.add_mx("there.test", host="two.there.test", preference=20)
        sending.mx.always["greeting"] = greeting
        await sending.queue.start()
        message_id = await sending.send("you@there.test")
        await sending.until(message_id, "deferred")
        assert sending.mx.connections == 2
        del sending.mx.always["greeting"]
        await sending.forward_to_retry(message_id)
        await sending.until(message_id, "delivered")


async def test_a_reply_is_cleaned_before_it_is_stored(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.always["RCPT"] = "550 5.7.1 n\x00o\x1b[31m \udcff " + "x" * 900
        await sending.queue.start()
        message_id = await sending.send("you@there.test")
        await sending.until(message_id, "bounced")
        (row,) = await sending.store.recipients(message_id)
        assert row.response.startswith("n o [31m ? xxx")
        assert len(row.response) == 500


@pytest.mark.parametrize("said", ["250 2.0.0 " + "taken " * 1500, "250taken"])
async def test_a_host_that_took_it_is_believed_whatever_it_says(tmp_path: Path, said: str) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.always["dot"] = said
        await sending.queue.start()
        message_id = await sending.send("you@there.test")
        await sending.until(message_id, "delivered")
        (row,) = await sending.store.recipients(message_id)
        assert (row.smtp_code, row.response[:5]) == (250, "taken")


async def test_a_smarthost_means_sent_and_not_delivered(tmp_path: Path) -> None:
    mx = await Mx().start()
    async with Sending(tmp_path, mx=mx, outbound={"relay": f"127.0.0.1:{mx.port}"}) as sending:
        await sending.queue.start()
        message_id = await sending.send("you@one.test", "me@two.test")
        await sending.until(message_id, "sent", "sent")
        assert (await sending.store.message(message_id)).status == "sent"
        senders = {SENDERS.of(message_id, "ours.test", domain) for domain in ("one.test", "two.test")}
        assert {one.mail_from for one in sending.mx.received} == senders  # each domain has one of its own


async def test_without_a_key_nothing_leaves_and_nothing_bounces(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        message_id = await sending.send("you@there.test", from_address="bot@keyless.test")
        await sending.until(message_id, "deferred")
        assert (await sending.store.recipients(message_id))[0].enhanced_code == "4.7.5"
        assert sending.mx.connections == 0


async def test_a_large_message_is_sent_from_its_file(tmp_path: Path) -> None:
    raw = RAW + (b".y" * 38 + b"\r\n") * 40_000
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        await sending.until(await sending.send("you@there.test", raw=raw), "delivered")
        assert sending.mx.received[0].raw.endswith(raw)


async def test_local_recipients_are_handed_over_in_the_same_transaction(tmp_path: Path) -> None:
    refused = {"gone@ours.test": Reply(550, "5.1.1", "no such inbox")}
    async with Sending(tmp_path, local_domains={"ours.test"}, local_replies=refused) as sending:
        await sending.queue.start()
        message_id = await sending.send("a@ours.test", "gone@ours.test")
        await sending.until(message_id, "delivered", "bounced")
        (mail,) = sending.local
        assert (mail.message_id, mail.recipients) == (message_id, ("a@ours.test", "gone@ours.test"))
        assert (await sending.store.message(message_id)).status == "delivered"


async def test_a_local_unit_that_fails_defers(tmp_path: Path) -> None:
    async with Sending(tmp_path, local_domains={"ours.test"}) as sending:
        sending.local_replies = None  # type: ignore[assignment]
        await sending.queue.start()
        message_id = await sending.send("a@ours.test")
        await sending.until(message_id, "deferred")
        assert (await sending.store.recipients(message_id))[0].enhanced_code == "4.3.0"


@pytest.mark.parametrize("extensions", [["PIPELINING"], []])
async def test_a_refused_sender_is_a_bounce_for_all(tmp_path: Path, extensions: list[str]) -> None:
    async with Sending(tmp_path, mx=Mx(extensions=extensions)) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.script["MAIL"] = ["553 5.1.8 no such domain"]
        await sending.queue.start()
        message_id = await sending.send("a@there.test", "b@there.test")
        await sending.until(message_id, "bounced", "bounced")
        await sending.until(await sending.send("c@there.test"), "delivered")
        assert sending.mx.connections == 1


@pytest.mark.parametrize(
    ("stage", "reply", "blamed", "remark"),
    [
        (
            "MAIL",
            "550 5.1.1 User unknown",
            None,
            " (in reply to MAIL FROM)",
        ),  # for whom it is was not said yet
        ("MAIL", "550 no such user here", None, " (in reply to MAIL FROM)"),
        ("RCPT", "550 5.1.1 <{sender}>: User unknown", None, " (about MAIL FROM)"),
        ("RCPT", "550 No such user: {sender}", None, " (about MAIL FROM)"),
        ("dot", "550 5.1.1 User unknown", None, " (in reply to a message of several recipients)"),
        ("DATA", "550 no such user here", None, " (in reply to a message of several recipients)"),
        ("dot", "550 5.1.1 <B@there.test>: User unknown", "b@there.test", ""),
    ],
)
async def test_nobody_is_blamed_by_a_reply_that_is_not_about_him(
    tmp_path: Path, stage: str, reply: str, blamed: str | None, remark: str
) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        message_id = await sending.send("a@there.test", "b@there.test")
        token = await sending.store.scalar("SELECT ifnull(bounce_token, id) FROM messages")
        sending.mx.always[stage] = reply.format(
            sender=SENDERS.of(token, SENDER.rpartition("@")[2], "there.test")
        )
        await sending.queue.start()
        await sending.until(message_id, "bounced", "bounced")
        assert await sending.store.scalar("SELECT group_concat(email) FROM suppressions") == blamed
        (_, told) = await sending.store.recipients(message_id)
        assert told.response is not None and told.response.endswith(remark)


async def test_whose_message_is_refused_alone_is_who_it_is_about(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.script["dot"] = ["550 5.1.1 User unknown"]
        await sending.queue.start()
        await sending.until(await sending.send("a@there.test"), "bounced")
        assert await sending.store.scalar("SELECT group_concat(email) FROM suppressions") == "a@there.test"


async def test_a_sender_that_is_refused_for_now_tries_the_next_host(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test", host="one.there.test", preference=10)
        sending.dns.add_mx("there.test", host="two.there.test", preference=20)
        sending.mx.script["MAIL"] = ["451 4.3.2 busy"]
        await sending.queue.start()
        message_id = await sending.send("a@there.test")
        await sending.until(message_id, "delivered")
        assert (await sending.store.recipients(message_id))[0].remote_host == "two.there.test"


async def test_a_message_that_is_refused_after_the_dot(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.script["dot"] = ["554 5.6.0 we do not like the words"]
        await sending.queue.start()
        message_id = await sending.send("a@there.test")
        await sending.until(message_id, "bounced")
        assert await sending.store.scalar("SELECT count(*) FROM suppressions") == 0


async def test_a_local_recipient_that_is_deferred_is_tried_again(tmp_path: Path) -> None:
    later = {"a@ours.test": Reply(451, "4.3.1", "later")}
    async with Sending(tmp_path, local_domains={"ours.test"}, local_replies=later) as sending:
        await sending.queue.start()
        message_id = await sending.send("a@ours.test")
        await sending.until(message_id, "deferred")
        later.clear()
        await sending.forward_to_retry(message_id)
        await sending.until(message_id, "delivered")
        assert len(sending.local) == 2


@pytest.mark.parametrize("size", [100, 300_000])
async def test_bytes_that_changed_stay_in_the_queue(tmp_path: Path, size: int) -> None:
    """In their row or in a file: nobody gets what was not sent."""
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        message_id = await sending.send("you@there.test", raw=RAW + b"x" * size)
        blob_id = (await sending.store.message(message_id)).blob_id
        changed = (
            "UPDATE blobs SET data = CAST(replace(CAST(data AS TEXT), 'hello', 'h3llo') AS BLOB) WHERE id = ?"
        )
        await sending.store.db.write(lambda tx: tx.run(changed, (blob_id,)))
        path = sending.store.blobs.path(str(blob_id))
        if path.exists():
            path.write_bytes(path.read_bytes().replace(b"hello", b"h3llo"))
        await sending.queue.start()
        await sending.until(message_id, "deferred")
        assert sending.mx.received == []
