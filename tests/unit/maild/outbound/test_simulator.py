"""Mail of test keys: scripted outcomes, no DNS, no network, no counters."""

import asyncio
from email import message_from_bytes
from pathlib import Path

from storage.mail import messages
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.sending import Sending


async def test_outcomes_by_recipient(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        await sending.queue.start()
        message_id = await sending.send(
            "delivered@simulator.test",
            "bounce@simulator.test",
            "defer@simulator.test",
            "anybody@there.test",
            mode="test",
        )
        expected = ("delivered", "bounced", "deferred", "delivered")
        await sending.until(message_id, *expected)
        for attempt in (2, 3):
            await sending.forward_to_retry(message_id)
            await sending.until_attempts(message_id, 3 + attempt)
        await sending.until(message_id, "delivered", "bounced", "delivered", "delivered")
        assert not sending.dns.queries
        assert sending.mx.connections == 0
        for table in ("usage", "suppressions"):
            assert await sending.store.scalar(f"SELECT count(*) FROM {table}") == 0
        assert await sending.store.scalar("SELECT group_concat(DISTINCT mode) FROM events") == "test"
        (bounced,) = await sending.store.events("email.bounced")
        assert (bounced["smtpCode"], bounced["enhancedCode"]) == (550, "5.1.1")


async def test_a_complaint_is_an_event_and_nothing_else(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        await sending.queue.start()
        message_id = await sending.send("Complaint@simulator.test", "you@there.test", mode="test")
        await sending.until(message_id, "delivered", "delivered")
        (complaint,) = await sending.store.events("email.complained")
        assert {key: complaint[key] for key in ("messageId", "recipient", "feedbackType", "suppressed")} == {
            "messageId": message_id, "recipient": "Complaint@simulator.test", "feedbackType": "abuse",
            "suppressed": False,
        }  # fmt: skip
        assert complaint["sentAt"] is not None and len(complaint["recipients"]) == 2
        for table in ("usage", "suppressions"):
            assert await sending.store.scalar(f"SELECT count(*) FROM {table}") == 0
        assert await sending.store.scalar("SELECT group_concat(DISTINCT mode) FROM events") == "test"
        assert await sending.store.scalar("SELECT sending_status FROM organizations") == "approved"


async def test_elsewhere_the_names_of_scripts_mean_nothing(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        await sending.queue.start()
        message_id = await sending.send("reply@there.test", "complaint@there.test", mode="test")
        await sending.until(message_id, "delivered", "delivered")
        assert sending.answers == []
        assert await sending.store.events("email.complained") == []


async def test_an_answer_comes_with_the_outcome(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        await sending.queue.start()
        message_id = await sending.send("reply@simulator.test", mode="test")
        await sending.until(message_id, "delivered")
        (answer,) = sending.answers
        assert (answer.author, answer.inbox_address) == ("reply@simulator.test", "bot@ours.test")
        read = message_from_bytes(answer.raw)
        header = (await sending.store.message(message_id)).message_id_header
        assert (read["In-Reply-To"], read["References"], read["Subject"]) == (header, header, "Re: hello")
        assert read["Auto-Submitted"] is None
        assert sending.delivered_answers == 1


async def test_an_answer_that_can_not_be_delivered_is_tried_again_with_its_outcome(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.fail_answers = 1
        await sending.queue.start()
        message_id = await sending.send("reply@simulator.test", mode="test")
        await sending.until(message_id, "deferred")
        assert sending.delivered_answers == 0
        await sending.forward_to_retry(message_id)
        await sending.until(message_id, "delivered")
        assert sending.delivered_answers == 1


async def test_a_message_that_was_deleted_is_not_answered(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        message_id = await sending.send("reply@simulator.test", "complaint@simulator.test", mode="test")

        async def delete() -> None:
            row = await sending.store.message(message_id)
            await sending.store.db.write(messages.delete, row)

        sending.before_answer = delete
        await sending.queue.start()
        async with asyncio.timeout(GIVES_UP_S):
            while not sending.answers:
                await asyncio.sleep(0.005)
        await sending.queue.stop()
        assert sending.delivered_answers == 0
        assert await sending.store.events() == []
