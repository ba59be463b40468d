"""What many sessions bring in one moment is taken in several rounds of the event loop, so that others get their turns
between (storage/turns/round_share.py)."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from maild.inbound.accept import Acceptor
from maild.inbound.conversation import Conversation
from maild.inbound.session_listener import ANSWERED_A_ROUND, COMMITTED_A_ROUND
from storage.turns.recent_use import RecentUse
from tests.support.running import Running

MANY = 12
Called = Callable[..., Any]


class CountedRounds:
    """How often a function is called in each round of the loop, until it was so often in all."""

    def __init__(self, in_all: int) -> None:
        self.calls: Counter[int] = Counter()
        self._in_all = in_all
        self._round = 0

    def counted(self, function: Called) -> Called:
        def call(*args: Any) -> Any:
            self.calls[self._round] += 1
            return function(*args)

        return call

    def begin(self) -> None:
        self._round += 1
        if self.calls.total() < self._in_all:
            asyncio.get_running_loop().call_soon(self.begin)


async def test_messages_that_end_at_once_are_taken_in_several_rounds(
    maild: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds = CountedRounds(MANY)
    monkeypatch.setattr(Acceptor, "accept", rounds.counted(Acceptor.accept))
    inbox = await maild.inbox("bot")
    talks = [await maild.smtp() for _ in range(MANY)]
    for talk in talks:
        await talk.say("EHLO friend.test")
        await talk.say("MAIL FROM:<f@friend.test>")
        await talk.say(f"RCPT TO:<{inbox['address']}>")
        assert (await talk.say("DATA")).startswith("354")
    rounds.begin()
    await asyncio.gather(*(talk.write(b"Subject: hi\r\n\r\nhello\r\n.\r\n") for talk in talks))
    assert [(await talk.reply())[:3] for talk in talks] == ["250"] * MANY
    assert 1 < max(rounds.calls.values()) <= COMMITTED_A_ROUND


@pytest.mark.parametrize(
    ("is_alone", "most"), [(False, ANSWERED_A_ROUND), (True, MANY)], ids=("beside_others", "alone")
)
async def test_commands_that_come_at_once_are_answered_in_several_rounds_unless_nobody_else_is_there(
    maild: Running, monkeypatch: pytest.MonkeyPatch, is_alone: bool, most: int
) -> None:
    monkeypatch.setattr(RecentUse, "is_alone", lambda *_: is_alone)
    talks = [await maild.smtp() for _ in range(MANY)]
    for talk in talks:
        await talk.say("EHLO friend.test")
    rounds = CountedRounds(MANY)
    monkeypatch.setattr(Conversation, "active", rounds.counted(Conversation.active))
    rounds.begin()
    await asyncio.gather(*(talk.write(b"NOOP\r\n") for talk in talks))
    assert [(await talk.reply())[:3] for talk in talks] == ["250"] * MANY
    assert 1 < max(rounds.calls.values()) <= most
    assert is_alone is (max(rounds.calls.values()) > ANSWERED_A_ROUND)
