"""A receiver is down for the first attempts, in each of the ways in which one is down, and then up again."""

from pathlib import Path

import pytest

from controlplane.webhooks.signing import delivery_id
from tests.support.machine.ports import free_port
from tests.support.peers.webhook_sink import Reply, WebhookSink
from tests.support.worlds.webhook_world import START_MS, WebhookWorld, egress_to

DELAYS_S = (30, 120, 600, 3600)
ATTEMPTS_MAX = 5
DOWN = {
    "the connection was refused": None,
    "the host name does not resolve": None,
    "the endpoint answered 503": Reply(503, body=b"later"),
    "the connection was closed before an answer": Reply(drop=True),
    "the answer broke off": Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"),
}


@pytest.mark.parametrize("failures", range(1, ATTEMPTS_MAX + 1))
@pytest.mark.parametrize("error", DOWN)
async def test_it_is_called_on_schedule_until_it_answers(tmp_path: Path, error: str, failures: int) -> None:
    world = await WebhookWorld.open(tmp_path)
    sink = WebhookSink(tmp_path, port=free_port())
    is_down = True

    async def resolve(host: str) -> list[str]:
        return [] if is_down and "resolve" in error else await sink.resolve(host)

    egress = egress_to(sink, resolve)
    await egress.start()
    webhook = await world.webhook(f"https://sink.test:{sink.wanted_port}/hook")
    dispatcher = world.dispatcher(egress)
    await dispatcher.start()
    reply = DOWN[error]
    if reply is not None:
        sink.script("/hook", *[reply] * failures)
        await sink.__aenter__()
    event_id = await world.event()
    await world.settled(dispatcher)
    for attempt, delay_s in enumerate(DELAYS_S[:failures], 1):
        world.clock.advance(delay_s - 1)
        await world.settled(dispatcher)
        assert len(await world.attempts()) == attempt
        if attempt == failures:
            is_down = False
            if reply is None:
                await sink.__aenter__()
        world.clock.advance(1)
        await world.settled(dispatcher)

    records = await world.attempts()
    made = min(failures + 1, ATTEMPTS_MAX)
    assert [one.attempt for one in records] == list(range(1, made + 1))
    assert [one.id for one in records] == [delivery_id(webhook.id, event_id, n + 1) for n in range(made)]
    assert [one.created_at for one in records] == [
        START_MS + 1000 * sum(DELAYS_S[:attempt]) for attempt in range(made)
    ]
    if failures < ATTEMPTS_MAX:
        assert [one.error for one in records] == [error] * failures + [None]
        assert (sink.received[-1].event["id"], sink.received[-1].headers["x-svc-attempt"]) == (
            event_id,
            str(made),
        )
        assert sink.received[-1].delivery_id == records[-1].id
        assert (await world.states())[0][0] == "succeeded"
    else:
        assert [one.error for one in records] == [error] * 4 + [f"{error}; gave up after 5 attempts"]
        assert (await world.states())[0] == ("failed", ATTEMPTS_MAX, None, None)
    world.clock.advance(30 * 86_400)
    await world.settled(dispatcher)
    assert len(await world.attempts()) == made
    await dispatcher.stop()
    await egress.stop()
    if reply is not None or not is_down:
        await sink.__aexit__(None, None, None)
    await world.db.close()
