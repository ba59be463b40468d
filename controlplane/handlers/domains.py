"""Custom domains: registering, verifying, the daily ceiling."""

from controlplane import render
from controlplane.api import Answer, Call
from controlplane.domains.registry import Shown
from controlplane.schemas import PatchDomain, RegisterDomain


async def register(call: Call) -> Answer:
    body: RegisterDomain = call.body
    shown = await call.rooms.domains.register(call.organization_id, body.domainName, body.dailyCap)
    return Answer(_whole(call, shown), status=201)


async def page(call: Call) -> Answer:
    return Answer([_whole(call, shown) for shown in await call.rooms.domains.page(call.organization_id)])


async def show(call: Call) -> Answer:
    return Answer(_whole(call, await call.rooms.domains.show(call.organization_id, call.id)))


async def verify(call: Call) -> Answer:
    return Answer(render.domain_verification(await call.rooms.domains.verify(call.organization_id, call.id)))


async def update(call: Call) -> Answer:
    body: PatchDomain = call.body
    shown = await call.rooms.domains.set_daily_cap(call.organization_id, call.id, body.dailyCap)
    whole = _whole(call, shown)
    return Answer({name: whole[name] for name in render.DOMAIN_CEILING})


async def rotate_dkim(call: Call) -> Answer:
    return Answer(_whole(call, await call.rooms.domains.rotate_dkim(call.organization_id, call.id)))


async def delete(call: Call) -> Answer:
    await call.rooms.domains.delete(call.organization_id, call.id)
    return Answer({"id": call.id, "status": "deleted"})


def _whole(call: Call, shown: Shown) -> dict[str, object]:
    return render.domain(shown.row, shown.records, shown.today_used, call.rooms.clock.now_ms())
