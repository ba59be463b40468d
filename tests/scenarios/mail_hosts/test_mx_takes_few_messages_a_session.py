"""A host takes so many messages in one session, and refuses the next one for that alone: it goes on in a new session,
and nobody is held up as if the host asked for less mail."""

from pathlib import Path

import pytest

from tests.support.worlds.sending import Sending

SESSION_FULL = "452 4.4.5 Maximum number of messages per session exceeded."


async def five_messages(sending: Sending) -> list[str]:
    sending.dns.add_mx("there.test")
    sent = [await sending.store.send(f"u{number}@there.test") for number in range(5)]
    await sending.queue.start()
    return sent


@pytest.mark.parametrize("pipelining", [["PIPELINING"], []])
@pytest.mark.parametrize(
    ("stage", "reply"),
    [
        ("DATA", SESSION_FULL),
        ("MAIL", "451-Requested action aborted\r\n451 Mails per session limit"),
        ("MAIL", "421 too many messages in this connection"),
        ("RCPT", "450 4.7.1 Too many transactions in this session"),
    ],
)
async def test_the_next_one_goes_in_a_new_session(
    tmp_path: Path, stage: str, reply: str, pipelining: list[str]
) -> None:
    async with Sending(tmp_path, outbound={"max_connections_per_destination": 1}) as sending:
        sending.mx.extensions = pipelining
        sending.mx.full = 2, stage, reply
        for message_id in await five_messages(sending):
            await sending.until(message_id, "delivered")
        assert (len(sending.mx.received), sending.mx.connections) == (5, 3)
        assert not sending.queue._deliverer._groups.group("mx.there.test").pace.waits_s


async def test_of_a_new_session_it_is_believed(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.mx.full = 0, "DATA", SESSION_FULL
        (first, *_) = await five_messages(sending)
        await sending.until(first, "deferred")
        assert sending.mx.connections == 1
