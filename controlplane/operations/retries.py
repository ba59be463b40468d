"""How a call that is made again is recognised, and answered."""

from functools import partial

import msgspec

from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from controlplane.sending.submission import (
    Accepted,
    Retry,
    fingerprint,
    read_key,
    recalled,
    size_of,
    small_fingerprint,
)
from storage.idempotency import EVER, KeptWhen

FINGERPRINT_INLINE_CHARS = 256 * 1024


async def retry_of(call: Call, endpoint: str, about: str = "") -> Retry | None:
    """How the call is recognised when it is made again, where it has an Idempotency-Key. `about`: see `fingerprint`."""
    key = read_key(call.idempotency_keys)
    if key is None:
        return None
    work = partial(fingerprint, call.principal, call.input, about)
    is_large = size_of(call.input) > FINGERPRINT_INLINE_CHARS
    made = await call.services.cpu.run(call.organization_id, work) if is_large else work()
    return Retry(endpoint, key, made, when=_recalled_when(call))


def small_retry_of(call: Call, endpoint: str, about: str) -> Retry | None:
    """The same for a call whose body has nothing attached."""
    key = read_key(call.idempotency_keys)
    if key is None:
        return None
    return Retry(
        endpoint, key, small_fingerprint(call.principal, call.input, about), when=_recalled_when(call)
    )


async def answered_before(call: Call, retry: Retry | None) -> Accepted | None:
    """`recalled`, without asking for what was answered, which may be gone since the first time. Refusal where it was
    for another inbox than that of the caller's key."""
    made = await call.db.lookup(recalled, call.organization_id, retry)
    if made is not None:
        call.principal.confine(msgspec.json.decode(made.message, type=_OfInbox).inboxId)
    return made


class _OfInbox(msgspec.Struct):
    inboxId: str


def _recalled_when(call: Call) -> KeptWhen:
    """What lies as far ahead was kept by a clock that has been set back since (see clock.is_recent)."""
    if call.recalled_for_ms is None:
        return EVER
    now_ms = call.services.clock.now_ms()
    return KeptWhen(now_ms - call.recalled_for_ms, now_ms + call.recalled_for_ms)


def accepted(sent: Accepted) -> Result:
    """The message that was made, as JSON, by this call or by an earlier one."""
    return Result(msgspec.Raw(sent.message), is_replay=sent.is_replay)
