"""GET /v1/events/stream: decisions.md, "Webhook"; docs/contract.md, "Events and webhooks"."""

import asyncio
from typing import Any

import pytest

from tests.conftest import Start, on_shared
from tests.support.clients.event_stream import EventStream
from tests.support.running import Running, until, until_true


async def deliver(maild: Running, inbox: dict[str, Any], *subjects: str) -> None:
    for subject in subjects:
        assert (await maild.deliver(inbox["address"], f"Subject: {subject}\n\nwords\n"))[:3] == "250"


async def test_an_event_comes_as_it_happens_and_as_webhooks_tell_it(
    maild: Running, bot: dict[str, Any]
) -> None:
    await deliver(maild, bot, "before")
    async with EventStream(maild.api) as stream:
        await deliver(maild, bot, "one", "two")
        told = [await stream.next(), await stream.next()]
    log = (await maild.api.get("/v1/events")).data
    assert [one.event for one in told] == log[1:]
    assert [(one.id, one.type) for one in told] == [(one["id"], one["type"]) for one in log[1:]]
    assert stream.retry_ms is not None
    assert "no-store" in stream.response.headers["Cache-Control"]


async def test_a_reader_that_comes_back_hears_what_it_missed(maild: Running, bot: dict[str, Any]) -> None:
    async with EventStream(maild.api) as stream:
        await deliver(maild, bot, "one")
        await stream.next()
    await deliver(maild, bot, *map(str, range(20)))  # more than a page
    async with EventStream(maild.api, stream.last_event_id) as again:
        found = [(await again.next()).event["data"]["subject"] for _ in range(20)]
    assert found == [str(number) for number in range(20)]
    assert stream.last_event_id is not None
    for query in ({"after": stream.last_event_id}, {"lastEventId": stream.last_event_id}):
        async with EventStream(maild.api, **query) as asked:
            assert (await asked.next()).event["data"]["subject"] == "0"
    # A browser repeats the query of its first request: the header knows better.
    async with EventStream(maild.api, again.last_event_id, after=stream.last_event_id) as browser:
        await deliver(maild, bot, "new")
        assert (await browser.next()).event["data"]["subject"] == "new"


@pytest.mark.parametrize("is_empty", [True, False])
async def test_a_reader_that_heard_nothing_yet_misses_nothing_either(
    maild: Running, bot: dict[str, Any], is_empty: bool
) -> None:
    if not is_empty:
        await deliver(maild, bot, "before")
    async with EventStream(maild.api) as stream:
        assert stream.last_event_id is not None
    await deliver(maild, bot, "meanwhile")
    async with EventStream(maild.api, stream.last_event_id) as again:
        assert (await again.next()).event["data"]["subject"] == "meanwhile"


async def test_types_are_chosen(maild: Running, bot: dict[str, Any]) -> None:
    async with EventStream(maild.api, types="email.sent,email.bounced") as stream:
        await deliver(maild, bot, "in")
        await maild.test_api.send(bot, to=["delivered@simulator.test"], subject="out")
        told = await stream.next()
    assert (told.type, told.event["mode"], told.event["data"]["subject"]) == ("email.sent", "test", "out")


async def test_a_bound_key_hears_of_its_inbox_alone(maild: Running, bot: dict[str, Any]) -> None:
    other = await maild.inbox("other")
    bound = await maild.key(inbox=bot)
    async with EventStream(bound) as stream, EventStream(maild.api, inboxId=other["id"]) as chosen:
        await deliver(maild, other, "other's")
        await deliver(maild, bot, "mine")
        assert (await stream.next()).event["data"]["subject"] == "mine"
        assert (await chosen.next()).event["data"]["subject"] == "other's"
    refused = await bound.get("/v1/events/stream", inboxId=other["id"])
    assert (refused.status, refused.code) == (403, "inbox_access_denied")


async def test_an_inbox_that_is_not_there_is_told_at_once(maild: Running, bot: dict[str, Any]) -> None:
    """Who listens to the wrong one would listen in vain; a deactivated one is there."""
    theirs = await maild.inbox("theirs", (await maild.organization()).api)
    for key in (maild.api, await maild.key(inbox=bot)):
        for inbox_id in ("inb_01m7yfag7w45tyj0v8xnjg5z6z", theirs["id"]):
            refused = await key.get("/v1/events/stream", inboxId=inbox_id)
            assert (refused.status, refused.code) == (404, "inbox_not_found")
    assert (await maild.api.call("DELETE", f"/v1/inboxes/{bot['id']}")).status == 200
    async with EventStream(maild.api, inboxId=bot["id"]):
        pass


async def test_a_stranger_hears_nothing_of_it(maild: Running, bot: dict[str, Any]) -> None:
    stranger = await maild.organization()
    theirs = await maild.inbox("theirs", stranger.api)
    async with EventStream(stranger.api) as stream:
        await deliver(maild, bot, "ours")
        await deliver(maild, theirs, "theirs")
        assert (await stream.next()).event["data"]["subject"] == "theirs"
    (own,) = (await maild.api.get("/v1/events")).data
    async with EventStream(stranger.api, own["id"]) as stream:
        assert (await stream.next()).event["data"]["subject"] == "theirs"


@pytest.mark.parametrize(
    ("query", "headers", "faults"),
    [
        ({"types": "email.opened"}, {}, {"types[0]": "not_allowed"}),
        ({"after": "x"}, {}, {"after": "invalid_cursor"}),
        ({"lastEventId": "msg_01m7yfag7w45tyj0v8xnjg5z6z"}, {}, {"lastEventId": "invalid_cursor"}),
        ({}, {"Last-Event-ID": "x"}, {"lastEventId": "invalid_cursor"}),
        ({"limit": "5"}, {}, {"limit": "unknown_field"}),
    ],
)
@on_shared
async def test_what_is_refused(
    shared: Running, query: dict[str, str], headers: dict[str, str], faults: dict[str, str]
) -> None:
    answer = await shared.api.call("GET", "/v1/events/stream", params=query, headers=headers)
    assert answer.status == 400 and answer.faults == faults


@on_shared
async def test_it_needs_messages_read(shared: Running) -> None:
    answer = await (await shared.key("threads:read")).get("/v1/events/stream")
    assert (answer.status, answer.code) == (403, "insufficient_scope")
    answer = await shared.api.with_key(None).get("/v1/events/stream")
    assert (answer.status, answer.code) == (401, "unauthorized")


async def test_heartbeats_keep_a_silent_stream_open(start: Start) -> None:
    maild = await start(http={"event_stream_heartbeat_s": 1, "header_timeout_s": 1, "keepalive_s": 1})
    async with EventStream(maild.api) as stream:
        await stream.heartbeat()
        await stream.heartbeat()


async def test_an_organization_has_so_many(start: Start) -> None:
    maild = await start(http={"event_streams_per_organization": 2})
    stranger = await maild.organization()
    async with EventStream(maild.api), EventStream(maild.api) as second:
        refused = await maild.api.get("/v1/events/stream")
        assert (refused.status, refused.code) == (429, "too_many_streams")
        assert int(refused.headers["Retry-After"]) > 0
        async with EventStream(stranger.api):
            pass
        second.response.close()

        async def look() -> bool | None:
            try:
                async with EventStream(maild.api):
                    return True
            except AssertionError:
                return None

        await until(look)  # the place of one that left is free again


async def test_all_streams_take_half_of_the_connections(start: Start) -> None:
    maild = await start(http={"max_connections": 4})
    async with EventStream(maild.api), EventStream(maild.api):
        refused = await maild.api.get("/v1/events/stream")
        assert (refused.status, refused.code) == (503, "provider_unavailable")
        assert (await maild.api.get("/v1/events")).status == 200


async def test_nothing_is_skipped_when_many_write_at_once(maild: Running, bot: dict[str, Any]) -> None:
    """What commits together is numbered in one order, and a reader in the middle of it sees all of it."""
    async with EventStream(maild.api) as stream, EventStream(maild.api, types="email.received") as other:

        async def send(number: int) -> None:
            for count in range(10):
                await deliver(maild, bot, f"{number}.{count}")

        sending = asyncio.gather(*(send(number) for number in range(8)))
        told = [await stream.next() for _ in range(80)]
        also = [await other.next() for _ in range(80)]
        await sending
    log = (await maild.api.get("/v1/events", limit="100")).data
    assert [one.id for one in told] == [one.id for one in also] == [one["id"] for one in log]


async def test_what_another_process_commits_is_told_too(maild: Running) -> None:
    """Nobody wakes the look-out then: it looks again by itself."""
    async with EventStream(maild.api, types="sending.paused") as stream:
        await maild.operate(maild.store.organizations.pause, maild.organization_id, "manual_review")
        assert (await stream.next()).event["data"]["status"] == "paused"


async def test_a_quiet_inbox_passes_over_its_neighbours_once(maild: Running, bot: dict[str, Any]) -> None:
    other = await maild.inbox("other")
    async with EventStream(maild.api, inboxId=other["id"]) as stream:
        await deliver(maild, bot, "one", "two", "three")
        (reader,) = maild.daemon.streams._feeds

        await until_true(lambda: reader._position == 3)
        await deliver(maild, other, "mine")
        assert (await stream.next()).event["data"]["subject"] == "mine"
