"""The log says which client was refused: behind a proxy its own address, and never one that it made up."""

import aiohttp
import pytest
from multidict import CIMultiDict
from structlog.testing import capture_logs

from conf.log_events import LogEvent
from tests.conftest import Start


@pytest.mark.parametrize(
    ("told", "peer"),
    [
        ((), "127.0.0.1"),
        (("198.51.100.9",), "198.51.100.9"),
        (("2001:db8::9",), "2001:db8::9"),
        (("203.0.113.5, 198.51.100.9",), "198.51.100.9"),  # what the client said, and what the proxy saw
        (("203.0.113.5", "198.51.100.9"), "198.51.100.9"),
        (("203.0.113.5, 198.51.100.9, 192.0.2.7",), "198.51.100.9"),  # behind a balancer that is named
        (('198.51.100.9","peer":"203.0.113.5',), "127.0.0.1"),
    ],
)
async def test_who_comes_with_a_wrong_key_is_told_by_address(
    start: Start, told: tuple[str, ...], peer: str
) -> None:
    maild = await start(http={"proxy_from": ["192.0.2.0/28"]})
    headers = CIMultiDict([("Authorization", "Bearer svc_live_none")])
    headers.extend(("X-Forwarded-For", one) for one in told)
    url = f"{maild.api.url}/v1/inboxes"
    with capture_logs() as lines:
        async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
            assert answer.status == 401
    (line,) = [one for one in lines if one["event"] == LogEvent.REQUEST_REFUSED]
    assert (line["peer"], line["refusal"]) == (peer, "invalid_api_key")
