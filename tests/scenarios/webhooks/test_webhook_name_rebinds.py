"""A name that was public when it was registered leads inside at every delivery (DNS rebinding)."""

from pathlib import Path

import pytest

from conf.settings import Webhooks
from controlplane.egress.client import Egress
from tests.support.mails.hostile_urls import Trap
from tests.support.worlds.webhook_world import WebhookWorld

PUBLIC = "93.184.215.14"


@pytest.mark.parametrize(
    "inside",
    [["127.0.0.1"], ["::1"], [PUBLIC, "127.0.0.1"], ["127.0.0.1", PUBLIC], ["::ffff:127.0.0.1"], ["0.0.0.0"]],
)
async def test_it_is_looked_up_once_an_attempt_and_never_dialled(tmp_path: Path, inside: list[str]) -> None:
    world = await WebhookWorld.open(tmp_path)
    looked_up: list[str] = []

    async def rebinding(host: str) -> list[str]:
        looked_up.append(host)
        return [PUBLIC] if len(looked_up) == 1 else inside

    async with Trap() as trap:
        egress = Egress(Webhooks(), rebinding)
        await egress.start()
        url = f"https://rebinds.test:{trap.port}/"
        await egress.check_url(url)
        await world.webhook(url)
        dispatcher = world.dispatcher(egress)
        await dispatcher.start()
        await world.event()
        await world.settled(dispatcher)
        for delay_s in (30, 120, 600, 3600):
            world.clock.advance(delay_s)
            await world.settled(dispatcher)
        records = await world.attempts()
        assert [one.attempt for one in records] == [1, 2, 3, 4, 5]
        assert all((one.error or "").startswith("not called: ") for one in records)
        assert not any(address in (one.error or "") for one in records for address in inside)
        assert looked_up == ["rebinds.test"] * 6
        assert trap.connections == 0
        await dispatcher.stop()
        await egress.stop()
    await world.db.close()
