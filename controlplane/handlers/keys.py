"""API keys: minting, listing, revoking."""

from controlplane import render
from controlplane.access import new_keys
from controlplane.api import Call, Result
from controlplane.contract.refusals import Refusal
from controlplane.contract.requests import CreateKey
from storage import inboxes, keys
from storage.database import Tx
from storage.records import KeyRow

LISTED_MAX = 1000  # without a limit; the contract's list has none
WARNING = "Save this key now: it is shown only once and cannot be recovered."


async def create(call: Call) -> Result:
    body: CreateKey = call.body
    scopes = new_keys.scopes_for(call.principal, body.scopes, is_bound=body.inboxId is not None)
    raw_key = keys.make(new_keys.mode_for(call.principal, body.mode), call.rooms.ids.chance)
    row = await call.rooms.db.write(_mint, call, scopes, raw_key)
    return Result({**render.key(row), "apiKey": raw_key, "warning": WARNING}, status=201)


def _mint(tx: Tx, call: Call, scopes: tuple[str, ...], raw_key: str) -> KeyRow:
    body: CreateKey = call.body
    if body.inboxId is not None and inboxes.get_active(tx, call.organization_id, body.inboxId) is None:
        raise Refusal("inbox_not_found")
    return keys.create(
        tx,
        call.rooms.ids.new("key"),
        raw_key,
        call.rooms.clock.now_ms(),
        organization_id=call.organization_id,
        name=body.name,
        scopes=scopes,
        mode=new_keys.mode_for(call.principal, body.mode),
        inbox_id=body.inboxId,
    )


async def page(call: Call) -> Result:
    query = call.query
    limit = query.limit or LISTED_MAX
    rows = await call.read(keys.list_keys, call.organization_id, limit=limit, before=query.cursor)
    return Result([render.key(row) for row in rows])


async def revoke(call: Call) -> Result:
    await call.rooms.db.write(_revoke, call)
    return Result({"id": call.id, "status": "revoked"})


def _revoke(tx: Tx, call: Call) -> None:
    mode = keys.mode_of(tx, call.organization_id, call.id)
    if mode is None:
        raise Refusal("key_not_found")
    if mode == "live":
        call.principal.require_live()
    keys.revoke(tx, call.organization_id, call.id)
