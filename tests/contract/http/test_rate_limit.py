"""Contract, section 8, and decisions.md, "Errors, limits": 240 requests in any 60 seconds, for each organization."""

import asyncio
from collections import Counter

import pytest

from tests.conftest import Start
from tests.support.running import Running
from tests.support.worlds.store import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def limited(start: Start, clock: ManualClock) -> Running:
    return await start(clock=clock, limits={"requests_per_minute": 240})


async def test_of_300_parallel_requests_exactly_240_pass(limited: Running) -> None:
    """A13."""
    answers = await asyncio.gather(*(limited.api.get("/v1/inboxes") for _ in range(300)))
    assert Counter(one.status for one in answers) == {200: 240, 429: 60}
    remaining = sorted(int(one.headers["X-RateLimit-Remaining"]) for one in answers if one.status == 200)
    assert remaining == list(range(240))


async def test_the_headers_count_down_and_say_when(limited: Running, clock: ManualClock) -> None:
    began_s = clock.at_ms // 1000
    first = await limited.api.get("/v1/inboxes")
    clock.forward(10)
    second = await limited.api.get("/v1/nowhere")
    for answer, remaining in ((first, "239"), (second, "238")):
        assert answer.headers["X-RateLimit-Limit"] == "240"
        assert answer.headers["X-RateLimit-Remaining"] == remaining
        assert answer.headers["X-RateLimit-Reset"] == str(began_s + 60)


async def test_refused_requests_count_and_429s_do_not(limited: Running, clock: ManualClock) -> None:
    for _ in range(80):
        assert (await limited.api.get("/v1/nowhere")).status == 404
        assert (await limited.api.get("/v1/messages", limit="0")).status == 400
        assert (await limited.api.post("/v1/inboxes", {})).status == 400
    for _ in range(20):
        answer = await limited.api.get("/v1/inboxes")
        assert (answer.status, answer.code) == (429, "rate_limit_exceeded")
        assert answer.headers["Retry-After"] == "60"
        assert answer.headers["X-RateLimit-Remaining"] == "0"
    clock.forward(60)
    assert (await limited.api.get("/v1/inboxes")).status == 200  # the 429s left no trace
    assert (await limited.api.get("/v1/inboxes")).headers["X-RateLimit-Remaining"] == "238"


async def test_the_window_rolls(limited: Running, clock: ManualClock) -> None:
    await asyncio.gather(*(limited.api.get("/v1/inboxes") for _ in range(120)))
    clock.forward(30)
    await asyncio.gather(*(limited.api.get("/v1/inboxes") for _ in range(120)))
    clock.forward(29)
    refused = await limited.api.get("/v1/inboxes")
    assert (refused.status, refused.headers["Retry-After"]) == (429, "1")
    clock.forward(1)  # the first half leaves, the second stays
    answers = await asyncio.gather(*(limited.api.get("/v1/inboxes") for _ in range(130)))
    assert Counter(one.status for one in answers) == {200: 120, 429: 10}


async def test_it_counts_for_the_organization_over_all_its_keys(limited: Running) -> None:
    other_key, other = await limited.key("messages:read"), await limited.organization()
    apis = [limited.api, limited.test_api, other_key]
    answers = await asyncio.gather(*(apis[n % 3].get("/v1/messages") for n in range(243)))
    assert Counter(one.status for one in answers) == {200: 240, 429: 3}
    assert (await other.api.get("/v1/messages")).status == 200


async def test_what_has_no_good_key_is_neither_counted_nor_told(limited: Running) -> None:
    keyless, unknown = limited.api.with_key(None), limited.api.with_key("svc_live_" + "0" * 48)
    for api, status in ((keyless, 401), (unknown, 401)):
        for _ in range(5):
            answer = await api.get("/v1/inboxes")
            assert answer.status == status and "X-RateLimit-Limit" not in answer.headers
    health = await keyless.get("/health")
    assert "X-RateLimit-Limit" not in health.headers
    assert (await limited.api.get("/v1/inboxes")).headers["X-RateLimit-Remaining"] == "239"
