"""Bounces among messages that are too few to judge (contract, section 8, "Circuit breaker")."""

from typing import Any

import pytest

from storage import usage
from storage.clock import day_of
from storage.engine.tx import Tx
from storage.tenants import circuit_breaker
from tests.support.running import Running


async def bounced_of(maild: Running, bounced: int, messages: int) -> None:
    """As many hard bounces, of so many messages that were sent today."""
    daemon = maild.daemon
    now_ms, organization_id = daemon._clock.now_ms(), maild.organization_id

    def count(tx: Tx) -> None:
        usage.add(tx, organization_id, day_of(now_ms), "messages", messages)
        usage.add(tx, organization_id, day_of(now_ms), "bounced", bounced)
        circuit_breaker.check(tx, "evt_0", daemon.audit._recorder, organization_id, now_ms)

    assert daemon._db is not None
    await daemon._db.write(count)


@pytest.mark.parametrize(("bounced", "status"), [(5, "paused"), (4, "approved")])
async def test_the_hundredth_message_trips_it(
    maild: Running, bot: dict[str, Any], bounced: int, status: str
) -> None:
    await bounced_of(maild, bounced, 98)
    assert (await maild.api.send(bot)).status == 201
    standing = (await maild.api.get("/v1/organization")).data
    assert (standing["sendingApproval"]["status"], standing["reputation"]["sent"]) == ("approved", 99)

    assert (await maild.api.send(bot)).status == 201  # it was accepted, and is delivered
    standing = (await maild.api.get("/v1/organization")).data
    assert standing["sendingApproval"]["status"] == status
    assert (await maild.api.send(bot)).status == (403 if status == "paused" else 201)
    paused = maild.sql("SELECT data ->> 'reason' FROM events WHERE type = 'sending.paused'")
    assert paused == ([("hard_bounce_rate",)] if status == "paused" else [])
