"""The MTA-STS policies of destinations (RFC 8461): found, fetched, kept.

- A domain without a policy costs a look-up of its TXT record, which the resolver's cache answers as a rule.
- A policy holds until its max_age is over, whatever becomes of its record and its host: a fetch that fails changes
  nothing (§5.1). It is stored, and outlives a restart.
- Who needs a policy that is not there yet, or has another id now, waits for its fetch; one that is only old is fetched
  anew beside, and without mail by `sts_refresh.py`. A domain is asked once at a time, and once in FETCH_AGAIN_S.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, Protocol, cast

import structlog

from conf.log_events import LogEvent, clean
from conf.strangers import StrangerLog
from maild.outbound.tls.sts_policy import BadPolicy, Mode, StsPolicy, read_id, read_policy
from maild.resolver import DnsError, DnsNotAsked, Resolver
from storage.clock import Clock, is_recent
from storage.engine.database import Database
from storage.sending import sts_policies
from storage.sending.sts_policies import StsPolicyRow

FETCH_AGAIN_S = 300  # RFC 8461 §3.3
REFRESH_S = 86_400  # §10.2: well before it ends, so that who can hinder one fetch has to hinder many
KNOWN_MAX = 5000
FETCHES_MAX = 100  # at one time; another waits, no longer than a fetch may take
FETCH_WAIT_S = 30.0

log = structlog.get_logger("maild.outbound")


class PolicyFile(Protocol):
    """`body`: None where there is none; then `reason` says why. `is_unproven`: no certificate for its host's name was
    shown."""

    @property
    def body(self) -> bytes | None: ...
    @property
    def reason(self) -> str: ...
    @property
    def is_unproven(self) -> bool: ...


# RFC 8460 §4.3.2.2
StsFault = Literal["sts-policy-fetch-error", "sts-policy-invalid", "sts-webpki-invalid"]

# Given a domain; it answers, whatever the policy's host does.
FetchPolicy = Callable[[str], Awaitable[PolicyFile]]


@dataclass(slots=True)
class _Known:
    """What is known of a domain; `row`: the policy as it is stored, which may have expired. `fault`: why the last fetch
    brought none."""

    row: StsPolicyRow | None
    policy: StsPolicy | None
    fetch_again: float = 0.0
    fetching: asyncio.Task[None] | None = None
    fault: StsFault | None = None


class StsPolicies:
    """`fetch`: the way to the policies' hosts."""

    def __init__(
        self, fetch: FetchPolicy, resolver: Resolver, db: Database, clock: Clock, strangers: StrangerLog
    ) -> None:
        self._fetch = fetch
        self._resolver = resolver
        self._db = db
        self._clock = clock
        self._strangers = strangers
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._fetches: set[asyncio.Task[None]] = set()
        self._turns = asyncio.Semaphore(FETCHES_MAX)

    async def of(self, domain: str) -> StsPolicy | None:
        """The policy that holds for the domain (an A-label); None where none does."""
        known = self._known.get(domain)
        if known is None:
            known = await self._load(domain)
        else:
            self._known.move_to_end(domain)
        offered = await self._offered_id(domain)
        if offered is None:
            known.fault = None
        row = self._row_in_force(known)
        if row is None and offered is None:
            return None
        if row is None or (offered is not None and offered != row.policy_id):
            await self._fetched(domain, known, offered or "")
        elif self.is_old(row):
            self._begin(domain, known, row.policy_id)
        return known.policy if self._row_in_force(known) is not None else None

    async def refresh(self, domain: str) -> None:
        """Fetch the domain's policy anew, if its record is still there."""
        known = self._known.get(domain) or await self._load(domain)
        offered = await self._offered_id(domain)
        if offered is not None:
            await self._fetched(domain, known, offered)

    def at_hand(self, domain: str) -> tuple[StsPolicy | None, StsFault | None]:
        """What `of` found last: the policy, or why there is none though the domain tells of one."""
        known = self._known.get(domain)
        if known is None:
            return None, None
        policy = known.policy if self._row_in_force(known) is not None else None
        return policy, known.fault if policy is None else None

    async def close(self) -> None:
        """Give up the fetches. Idempotent."""
        for task in self._fetches:
            task.cancel()
        if self._fetches:
            await asyncio.wait(self._fetches)

    async def _load(self, domain: str) -> _Known:
        row = await self._db.lookup(sts_policies.find, domain)
        known = self._known.setdefault(domain, _Known(row, _policy_of(row) if row else None))
        while len(self._known) > KNOWN_MAX:
            self._known.popitem(last=False)
        return known

    async def _offered_id(self, domain: str) -> str | None:
        try:
            return read_id(await self._resolver.txt(f"_mta-sts.{domain}"))
        except DnsNotAsked:
            raise
        except DnsError:
            return None

    def _row_in_force(self, known: _Known) -> StsPolicyRow | None:
        row = known.row
        return row if row is not None and row.expires_at > self._clock.now_ms() else None

    def is_old(self, row: StsPolicyRow) -> bool:
        """Is it time to fetch the policy anew?"""
        age_ms = min(row.max_age_s * 500, REFRESH_S * 1000)
        return not is_recent(row.fetched_at, self._clock.now_ms(), age_ms)

    async def _fetched(self, domain: str, known: _Known, policy_id: str) -> None:
        task = self._begin(domain, known, policy_id)
        if task is not None:
            await asyncio.wait([task])  # who is cancelled here does not take it from the others

    def _begin(self, domain: str, known: _Known, policy_id: str) -> asyncio.Task[None] | None:
        """The fetch that is under way, or a new one; None where it is too early for one."""
        if known.fetching is None and self._clock.monotonic() >= known.fetch_again:
            known.fetch_again = self._clock.monotonic() + FETCH_AGAIN_S
            known.fetching = task = asyncio.create_task(self._renew(domain, known, policy_id))
            self._fetches.add(task)
            task.add_done_callback(self._fetches.discard)
        return known.fetching

    async def _renew(self, domain: str, known: _Known, policy_id: str) -> None:
        try:
            async with asyncio.timeout(FETCH_WAIT_S), self._turns:
                file = await self._fetch(domain)
            if file.body is None:
                known.fault = "sts-webpki-invalid" if file.is_unproven else "sts-policy-fetch-error"
                self._note(domain, file.reason)
                return
            policy = read_policy(file.body)
            row = _row(domain, policy_id, policy, self._clock.now_ms())
            known.row, known.policy, known.fault = row, policy, None
            await self._db.write(sts_policies.keep, row)
        except TimeoutError:
            known.fault = "sts-policy-fetch-error"
            self._note(domain, "no answer in time")
        except BadPolicy as error:
            known.fault = "sts-policy-invalid"
            self._note(domain, f"the file is no policy: {error}")
        except Exception:  # a store that refuses: the policy holds, until a restart at least
            log.exception("sts_policy_not_kept", domain=domain)
        finally:
            known.fetching = None

    def _note(self, domain: str, reason: str) -> None:
        self._strangers.note(
            LogEvent.STS_POLICY_NOT_FETCHED, whose=domain, domain=domain, reason=clean(reason)
        )


def _policy_of(row: StsPolicyRow) -> StsPolicy:
    return StsPolicy(cast(Mode, row.mode), tuple(row.mx.split()), row.max_age_s)


def _row(domain: str, policy_id: str, policy: StsPolicy, now_ms: int) -> StsPolicyRow:
    until = now_ms + policy.max_age_s * 1000
    return StsPolicyRow(domain, policy_id, policy.mode, " ".join(policy.mx), policy.max_age_s, now_ms, until)
