"""Greylisting: a 4xx is tried again on schedule, and the message is sent once."""

from pathlib import Path

from storage.clock import iso
from tests.support.worlds.sending import Sending


async def test_a_greylisted_message_arrives_on_the_second_attempt(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.script["RCPT"] = ["451 4.7.1 greylisted, come back"]
        await sending.queue.start()
        message_id = await sending.send("you@there.test")

        await sending.until(message_id, "deferred")
        (deferred,) = await sending.store.recipients(message_id)
        delay_ms = deferred.next_attempt_at - sending.clock.now_ms()
        assert 54_000 <= delay_ms <= 66_000
        assert (deferred.smtp_code, deferred.enhanced_code) == (451, "4.7.1")
        assert deferred.response == "greylisted, come back"
        assert (await sending.store.message(message_id)).status == "queued"
        assert len(await sending.store.events()) == len(await sending.store.events("email.delayed")) == 1

        await sending.forward_to_retry(message_id)
        await sending.until(message_id, "delivered")
        (delivered,) = await sending.store.recipients(message_id)
        assert (delivered.attempts, delivered.remote_host, delivered.next_attempt_at) == (
            2,
            "mx.there.test",
            None,
        )
        assert await sending.store.attempts(message_id) == ["deferred", "delivered"]
        message = await sending.store.message(message_id)
        assert (message.status, message.sent_at) == ("delivered", sending.clock.now_ms())
        (sent,) = await sending.store.events("email.sent")
        assert sent["sentAt"] == iso(sending.clock.now_ms())
        assert sent["toAddresses"] == ["you@there.test"]
        assert sent["recipients"][0]["status"] == "delivered"
        assert len(sending.mx.received) == 1


async def test_what_is_tried_again_keeps_its_signature(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test")
        to = [f"you{number}@there.test" for number in range(4)]
        sending.mx.script["RCPT"] = ["451 4.7.1 greylisted, come back"] * len(to)
        message_ids = [await sending.send(one) for one in to]
        first_at_s = sending.clock.now_ms() // 1000
        await sending.queue.start()
        for message_id in message_ids:
            await sending.until(message_id, "deferred")
        sending.clock.forward(120)
        sending.queue.wake()
        for message_id in message_ids:
            await sending.until(message_id, "delivered")
        # Who is the last one, and alone, is signed where it is sent, and again.
        assert any(f"t={first_at_s};".encode() in one.raw for one in sending.mx.received)
