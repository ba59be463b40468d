"""A domain gets a new owner, who verifies it: mail for it is nobody else's from then on."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.support.running import Running
from tests.support.worlds.domain_world import NAME, DomainWorld, domain_world, record_of

Start = Callable[..., Awaitable[Running]]
MAIL = "From: friend@elsewhere.test\r\nSubject: for the new owner\r\n\r\nhello\r\n"


@pytest.fixture
async def world(start: Start, tmp_path: Path) -> AsyncIterator[DomainWorld]:
    async with domain_world(start, tmp_path) as made:
        yield made


async def test_the_former_owner_s_inboxes_are_out_and_their_names_free(world: DomainWorld) -> None:
    old = await world.verified()
    former = await world.maild.inbox("bot", domain=NAME)
    elsewhere = await world.maild.inbox("bot")
    sent = (await world.api.send(former)).data
    ((token,),) = world.maild.sql("SELECT bounce_token FROM messages WHERE id = ?", sent["id"])
    await world.delete(old)
    other = await world.maild.organization()
    new = await world.register(api=other.api)
    challenge = record_of(new, "ownership")
    world.zone.add(challenge["name"], "TXT", f'"{challenge["value"]}"')
    assert (await world.verify(new, other.api))["status"] == "active"

    # Nobody has the name yet, and the former owner does not hear what comes for it.
    talk = await world.maild.smtp()
    await talk.say("EHLO client.elsewhere.test")
    await talk.say("MAIL FROM:<friend@elsewhere.test>")
    assert (await talk.say(f"RCPT TO:<{former['address']}>")).startswith("550 5.1.1")
    for address in (f"b+{token}@{NAME}", f"nobody@{NAME}"):
        assert (await talk.say(f"RCPT TO:<{address}>")).startswith("450 4.1.1")
    assert (await world.api.send(former)).code == "inbox_not_found"
    assert (await world.api.send(elsewhere)).status == 201

    # Its quarantine protects the former owner from other tenants, not from the domain's owner.
    heir = await world.maild.inbox("bot", other.api, domain=NAME)
    arrived = await world.maild.received(heir, MAIL, other.api)
    assert arrived["subject"] == "for the new owner"
    mine = await world.api.messages(inboxId=former["id"])
    assert [one["id"] for one in mine] == [sent["id"]]  # what was theirs stays readable


async def test_one_s_own_names_stay_in_quarantine(world: DomainWorld) -> None:
    await world.verified()
    inbox = await world.maild.inbox("bot", domain=NAME)
    world.maild.sql(
        "UPDATE inboxes SET is_active = 0, deactivated_at = ? WHERE id = ? RETURNING id",
        4_000_000_000_000,
        inbox["id"],
    )
    answer = await world.api.post("/v1/inboxes", {"username": "bot", "domain": NAME})
    assert answer.code == "address_in_cooldown"
