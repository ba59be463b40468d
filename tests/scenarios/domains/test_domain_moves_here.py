"""A domain that is in use moves here: verifying wants its MX to lead here first, and its inboxes a verified domain, so
mail comes before anybody can have it. Its senders keep it meanwhile, and nothing is bounced."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from controlplane.domains.lifecycle import WINDOW_MS
from tests.support.peers.doh_server import publish
from tests.support.running import Running, until
from tests.support.worlds.domain_world import NAME, DomainWorld, domain_world
from tests.support.worlds.store import ManualClock

Start = Callable[..., Awaitable[Running]]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def world(start: Start, tmp_path: Path, clock: ManualClock) -> AsyncIterator[DomainWorld]:
    async with domain_world(start, tmp_path, clock=clock) as made:
        yield made


async def heard(world: DomainWorld, address: str = f"bot@{NAME}") -> str:
    """The reply to this recipient."""
    talk = await world.maild.smtp()
    await talk.say("EHLO client.elsewhere.test")
    await talk.say("MAIL FROM:<friend@elsewhere.test>")
    return await talk.say(f"RCPT TO:<{address}>")


async def test_from_the_registration_to_the_first_inbox_senders_are_told_to_come_again(
    world: DomainWorld,
) -> None:
    assert (await heard(world)).startswith("550 5.7.1 relaying denied")
    domain = await world.register()
    assert (await heard(world)).startswith("450 4.1.1 ")
    publish(world.zone, domain["records"])
    assert (await world.verify(domain))["status"] == "active"
    assert (await heard(world)).startswith("450 4.1.1 ")
    inbox = await world.maild.inbox("bot", domain=NAME)
    assert (await heard(world)).startswith("250 ")
    assert (await heard(world, f"other@{NAME}")).startswith("550 5.1.1 ")
    assert (await world.api.call("DELETE", f"/v1/inboxes/{inbox['id']}")).status == 200
    assert (await heard(world)).startswith("550 5.1.1 ")


async def test_a_domain_that_was_given_up_is_refused_for_good(world: DomainWorld, clock: ManualClock) -> None:
    domain = await world.register()
    clock.forward(WINDOW_MS / 1000 + 1)

    async def look() -> bool | None:
        return (await world.shown(domain))["status"] == "failed" or None

    await until(look)
    assert (await heard(world)).startswith("550 5.7.1 relaying denied")


async def test_a_name_that_another_organization_has_verified_is_its_own(world: DomainWorld) -> None:
    await world.verified()
    await world.maild.inbox("bot", domain=NAME)
    other = await world.maild.organization()
    await world.register(f"sub.{NAME}", other.api)
    assert (await heard(world, f"nobody@{NAME}")).startswith("550 5.1.1 ")
    assert (await heard(world, f"nobody@sub.{NAME}")).startswith("450 4.1.1 ")


async def test_what_inboxes_here_send_to_it_waits_too(world: DomainWorld) -> None:
    """A bounce would be a hard one of theirs."""
    sender = await world.maild.inbox("sender")
    await world.verified()
    sent = (await world.api.send(sender, to=[f"bot@{NAME}"])).data

    async def put_off() -> dict[str, Any] | None:
        (one,) = (await world.api.get(f"/v1/messages/{sent['id']}")).data["recipients"]
        return one if one["status"] != "queued" else None

    recipient = await until(put_off)
    assert (recipient["status"], recipient["enhancedCode"]) == ("deferred", "4.1.1")


async def test_inboxes_that_another_organization_had_on_it_make_it_no_domain_in_use(
    world: DomainWorld,
) -> None:
    left = await world.verified()
    await world.maild.inbox("bot", domain=NAME)
    await world.delete(left)
    other = await world.maild.organization()
    await world.verified(api=other.api)
    assert (await heard(world, f"new@{NAME}")).startswith("450 4.1.1 ")
    assert (await heard(world)).startswith("550 5.1.1 "), "that one is deactivated"
