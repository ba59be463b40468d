"""An organization's domains: registering, verifying, rotating the DKIM key, deleting.

- A DKIM key belongs to the name on this host, not to a registration: its private half never leaves us, so
  a name that was registered before keeps the key that DNS may show already. What tells two organizations
  apart is the challenge, one for each registration.
- Look-ups happen before the transaction that records them. It reads the row again, so a domain that was
  deleted or won by another organization meanwhile stays so; of two that verify at once, the second finds the
  first's row (and the unique index would stop it).
- What a key asks for is done in its `store`, which refuses once the key is revoked (storage.engine.database, `asking`).
- An organization that verifies a name has it alone: inboxes that another organization still has on it are deactivated.
  They receive and send nothing then anyhow, for a name that is to be verified is verified by nobody. Where they are
  many they go before the commit that verifies it, some at a time with a rest after each as long as it took.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from conf.settings import Server
from controlplane.access.plan_limits import refusing_what_exceeds
from controlplane.contract.refusals import Refusal
from controlplane.domains import checks, lifecycle
from controlplane.domains.checks import Finding, Ours, PublishedKey, Record
from controlplane.domains.doh import Panel, Question
from controlplane.domains.fresh_keys import DkimKeyMaker
from storage import usage
from storage.audit.acts import Act, Actor, system
from storage.audit.trail import Records
from storage.clock import Clock, day_of, iso_or_none
from storage.domains import dkim_keys, domains
from storage.domains.dkim_keys import DkimKey
from storage.domains.domains import DomainRow
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import inboxes
from storage.publishing import events
from storage.records import dump, load
from storage.sending import outbound
from storage.tenants import allowances

RECHECKS = system("domain_checks")
CHALLENGE_BYTES = 20
EVICTED_AT_ONCE = 200  # inboxes: some 5 ms
SHOWN_AT_ONCE = 50  # domains, of which a read puts the records together: some 5 ms


class ShownDomain(NamedTuple):
    """A domain with all that its JSON needs."""

    row: DomainRow
    records: Sequence[Mapping[str, Any]]
    today_used: int


class Registry:
    """The domains of organizations, with their records and DKIM keys. Refusal `domain_not_found` for any other id."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        ids: Ids,
        audit: Records,
        server: Server,
        panel: Panel,
        key_maker: DkimKeyMaker,
        wake_queue: Callable[[], None],
        domains_max: int,
    ) -> None:
        """`domains_max`: that one organization may have."""
        self._db = db
        self._clock = clock
        self._ids = ids
        self._audit = audit
        self._server = server
        self._panel = panel
        self._key_maker = key_maker
        self._wake_queue = wake_queue
        self._domains_max = domains_max
        self._ours = Ours(server.hostname, frozenset({server.hostname, *server.shared_domains}))

    # Reading -----------------------------------------------------------------------------------

    async def show(self, organization_id: str, domain_id: str) -> ShownDomain:
        """The domain, with what the last check found."""
        return await self._db.read_for(organization_id, self._shown, organization_id, domain_id)

    async def list_domains(self, organization_id: str) -> list[ShownDomain]:
        """All domains of the organization, newest first."""
        rows = await self._db.read_for(organization_id, domains.of_organization, organization_id)
        shown: list[ShownDomain] = []
        for start in range(0, len(rows), SHOWN_AT_ONCE):
            some = rows[start : start + SHOWN_AT_ONCE]
            shown += await self._db.read_for(organization_id, self._complete_all, some)
        return shown

    def _complete_all(self, tx: Tx, rows: Sequence[DomainRow]) -> list[ShownDomain]:
        return [self._complete(tx, row) for row in rows]

    def _shown(self, tx: Tx, organization_id: str, domain_id: str) -> ShownDomain:
        return self._complete(tx, _found(domains.get(tx, organization_id, domain_id)))

    def _complete(self, tx: Tx, row: DomainRow) -> ShownDomain:
        seen = load(row.observed)
        shown = []
        for record in self._records(tx, row):
            status, observed = seen.get(record.key, (checks.UNCHECKED, ()))
            shown.append(record.shown(status, observed))
        today = day_of(self._clock.now_ms())
        used = usage.get(tx, row.organization_id, today, "messages", scope=row.domain_name)
        return ShownDomain(row, shown, used)

    def _records(self, tx: Tx, row: DomainRow) -> list[Record]:
        keys = [
            PublishedKey(key.selector, key.public_key, key.status == "active", key.algorithm)
            for key in dkim_keys.of_domain(tx, row.domain_name)
            if key.status != "retired" and key.algorithm in self._key_maker.algorithms
        ]
        return checks.records(row.domain_name, self._server.hostname, keys, challenge=row.challenge)

    # Registering, changing ---------------------------------------------------------------------

    async def register(
        self, store: Database, actor: Actor, organization_id: str, name: str, daily_cap: int | None
    ) -> ShownDomain:
        """`name`: a lower-case A-label. apex_domain_reserved, domain_already_registered."""
        self._refuse_reserved(name)
        try:
            await store.read_for(organization_id, domains.refuse_taken, organization_id, name)
            made = await self._key_maker.keys_for(
                name, await store.read_for(organization_id, dkim_keys.of_domain, name)
            )
            with refusing_what_exceeds():
                return await store.write(self._register, actor, organization_id, name, daily_cap, made)
        except domains.DomainTaken as error:
            raise _taken(name) from error

    def _refuse_reserved(self, name: str) -> None:
        apex = self._server.apex_domain
        is_apex = bool(apex) and (name == apex or name.endswith("." + apex))
        if is_apex or name in self._server.shared_domains:
            raise Refusal("apex_domain_reserved", details={"domainName": name})

    def _register(
        self,
        tx: Tx,
        actor: Actor,
        organization_id: str,
        name: str,
        daily_cap: int | None,
        made: Sequence[DkimKey],
    ) -> ShownDomain:
        allowances.domain(tx, organization_id, self._domains_max)
        self._keep_keys(tx, name, made)
        row = domains.register(
            tx,
            self._ids.new("dom"),
            self._clock.now_ms(),
            organization_id=organization_id,
            domain_name=name,
            challenge=self._ids.token(CHALLENGE_BYTES),
            daily_cap=daily_cap,
        )
        told = {"domainName": name, "dailyCap": daily_cap}
        self._audit.record(tx, organization_id, Act.DOMAIN_REGISTERED, actor, row.id, told)
        return self._complete(tx, row)

    def _keep_keys(self, tx: Tx, name: str, made: Sequence[DkimKey]) -> None:
        """Those of algorithms that the name has none of: another registration may have brought some meanwhile."""
        there = {key.algorithm for key in dkim_keys.of_domain(tx, name)}
        for key in made:
            if key.algorithm not in there:
                dkim_keys.insert(tx, key)

    async def set_daily_cap(
        self, store: Database, actor: Actor, organization_id: str, domain_id: str, daily_cap: int | None
    ) -> ShownDomain:
        """The domain with its new cap (messages a UTC day; None: no cap)."""
        return await store.write(self._set_daily_cap, actor, organization_id, domain_id, daily_cap)

    def _set_daily_cap(
        self, tx: Tx, actor: Actor, organization_id: str, domain_id: str, daily_cap: int | None
    ) -> ShownDomain:
        row = _found(domains.set_daily_cap(tx, organization_id, domain_id, daily_cap))
        self._audit.record(tx, organization_id, Act.DOMAIN_UPDATED, actor, domain_id, {"dailyCap": daily_cap})
        return self._complete(tx, row)

    async def rotate_dkim(
        self, store: Database, actor: Actor, organization_id: str, domain_id: str
    ) -> ShownDomain:
        """Publish a second key, of each algorithm; it signs once a check has found it in DNS. domain_not_verified."""
        row, keys = await store.read_for(organization_id, self._rotating, organization_id, domain_id)
        made = await self._key_maker.keys_for(row.domain_name, keys, rotate=True)
        return await store.write(self._rotate, actor, organization_id, domain_id, made)

    def _rotating(self, tx: Tx, organization_id: str, domain_id: str) -> tuple[DomainRow, list[DkimKey]]:
        row = _found(domains.get(tx, organization_id, domain_id))
        if row.status != "verified":  # the key may be in use by the organization that verified the name
            raise Refusal("domain_not_verified", details={"domainName": row.domain_name})
        return row, dkim_keys.of_domain(tx, row.domain_name)

    def _rotate(
        self, tx: Tx, actor: Actor, organization_id: str, domain_id: str, made: Sequence[DkimKey]
    ) -> ShownDomain:
        row, _ = self._rotating(tx, organization_id, domain_id)
        told = {"selectors": [key.selector for key in made if dkim_keys.publish(tx, key) is key]}
        self._audit.record(tx, organization_id, Act.DOMAIN_KEY_ROTATED, actor, domain_id, told)
        return self._complete(tx, row)

    async def delete(self, store: Database, actor: Actor, organization_id: str, domain_id: str) -> None:
        """Delete the domain, and have the queue refuse at once what waits to be sent from it."""
        await self._hasten(await store.write(self._delete, actor, organization_id, domain_id))

    async def _hasten(self, row: DomainRow) -> None:
        """What waits is refused by the queue when its turn comes: let that be now. It is looked for beside the writer,
        in a queue that may be long."""
        now_ms = self._clock.now_ms()
        waiting = await self._db.read(outbound.of_domain, row.organization_id, row.domain_name, now_ms)
        await self._db.write_apart(outbound.hasten, waiting, now_ms)
        self._wake_queue()

    def _delete(self, tx: Tx, actor: Actor, organization_id: str, domain_id: str) -> DomainRow:
        row = _found(domains.delete(tx, organization_id, domain_id, self._clock.now_ms()))
        told = {"domainName": row.domain_name}
        self._audit.record(tx, organization_id, Act.DOMAIN_DELETED, actor, domain_id, told)
        return row

    # Checking ----------------------------------------------------------------------------------

    async def verify(self, store: Database, actor: Actor, organization_id: str, domain_id: str) -> DomainRow:
        """Check now, because the owner asks. domain_not_found, domain_already_registered."""
        row = await store.read_for(organization_id, domains.get, organization_id, domain_id)
        return await self._check(store, actor, _found(row), on_request=True)

    async def recheck(self, row: DomainRow) -> None:
        """The hourly check of a verified domain."""
        try:
            await self._check(self._db, RECHECKS, row, on_request=False)
        except Refusal:
            return  # it was deleted meanwhile

    async def expire(self, row: DomainRow) -> None:
        """pending → failed, when its time is over."""
        await self._db.write(self._expire, row.organization_id, row.id)

    def _expire(self, tx: Tx, organization_id: str, domain_id: str) -> None:
        row = domains.get(tx, organization_id, domain_id)
        if row is not None and lifecycle.is_overdue(row, self._clock.now_ms()):
            self._move(tx, RECHECKS, row, row._replace(status="failed"))

    async def _check(self, store: Database, actor: Actor, row: DomainRow, *, on_request: bool) -> DomainRow:
        wanted, keys = await store.read_for(row.organization_id, self._wanted, row)
        made = await self._key_maker.keys_for(row.domain_name, keys)
        questions = list(dict.fromkeys(Question(record.name, record.type) for record in wanted))
        answers = await self._panel.hear(questions)
        findings = {
            record.key: checks.judge(
                record, answers[Question(record.name, record.type)], self._panel.quorum, self._ours
            )
            for record in wanted
        }
        passed, now_ms = checks.results(wanted, findings), self._clock.now_ms()
        is_won = lifecycle.after_check(row, passed, now_ms, on_request=on_request).status == "verified"
        if is_won and row.status != "verified":
            await self._evict_many(store, row)
        try:
            after = await store.write(self._record, actor, row, wanted, findings, on_request, made)
        except domains.DomainTaken as error:
            raise _taken(row.domain_name) from error
        if after.status == "failed":
            await self._hasten(after)
        return after

    def _wanted(self, tx: Tx, row: DomainRow) -> tuple[list[Record], list[DkimKey]]:
        self._refuse_won(tx, row)
        return self._records(tx, row), dkim_keys.of_domain(tx, row.domain_name)

    def _refuse_won(self, tx: Tx, row: DomainRow) -> None:
        """domain_already_registered where another organization has verified the name, domain_not_found where it was
        deleted."""
        _found(domains.get(tx, row.organization_id, row.id))
        if domains.verified_by(tx, row.domain_name) not in (None, row.organization_id):
            raise _taken(row.domain_name)

    async def _evict_many(self, store: Database, row: DomainRow) -> None:
        """Of the inboxes that others have on the name no more are left than the commit that verifies it may take."""
        asked = (row.domain_name, row.organization_id, EVICTED_AT_ONCE + 1)
        while (
            len(found := await store.read_for(row.organization_id, inboxes.of_others, *asked))
            > EVICTED_AT_ONCE
        ):
            began = self._clock.monotonic()
            await store.write_apart(self._evict, row, found[:EVICTED_AT_ONCE])
            await asyncio.sleep(self._clock.monotonic() - began)

    def _evict(self, tx: Tx, row: DomainRow, inbox_ids: Sequence[str]) -> None:
        self._refuse_won(tx, row)
        for owner, inbox_id in inboxes.evict(tx, inbox_ids, self._clock.now_ms()):
            told = {"domain": row.domain_name}
            self._audit.record(tx, owner, Act.INBOX_DEACTIVATED, RECHECKS, inbox_id, told)

    def _record(
        self,
        tx: Tx,
        actor: Actor,
        checked: DomainRow,
        wanted: Sequence[Record],
        findings: Mapping[str, Finding],
        on_request: bool,
        made: Sequence[DkimKey],
    ) -> DomainRow:
        """The row as it is now. `made`: keys of algorithms that are new since it was registered."""
        self._keep_keys(tx, checked.domain_name, made)
        before = _found(domains.get(tx, checked.organization_id, checked.id))
        after = lifecycle.after_check(
            before, checks.results(wanted, findings), self._clock.now_ms(), on_request=on_request
        )
        after = after._replace(observed=dump({key: list(finding) for key, finding in findings.items()}))
        if after.status == "verified":
            self._promote_key(tx, wanted, findings)
        self._move(tx, actor, before, after)
        return after

    def _promote_key(self, tx: Tx, wanted: Sequence[Record], findings: Mapping[str, Finding]) -> None:
        for record in wanted:
            if record.purpose == "dkim" and not record.required and findings[record.key].passes:
                selector, _, domain = record.name.partition("._domainkey.")
                dkim_keys.promote(tx, domain, selector)

    def _move(self, tx: Tx, actor: Actor, before: DomainRow, after: DomainRow) -> None:
        """Write the row and what follows from its new status: others lose their inboxes on a name by it."""
        domains.update(tx, before, after)
        if after.status in (before.status, "pending"):
            return
        now_ms = self._clock.now_ms()
        act = Act.DOMAIN_VERIFIED if after.status == "verified" else Act.DOMAIN_FAILED
        told = {"domainName": after.domain_name}
        self._audit.record(tx, after.organization_id, act, actor, after.id, told)
        if after.status == "verified":
            asked = (after.domain_name, after.organization_id, EVICTED_AT_ONCE)
            while inbox_ids := inboxes.of_others(tx, *asked):
                self._evict(tx, after, inbox_ids)
        events.publish(
            tx,
            self._ids.new("evt"),
            now_ms,
            organization_id=after.organization_id,
            type=f"domain.{after.status}",
            data={
                "domainId": after.id,
                "domainName": after.domain_name,
                "status": after.status,
                "checks": checks_of(after),
                "verifiedAt": iso_or_none(after.verified_at),
            },
        )


def checks_of(row: DomainRow) -> dict[str, bool]:
    """Required record (`ownership`, `mx`, `spf`, `dkim`) → did it pass when it was last checked?"""
    return {name: bool(getattr(row, f"{name}_status")) for name in checks.REQUIRED}


def _found(row: DomainRow | None) -> DomainRow:
    if row is None:
        raise Refusal("domain_not_found")
    return row


def _taken(name: str) -> Refusal:
    return Refusal("domain_already_registered", details={"domainName": name})
