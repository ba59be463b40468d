"""Mail of keys that is not to leave any more: it goes in slices, between which others write."""

from controlplane.operations.operation import Call
from storage.mail import withdrawal


async def withdraw(call: Call, waiting: withdrawal.WithdrawnMail) -> None:
    """Each slice in the turn of the caller's organization."""
    services = call.services
    for some in waiting.slices():
        async with services.batch_turns.turn(call.organization_id):
            await call.db.write_apart(
                withdrawal.withdraw_slice, some, services.ids.new, services.clock.now_ms()
            )
