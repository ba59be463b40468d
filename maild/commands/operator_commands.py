"""Making and changing a store from the command line, also beside a running daemon.

Each command is one transaction on a connection of its own; the daemon sees it with its next statement.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from conf.settings import Settings
from controlplane.domains import checks
from controlplane.mail import attempts
from controlplane.mail.attempts import Attempts
from controlplane.operations.operator_queue import queue_state, shown_recipient
from controlplane.operations.organization import shown_organization
from maild.commands import audit_verifying
from maild.commands.members import MemberCommands
from maild.commands.policies import PolicyCommands
from maild.commands.queue_changes import QueueChanges
from maild.commands.records import CommandRecords
from maild.commands.reviews import ReviewCommands
from maild.commands.rules import RuleCommands
from maild.outbound import dkim
from storage import (
    dkim_keys,
    inboxes,
    keys,
    migrate,
    organizations,
    outbound,
    queue_selection,
    rotation,
    switches,
    usage,
)
from storage.audit_acts import OPERATOR, Act
from storage.audit_chain import chain_key
from storage.clock import Clock, iso_or_none
from storage.data_folder import DataFolder, DataFolderError
from storage.database import Tx
from storage.ids import Ids
from storage.queue_selection import QueueSelection
from storage.records import OrganizationRow
from storage.sealing import Sealer, make_master_key, master_key_file, read_master_key

T = TypeVar("T")

SELECTOR = "s1"


class OperatorCommands:
    """The store, opened for commands."""

    def __init__(self, settings: Settings, clock: Clock | None = None) -> None:
        self._settings = settings
        self._clock = clock or Clock()
        self._ids = Ids(self._clock)
        self._folder = DataFolder(settings.data_path)
        self._audit = CommandRecords(self._folder, self._clock, self._ids)

    def init(self, *, is_recommended: bool = False) -> dict[str, Any]:
        """Make whatever of the store is missing. Keys are in the answer of the first time alone. `is_recommended`: the
        first organization gets the recommended policy, unless it has one."""
        self._folder.make()
        self._folder.check_vacant()
        migrate.prepare(self._folder.database)
        key_file = master_key_file(self._folder.master_key)
        if key_file == self._folder.master_key and not self._write(rotation.is_sealed):
            make_master_key(key_file)
        key = read_master_key(key_file)
        fresh = {name: dkim.generate_key() for name in self._settings.server.shared_domains}
        return self._write(lambda tx: self._init(tx, key, fresh, is_recommended))

    def recommend_policy(self, organization_id: str) -> dict[str, str]:
        """Give the organization the recommended policy, unless it has one."""
        return self._write(lambda tx: self.policies.recommend(tx, organization_id))

    @property
    def members(self) -> MemberCommands:
        """Commands about members, and links that sign them in."""
        return MemberCommands(self._settings, self._clock, self._ids, self._audit, self._write)

    @property
    def policies(self) -> PolicyCommands:
        """Commands about policies."""
        return PolicyCommands(self._clock, self._audit, self._write)

    @property
    def rules(self) -> RuleCommands:
        """Commands about rules."""
        return RuleCommands(self._clock, self._ids, self._audit, self._write)

    def look_at(self, work: Callable[[DataFolder, Clock], T]) -> T:
        """For commands that change nothing."""
        return work(self._folder, self._clock)

    def verify_audit(
        self, key_file: Path | None, organization_id: str | None, head: str | None
    ) -> dict[str, Any]:
        """As audit_verifying.verify."""
        self._folder.check()
        path = key_file or master_key_file(self._folder.master_key)
        return audit_verifying.verify(self._folder, path, organization_id, head)

    def show_chain_key(self, key_file: Path | None, organization_id: str) -> dict[str, str]:
        """What checks (and could forge) the organization's audit log, in hexadecimal digits; KeyError."""
        path = key_file or master_key_file(self._folder.master_key)

        def unit(tx: Tx) -> dict[str, str]:
            if organizations.get(tx, organization_id) is None:
                raise KeyError(f"organization {organization_id}")
            key = chain_key(audit_verifying.audit_key(tx, path), organization_id)
            self._record(tx, organization_id, Act.AUDIT_KEY_SHOWN)
            return {"organizationId": organization_id, "chainKey": key.hex()}

        return self._write(unit)

    def rotate_master_key(self, key_file: Path | None) -> dict[str, Any]:
        """DataFolderError while a daemon runs, which holds the present key."""
        self._folder.check()
        self._folder.check_store()
        self._folder.lock()
        try:
            migrate.prepare(self._folder.database)
            path = key_file or master_key_file(self._folder.master_key)
            count = rotation.rotate(self._folder.database, path, self._record_rotation)
            return {"resealed": count, "keyFile": str(path)}
        finally:
            self._folder.unlock()

    def _init(
        self, tx: Tx, key: bytes, fresh: dict[str, tuple[bytes, str]], is_recommended: bool
    ) -> dict[str, Any]:
        rotation.adopt(tx, key)
        sealer = Sealer(key)
        for domain, (private, public) in fresh.items():
            self._keep_dkim_key(tx, sealer, domain, private, public)
        made: dict[str, Any] = {}
        organization = organizations.first(tx)
        if organization is None:
            made = self._create_organization(tx, "Operator", "selfhost")
            self._create_operator_inbox(tx, made["organizationId"])
        else:
            made["organizationId"] = organization.id
        if is_recommended:
            made.update(self.policies.recommend(tx, made["organizationId"]))
        records = [one for name in self._settings.server.shared_domains for one in self._records(tx, name)]
        return {**made, "records": records}

    def create_organization(self, name: str, plan: str) -> dict[str, str]:
        """Its id, and its first live and test keys; durable when this returns."""
        return self._write(lambda tx: self._create_organization(tx, name, plan))

    def set_sending(self, organization_id: str, status: str, reason: str | None, action: str | None) -> bool:
        """Approve or pause; False when there is no such organization."""
        now_ms = self._clock.now_ms()

        def approve(tx: Tx) -> bool:
            if not organizations.approve(tx, organization_id, now_ms):
                return False
            self._record(tx, organization_id, Act.ORGANIZATION_APPROVED)
            return True

        def pause(tx: Tx) -> bool:
            why, event_id = reason or "manual_review", self._ids.new("evt")
            if not organizations.pause(
                tx, event_id, organization_id, why, action or "contact_operator", now_ms
            ):
                return False
            self._record(tx, organization_id, Act.ORGANIZATION_PAUSED, reason=why)
            return True

        return self._write(approve if status == "approved" else pause)

    def list_organizations(self) -> list[dict[str, Any]]:
        """Each as `show_organization` has it."""
        return self._write(lambda tx: [self._shown(tx, one) for one in organizations.every(tx)])

    def show_organization(self, organization_id: str) -> dict[str, Any]:
        """KeyError names what does not exist."""

        def unit(tx: Tx) -> dict[str, Any]:
            row = organizations.get(tx, organization_id)
            if row is None:
                raise KeyError(f"organization {organization_id}")
            return self._shown(tx, row)

        return self._write(unit)

    def set_plan(self, organization_id: str, plan: str) -> bool:
        """False when there is no such organization."""

        def unit(tx: Tx) -> bool:
            if not organizations.set_plan(tx, organization_id, plan):
                return False
            self._record(tx, organization_id, Act.ORGANIZATION_PLAN_CHANGED, plan=plan)
            return True

        return self._write(unit)

    def set_reviewers(self, organization_id: str, reviewers: str) -> bool:
        """Who decides what is held, 'keys' or 'members'; False when there is no such organization."""

        def unit(tx: Tx) -> bool:
            if not organizations.set_reviewers(tx, organization_id, reviewers):
                return False
            self._record(tx, organization_id, Act.REVIEWERS_CHANGED, reviewers=reviewers)
            return True

        return self._write(unit)

    @property
    def reviews(self) -> ReviewCommands:
        """Commands about held mail."""
        return ReviewCommands(self._settings, self._folder, self._clock, self._ids, self._audit, self._write)

    def reset_tripwire(self, organization_id: str) -> bool:
        """Let it send again; False when there is no such organization."""

        def unit(tx: Tx) -> bool:
            if not organizations.reset_tripwire(tx, organization_id):
                return False
            self._record(tx, organization_id, Act.TRIPWIRE_RESET)
            return True

        return self._write(unit)

    def pause_queue(self) -> dict[str, Any]:
        """Nothing enters or leaves the outbound queue from now on; `show_queue`."""

        def unit(tx: Tx) -> None:
            switches.turn_off(tx, switches.QUEUE, self._clock.now_ms())
            self._record(tx, _own(tx), Act.QUEUE_PAUSED)

        self._write(unit)
        return self.show_queue()

    def resume_queue(self) -> dict[str, Any]:
        """`show_queue`."""

        def unit(tx: Tx) -> None:
            switches.turn_on(tx, switches.QUEUE)
            self._record(tx, _own(tx), Act.QUEUE_RESUMED)

        self._write(unit)
        return self.show_queue()

    def show_queue(self) -> dict[str, Any]:
        """As `GET /v1/operator/queue` has it."""
        return self._write(queue_state)

    def list_queue(self, selection: QueueSelection, limit: int) -> list[dict[str, Any]]:
        """What waits, held ones first, then by the time of the next attempt."""
        found = self._write(lambda tx: queue_selection.listed(tx, selection, limit))
        return [shown_recipient(one) for one in found]

    def list_attempts(self, message_id: str) -> list[dict[str, Any]]:
        """Every attempt to deliver a message, oldest first, as the API shows them; KeyError."""

        def unit(tx: Tx) -> list[dict[str, Any]]:
            message = outbound.envelope(tx, message_id)
            if message is None:
                raise KeyError(f"message {message_id}")
            found = Attempts.of(tx, message.organization_id, message_id, message.mode == "live")
            return attempts.shown(tx, found, found.rows)

        return self._write(unit)

    def change_queue(self, verb: str, selection: QueueSelection) -> int:
        """retry, hold, release or drop; how many recipients. The daemon goes on beside it, a thousand at a time."""

        def unit(tx: Tx) -> int:
            changes = QueueChanges(self._clock, self._ids.new, self._audit)
            return changes.change(tx, verb, selection, OPERATOR, _own(tx))

        total = 0
        while True:
            changed = self._write(unit)
            total += changed
            if changed < queue_selection.ROWS_AT_ONCE:
                return total

    def count_leased(self, selection: QueueSelection) -> int:
        """How many recipients are being delivered at the moment."""
        return self._write(lambda tx: queue_selection.leased(tx, selection))

    def create_key(
        self, organization_id: str, name: str, scopes: Sequence[str], inbox_id: str | None, mode: str
    ) -> dict[str, str]:
        """KeyError names what does not exist."""

        def unit(tx: Tx) -> dict[str, str]:
            if organizations.get(tx, organization_id) is None:
                raise KeyError(f"organization {organization_id}")
            if inbox_id is not None and inboxes.get_active(tx, organization_id, inbox_id) is None:
                raise KeyError(f"inbox {inbox_id}")
            return self._create_key(tx, organization_id, name, scopes, inbox_id, mode)

        return self._write(unit)

    def revoke_key(self, key_id: str) -> bool:
        """False when there is no such key."""

        def unit(tx: Tx) -> bool:
            organization_id = keys.organization_of(tx, key_id)
            if organization_id is None:
                return False
            if not keys.revoke(tx, organization_id, key_id, self._clock.now_ms()):
                return False
            self._record(tx, organization_id, Act.KEY_REVOKED, key_id)
            return True

        return self._write(unit)

    # Inside one transaction --------------------------------------------------------------------

    def _record(
        self, tx: Tx, organization_id: str | None, act: Act, subject: str | None = None, **details: Any
    ) -> None:
        """Write into the organization's audit log that the operator did it; there may be no organization yet."""
        if organization_id is not None:
            self._audit.record(tx, organization_id, act, OPERATOR, subject, details)

    def _record_rotation(self, tx: Tx, sealer: Sealer) -> None:
        own = _own(tx)
        if own is not None:
            self._audit.under(tx, sealer).record(tx, own, Act.MASTER_KEY_ROTATED, OPERATOR)

    def _create_organization(self, tx: Tx, name: str, plan: str) -> dict[str, str]:
        organization_id = self._ids.new("org")
        organizations.create(tx, organization_id, name, plan, self._clock.now_ms())
        self._record(tx, organization_id, Act.ORGANIZATION_CREATED, organization_id, plan=plan)
        live = self._create_key(tx, organization_id, "first key", ["*"], None, "live")
        test = self._create_key(tx, organization_id, "first test key", ["*"], None, "test")
        return {"organizationId": organization_id, "apiKey": live["apiKey"], "testKey": test["apiKey"]}

    def _shown(self, tx: Tx, row: OrganizationRow) -> dict[str, Any]:
        """As the API shows it to itself, and what only the operator sees."""
        now_ms = self._clock.now_ms()
        limits = asdict(self._settings.plan(row.plan))
        used = organizations.used(tx, row.id, now_ms, sees_held=True)
        shown = shown_organization(row, limits, used, usage.reputation(tx, row.id, now_ms), now_ms)
        standing = organizations.standing(tx, row.id, now_ms)
        tripwire = organizations.tripwire(tx, row.id)
        tripped_at = tripwire.tripped_at
        return {
            **shown,
            "sinceApproval": {
                "sent": standing.sent,
                "hardBounceRate": standing.hard_bounce_rate,
                "complaintRate": standing.complaint_rate,
            },
            "tripwire": {
                "trippedAt": iso_or_none(tripped_at),
                "recentRecipients": tripwire.recipients,
            },
        }

    def _create_key(
        self, tx: Tx, organization_id: str, name: str, scopes: Sequence[str], inbox_id: str | None, mode: str
    ) -> dict[str, str]:
        key_id, raw_key = self._ids.new("key"), keys.make(mode, os.urandom)
        keys.create(
            tx,
            key_id,
            raw_key,
            self._clock.now_ms(),
            organization_id=organization_id,
            name=name,
            scopes=scopes,
            mode=mode,
            inbox_id=inbox_id,
        )
        self._record(
            tx, organization_id, Act.KEY_MINTED, key_id, scopes=list(scopes), mode=mode, inboxId=inbox_id
        )
        return {"id": key_id, "apiKey": raw_key}

    def _create_operator_inbox(self, tx: Tx, organization_id: str) -> None:
        """Where postmaster@ and abuse@ of every domain that we serve arrive (RFC 5321 §4.5.1)."""
        row = inboxes.create(
            tx,
            self._ids.new("inb"),
            self._clock.now_ms(),
            organization_id=organization_id,
            username="postmaster",
            domain=self._settings.server.shared_domains[0],
            name="Postmaster",
            agent_id=None,
            metadata="{}",
            is_operator=True,
        )
        self._record(tx, organization_id, Act.INBOX_CREATED, row.id, domain=row.domain, agentId=None)

    def _keep_dkim_key(self, tx: Tx, sealer: Sealer, domain: str, private: bytes, public: str) -> None:
        if dkim_keys.active(tx, domain) is not None:
            return
        sealed = sealer.seal(private, dkim_keys.context(domain, SELECTOR))
        dkim_keys.insert(
            tx, dkim_keys.DkimKey(domain, SELECTOR, "active", sealed, public, self._clock.now_ms())
        )

    def _records(self, tx: Tx, domain: str) -> list[dict[str, Any]]:
        key = dkim_keys.active(tx, domain)
        assert key is not None
        wanted = checks.records(
            domain,
            self._settings.server.hostname,
            [checks.PublishedKey(key.selector, key.public_key, True)],
            reports_to=f"postmaster@{domain}",
        )
        return [{"domainName": domain, **record.shown()} for record in wanted]

    def _write(self, unit: Callable[[Tx], T]) -> T:
        if not self._folder.database.exists():
            raise DataFolderError(
                f"data_dir: there is no store in {self._folder.path}; run 'maild init' first"
            )
        with migrate.transaction(self._folder.database) as tx:
            return unit(tx)


def _own(tx: Tx) -> str | None:
    """The operator's own organization, in whose log stands what was done to the whole host; None before `init`."""
    row = organizations.first(tx)
    return None if row is None else row.id


def write_configuration(path: Path, domain: str, template: str) -> None:
    """The documented configuration with the names of one domain filled in."""
    text = template.replace('hostname = "localhost"', f'hostname = "{domain}"', 1)
    text = text.replace('shared_domains = ["agents.test"]', f'shared_domains = ["{domain}"]', 1)
    text = text.replace('public_url = "http://127.0.0.1:8025"', f'public_url = "https://{domain}"', 1)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
