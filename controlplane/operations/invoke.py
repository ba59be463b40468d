"""The one way into an operation, whatever the door: reach → scope → input → run.

A door has found out the caller. It hands over the input as a context manager, so that nothing is read of a body whose
sender may not call at all, and what the body holds (memory, a turn) is given back when the operation is done.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, cast

from controlplane.access import reviewers
from controlplane.access.principal import Principal
from controlplane.contract.refusals import Fault, Refusal, invalid
from controlplane.contract.validation import validated
from controlplane.operations.operation import (
    ANY_KEY,
    BoundKeys,
    Call,
    Operation,
    PublicRequest,
    Run,
    RunPublic,
    Services,
    never_leaves,
)
from controlplane.operations.results import AnyResult
from controlplane.webhooks.waits import OnLeave
from maild.message.fields.address import normalize
from storage.audit.acts import Act
from storage.audit.trail import address_hash
from storage.engine.database import Database
from storage.engine.failures import StoreStandsStill, is_refused
from storage.engine.tx import Tx
from storage.exhaustion import WantLog

Input = AbstractAsyncContextManager[Any]
ADDRESSES_AT_ONCE = 10
RETRY_AFTER_S = 2  # of what there was no room for
REVOKED = "invalid_api_key"  # on the way: such a key brings nothing about any more


want = WantLog("requests")


def exhausted() -> Refusal:
    """What is answered where there are no descriptors or no memory to do what was asked for, or the disk is full, fails
    or stands still: nothing of it was done."""
    text = "This host is out of file descriptors or memory, or its disk fails; try again later."
    return Refusal("provider_unavailable", text, retry_after_s=RETRY_AFTER_S)


class Operations:
    """Runs operations for their callers."""

    def __init__(self, db: Database, services: Services) -> None:
        self._db = db
        self._services = services

    async def invoke(
        self,
        operation: Operation,
        principal: Principal,
        given: Input,
        *,
        id: str = "",
        idempotency_keys: Sequence[str] = (),
        on_leave: OnLeave = never_leaves,
        recalled_for_ms: int | None = None,
    ) -> AnyResult:
        """What the operation answers; Refusal. The door reads the parts of an answer as it sends them. The last four:
        see Call."""
        try:
            return await self._run(
                operation, principal, given, id, idempotency_keys, on_leave, recalled_for_ms
            )
        except Refusal as refusal:
            if operation.is_send and refusal.code != REVOKED:
                await self._record(principal, refusal)
            raise
        except Exception as error:
            if not is_refused(error):
                raise
            want.note(error)
            raise exhausted() from error

    async def _run(
        self,
        operation: Operation,
        principal: Principal,
        given: Input,
        id: str,
        idempotency_keys: Sequence[str],
        on_leave: OnLeave,
        recalled_for_ms: int | None,
    ) -> AnyResult:
        await self._check_reach(operation, principal, id)
        if principal.inbox_id is None or operation.bound_keys is not BoundKeys.BY_BINDING:
            for scope in (operation.scope, *operation.also):
                if scope != ANY_KEY:
                    principal.require(scope)
        if operation.is_live_only:
            principal.require_live()
        # No operation that writes can forget to ask whether the key was revoked meanwhile.
        db = self._db
        if not operation.is_reading:
            db = db.asking(_asked_by(operation, principal))
            if self._db.stands_still:  # before a body is read in vain
                raise StoreStandsStill()
        run = cast(Run, operation.run)
        async with given as input:
            call = Call(self._services, db, principal, id, input, idempotency_keys, on_leave, recalled_for_ms)
            return await run(call)

    @asynccontextmanager
    async def values(
        self, operation: Operation, principal: Principal, given: Mapping[str, Any] | None
    ) -> AsyncIterator[Any]:
        """The input of an operation from plain values, for doors that read no octets. Refusal `validation_failed`."""
        if operation.input is not None:
            read = partial(validated, operation.input, dict(given or {}))
            is_quick = _addresses(given) <= ADDRESSES_AT_ONCE
            yield read() if is_quick else await self._services.cpu.run(principal.organization_id, read)
        elif given:
            raise invalid([Fault(name, "unknown_field", "This operation takes no input") for name in given])
        else:
            yield None

    async def invoke_public(self, operation: Operation, **given: Any) -> AnyResult:
        """The same for an operation that needs no key. `given`: the fields of PublicRequest."""
        run = cast(RunPublic, operation.run)
        return await run(PublicRequest(self._services, **given))

    async def _record(self, principal: Principal, refusal: Refusal) -> None:
        """That a send was refused. Of a recipient that the refusal names its hash alone."""
        address = (refusal.details or {}).get("email") or (refusal.details or {}).get("address")
        about = {}
        if isinstance(address, str):
            about["addressHash"] = address_hash(principal.organization_id, normalize(address))
        await self._services.refusals.note(
            principal.organization_id, Act.MESSAGE_REFUSED, principal.actor, code=refusal.code, **about
        )

    async def _check_reach(self, operation: Operation, principal: Principal, id: str) -> None:
        """A key bound to one inbox hears of another inbox's resource before its scopes are looked at."""
        if principal.inbox_id is None:
            return
        if operation.bound_keys is BoundKeys.NEVER:
            raise Refusal("inbox_access_denied")
        if operation.names is not None:
            await self._db.lookup(principal.refuse_beyond_reach, operation.names, id)


def _asked_by(operation: Operation, principal: Principal) -> Callable[[Tx], None]:
    """What each unit of the operation asks first."""
    if not operation.governs or principal.is_member:
        return principal.ask

    def ask(tx: Tx) -> None:
        principal.ask(tx)
        reviewers.refuse_keys(tx, principal.organization_id)

    return ask


def _addresses(given: Mapping[str, Any] | None) -> int:
    """How many may be among the values: lists are of addresses as a rule, each of which may take a millisecond."""
    return sum(len(value) for value in (given or {}).values() if isinstance(value, list))
