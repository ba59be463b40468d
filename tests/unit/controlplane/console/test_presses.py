"""A form that is pressed again while its first press is at it."""

import asyncio
from collections.abc import Callable

import pytest

from controlplane.console.forms import Form
from controlplane.console.page import PageAnswer, SeeOther
from controlplane.console.presses import Presses
from controlplane.contract.refusals import Refusal

FORM = Form([("once", "x"), ("name", "bot")])
MADE = SeeOther("/console/keys/minted")


class Act:
    """What a form asks for, done when a test says so. `count`: how often it was begun."""

    def __init__(self) -> None:
        self.count = 0
        self._outcomes: asyncio.Queue[PageAnswer | Refusal] = asyncio.Queue()
        self.end: Callable[[PageAnswer | Refusal], None] = self._outcomes.put_nowait

    async def __call__(self) -> PageAnswer:
        self.count += 1
        outcome = await self._outcomes.get()
        if isinstance(outcome, Refusal):
            raise outcome
        return outcome


async def test_it_waits_for_the_answer_of_the_first() -> None:
    presses, act = Presses(), Act()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(presses.answer("ses_1", "/", FORM, act)) for _ in range(3)]
        act.end(MADE)
    assert [one.result() for one in tasks] == [MADE] * 3
    assert act.count == 1


async def test_it_acts_itself_where_the_first_was_refused() -> None:
    presses, act = Presses(), Act()
    first, *others = [asyncio.create_task(presses.answer("ses_1", "/", FORM, act)) for _ in range(3)]
    act.end(Refusal("not_found"))
    with pytest.raises(Refusal):
        await first
    act.end(MADE)
    assert await asyncio.gather(*others) == [MADE] * 2
    assert act.count == 2


async def test_another_session_and_a_form_without_a_token_act_for_themselves() -> None:
    presses, act = Presses(), Act()
    for _ in range(4):
        act.end(MADE)
    for session_id, form in (("ses_1", FORM), ("ses_2", FORM), ("ses_1", Form()), ("ses_1", Form())):
        await presses.answer(session_id, "/", form, act)
    assert act.count == 4
