"""What waits for people: the figures that the console shows, and keeps up to date."""

from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from storage.tenants import overview


async def show_waiting(call: Call) -> Result:
    found = await call.read(overview.waiting, call.organization_id)
    held = found.held_outbound + found.held_inbound
    return Result({"unread": found.unread, "held": held, "queued": found.queued})
