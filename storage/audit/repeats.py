"""Acts that change nothing, and that a key can bring about as often as it likes: refused sends, logins.

Such an act has no transaction that its row could be part of (that of a refused send is rolled back), so the row gets
one of its own, before the answer. Written for each, such rows would fill the disk for a key that asks in a loop. So an
hour is a window: the first act of a kind is written at once, the like of it are counted, and the window's end writes
one row with their number (`times`). An organization has DISTINCT kinds in a window; what comes beside them is counted
by its code alone, under the actor OTHERS. A crash loses counts of the present window, never a first row.
"""

import asyncio
from typing import Any, NamedTuple

import structlog

from storage.audit.acts import Act, Actor
from storage.audit.chain import details_text
from storage.audit.trail import Records
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.service import Enduring, LoopService

DISTINCT = 32
ROWS_A_UNIT = 100
OTHERS = Actor("others")

log = structlog.get_logger("maild.audit")


class _Kind(NamedTuple):
    organization_id: str
    act: Act
    actor: str
    subject: str | None
    details: str


class _RepeatedAct(NamedTuple):
    organization_id: str
    act: Act
    actor: Actor
    subject: str | None
    details: dict[str, Any]


class RepeatedActs(LoopService):
    """Writes them. `note` returns when the row is durable, or at once where the act is only counted."""

    name = "audit_repeats"

    def __init__(self, db: Database, audit: Records, window_s: float) -> None:
        super().__init__()
        self._db = db
        self._audit = audit
        self._window_s = window_s
        self._times: dict[_Kind, int] = {}
        self._told: dict[_Kind, _RepeatedAct] = {}
        self._distinct: dict[str, int] = {}

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self._window_s)
            await self.flush()

    async def stop(self) -> None:
        await super().stop()
        await self.flush()

    async def note(
        self,
        organization_id: str,
        act: Act,
        actor: Actor,
        subject: str | None = None,
        *,
        code: str | None = None,
        **details: Any,
    ) -> None:
        """Record that it happened. A store that refuses is told in the log: what was asked for goes on."""
        said = details if code is None else {"code": code, **details}
        told = _RepeatedAct(organization_id, act, actor, subject, said)
        if self._is_counted(told, code):
            return
        with Enduring(log, "audit_row_not_written", organization_id=organization_id, act=act.value):
            await self._db.impatient().write(self._write, told)

    def _is_counted(self, told: _RepeatedAct, code: str | None) -> bool:
        """Is it one of those that only count? Else it is the first of its kind."""
        kind = _kind(told)
        if kind in self._times:
            self._times[kind] += 1
            return True
        distinct = self._distinct.get(told.organization_id, 0)
        if distinct < DISTINCT:
            self._distinct[told.organization_id] = distinct + 1
            self._times[kind], self._told[kind] = 0, told
            return False
        rest = told._replace(actor=OTHERS, subject=None, details={} if code is None else {"code": code})
        kind = _kind(rest)
        self._times[kind] = self._times.get(kind, 0) + 1
        self._told[kind] = rest
        return True

    async def flush(self) -> None:
        """End the window: write what was counted, and begin anew."""
        counted = [
            told._replace(
                actor=told.actor._replace(tool=None), details={**told.details, "times": self._times[kind]}
            )
            for kind, told in self._told.items()
            if self._times[kind]
        ]
        self._times, self._told, self._distinct = {}, {}, {}
        for start in range(0, len(counted), ROWS_A_UNIT):
            with Enduring(log, "audit_row_not_written"):
                await self._db.write(self._write_all, counted[start : start + ROWS_A_UNIT])

    def _write_all(self, tx: Tx, some: list[_RepeatedAct]) -> None:
        for told in some:
            self._write(tx, told)

    def _write(self, tx: Tx, told: _RepeatedAct) -> None:
        self._audit.record(tx, *told)


def _kind(told: _RepeatedAct) -> _Kind:
    return _Kind(told.organization_id, told.act, told.actor.name, told.subject, details_text(told.details))
