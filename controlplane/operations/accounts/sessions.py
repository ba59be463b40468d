"""Sessions of members in the console: seen and ended. Who acts for the organization sees everybody's; others their own.
No key reaches them."""

from controlplane.access.principal import Principal
from controlplane.contract.refusals import Refusal
from controlplane.contract.scopes import ALL
from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from storage.audit.acts import Act
from storage.audit.trail import Records
from storage.clock import iso
from storage.engine.tx import Tx
from storage.tenants import console_sessions

LISTED_MAX = 100


async def list_sessions(call: Call) -> Result:
    _require_member(call.principal)
    now_ms = call.services.clock.now_ms()
    rows = await call.read(
        console_sessions.list_sessions,
        call.organization_id,
        now_ms,
        LISTED_MAX,
        member_id=_whose(call.principal),
    )
    return Result(
        [
            {
                "id": row.id,
                "memberId": row.member_id,
                "email": row.email,
                "createdAt": iso(row.created_at),
                "lastUsedAt": iso(row.last_used_at),
                "expiresAt": iso(row.expires_at),
                "address": row.address,
                "userAgent": row.user_agent,
            }
            for row in rows
        ]
    )


async def end_session(call: Call) -> Result:
    _require_member(call.principal)
    await call.db.write(_end, call)
    return Result({"id": call.id, "ended": True})


def _end(tx: Tx, call: Call) -> None:
    if not end_of(tx, call.services.audit, call.principal, call.id):
        raise Refusal("not_found", "There is no such session (any more).")


def end_of(tx: Tx, audit: Records, principal: Principal, session_id: str) -> bool:
    """Revoke a session that the member may end, from the commit on; False: there is none of that id."""
    organization_id = principal.organization_id
    member_id = console_sessions.end(tx, organization_id, session_id, member_id=_whose(principal))
    if member_id is None:
        return False
    audit.record(tx, organization_id, Act.SESSION_ENDED, principal.actor, session_id, {"memberId": member_id})
    return True


def _whose(principal: Principal) -> str | None:
    """The member whose sessions alone it reaches; None: everybody's."""
    return None if principal.holds(ALL) else principal.key_id


def _require_member(principal: Principal) -> None:
    if not principal.is_member:
        raise Refusal("member_required")
