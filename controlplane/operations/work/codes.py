"""Claiming the code or the link of a mail: the oldest that is as asked for, and that nobody else has."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from controlplane.access.principal import LIVE
from controlplane.contract.mail.codes import ClaimCode
from controlplane.contract.refusals import Refusal
from controlplane.mail import code_mail, labelling
from controlplane.mail.arrivals import DEFAULT_MS, Arrivals, FewArrivals, WantedMail, fitting_of
from controlplane.mail.code_mail import FoundCode, WantedCode
from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from controlplane.operations.retries import accepted, small_retry_of
from controlplane.sending.submission import Accepted, Retry, recalled
from storage.agents import code_claims
from storage.agents.code_claims import CodeMail
from storage.engine.tx import Tx
from storage.ids import made_at, stands_for
from storage.mail import inboxes, messages
from storage.records import load
from storage.searching.labels import UNREAD
from storage.searching.needle import IN_EVERYTHING
from storage.searching.search_scope import Scope

ENDPOINT = "POST /v1/inboxes/{id}/codes/claim"
CLAIMED = "code-claimed"
TAKEN_LATELY_MS = 600_000
AT_ONCE_CHARS = 2048  # more is read beside the event loop


@dataclass(slots=True)
class Search:
    """A look for a code. `doubtful`: the first mail of which nobody can tell what it means."""

    call: Call
    retry: Retry | None
    arrivals: Arrivals
    wanted: WantedCode
    doubtful: FoundCode | None = None

    async def next(self) -> Accepted | FoundCode | None:
        """What was claimed; a doubtful mail where nothing else is there; None: nothing yet."""
        while True:
            looked = await self.call.read(_few, self.call, self.arrivals)
            if looked.is_end:
                return self.doubtful
            for piece in code_mail.pieces(looked.sizes):
                for found in await self._found(await self.call.read(_mails, self.call, piece)):
                    claimed = await self._claimed(found)
                    if claimed is not None:
                        return claimed

    async def _found(self, mails: Sequence[CodeMail]) -> list[FoundCode]:
        work = partial(_looked, mails, self.wanted)
        if sum(len(mail.words) for mail in mails) <= AT_ONCE_CHARS:
            return work()
        return await self.call.services.cpu.run(self.call.organization_id, work)

    async def _claimed(self, found: FoundCode) -> Accepted | None:
        """What was claimed; None where nobody can tell what the mail means, or another has it."""
        if found.found.value is None:
            self.doubtful = self.doubtful or found
            return None
        if not await self.call.db.lookup(code_claims.unclaimed, [found.mail.message_id]):
            return None
        return await self.call.db.write(_claim, self.call, found, self.retry)


def _looked(mails: Sequence[CodeMail], wanted: WantedCode) -> list[FoundCode]:
    looked = (code_mail.look(mail, wanted) for mail in mails)
    return [found for found in looked if found is not None]


async def claim_code(call: Call) -> Result:
    asked: ClaimCode = call.input
    retry = small_retry_of(call, ENDPOINT, about=call.id)
    made = await call.db.lookup(_made_before, call, retry)
    if made is not None:
        return accepted(made)
    search = Search(
        call,
        retry,
        Arrivals(_wanted_mail(call), asked.after, call.services.clock.now_ms()),
        WantedCode(asked.kinds, asked.fromDomain, asked.linkHosts),
    )
    found: Accepted | FoundCode | None = await call.first(search.next, asked.waitSeconds, call.id)
    if isinstance(found, Accepted):
        return accepted(found)
    return Result(_answer(found, None, search.arrivals.cursor))


async def taken_code(call: Call) -> Result:
    """The newest mail behind `after` whose code the key has, of an earlier call whose answer may have been lost."""
    return Result({"messageId": await call.read(_taken, call)})


def _taken(tx: Tx, call: Call) -> str | None:
    after, now_ms = call.input.after, call.services.clock.now_ms()
    if not isinstance(after, str):
        after = stands_for("msg", now_ms - DEFAULT_MS if after is None else after)
    elif not after.startswith("msg_"):
        after = stands_for("msg", made_at(after))
    after = max(after, stands_for("msg", now_ms - TAKEN_LATELY_MS))
    taken = code_claims.taken_by(tx, call.organization_id, call.principal.key_id, after)
    return max(fitting_of(tx, _wanted_mail(call), taken), default=None)


def _wanted_mail(call: Call) -> WantedMail:
    asked: ClaimCode = call.input
    scope = Scope(call.organization_id, call.id, direction="inbound")
    return WantedMail(
        scope, IN_EVERYTHING, asked.fromDomain, is_verified=not asked.allowUnverified, is_unclaimed=True
    )


def _made_before(tx: Tx, call: Call, retry: Retry | None) -> Accepted | None:
    if inboxes.owner_of(tx, "inbox", call.organization_id, call.id) is None:
        raise Refusal("inbox_not_found")
    return recalled(tx, call.organization_id, retry)


def _few(tx: Tx, call: Call, arrivals: Arrivals) -> FewArrivals:
    call.principal.ask(tx)
    return arrivals.few(tx, call.services.clock.now_ms())


def _mails(tx: Tx, call: Call, message_ids: Sequence[str]) -> list[CodeMail]:
    """A test key is shown what test keys brought about: a code can be used once, and live keys wait for it."""
    call.principal.ask(tx)
    mails = code_claims.mails(tx, call.organization_id, message_ids)
    return mails if call.principal.mode == LIVE else [mail for mail in mails if mail.mode != LIVE]


def _claim(tx: Tx, call: Call, found: FoundCode, retry: Retry | None) -> Accepted | None:
    """Hand it out, unless somebody else has it, or it was deleted meanwhile; None then."""
    made = recalled(tx, call.organization_id, retry)
    if made is not None:
        return made
    message_id, services = found.mail.message_id, call.services
    message = messages.get(tx, call.organization_id, message_id)
    now_ms, claim_id = services.clock.now_ms(), services.ids.new("cod")
    if message is None or not code_claims.claim(
        tx, claim_id, call.organization_id, call.principal.key_id, message_id, found.kind, now_ms
    ):
        return None
    labels = [label for label in load(message.labels) if label not in (UNREAD, CLAIMED)]
    labelling.replace(tx, services.changes(), message, [*labels, CLAIMED])
    answer = msgspec.json.encode(_answer(found, claim_id, message_id))  # goes on behind that mail
    if retry is not None:
        retry.keep(tx, call.organization_id, answer, message_id, now_ms)
    return Accepted(answer, is_replay=False, message_id=message_id)


def _answer(found: FoundCode | None, claim_id: str | None, cursor: str) -> dict[str, Any]:
    value = found.found if found is not None else None
    is_certain = value is not None and value.value is not None
    place = {"view": "subject", "start": 0, "end": 0}
    if found is not None and value is not None:
        view = "subject" if value.view == "subject" else found.mail.view
        place = {"view": view, "start": value.start, "end": value.end}
    return {
        "id": claim_id,
        "claimed": claim_id is not None,
        "kind": found and found.kind,
        "value": value and value.value,
        "shown": value and value.shown,
        "messageId": found and found.mail.message_id,
        "verifiedDomain": found and found.mail.verified_domain,
        "confidence": value and value.confidence,
        "evidence": place if is_certain else None,
        "candidates": list(value.candidates) if value is not None else [],
        "timedOut": found is None,
        "cursor": cursor,
    }
