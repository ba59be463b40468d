"""A mail that somebody got from an agent is sent on to others later: receivers see a signature that has ended."""

import re
import time

import dkim
import pytest

from tests.conftest import Start
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.running import Running, until

WEEK_S = 7 * 86400
TIMES = re.compile(rb"; t=(\d+);(?: x=(\d+);)?")


async def leaves(maild: Running, mx: Mx) -> tuple[bytes, int, int | None]:
    """A mail as it leaves, when its signature was made, and when it ends."""
    bot = await maild.inbox("bot")
    assert (await maild.api.send(bot, text="hello")).status == 201

    async def look() -> bytes | None:
        return mx.received[0].raw if mx.received else None

    raw = await until(look)
    found = TIMES.search(raw)
    assert found is not None
    return raw, int(found[1]), int(found[2]) if found[2] else None


def holds(maild: Running, raw: bytes) -> bool:
    ((public,),) = maild.sql("SELECT public_key FROM dkim_keys WHERE domain_name = 'agents.test'")
    return bool(dkim.verify(raw, dnsfunc=lambda name, timeout=5: f"v=DKIM1; k=rsa; p={public}".encode()))


@pytest.mark.parametrize(
    ("given", "lasts_s"),
    [({}, WEEK_S), ({"dkim_expires_after_s": 86400}, 86400), ({"dkim_expires_after_s": 0}, None)],
    ids=["by_default", "as_set", "never"],
)
async def test_a_signature_ends(
    start: Start, monkeypatch: pytest.MonkeyPatch, given: dict[str, int], lasts_s: int | None
) -> None:
    async with Mx() as mx, DnsServer() as dns:
        dns.add_mx("elsewhere.test")
        maild = await start(
            dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
            outbound={"port": mx.port, "allow_private_networks": True, **given},
        )
        raw, made_s, ends_s = await leaves(maild, mx)
        assert abs(made_s - time.time()) < 600
        assert ends_s == (None if lasts_s is None else made_s + lasts_s)
        assert holds(maild, raw)
        monkeypatch.setattr("time.time", lambda now=time.time() + 2 * WEEK_S: now)
        assert holds(maild, raw) is (lasts_s is None)
