"""Organizations in the operator's hands, also beside a running daemon: may they send, on which plan, who decides."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from controlplane.operations.accounts.organization import shown_organization
from maild.commands.keys import KeyCommands
from maild.commands.store_commands import CommandGround, StoreCommands
from storage import usage
from storage.audit.acts import OPERATOR, Act
from storage.clock import iso_or_none
from storage.engine.tx import Tx
from storage.mail import tripwire
from storage.records import OrganizationRow
from storage.tenants import organizations

FORGOTTEN_AT_ONCE = 5000  # addresses of the tripwire


class OrganizationCommands(StoreCommands):
    """What changes an organization answers whether it was otherwise before. KeyError names what does not exist."""

    def __init__(self, ground: CommandGround, keys: KeyCommands) -> None:
        super().__init__(ground)
        self._keys = keys

    def create(self, name: str, plan: str) -> dict[str, str]:
        """Its id, and its first live and test keys; durable when this returns."""
        return self._run(lambda tx: self.found(tx, name, plan))

    def found(self, tx: Tx, name: str, plan: str) -> dict[str, str]:
        """As `create`, in a transaction of the caller."""
        organization_id = self._ids.new("org")
        organizations.create(tx, organization_id, name, plan, self._clock.now_ms())
        self._audit.record(
            tx, organization_id, Act.ORGANIZATION_CREATED, OPERATOR, organization_id, {"plan": plan}
        )
        live = self._keys.mint(tx, organization_id, "first key", ["*"], None, "live")
        test = self._keys.mint(tx, organization_id, "first test key", ["*"], None, "test")
        return {"organizationId": organization_id, "apiKey": live["apiKey"], "testKey": test["apiKey"]}

    def list(self) -> list[dict[str, Any]]:
        """Each as `show` has it."""
        return self._look(lambda tx: [self._shown(tx, one) for one in organizations.every(tx)])

    def show(self, organization_id: str) -> dict[str, Any]:
        """As the API shows it to itself, and what only the operator sees."""

        def unit(tx: Tx) -> dict[str, Any]:
            row = organizations.get(tx, organization_id)
            if row is None:
                raise KeyError(f"organization {organization_id}")
            return self._shown(tx, row)

        return self._look(unit)

    def approve(self, organization_id: str) -> bool:
        """Let it send; the circuit breaker counts anew."""
        now_ms = self._clock.now_ms()
        return self._change(
            organization_id,
            lambda tx: organizations.approve(tx, organization_id, now_ms),
            Act.ORGANIZATION_APPROVED,
        )

    def pause(self, organization_id: str, reason: str) -> bool:
        """Keep it from sending."""
        event_id, now_ms = self._ids.new("evt"), self._clock.now_ms()
        return self._change(
            organization_id,
            lambda tx: organizations.pause(tx, event_id, organization_id, reason, "contact_operator", now_ms),
            Act.ORGANIZATION_PAUSED,
            reason=reason,
        )

    def set_plan(self, organization_id: str, plan: str) -> bool:
        """Put it on another plan of the configuration."""
        return self._change(
            organization_id,
            lambda tx: organizations.set_plan(tx, organization_id, plan),
            Act.ORGANIZATION_PLAN_CHANGED,
            plan=plan,
        )

    def set_reviewers(self, organization_id: str, reviewers: str) -> bool:
        """Who decides what is held: 'keys' or 'members'."""
        return self._change(
            organization_id,
            lambda tx: organizations.set_reviewers(tx, organization_id, reviewers),
            Act.REVIEWERS_CHANGED,
            reviewers=reviewers,
        )

    def reset_tripwire(self, organization_id: str) -> bool:
        """Let it send again that wrote to too many at once."""
        # They may be a hundred thousand, and the daemon does not write meanwhile.
        forgotten = FORGOTTEN_AT_ONCE
        while forgotten == FORGOTTEN_AT_ONCE:
            began = self._clock.monotonic()
            forgotten = self._run(lambda tx: tripwire.forget(tx, organization_id, FORGOTTEN_AT_ONCE))
            self._rest_since(began)
        return self._change(
            organization_id, lambda tx: organizations.reset_tripwire(tx, organization_id), Act.TRIPWIRE_RESET
        )

    def _change(self, organization_id: str, change: Callable[[Tx], bool], act: Act, **details: Any) -> bool:
        def unit(tx: Tx) -> bool:
            before = organizations.get(tx, organization_id)
            if not change(tx):
                raise KeyError(f"organization {organization_id}")
            self._audit.record(tx, organization_id, act, OPERATOR, None, details)
            return _compared(before) != _compared(organizations.get(tx, organization_id))

        return self._run(unit)

    def _shown(self, tx: Tx, row: OrganizationRow) -> dict[str, Any]:
        """As the API shows it to itself, and what only the operator sees."""
        now_ms = self._clock.now_ms()
        limits = asdict(self._settings.plan(row.plan))
        used = organizations.used(tx, row.id, now_ms, sees_held=True)
        shown = shown_organization(row, limits, used, usage.reputation(tx, row.id, now_ms), now_ms)
        standing = organizations.standing(tx, row.id, now_ms)
        tripwire = organizations.tripwire(tx, row.id)
        return {
            **shown,
            "deletedAt": iso_or_none(row.deleted_at),
            "sinceApproval": {
                "sent": standing.sent,
                "hardBounceRate": standing.hard_bounce_rate,
                "complaintRate": standing.complaint_rate,
            },
            "tripwire": {
                "trippedAt": iso_or_none(tripwire.tripped_at),
                "recentRecipients": tripwire.recipients,
            },
        }


def _compared(row: OrganizationRow | None) -> OrganizationRow | None:
    """Without the moment of the pause, which each notes anew."""
    return row and row._replace(sending_tripped_at=None)
