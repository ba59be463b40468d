"""Somebody writes in the very moment in which an agent answers what was there before.

Either the answer was first, or it is not sent, and its sender hears of what came. REPLY_ROUNDS=200 looks more often.
"""

import asyncio
import os
from typing import Any

from tests.conftest import Start
from tests.support.running import Answer, Running, Smtp

ROUNDS = int(os.environ.get("REPLY_ROUNDS", "30"))
AT_ONCE = 5
ROUNDS_OF_THE_LOOP = 60  # so much later the mail may end: an answer takes about half of them
FIRST = "From: ada@elsewhere.test\r\nSubject: Round {0}\r\nMessage-ID: <{0}@elsewhere.test>\r\n\r\nhello\r\n"
LATER = "From: ada@elsewhere.test\r\nSubject: Re: Round {0}\r\nIn-Reply-To: <{0}@elsewhere.test>\r\n\r\nwait, no\r\n"


async def talk(maild: Running, bot: dict[str, Any], text: str) -> Smtp:
    """A session that has said everything but the last dot."""
    smtp = await maild.smtp()
    await smtp.begin(bot["address"])
    await smtp.write(text.encode())
    return smtp


async def race(maild: Running, bot: dict[str, Any], number: int) -> tuple[str, str, Answer]:
    """What was there, what came, and the answer to the answer."""
    smtp = await talk(maild, bot, FIRST.format(number))
    first = (await smtp.say(".")).split()[-1]
    smtp.hang_up()
    smtp = await talk(maild, bot, LATER.format(number))
    path, body = f"/v1/messages/{first}/reply", {"text": "yes", "ifLastMessageId": first}
    post = asyncio.create_task(maild.api.post(path, body))
    for _ in range(number * 7 % ROUNDS_OF_THE_LOOP):
        await asyncio.sleep(0)
    reply = await smtp.say(".")
    answer = await post
    assert reply.startswith("250 "), reply
    smtp.hang_up()
    return first, reply.split()[-1], answer


async def test_no_answer_is_behind_what_its_sender_has_not_seen(start: Start) -> None:
    maild = await start(limits={"requests_per_minute": 10_000, "bulk_recipients": 10_000})
    bot = await maild.inbox("bot")
    outcomes = set()
    for begin in range(0, ROUNDS, AT_ONCE):
        for first, later, answer in await asyncio.gather(
            *(race(maild, bot, number) for number in range(begin, begin + AT_ONCE))
        ):
            ((thread_id,),) = maild.sql("SELECT thread_id FROM messages WHERE id = ?", first)
            order = maild.sql("SELECT id FROM messages WHERE thread_id = ? ORDER BY rowid", thread_id)
            outcomes.add(answer.status)
            if answer.status == 201:
                assert order == [(first,), (answer.data["id"],), (later,)]
                continue
            assert order == [(first,), (later,)]
            details = answer.error["details"]
            assert (answer.code, details["lastMessageId"], details["newerCount"]) == (
                "thread_advanced",
                later,
                1,
            )
    assert outcomes <= {201, 409}
    if ROUNDS >= 100:
        assert outcomes == {201, 409}
