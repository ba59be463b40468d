"""API keys: minting, listing, revoking."""

from collections.abc import Sequence
from typing import Any

from controlplane.access import new_keys
from controlplane.contract.accounts.keys import CreateKey
from controlplane.contract.refusals import Refusal
from controlplane.contract.rendering import json_column
from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from storage.audit.acts import Act
from storage.clock import iso, iso_or_none
from storage.engine.tx import Tx
from storage.mail import inboxes, withdrawal
from storage.mail.withdrawal import WithdrawnMail
from storage.records import KeyRow
from storage.tenants import keys

LISTED_MAX = 1000  # without a limit; the contract's list has none
WARNING = "Save this key now: it is shown only once and cannot be recovered."


async def create_key(call: Call) -> Result:
    body: CreateKey = call.input
    scopes = new_keys.scopes_for(call.principal, body.scopes, is_bound=body.inboxId is not None)
    raw_key = keys.make(new_keys.mode_for(call.principal, body.mode), call.services.ids.chance)
    row = await call.db.write(_mint, call, scopes, raw_key)
    return Result({**shown_key(row), "apiKey": raw_key, "warning": WARNING})


def _mint(tx: Tx, call: Call, scopes: tuple[str, ...], raw_key: str) -> KeyRow:
    body: CreateKey = call.input
    if body.inboxId is not None and inboxes.get_active(tx, call.organization_id, body.inboxId) is None:
        raise Refusal("inbox_not_found")
    row = keys.create(
        tx,
        call.services.ids.new("key"),
        raw_key,
        call.services.clock.now_ms(),
        organization_id=call.organization_id,
        name=body.name,
        scopes=scopes,
        mode=new_keys.mode_for(call.principal, body.mode),
        inbox_id=body.inboxId,
        minted_by=call.principal.minter_id,
    )
    call.record(tx, Act.KEY_MINTED, row.id, scopes=list(scopes), mode=row.mode, inboxId=row.inbox_id)
    return row


async def list_keys(call: Call) -> Result:
    query = call.input
    limit = query.limit or LISTED_MAX
    rows = await call.read(keys.list_keys, call.organization_id, limit=limit, before=query.cursor)
    return Result([shown_key(row) for row in rows])


async def revoke_key(call: Call) -> Result:
    await call.db.write(_revoke, call, [call.id])
    return Result({"id": call.id, "status": "revoked"})


def _revoke(tx: Tx, call: Call, key_ids: Sequence[str]) -> None:
    for key_id in key_ids:
        mode = keys.mode_of(tx, call.organization_id, key_id)
        if mode is None:
            raise Refusal("key_not_found")
        if mode == "live":
            call.principal.require_live()
        if keys.revoke(tx, call.organization_id, key_id, call.services.clock.now_ms()):
            call.record(tx, Act.KEY_REVOKED, key_id)


async def revoke_with_mail(call: Call) -> Result:
    own, closed, revoked = call.principal.key_id, set[str](), 0
    lineage, newest = await call.read(_lineage, call)
    # All go before the look at what waits, so that nothing is sent behind it; those that were revoked long before,
    # without their mail, too. A request that is being answered may mint one more meanwhile. Without its own key the
    # caller could not go on.
    while left := [one for one in lineage if one != own and one not in closed]:
        for start in range(0, len(left), keys.REVOKED_AT_ONCE):
            some = left[start : start + keys.REVOKED_AT_ONCE]
            revoked += await call.db.write_apart(_close, call, some)
        closed.update(left)
        lineage, newest = await call.read(_lineage, call)
    waiting = await call.read(withdrawal.find_sent_by, call.organization_id, lineage)
    revoked += await call.db.write_apart(_withdraw, call, newest if own in lineage else None, waiting)
    return Result(
        {
            "id": call.id,
            "status": "revoked",
            "revokedKeys": revoked,
            "withdrawnMessages": waiting.messages,
        }
    )


def _close(tx: Tx, call: Call, key_ids: Sequence[str]) -> int:
    """How many of them opened something until now."""
    withdrawal.close_keys(tx, call.organization_id, key_ids)
    active = [one for one in key_ids if keys.is_active(tx, one)]
    _revoke(tx, call, active)
    return len(active)


def _withdraw(tx: Tx, call: Call, newest: int | None, waiting: WithdrawnMail) -> int:
    """What is not little is withdrawn behind it, and leaves as little. How many keys were revoked here: the caller's,
    where it is one of them, and what it has minted since `newest`, for no other could, also through such as are
    revoked already."""
    services, revoked = call.services, 0
    if newest is not None:
        own = call.principal.key_id
        revoked = _close(tx, call, [own, *keys.minted_with(tx, call.organization_id, own, newest)])
    withdrawal.note_closed(tx)
    if withdrawal.are_few(tx, waiting):
        withdrawal.withdraw(tx, waiting, services.ids.new, services.clock.now_ms())
    return revoked


def _lineage(tx: Tx, call: Call) -> tuple[list[str], int]:
    """The key that is named and all that it minted; and the place of the key that is the newest of all."""
    mode = keys.mode_of(tx, call.organization_id, call.id)
    if mode is None:
        raise Refusal("key_not_found")
    if mode == "live":
        call.principal.require_live()
    lineage = [call.id, *keys.minted_with(tx, call.organization_id, call.id)]
    return lineage, keys.newest(tx)


def shown_key(row: KeyRow) -> dict[str, Any]:
    """Never the key itself, nor its hash."""
    return {
        "id": row.id,
        "name": row.name,
        "keyPrefix": row.key_prefix,
        "mode": row.mode,
        "scopes": json_column(row.scopes),
        "inboxId": row.inbox_id,
        "isActive": bool(row.is_active),
        "mintedBy": row.minted_by,
        "lastUsedAt": iso_or_none(row.last_used_at),
        "createdAt": iso(row.created_at),
    }
