"""What is kept only for a time, and its removal.

Each kind of row is looked for by a reader and removed by the writer for some ms, with a rest after each: however much
has piled up (at the first start after a long time), other writing units wait for one slice at most.
A crash between two slices leaves rows for the next round; a crash between a commit and the removal of its files leaves
files for the sweep at start (storage.mail.blobs).

The last event of all stays whatever its age, because numbers of events go up from it (storage.publishing.events); an
event that a webhook still waits for stays until it was delivered or given up. A message loses its raw bytes, and keeps
its row with the bodies that are in it, when its organization's plan says so; not while it waits to be sent, nor while
it is held. What came in, was held and was rejected goes as a whole (`held_mail.KEEP_REJECTED_MS`).

What is removed does not come back, so a clock that is wrong for a moment must not decide: where more than OFF_MS seem
to have passed without an event, at the start or because the clock has stepped, nothing is removed for TRUST_S. Until
then NTP has set it right, or the host was off for as long, and readers may take what they have missed. Events of the
last TRUST_S are no evidence: the clock may have been wrong when they came.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import structlog

from storage.audit import trail
from storage.audit.trail import AuditRecorder
from storage.clock import DAY_MS, Clock, WallSteps
from storage.domains import domain_reports
from storage.engine.database import Database
from storage.engine.dialect import each_row_of, greatest
from storage.engine.tx import Tx
from storage.ids import first_at
from storage.mail import held_mail, messages
from storage.mail.blobs import Blobs
from storage.publishing import events
from storage.records import dump
from storage.sending import deleted_mail, tls_sessions
from storage.service import Enduring, LoopService
from storage.slices import pieces

ROUND_S = 600
OFF_MS = DAY_MS
TRUST_S = 3600
STEP_MS = 60_000
REST = 4  # times what the slice took
# A thousand attachments may hang on one message, and a row may be large or lie far from the others.
SLICE_S = 0.008

log = structlog.get_logger("maild.retention")


class Slices(NamedTuple):
    """How many rows one unit removes at most, how many messages lose their bytes in one, how many a reader looks at,
    and of how many events a reader looks at all deliveries."""

    rows: int = 500
    messages: int = 50  # that lose their bytes in one unit: each may free 128 KiB of pages
    looked_at: int = 1000
    events: int = 50


class Rows(NamedTuple):
    """Rows of one kind. `find` names those older than `:before`, `:limit` at most; `remove` takes them from `:keys`,
    after `note`, where something of them is to be remembered. `remove_hanging` takes what hangs on them, `:limit` at a
    time."""

    kind: str
    find: str
    remove: str
    note: str | None = None
    remove_hanging: str | None = None


_IS_DELIVERED = "NOT EXISTS (SELECT 1 FROM webhook_deliveries WHERE event_seq = seq AND status = 'pending')"
# One that was found may be on its way again by now, since somebody asked for that.
_FOUND_EVENTS = f"FROM events WHERE seq IN {each_row_of(':keys', 1)} AND {_IS_DELIVERED}"
ROWS = (
    Rows(
        "events",
        f"""SELECT seq FROM events WHERE created_at < :before AND seq < (SELECT max(seq) FROM events)
             AND {_IS_DELIVERED} ORDER BY created_at LIMIT :limit""",
        f"DELETE {_FOUND_EVENTS}",
        f"""INSERT INTO events_gone (organization_id, inbox_id, type, seq, event_id)
            SELECT organization_id, coalesce(inbox_id, ''), type, max(seq), max(id)
            {_FOUND_EVENTS} GROUP BY 1, 2, 3
            ON CONFLICT (organization_id, inbox_id, type) DO UPDATE SET
              seq = {greatest("events_gone.seq", "excluded.seq")},
              event_id = {greatest("events_gone.event_id", "excluded.event_id")}""",
        # Each may have one for each webhook: by ON DELETE CASCADE alone a unit would remove as many.
        f"""DELETE FROM webhook_deliveries WHERE (webhook_id, event_seq) IN
            (SELECT webhook_id, event_seq FROM webhook_deliveries
             WHERE event_seq IN {each_row_of(":keys", 1)} AND status <> 'pending' LIMIT :limit)""",
    ),
    Rows(
        "webhook records",
        "SELECT id FROM webhook_attempts WHERE created_at < :before ORDER BY created_at LIMIT :limit",
        f"DELETE FROM webhook_attempts WHERE id IN {each_row_of(':keys', 1)}",
    ),
    Rows(
        "idempotency keys",
        """SELECT organization_id, endpoint, key FROM idempotency WHERE created_at < :before
           ORDER BY created_at LIMIT :limit""",
        # A key may have been used anew since it was found.
        f"""DELETE FROM idempotency
            WHERE created_at < :before AND (organization_id, endpoint, key) IN {each_row_of(":keys", 3)}""",
    ),
    Rows(
        "domain reports",
        "SELECT id FROM domain_reports WHERE created_at < :before ORDER BY created_at LIMIT :limit",
        f"DELETE FROM domain_reports WHERE id IN {each_row_of(':keys', 1)}",
    ),
    Rows(
        "tls sessions",
        f"""SELECT DISTINCT day, domain FROM tls_sessions WHERE day < :before / {DAY_MS}
            ORDER BY day, domain LIMIT :limit""",
        f"DELETE FROM tls_sessions WHERE (day, domain) IN {each_row_of(':keys', 2)}",
    ),
    Rows(
        "tls reports",
        f"""SELECT day, domain, destination FROM tls_reports_sent WHERE day < :before / {DAY_MS}
            ORDER BY day, domain LIMIT :limit""",
        f"DELETE FROM tls_reports_sent WHERE (day, domain, destination) IN {each_row_of(':keys', 3)}",
    ),
    Rows(
        "claims",
        "SELECT id FROM claims WHERE created_at < :before AND status <> 'live' ORDER BY created_at LIMIT :limit",
        f"DELETE FROM claims WHERE id IN {each_row_of(':keys', 1)}",
    ),
    Rows(
        "deleted mail",
        "SELECT bounce_token FROM deleted_mail WHERE deleted_at < :before ORDER BY deleted_at LIMIT :limit",
        f"DELETE FROM deleted_mail WHERE bounce_token IN {each_row_of(':keys', 1)}",
    ),
    Rows(
        "resting addresses",
        "SELECT address_hash FROM resting_addresses WHERE until < :before ORDER BY until LIMIT :limit",
        f"DELETE FROM resting_addresses WHERE until < :before AND address_hash IN {each_row_of(':keys', 1)}",
    ),
    # These two have no index by age alone: they are small, and written with every request and every send.
    Rows(
        "rate windows",
        "SELECT organization_id, second FROM rate_windows WHERE second < :before / 1000 LIMIT :limit",
        f"DELETE FROM rate_windows WHERE (organization_id, second) IN {each_row_of(':keys', 2)}",
    ),
    Rows(
        "recent recipients",
        "SELECT organization_id, address FROM recent_recipients WHERE seen_at < :before LIMIT :limit",
        f"""DELETE FROM recent_recipients
            WHERE seen_at < :before AND (organization_id, address) IN {each_row_of(":keys", 2)}""",
    ),
)
# What no setting says. The window of requests is a minute, that of recipients ten.
IDEMPOTENCY_MS = 2 * DAY_MS
RATE_WINDOW_MS = 2 * 60_000
RECENT_RECIPIENTS_MS = 10 * 60_000


def ages(keep_events_days: int, keep_records_days: int) -> dict[str, int]:
    """Kind of row → how old it may become, in ms."""
    return {
        "events": keep_events_days * DAY_MS,
        "webhook records": keep_records_days * DAY_MS,
        "idempotency keys": IDEMPOTENCY_MS,
        "domain reports": domain_reports.KEEP_MS,
        "claims": keep_records_days * DAY_MS,
        "tls sessions": tls_sessions.KEEP_MS,
        "tls reports": tls_sessions.SENT_KEEP_MS,
        "deleted mail": deleted_mail.KEEP_MS,
        "resting addresses": 0,  # their time is what they say
        "rate windows": RATE_WINDOW_MS,
        "recent recipients": RECENT_RECIPIENTS_MS,
    }


class Retention(LoopService):
    """Removes rows by age every ROUND_S. `ages_ms`: of `ages`. `raw_days`: for how many days the plan of that name
    keeps raw messages, None: for ever. `audit_days`: for how many the audit log is kept."""

    name = "retention"

    def __init__(
        self,
        db: Database,
        blobs: Blobs,
        clock: Clock,
        ages_ms: Mapping[str, int],
        raw_days: Callable[[str], int | None],
        recorder: AuditRecorder,
        audit_days: int,
        slices: Slices = Slices(),
    ) -> None:
        super().__init__()
        self._db = db
        self._blobs = blobs
        self._clock = clock
        self._ages_ms = ages_ms
        self._raw_days = raw_days
        self._recorder = recorder
        self._audit_days = audit_days
        self._slices = slices
        self._steps = WallSteps()
        self._trusted_at = 0.0  # monotonic seconds
        # Organization → the message up to which nothing is left to do: only a new start looks there again.
        self._done: dict[str, str] = {}
        # Organization → what was held when it was passed over.
        self._held: dict[str, set[str]] = {}

    async def run(self) -> None:
        while True:
            with Enduring(log, "retention_failed"):  # what is too old stays for another round
                if await self._trusts_clock():
                    await self.round()
            await self.pause(ROUND_S)

    async def _trusts_clock(self) -> bool:
        now_ms, now_s = self._clock.now_ms(), self._clock.monotonic()
        step_ms = self._steps.step_ms(now_ms, now_s)
        if step_ms is None or abs(step_ms) > STEP_MS:
            self._trusted_at = now_s + TRUST_S
            until_ms = now_ms - TRUST_S * 1000
            last_ms = await self._db.read(events.newest_until, until_ms)
            if last_ms is None or until_ms - last_ms <= OFF_MS:
                self._trusted_at = now_s
        return now_s >= self._trusted_at

    async def round(self) -> None:
        """Remove all that is too old now. What fails for one kind, or one organization, holds up no other."""
        now_ms = self._clock.now_ms()
        kinds: list[tuple[str, Callable[[], Awaitable[int]]]] = [
            *((rows.kind, partial(self._remove, rows, now_ms - self._ages_ms[rows.kind])) for rows in ROWS),
            ("rejected mail", partial(self._delete_rejected, now_ms - held_mail.KEEP_REJECTED_MS)),
            ("raw messages", partial(self._release_all, now_ms)),
            ("audit rows", partial(self._prune_all, now_ms)),
        ]
        removed: dict[str, int] = {}
        for kind, remove in kinds:
            with Enduring(log, "retention_failed", kind=kind):
                removed[kind] = await remove()
        if any(removed.values()):
            log.info("retention", **{kind.replace(" ", "_"): count for kind, count in removed.items()})

    async def _remove(self, rows: Rows, before_ms: int) -> int:
        limit = self._slices.rows if rows.remove_hanging is None else self._slices.events
        removed = 0
        while True:
            began = self._clock.monotonic()
            keys = await self._db.read(_find, rows, before_ms, limit)
            if keys and rows.remove_hanging is not None:
                await self._remove_hanging(rows.remove_hanging, keys)
                began = self._clock.monotonic()
            taken = 0
            if keys:
                taken, some = await self._db.write_apart(self._remove_some, rows, keys, before_ms)
                removed += some
            if taken == len(keys) < limit:
                return removed
            await self._rest(began)

    def _remove_some(
        self, tx: Tx, rows: Rows, keys: list[tuple[Any, ...]], before_ms: int
    ) -> tuple[int, int]:
        """Of the first of these, until the slice is over; how many these are, and how many rows went."""
        taken = removed = 0
        for piece in pieces(len(keys), self._clock.ends_in(SLICE_S)):
            removed += _remove(tx, rows, keys[taken : taken + piece], before_ms)
            taken += piece
        return taken, removed

    async def _remove_hanging(self, statement: str, keys: list[tuple[Any, ...]]) -> None:
        given = {"keys": dump(keys), "limit": self._slices.rows}
        count = self._slices.rows
        while count == self._slices.rows:
            began = self._clock.monotonic()
            count = await self._db.write_apart(lambda tx: tx.run(statement, given))
            await self._rest(began)

    async def _delete_rejected(self, before_ms: int) -> int:
        """Held messages that were rejected before then; how many."""
        removed = 0
        while True:
            began = self._clock.monotonic()
            ids = await self._db.read(held_mail.rejected_before, before_ms, self._slices.messages)
            count = 0
            if ids:
                count, files = await self._db.write_apart(self._delete_some, ids)
                await asyncio.to_thread(self._remove_files, files)
                removed += count
            if count == len(ids) < self._slices.messages:
                return removed
            await self._rest(began)

    def _delete_some(self, tx: Tx, ids: Sequence[str]) -> tuple[int, list[str]]:
        """The first of these, until the slice is over; how many, and the blobs of which files are to be removed."""
        is_over, files = self._clock.ends_in(SLICE_S), list[str]()
        for count, one in enumerate(ids, 1):
            files += held_mail.delete(tx, [one])
            if is_over():
                return count, files
        return len(ids), files

    async def _prune_all(self, now_ms: int) -> int:
        """Whole days of the audit log go together, so that a chain has few seals."""
        before_ms = (now_ms // DAY_MS - self._audit_days) * DAY_MS
        removed = 0
        for organization_id in await self._db.read(trail.prunable, before_ms):
            with Enduring(log, "retention_failed", kind="audit rows", organization_id=organization_id):
                removed += await self._prune(organization_id, before_ms)
        return removed

    async def _prune(self, organization_id: str, before_ms: int) -> int:
        removed, count = 0, self._slices.rows
        while count == self._slices.rows:
            began = self._clock.monotonic()
            count = await self._db.write_apart(
                self._recorder.prune, organization_id, before_ms, self._slices.rows
            )
            removed += count
            await self._rest(began)
        return removed

    async def _release_all(self, now_ms: int) -> int:
        """Of each organization whose plan says so; how many messages lost their bytes."""
        released = 0
        for organization_id, plan in await self._db.read(_plans):
            days = self._raw_days(plan)
            if days is None:
                continue
            until = first_at("msg", now_ms - days * DAY_MS)
            with Enduring(log, "retention_failed", kind="raw messages", organization_id=organization_id):
                released += await self._release(organization_id, until)
        return released

    async def _release(self, organization_id: str, until: str) -> int:
        """The organization's messages before that id lose their bytes; how many did."""
        # What was held when it was passed over, and is not any more, lies behind what is done.
        held = await self._held_before(organization_id, until)
        released = await self._drop(organization_id, sorted(self._held.get(organization_id, set()) - held))
        self._held[organization_id] = held
        done = self._done.get(organization_id, "")
        after, is_waiting = done if done < until else "", False  # behind it: the clock was set back
        while True:
            looked_at = await self._db.read(
                messages.with_bytes, organization_id, after=after, until=until, limit=self._slices.looked_at
            )
            free = [one.id for one in looked_at if one.has_bytes and not one.is_waiting]
            released += await self._drop(organization_id, free)
            for one in looked_at:
                after = one.id
                is_waiting = is_waiting or (one.has_bytes and one.is_waiting)
                if not is_waiting:
                    self._done[organization_id] = one.id
            if len(looked_at) < self._slices.looked_at:
                return released

    async def _held_before(self, organization_id: str, until: str) -> set[str]:
        held: set[str] = set()
        after, is_more = "", True
        while is_more:
            found = await self._db.read(
                held_mail.ids_between, organization_id, after=after, until=until, limit=self._slices.looked_at
            )
            held.update(found)
            is_more = len(found) == self._slices.looked_at
            after = found[-1] if found else after
        return held

    async def _drop(self, organization_id: str, ids: list[str]) -> int:
        released = 0
        for start in range(0, len(ids), self._slices.messages):
            began = self._clock.monotonic()
            batch = ids[start : start + self._slices.messages]
            count, files = await self._db.write_apart(messages.drop_bytes, organization_id, batch)
            released += count
            await asyncio.to_thread(self._remove_files, files)
            await self._rest(began)
        return released

    def _remove_files(self, files: list[str]) -> None:
        for blob_id in files:
            self._blobs.remove(blob_id)

    async def _rest(self, began: float) -> None:
        await asyncio.sleep((self._clock.monotonic() - began) * REST)


def _plans(tx: Tx) -> list[tuple[str, str]]:
    return [(row[0], row[1]) for row in tx.all("SELECT id, plan FROM organizations")]


def _find(tx: Tx, rows: Rows, before_ms: int, limit: int) -> list[tuple[Any, ...]]:
    return tx.all(rows.find, {"before": before_ms, "limit": limit})


def _remove(tx: Tx, rows: Rows, keys: list[tuple[Any, ...]], before_ms: int) -> int:
    given = {"keys": dump(keys), "before": before_ms}
    if rows.note is not None:
        tx.run(rows.note, {"keys": given["keys"]})
    return tx.run(rows.remove, given)
