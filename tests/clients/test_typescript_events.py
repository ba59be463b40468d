"""`events.stream` and `events.list` of the TypeScript client: for ever, from where they were, and never past a gap."""

import asyncio
import json
from typing import Any

import pytest

from tests.clients.told_streams import BREAKING, ENDLESS, GAP, NEW_TYPE, POSITION, POSITIONS, event, ids, told
from tests.clients.typescript_world import Driver, Refused
from tests.clients.worlds import HANG_UP, SILENCE, ScriptedServer, answer, refused
from tests.support.machine import tools
from tests.support.running import Running

pytestmark = [pytest.mark.interop, tools.needs("node", "npm")]

EVENT = event("evt_1")
FOLLOW = """
    const [count, params] = given, heard = [];
    const stream = client.events.stream(params);
    while (heard.length < count) {
        try {
            for await (const event of stream) if (heard.push(event) === count) break;
        } catch (error) {
            if (!(error instanceof maild.EventsGap)) throw error;
            heard.push("gap");
        }
    }
    await stream.close();
    return heard;
"""


async def follow(driver: Driver, url: str, count: int, **asked: Any) -> list[Any]:
    """So many of what a stream tells; a gap is "gap"."""
    heard: list[Any] = await driver.ask(url, FOLLOW, [count, asked])
    return heard


async def test_a_stream_that_breaks_goes_on_where_it_was(driver: Driver) -> None:
    async with ScriptedServer(BREAKING) as server:
        heard = await follow(driver, server.url, 4, types=["*"], inboxId="inb_1")
        positions = [one.headers.get("last-event-id") for one in server.asked]
        assert {one.path for one in server.asked} == {"/v1/events/stream?types=*&inboxId=inb_1"}
    assert ids(heard) == ["evt_1", "evt_2", "evt_3", "evt_6"]
    assert positions == POSITIONS


async def test_who_is_to_come_again_in_years_looks_after_a_day(driver: Driver) -> None:
    """A timer of more than 24 days is over at once."""
    noted = """
        const real = globalThis.setTimeout, waits = [];
        globalThis.setTimeout = (act, ms, ...more) => {
            waits.push(ms);
            return real(act, ms > 3_600_000 ? 0 : ms, ...more);
        };
        try {
            await (async () => { FOLLOW })();
        } finally {
            globalThis.setTimeout = real;
        }
        return Math.max(...waits);
    """
    async with ScriptedServer(ENDLESS) as server:
        longest_ms = await driver.ask(server.url, noted.replace("FOLLOW", FOLLOW), [2, {}])
        assert len(server.asked) == 3
    assert longest_ms == 86_400_000


async def test_a_gap_is_thrown_and_the_stream_goes_on(driver: Driver) -> None:
    async with ScriptedServer([told(POSITION, GAP, event("evt_7"), event("evt_8"))]) as server:
        assert ids(await follow(driver, server.url, 3, after="evt_1")) == ["gap", "evt_7", "evt_8"]
        assert len(server.asked) == 1


async def test_an_event_comes_in_pieces_and_by_other_ends_of_lines(driver: Driver) -> None:
    whole = event("evt_1", words="Grüße").replace("\r\n", "\n").encode()
    chunks = b"".join(b"1\r\n%c\r\n" % octet for octet in whole)
    head = b"HTTP/1.1 200 -\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with ScriptedServer([head + chunks + b"0\r\n\r\n"]) as server:
        assert (await follow(driver, server.url, 1))[0]["words"] == "Grüße"


async def test_an_event_of_a_new_type_is_an_event(driver: Driver) -> None:
    stream = f"event: mood.changed\r\nid: evt_9\r\ndata: {json.dumps(NEW_TYPE)}\r\n\r\n"
    async with ScriptedServer([told(stream)]) as server:
        assert await follow(driver, server.url, 1) == [NEW_TYPE]


async def test_who_never_had_a_stream_is_told_why(driver: Driver) -> None:
    for script, family in (
        (refused(401, "invalid_api_key"), "AuthenticationFailed"), (refused(503), "ServerFailed"),
        (HANG_UP, "ConnectionFailed"), (answer(200, {"data": []}), "ServerFailed"), (told(), "ConnectionFailed"),
    ):  # fmt: skip
        async with ScriptedServer([script]) as server:
            with pytest.raises(Refused, match=family):
                await follow(driver, server.url, 1)


@pytest.mark.parametrize(
    ("first", "then"),
    [(bytes(told(EVENT, has_length=False)), SILENCE), (told(EVENT), SILENCE), (told(EVENT), HANG_UP)],
    ids=["while nothing happens", "while it connects", "in a pause"],
)
async def test_who_closes_it_ends_the_loop(driver: Driver, first: bytes, then: bytes) -> None:
    left = """
        const stream = client.events.stream(), heard = [];
        for (const time of [1, 2]) {
            const loop = (async () => { for await (const event of stream) heard.push(event.id); })();
            while (heard.length === 0) await new Promise((done) => setTimeout(done, 5));
            await new Promise((done) => setTimeout(done, 20));
            await stream.close();
            await loop;
        }
        return heard;
    """
    async with ScriptedServer([first, then]) as server:
        assert await driver.ask(server.url, left, is_slow=True) == ["evt_1"]


async def test_who_asks_again_before_an_event_came_loses_none(driver: Driver) -> None:
    """As who races the next one with a time of his own does."""
    many = """
        const stream = client.events.stream(), events = stream[Symbol.asyncIterator]();
        const found = await Promise.all([events.next(), events.next(), events.next()]);
        const late = [events.next(), events.next()];
        await stream.close();
        return [found.map((one) => one.value.id), (await Promise.all(late)).map((one) => one.done)];
    """
    script = told(EVENT, event("evt_2"), event("evt_3"), has_length=False)
    async with ScriptedServer([bytes(script), SILENCE]) as server:
        assert await driver.ask(server.url, many, is_slow=True) == [["evt_1", "evt_2", "evt_3"], [True, True]]
        assert len(server.asked) == 1


async def test_who_closes_it_ends_a_loop_that_is_busy_with_an_event(driver: Driver) -> None:
    body = """
        const stream = client.events.stream(), heard = [];
        for await (const event of stream) {
            if (heard.push(event.id) === 2) break;
            await stream.close();
        }
        return heard;
    """
    async with ScriptedServer([told(EVENT, event("evt_2"))]) as server:
        assert await driver.ask(server.url, body) == ["evt_1"]


async def test_a_revoked_key_ends_it(driver: Driver) -> None:
    async with ScriptedServer([told(POSITION), refused(401, "invalid_api_key")]) as server:
        with pytest.raises(Refused, match="AuthenticationFailed"):
            await follow(driver, server.url, 1)


async def test_a_list_does_not_pass_over_a_gap(driver: Driver) -> None:
    page = answer(200, {"data": [{"id": "evt_1"}]}, X_Events_Gap="true")
    async with ScriptedServer([page]) as server:
        for body in (
            "return client.events.list({ after: 'evt_0' }).page()",
            "for await (const one of client.events.list());",
        ):
            with pytest.raises(Refused, match="EventsGap"):
                await driver.ask(server.url, body)


async def test_a_signal_ends_a_stream(maild: Running, bot: dict[str, Any], driver: Driver) -> None:
    """And who comes back where it was misses nothing."""
    body = """
        const stop = new AbortController();
        const stream = client.events.stream({ after: given }, { signal: stop.signal });
        const types = [];
        try {
            for await (const event of stream) {
                types.push(event.type);
                if (types.length === 2) setTimeout(() => stop.abort(new Error("enough")), 30);
            }
        } catch (error) {
            if (error.message !== "enough") throw error;
        }
        return [types, stream.lastEventId];
    """
    for word in ("one", "two"):
        await maild.deliver(bot["address"], f"Subject: {word}\n\nhello\n")
    first, second = (await maild.api.get("/v1/events")).data
    types, position = await driver.ask(maild.api.url, body, "evt_" + "0" * 26, maild.api.key, is_slow=True)
    assert (types, position) == (["email.received"] * 2, second["id"])
    asked = asyncio.create_task(driver.ask(maild.api.url, FOLLOW, [1, {"after": position}], maild.api.key))
    await maild.deliver(bot["address"], "Subject: three\n\nhello\n")
    ((event,),) = (await asked,)
    assert event["data"]["subject"] == "three" and first["id"] < event["id"]
