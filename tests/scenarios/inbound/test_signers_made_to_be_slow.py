"""A stranger signs as much as a message holds: what is asked of DNS and verified has bounds, and large mail is verified
beside the event loop."""

import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from maild.authentication import arc_check, dkim_check
from maild.authentication.arc_check import MAX_SEALERS, MAX_SETS
from maild.authentication.dkim_check import MAX_SIGNATURES
from maild.authentication.judge import KEYS_AT_ONCE
from maild.message.fields.headers import MAX_HEADER_BYTES
from tests.conftest import Start
from tests.support.hostile import signed
from tests.support.mails.signers import Signer
from tests.support.peers.dns_server import DnsServer
from tests.support.worlds.sender_world import PublishedRecords, SenderWorld, mail_from

NAMES = b":".join([b"from"] * 1000)
PADDING = b"X: " + b"y" * 900 + b"\r\n"


class Verifications:
    """Counts them, and whether they held the event loop."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self.on_loop = 0
        for module in (dkim_check, arc_check):
            monkeypatch.setattr(module, "verify", self._counting(module.verify))

    def _counting(self, verify: Any) -> Any:
        def counted(*arguments: Any) -> None:
            self.count += 1
            self.on_loop += threading.current_thread() is threading.main_thread()
            verify(*arguments)

        return counted


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> Verifications:
    return Verifications(monkeypatch)


@pytest.fixture
async def world(start: Start) -> AsyncIterator[SenderWorld]:
    async with DnsServer() as dns:
        records = PublishedRecords(dns)
        for number in range(50):
            records.add(*signed.key_record(number))
        maild = await start(dns={"nameservers": [f"127.0.0.1:{dns.port}"]})
        yield SenderWorld(maild, dns, await maild.inbox("bot"))


def keys_asked(world: SenderWorld) -> int:
    return sum(count for (name, _), count in world.dns.queries.items() if "._domainkey." in name)


@pytest.mark.parametrize(
    ("fields", "on_loop"),
    [
        (list(signed.signatures(MAX_SIGNATURES)), 0),
        (list(signed.signatures(KEYS_AT_ONCE)), KEYS_AT_ONCE),
        (list(signed.signatures(50)), 0),
        (list(signed.signatures(20, NAMES)), 0),
        ([*signed.signatures(20), PADDING * 200], 0),
        ([PADDING * 200, *signed.signatures(60)], 0),
    ],
    ids=["eight", "a few", "fifty", "many names", "a header of 200 KiB", "sixty below it"],
)
async def test_eight_signatures_are_looked_at(
    world: SenderWorld, verified: Verifications, fields: list[bytes], on_loop: int
) -> None:
    raw = signed.message(*fields)
    assert len(raw) < MAX_HEADER_BYTES
    assert (await world.judged(raw))["auth"]["dkim"] == "fail"
    count = on_loop or MAX_SIGNATURES
    assert (verified.count, verified.on_loop, keys_asked(world)) == (count, on_loop, count)
    await world.judged(raw)
    assert keys_asked(world) == count
    assert sum(world.dns.queries.values()) <= MAX_SIGNATURES + 4  # SPF, and the policy of three names


async def test_of_a_header_that_is_too_large_nothing_is_looked_at(
    world: SenderWorld, verified: Verifications
) -> None:
    auth = (await world.judged(signed.message(*signed.signatures(400))))["auth"]
    assert auth == {
        "spf": "none",
        "dkim": "permerror",
        "dmarc": "permerror",
        "arc": "fail",
        "verifiedDomain": None,
    }
    assert (verified.count, keys_asked(world)) == (0, 0)


def chain(world: SenderWorld, sets: int, sealers: int) -> bytes:
    signers = [Signer(PublishedRecords(world.dns), f"seal{n}.test", 1024) for n in range(sealers)]
    raw = mail_from("ann@author.test")
    for number in range(sets):
        raw = signers[number % sealers].seal(raw, "arc=pass" if number else "dmarc=pass")
    return raw


@pytest.mark.parametrize("sets", [MAX_SEALERS, MAX_SETS])
async def test_a_chain_is_followed_as_far_as_it_may_be_long(
    world: SenderWorld, verified: Verifications, sets: int
) -> None:
    assert (await world.judged(chain(world, sets, MAX_SEALERS)))["auth"]["arc"] == "pass"
    assert (verified.count, verified.on_loop, keys_asked(world)) == (sets + 1, 0, MAX_SEALERS)


@pytest.mark.parametrize(("sets", "sealers"), [(MAX_SEALERS + 1, MAX_SEALERS + 1), (MAX_SETS + 1, 1)])
async def test_a_longer_one_is_not_begun(
    world: SenderWorld, verified: Verifications, sets: int, sealers: int
) -> None:
    raw = chain(world, min(sets, MAX_SETS), sealers)
    if sets > MAX_SETS:  # the signer makes no more
        newest = raw[: raw.index(b"ARC-Seal: i=49;")]
        raw = newest.replace(b"i=50;", b"i=51;") + raw
    assert (await world.judged(raw))["auth"]["arc"] == "fail"
    assert (verified.count, keys_asked(world)) == (0, 0)
