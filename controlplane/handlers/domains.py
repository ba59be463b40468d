"""Custom domains: registering, verifying, the daily ceiling."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from aiohttp import web

from controlplane import render
from controlplane.api import Call, Result
from controlplane.contract.requests import PatchDomain, RegisterDomain
from controlplane.domains.registry import ShownDomain
from controlplane.transport.streaming import answer_array

TURN_DOMAINS = 20


async def register(call: Call) -> Result:
    body: RegisterDomain = call.body
    shown = await call.rooms.domains.register(
        call.rooms.db, call.organization_id, body.domainName, body.dailyCap
    )
    return Result(_whole(call, shown), status=201)


async def page(call: Call) -> Result | web.StreamResponse:
    found = await call.rooms.domains.list_domains(call.organization_id)
    return await answer_array(call.request, _each(call, found))


async def _each(call: Call, found: Sequence[ShownDomain]) -> AsyncIterator[bytes]:
    for number, shown in enumerate(found, 1):
        yield render.encode(_whole(call, shown))
        if number % TURN_DOMAINS == 0:
            # There may be a thousand, with what their DNS says: others are served too.
            await asyncio.sleep(0)


async def show(call: Call) -> Result:
    return Result(_whole(call, await call.rooms.domains.show(call.organization_id, call.id)))


async def verify(call: Call) -> Result:
    return Result(
        render.domain_verification(
            await call.rooms.domains.verify(call.rooms.db, call.organization_id, call.id)
        )
    )


async def update(call: Call) -> Result:
    body: PatchDomain = call.body
    shown = await call.rooms.domains.set_daily_cap(
        call.rooms.db, call.organization_id, call.id, body.dailyCap
    )
    whole = _whole(call, shown)
    return Result({name: whole[name] for name in render.DOMAIN_CEILING})


async def rotate_dkim(call: Call) -> Result:
    return Result(
        _whole(call, await call.rooms.domains.rotate_dkim(call.rooms.db, call.organization_id, call.id))
    )


async def delete(call: Call) -> Result:
    await call.rooms.domains.delete(call.rooms.db, call.organization_id, call.id)
    return Result({"id": call.id, "status": "deleted"})


def _whole(call: Call, shown: ShownDomain) -> dict[str, object]:
    return render.domain(shown.row, shown.records, shown.today_used, call.rooms.clock.now_ms())
