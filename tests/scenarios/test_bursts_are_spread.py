"""Messages that end in one moment are taken in several rounds of the event loop, so that others get their turns between
(storage/round_share.py)."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from maild.inbound.accept import Acceptor
from maild.inbound.session_listener import COMMITTED_A_ROUND
from tests.support.running import Running

MANY = 12


async def test_messages_that_end_at_once_are_taken_in_several_rounds(
    maild: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    taken: Counter[int] = Counter()
    this_round = 0
    accept = Acceptor.accept

    def next_round() -> None:
        nonlocal this_round
        this_round += 1
        if taken.total() < MANY:
            loop.call_soon(next_round)

    def noted(*args: Any) -> Any:
        taken[this_round] += 1
        return accept(*args)

    monkeypatch.setattr(Acceptor, "accept", noted)
    inbox = await maild.inbox("bot")
    talks = [await maild.smtp() for _ in range(MANY)]
    for talk in talks:
        await talk.say("EHLO friend.test")
        await talk.say("MAIL FROM:<f@friend.test>")
        await talk.say(f"RCPT TO:<{inbox['address']}>")
        assert (await talk.say("DATA")).startswith("354")
    next_round()
    await asyncio.gather(*(talk.write(b"Subject: hi\r\n\r\nhello\r\n.\r\n") for talk in talks))
    assert [(await talk.reply())[:3] for talk in talks] == ["250"] * MANY
    assert 1 < max(taken.values()) <= COMMITTED_A_ROUND
