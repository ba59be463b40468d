"""From the outbox to the record of an attempt."""

import hashlib
import hmac
import json

import pytest
from standardwebhooks.webhooks import Webhook as StandardWebhook

from conf.settings import Webhooks
from controlplane.egress.client import EgressFailed, OnSent, nobody_waits
from controlplane.egress.http1 import HttpResponse
from controlplane.egress.targets import EgressRefused
from controlplane.webhooks import signing
from storage.publishing import webhooks
from tests.support.worlds.webhook_world import START_MS, ScriptedPoster, WebhookWorld

URL = "https://sink.test/hook"


async def test_an_event_reaches_its_subscriber_signed(world: WebhookWorld) -> None:
    poster = ScriptedPoster()
    webhook = await world.webhook(URL)
    dispatcher = world.dispatcher(poster)
    await dispatcher.start()
    event_id = await world.event()
    await world.settled(dispatcher)

    ((url, body, headers),) = poster.posted
    secret = world.shown[webhook.id]
    time, digest = headers["X-Svc-Signature"].split(",")
    signed = time.removeprefix("t=").encode() + b"." + body
    assert url == URL
    assert json.loads(body)["id"] == headers["webhook-id"] == event_id
    assert digest == "v1=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    expected = signing.standard_signature([signing.keys(secret)], event_id, START_MS // 1000, body)
    assert headers["webhook-signature"] == expected
    assert headers["Content-Type"] == "application/json"
    StandardWebhook(secret)  # the library takes the secret as it was shown
    await dispatcher.stop()


async def test_what_another_process_commits_is_delivered_too(world: WebhookWorld) -> None:
    """`maild org pause` publishes an event beside the daemon, and can't wake it."""
    poster = ScriptedPoster()
    await world.webhook(URL)
    dispatcher = world.dispatcher(poster)
    await dispatcher.start()
    await world.settled(dispatcher)  # it rests
    await world.event()
    await poster.posted_count(1)
    await dispatcher.stop()


async def test_the_record_of_a_success(world: WebhookWorld) -> None:
    poster = ScriptedPoster()
    poster.answers[URL] = HttpResponse(200, b"o\x00k \xff" + b"x" * 2000)
    webhook = await world.webhook(URL)
    dispatcher = world.dispatcher(poster)
    await dispatcher.start()
    event_id = await world.event()
    await world.settled(dispatcher)

    (record,) = await world.attempts()
    assert record.id == signing.delivery_id(webhook.id, event_id, 1)
    assert (record.webhook_id, record.event_id, record.event_type) == (webhook.id, event_id, "email.received")
    assert (record.attempt, record.response_status, record.is_successful) == (1, 200, 1)
    assert (record.error, record.next_attempt_at, record.created_at) == (None, None, START_MS)
    assert record.response_body == "ok \ufffd" + "x" * 996
    sent = json.loads(record.request_headers)
    assert sent == poster.posted[0][2]
    assert world.shown[webhook.id] not in record.request_headers
    assert await world.states() == [("succeeded", 1, None, None)]
    await dispatcher.stop()


async def test_five_attempts_on_schedule_then_failed(world: WebhookWorld) -> None:
    poster = ScriptedPoster()
    poster.answers[URL] = HttpResponse(503, b"later")
    await world.webhook(URL)
    dispatcher = world.dispatcher(poster)
    await dispatcher.start()
    await world.event()
    await world.settled(dispatcher)
    for made, delay_s in enumerate((30, 120, 600, 3600), start=1):
        world.clock.advance(delay_s - 0.001)
        await world.settled(dispatcher)
        assert len(poster.posted) == made
        world.clock.advance(0.001)
        await world.settled(dispatcher)
        assert len(poster.posted) == made + 1
    world.clock.advance(86_400)
    await world.settled(dispatcher)

    log = await world.attempts()
    assert [record.attempt for record in log] == [1, 2, 3, 4, 5]
    assert [(record.next_attempt_at or 0) - record.created_at for record in log[:4]] == [
        30_000,
        120_000,
        600_000,
        3_600_000,
    ]
    assert log[-1].next_attempt_at is None
    assert "gave up after 5 attempts" in (log[-1].error or "")
    assert len(set(poster.delivery_ids(URL))) == 5
    assert len({headers["webhook-id"] for _, _, headers in poster.posted}) == 1
    assert await world.states() == [("failed", 5, None, None)]
    await dispatcher.stop()


@pytest.mark.parametrize(
    ("answer", "state", "status", "error"),
    [
        (HttpResponse(404, b""), "failed", 404, "the endpoint answered 404, which is final"),
        (HttpResponse(302, b""), "pending", 302, "the endpoint answered 302; redirects are not followed"),
        (EgressFailed("the answer broke off", 200), "pending", 200, "the answer broke off"),
        (EgressFailed("the connection was refused"), "pending", None, "the connection was refused"),
        (EgressRefused("is private"), "pending", None, "not called: the URL is private"),
        (RuntimeError("secret path"), "pending", None, "internal error"),
        (MemoryError(), "pending", None, "internal error"),  # behind the request, which may have arrived
    ],
)
async def test_what_follows_from_a_failure(
    world: WebhookWorld, answer: HttpResponse | Exception, state: str, status: int | None, error: str
) -> None:
    poster = ScriptedPoster()
    poster.answers[URL] = answer
    await world.webhook(URL)
    dispatcher = world.dispatcher(poster)
    await dispatcher.start()
    await world.event()
    await world.settled(dispatcher)
    (record,) = await world.attempts()
    assert (record.is_successful, record.response_status, record.error) == (0, status, error)
    assert (await world.states())[0][0] == state
    await dispatcher.stop()


async def test_memory_that_was_missing_before_the_request_left_is_no_attempt(world: WebhookWorld) -> None:
    class ShortOfMemory(ScriptedPoster):
        wants = 2

        async def post(
            self, url: str, body: bytes, headers: dict[str, str], on_sent: OnSent = nobody_waits
        ) -> HttpResponse:
            if self.wants:
                self.wants -= 1
                raise MemoryError
            return await super().post(url, body, headers, on_sent)

    poster = ShortOfMemory()
    await world.webhook(URL)
    dispatcher = world.dispatcher(poster)
    await dispatcher.start()
    await world.event()
    await poster.posted_count(1)
    await world.settled(dispatcher)
    (record,) = await world.attempts()
    assert (record.attempt, record.is_successful, poster.wants) == (1, 1, 0)
    await dispatcher.stop()


async def test_only_subscribers_of_the_organization_are_called(world: WebhookWorld) -> None:
    poster = ScriptedPoster()
    await world.organization("org_2")
    await world.webhook("https://sent.test/", ("email.sent",))
    await world.webhook("https://both.test/", ("email.sent", "email.received"))
    await world.webhook("https://foreign.test/", organization_id="org_2")
    dispatcher = world.dispatcher(poster)
    await dispatcher.start()
    await world.event()
    await world.settled(dispatcher)
    assert [url for url, _, _ in poster.posted] == ["https://both.test/"]
    assert await world.attempts("org_2") == []
    await dispatcher.stop()


async def test_one_place_per_endpoint_keeps_the_order(world: WebhookWorld) -> None:
    poster = ScriptedPoster()
    await world.webhook(URL)
    event_ids = [await world.event() for _ in range(20)]
    dispatcher = world.dispatcher(poster, Webhooks(max_concurrent_per_endpoint=1))
    await dispatcher.start()
    await world.settled(dispatcher)
    assert [headers["webhook-id"] for _, _, headers in poster.posted] == event_ids
    assert poster.most_at_once[URL] == 1
    await dispatcher.stop()


async def test_limits_in_all_and_per_endpoint(world: WebhookWorld) -> None:
    poster = ScriptedPoster()
    urls = [f"https://sink{number}.test/" for number in range(6)]
    for number, url in enumerate(urls):
        await world.organization(f"org_{10 + number}")
        await world.webhook(url, organization_id=f"org_{10 + number}")
    dispatcher = world.dispatcher(poster, Webhooks(max_concurrent=8, max_concurrent_per_endpoint=3))
    await dispatcher.start()

    async def burst() -> None:
        for number in range(6):
            for _ in range(9):
                await world.event(f"org_{10 + number}")
        dispatcher.wake()

    await burst()
    await poster.posted_count(54)  # they have earned their slots
    await world.settled(dispatcher)
    gates = [poster.hold(url) for url in urls]
    await burst()
    await poster.posted_count(54 + 8)
    for gate in gates:
        gate.set()
    await world.settled(dispatcher)
    assert len(poster.posted) == 108
    assert poster.most_at_once["all"] == 8
    assert max(poster.most_at_once[url] for url in urls) <= 3
    await dispatcher.stop()


async def test_it_sleeps_until_the_next_attempt_is_due(world: WebhookWorld) -> None:
    poster = ScriptedPoster()
    poster.answers[URL] = HttpResponse(500, b"")
    await world.webhook(URL)
    dispatcher = world.dispatcher(poster, Webhooks(retry_delays_s=(1,)))
    await dispatcher.start()
    await world.event()
    await world.settled(dispatcher)
    world.clock.advance(1)  # nobody wakes it: only its own timer does
    await poster.posted_count(2, URL)
    await dispatcher.stop()


async def test_both_secrets_sign_while_one_is_being_rotated(world: WebhookWorld) -> None:
    poster = ScriptedPoster()
    webhook = await world.webhook(URL)
    new, sealed = world.secrets.make(webhook.id)
    await world.db.write(
        webhooks.rotate,
        "org_1",
        webhook.id,
        world.clock.ms,
        secret=sealed,
        previous_until_ms=world.clock.ms + 86_400_000,
    )
    dispatcher = world.dispatcher(poster)
    await dispatcher.start()
    await world.event()
    await world.settled(dispatcher)
    world.clock.advance(86_400)
    await world.event()
    await world.settled(dispatcher)
    both, one = [(body, headers["X-Svc-Signature"]) for _, body, headers in poster.posted]
    assert both[1] == signing.signature(
        [signing.keys(new), signing.keys(world.shown[webhook.id])], START_MS // 1000, both[0]
    )
    assert one[1] == signing.signature([signing.keys(new)], START_MS // 1000 + 86_400, one[0])
    await dispatcher.stop()


async def test_start_and_stop_are_idempotent(world: WebhookWorld) -> None:
    poster = ScriptedPoster()
    await world.webhook(URL)
    dispatcher = world.dispatcher(poster)
    await dispatcher.stop()
    for runs in (1, 2):
        await dispatcher.start()
        await dispatcher.start()
        await world.event()
        await world.settled(dispatcher)
        await dispatcher.stop()
        await dispatcher.stop()
        assert len(poster.posted) == runs
