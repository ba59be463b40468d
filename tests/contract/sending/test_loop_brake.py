"""Two programs that answer each other come to an end: decisions.md, "Loop brake"; a person in a fast chat does not."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from controlplane.sending.admitting.loop_brake import EXCHANGES, REST_MS, THEIRS_MS, WINDOW_MS
from storage.clock import iso
from tests.conftest import Start
from tests.support.running import Answer, Api, Running, until
from tests.support.worlds.store import ManualClock

DESK = "desk@elsewhere.test"
REFUSED = (409, "loop_suspected")
YEAR_S = 365 * 86_400
FLAG = "Auto-Submitted: auto-replied\n"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_795_219_200_000)


@pytest.fixture
async def maild(start: Start, clock: ManualClock) -> Running:
    return await start(clock=clock)


class Conversation:
    """The inbox and one correspondent, who answer each other."""

    def __init__(self, maild: Running, inbox: dict[str, Any], clock: ManualClock, api: Api) -> None:
        self.maild, self.inbox, self.clock, self.api = maild, inbox, clock, api
        self.thread_id = ""
        self.last: dict[str, Any] = {}
        self.turn = 0

    async def begin(self) -> "Conversation":
        answer = await self.api.send(self.inbox, to=[DESK], subject="Order 7")
        self.last = answer.data
        self.thread_id = self.last["threadId"]
        return self

    async def hear(self, headers: str = FLAG, sender: str = DESK, to: str | None = None) -> str:
        """They answer (`to`: this Message-ID instead of our newest); the id of what came."""
        self.turn += 1
        raw = (
            f"From: {DESK}\nSubject: Re: Order 7\nMessage-ID: <{self.thread_id}.{self.turn}@elsewhere.test>\n"
            f"In-Reply-To: {to or self.last['messageIdHeader']}\n{headers}\nWe got it.\n"
        )
        assert (await self.maild.deliver(self.inbox["address"], raw, sender)).startswith("250 ")
        newest = (await self.api.messages(inboxId=self.inbox["id"], limit="1"))[0]
        assert newest["threadId"] == self.thread_id
        return str(newest["id"])

    async def answer(self, **fields: Any) -> Answer:
        answer = await self.api.send(self.inbox, to=[DESK], inReplyTo=self.thread_id, **fields)
        if answer.status == 201:
            self.last = answer.data
        return answer

    async def exchange(
        self, turns: int, theirs_s: float = 1, ours_s: float = 1, headers: str = FLAG, sender: str = DESK
    ) -> None:
        for _ in range(turns):
            self.clock.forward(theirs_s)
            await self.hear(headers, sender)
            self.clock.forward(ours_s)
            assert (await self.answer()).status == 201


Talk = Callable[..., Awaitable[Conversation]]


@pytest.fixture
def talk(maild: Running, bot: dict[str, Any], clock: ManualClock) -> Talk:
    async def begin(api: Api | None = None) -> Conversation:
        return await Conversation(maild, bot, clock, api or maild.api).begin()

    return begin


async def test_an_agent_and_an_auto_reply_are_stopped_and_hear_until_when(
    maild: Running, talk: Talk, clock: ManualClock
) -> None:
    loop = await talk()
    await loop.exchange(EXCHANGES)
    stopped_at = clock.at_ms
    clock.forward(1)
    await loop.hear()
    answer = await loop.answer()
    assert (answer.status, answer.code) == REFUSED
    assert answer.error["details"] == {
        "threadId": loop.thread_id,
        "exchanges": EXCHANGES,
        "windowSeconds": WINDOW_MS // 1000,
        "resetsAt": iso(stopped_at + REST_MS),
    }
    assert answer.headers["Retry-After"] == str(REST_MS // 1000 - 1)
    # Another conversation of the inbox goes on, and so does a new one with the same correspondent.
    assert (await maild.api.send(loop.inbox, to=[DESK], subject="Order 8")).status == 201


async def test_the_rest_lasts_an_hour_however_much_comes_in_meanwhile(talk: Talk, clock: ManualClock) -> None:
    loop = await talk()
    await loop.exchange(EXCHANGES)
    clock.forward(REST_MS / 1000 - 1)
    await loop.hear()
    assert (await loop.answer()).status == 409
    clock.forward(1)
    assert (await loop.answer()).status == 201
    # That was the first of the next round.
    await loop.exchange(EXCHANGES - 1)
    assert (await loop.answer()).status == 409


async def test_a_clock_that_was_ahead_stops_no_conversation(talk: Talk, clock: ManualClock) -> None:
    """It was set back: the rest would last until it is there again."""
    loop = await talk()
    clock.forward(YEAR_S)
    await loop.exchange(EXCHANGES)
    await loop.hear()
    assert (await loop.answer()).status == 409
    clock.set_back(YEAR_S)
    assert (await loop.answer()).status == 201
    await loop.hear()
    assert (await loop.answer()).status == 201


async def test_programs_that_say_nothing_are_found_by_their_pace(talk: Talk) -> None:
    loop = await talk()
    await loop.exchange(EXCHANGES, theirs_s=THEIRS_MS / 1000, headers="")
    assert (await loop.answer()).status == 409


async def test_bounces_are_counted(talk: Talk) -> None:
    loop = await talk()
    await loop.exchange(EXCHANGES, theirs_s=60, headers="", sender="")
    assert (await loop.answer()).status == 409


@pytest.mark.parametrize(
    ("theirs_s", "ours_s", "headers"),
    [
        (THEIRS_MS / 1000 + 1, 0, ""),  # a person who types fast, and an agent that answers at once
        (1, 121, FLAG),  # somebody looks at each answer
        (185, 10, FLAG),  # 20 in more than an hour
    ],
)
async def test_what_is_no_loop_goes_on(talk: Talk, theirs_s: float, ours_s: float, headers: str) -> None:
    chat = await talk()
    await chat.exchange(EXCHANGES * 2, theirs_s=theirs_s, ours_s=ours_s, headers=headers)


async def test_a_person_who_writes_on_while_being_answered_is_not_taken_for_a_program(
    talk: Talk, clock: ManualClock
) -> None:
    chat = await talk()
    for _ in range(EXCHANGES * 2):
        seen = chat.last["messageIdHeader"]
        clock.forward(20)
        await chat.hear("")
        clock.forward(3)
        assert (await chat.answer()).status == 201
        clock.forward(1)
        await chat.hear("", to=seen)  # written before our answer was there
        clock.forward(3)
        assert (await chat.answer()).status == 201


async def test_drafts_are_stopped_and_stay_drafts(maild: Running, talk: Talk) -> None:
    loop = await talk()
    await loop.exchange(EXCHANGES)
    fields = {"inboxId": loop.inbox["id"], "to": [DESK], "inReplyTo": loop.last["id"]}
    draft = (await maild.api.post("/v1/drafts", fields)).data
    answer = await maild.api.call("POST", f"/v1/drafts/{draft['id']}/send")
    assert (answer.status, answer.code) == REFUSED
    assert (await maild.api.get(f"/v1/drafts/{draft['id']}")).data["status"] == "draft"


async def test_what_was_scheduled_before_does_not_go_into_a_loop(
    maild: Running, talk: Talk, clock: ManualClock
) -> None:
    loop = await talk()
    in_it = (await loop.answer(sendAt=iso(clock.at_ms + 600_000))).data
    after_it = (await loop.answer(sendAt=iso(clock.at_ms + 2 * REST_MS))).data
    loop.last = in_it  # a program answers what it has: any message of ours joins the thread
    await loop.exchange(EXCHANGES)
    assert (await loop.answer(sendAt=iso(clock.at_ms + 60_000))).code == "loop_suspected"
    assert (await loop.answer(sendAt=iso(clock.at_ms + REST_MS))).status == 201
    clock.forward(600)

    async def failed() -> dict[str, Any] | None:
        found: dict[str, Any] = (await maild.api.get(f"/v1/messages/{in_it['id']}")).data
        return found if found["status"] == "failed" else None

    assert (await until(failed))["failureReason"] == "loop_suspected"
    clock.forward(2 * REST_MS / 1000)

    async def gone() -> bool | None:
        return (await maild.api.get(f"/v1/messages/{after_it['id']}")).data["status"] == "queued" or None

    await until(gone)


async def test_test_keys_are_stopped_too(maild: Running, talk: Talk) -> None:
    loop = await talk(maild.test_api)
    await loop.exchange(EXCHANGES)
    answer = await loop.answer()
    assert (answer.status, answer.code) == REFUSED


async def test_what_test_keys_answer_stops_no_live_one(maild: Running, talk: Talk) -> None:
    """It reaches nobody, so nobody has answered it."""
    loop = await talk()
    loop.api = maild.test_api
    await loop.exchange(EXCHANGES)
    assert (await loop.answer()).status == 409
    loop.api = maild.api
    assert (await loop.answer()).status == 201


async def test_the_simulator_does_not_answer_what_answers_a_program(maild: Running, talk: Talk) -> None:
    reply = "reply@simulator.test"
    for sender, headers, comes in ((DESK, FLAG, 0), ("", "", 0), (DESK, "", 1)):
        loop = await talk(maild.test_api)
        heard = await loop.hear(headers, sender)
        sent = (await maild.test_api.send(loop.inbox, to=[reply], inReplyTo=heard)).data

        async def played(message_id: str = sent["id"]) -> bool | None:
            message = (await maild.test_api.get(f"/v1/messages/{message_id}")).data
            return message["status"] == "delivered" or None

        await until(played)
        inbound = await maild.test_api.messages(threadId=loop.thread_id, direction="inbound")
        assert [one["fromAddress"] for one in inbound].count(reply) == comes
