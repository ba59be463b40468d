"""Making and changing a store from the command line, also beside a running daemon.

Each command is one transaction on a connection of its own; the daemon sees it with its next statement.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from conf.settings import Settings
from controlplane.domains import checks
from controlplane.domains.fresh_keys import sealed_behind
from maild.commands import audit_verifying
from maild.commands.audit_log import AuditCommands
from maild.commands.doctor.examination import examine
from maild.commands.doctor.outside_view import seen_from_outside
from maild.commands.doctor.patient import Patient, QueueMoves
from maild.commands.domain_reports import ReportCommands
from maild.commands.keys import KeyCommands
from maild.commands.lost_key import LostKey
from maild.commands.members import MemberCommands
from maild.commands.org_deletion import OrganizationDeletion
from maild.commands.organizations import OrganizationCommands
from maild.commands.outbound_queue import QueueCommands
from maild.commands.policies import PolicyCommands
from maild.commands.records import CommandRecords
from maild.commands.reviews import ReviewCommands
from maild.commands.rules import RuleCommands
from maild.commands.scheduled_mail import ScheduledMailCommands
from maild.commands.store_commands import CommandGround
from maild.outbound.signing import dkim
from maild.outbound.signing.dkim import SigningKey
from maild.resolver import Resolver
from storage import switches
from storage.audit import trail
from storage.audit.acts import OPERATOR, Act
from storage.audit.chain import chain_key
from storage.clock import Clock
from storage.data_folder import DataFolder
from storage.domains import dkim_keys
from storage.domains.dkim_keys import DkimKey
from storage.durable_files import is_there, write_new_file
from storage.engine import migrate
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import inboxes
from storage.publishing import events
from storage.sealing import Sealer, SealError, make_master_key, master_key_file, read_master_key
from storage.sending import outbound
from storage.tenants import organizations
from storage.upkeep import compaction, rotation

HOMELESS_SHOWN = 20  # domains

T = TypeVar("T")


class OperatorCommands:
    """The store, opened for commands."""

    def __init__(self, settings: Settings, clock: Clock | None = None) -> None:
        self._settings = settings
        self._clock = clock or Clock()
        self._ids = Ids(self._clock)
        self._folder = DataFolder(settings.data_path)
        self._audit = CommandRecords(self._folder, self._clock, self._ids)
        self._ground = CommandGround(settings, self._clock, self._ids, self._audit, self._write, self._read)

    def init(self, *, key_file: Path | None = None, is_recommended: bool = False) -> dict[str, Any]:
        """Make whatever of the store is missing. Keys are in the answer of the first time alone. `key_file`: where the
        master key is, if not in the folder. `is_recommended`: the first organization gets the recommended policy,
        unless it has one."""
        self._folder.make()
        with self._folder.as_its_owner():
            self._folder.check_vacant()
            self._bring_up_to_date()
            path = key_file or master_key_file(self._folder.master_key)
            if path == self._folder.master_key and not self._write(rotation.is_sealed):
                make_master_key(path)
        key = read_master_key(path)
        fresh = {name: dkim.generate_key() for name in self._settings.server.shared_domains}
        return self._write(lambda tx: self._init(tx, key, fresh, is_recommended))

    def _bring_up_to_date(self) -> None:
        """DataFolderError while a daemon runs on an older store: it is of an older version itself."""
        if not is_there(self._folder.database) or not migrate.is_behind(self._folder.database):
            migrate.prepare(self._folder.database)
            return
        self._folder.lock()
        try:
            migrate.prepare(self._folder.database)
        finally:
            self._folder.unlock()

    def recommend_policy(self, organization_id: str) -> dict[str, str]:
        """Give the organization the recommended policy, unless it has one."""
        return self._write(lambda tx: self.policies.recommend(tx, organization_id))

    @property
    def organizations(self) -> OrganizationCommands:
        """Commands about organizations."""
        return OrganizationCommands(self._ground, self.keys)

    @property
    def deletion(self) -> OrganizationDeletion:
        """Commands that delete an organization."""
        return OrganizationDeletion(self._ground, self._folder)

    @property
    def audit(self) -> AuditCommands:
        """Commands that read the audit log."""
        return AuditCommands(self._ground)

    @property
    def keys(self) -> KeyCommands:
        """Commands about API keys."""
        return KeyCommands(self._ground)

    @property
    def scheduled_mail(self) -> ScheduledMailCommands:
        """Commands about what waits for the time for which it was scheduled."""
        return ScheduledMailCommands(self._ground)

    @property
    def queue(self) -> QueueCommands:
        """Commands about the outbound queue."""
        return QueueCommands(self._ground)

    @property
    def reviews(self) -> ReviewCommands:
        """Commands about held mail."""
        return ReviewCommands(self._ground, self._folder)

    @property
    def reports(self) -> ReportCommands:
        """Commands about reports on the shared domains."""
        return ReportCommands(self._ground)

    @property
    def members(self) -> MemberCommands:
        """Commands about members, and links that sign them in."""
        return MemberCommands(self._ground)

    @property
    def policies(self) -> PolicyCommands:
        """Commands about policies."""
        return PolicyCommands(self._ground)

    @property
    def rules(self) -> RuleCommands:
        """Commands about rules."""
        return RuleCommands(self._ground)

    def look_at(self, work: Callable[[DataFolder, Clock], T]) -> T:
        """For commands that change nothing."""
        return work(self._folder, self._clock)

    def examine(self, reach: Sequence[str], key_file: Path | None = None) -> dict[str, Any]:
        """As of doctor/examination.py. `reach`: domains whose mail hosts are tried; `key_file`: as for `init`."""
        domains = self._settings.server.shared_domains
        self._folder.check()
        self._folder.check_store()
        records = self._write(lambda tx: {name: self._wanted(tx, name) for name in domains})
        rows = self._read(lambda tx: [row for name in domains if (row := dkim_keys.active(tx, name))])
        queue = self._read(self._queue_moves)
        homeless = self._read(lambda tx: inboxes.without_domain(tx, domains, HOMELESS_SHOWN))
        newest_ms = self._read(events.newest_ms)
        signers = self._signers(rows, key_file)
        return asyncio.run(self._examine(records, signers, queue, homeless, newest_ms, reach))

    def _queue_moves(self, tx: Tx) -> QueueMoves:
        due_since = outbound.backlog(tx, self._clock.now_ms()).oldest_due_at
        return QueueMoves(switches.off_since(tx, switches.QUEUE), due_since)

    def _signers(self, rows: Sequence[DkimKey], key_file: Path | None) -> dict[str, SigningKey | str]:
        """By domain the key that signs, or why it can't be opened."""
        try:
            sealer = Sealer(read_master_key(key_file or master_key_file(self._folder.master_key)))
        except SealError as error:
            return {row.domain_name: str(error) for row in rows}
        return {row.domain_name: _opened(row, sealer) for row in rows}

    async def _examine(
        self,
        records: dict[str, list[checks.Record]],
        signers: Mapping[str, SigningKey | str],
        queue: QueueMoves,
        homeless: Sequence[tuple[str, int]],
        newest_ms: int | None,
        reach: Sequence[str],
    ) -> dict[str, Any]:
        resolver = Resolver(self._settings.dns, self._clock)
        outside_dns = seen_from_outside(self._settings.dns, resolver.nameservers)
        outside = Resolver(outside_dns, self._clock) if outside_dns is not None else None
        patient = Patient(
            self._settings,
            self._folder.path,
            records,
            resolver,
            outside,
            self._clock,
            signers,
            queue,
            reach,
            homeless=homeless,
            newest_ms=newest_ms,
        )
        try:
            return await examine(patient)
        finally:
            await resolver.close()
            if outside is not None:
                await outside.close()

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
            if not trail.is_known(tx, organization_id):
                raise KeyError(f"organization {organization_id}")
            key = chain_key(audit_verifying.audit_key(tx, path), organization_id)
            self._audit.record(tx, organization_id, Act.AUDIT_KEY_SHOWN, OPERATOR)
            return {"organizationId": organization_id, "chainKey": key.hex()}

        return self._write(unit)

    def rotate_master_key(self, key_file: Path | None) -> dict[str, Any]:
        """DataFolderError while a daemon runs, which holds the present key."""
        path = key_file or master_key_file(self._folder.master_key)
        with self._no_daemon():
            count = rotation.rotate(self._folder.database, path, self._record_rotation)
        return {"resealed": count, "keyFile": str(path)}

    def replace_lost_master_key(self, key_file: Path | None) -> dict[str, Any]:
        """DataFolderError while a daemon runs, which holds the key: nothing is lost as long as it does."""
        path = key_file or master_key_file(self._folder.master_key)
        lost = LostKey(self._audit, self._clock, dkim.makers(self._settings.outbound.dkim_ed25519))
        with self._no_daemon():
            replaced = rotation.replace_lost(self._folder.database, path, lost.renew)
        return {"keyFile": str(path), **replaced.told(), "records": self._read(self._shared_records)}

    def compact(self) -> dict[str, Any]:
        """`{"bytesBefore", "bytesAfter"}`. DataFolderError while a daemon runs; StoreError."""
        with self._no_daemon(), self._folder.as_its_owner():
            compacted = compaction.compact(self._folder.database)
        return {"bytesBefore": compacted.bytes_before, "bytesAfter": compacted.bytes_after}

    @contextmanager
    def _no_daemon(self) -> Iterator[None]:
        """With the store of this version, and no daemon on it. DataFolderError."""
        self._folder.check()
        self._folder.check_store()
        self._folder.lock()
        try:
            migrate.prepare(self._folder.database)
            yield
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
        own = organizations.own(tx)
        if own is None:
            made = self.organizations.found(tx, "Operator", "selfhost")
            self._create_operator_inbox(tx, made["organizationId"])
        else:
            made["organizationId"] = own
        if is_recommended:
            made.update(self.policies.recommend(tx, made["organizationId"]))
        return {**made, "records": self._shared_records(tx)}

    # Inside one transaction --------------------------------------------------------------------

    def _record_rotation(self, tx: Tx, sealer: Sealer) -> None:
        own = organizations.own(tx)
        if own is not None:
            self._audit.under(tx, sealer).record(tx, own, Act.MASTER_KEY_ROTATED, OPERATOR)

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
        details = {"domain": row.domain, "agentId": None}
        self._audit.record(tx, organization_id, Act.INBOX_CREATED, OPERATOR, row.id, details)

    def _keep_dkim_key(self, tx: Tx, sealer: Sealer, domain: str, private: bytes, public: str) -> None:
        if dkim_keys.active(tx, domain) is not None:
            return
        row = dkim_keys.DkimKey(domain, "", "active", private, public, self._clock.now_ms())
        dkim_keys.insert(tx, sealed_behind((), row, sealer))

    def _shared_records(self, tx: Tx) -> list[dict[str, Any]]:
        names = self._settings.server.shared_domains
        return [{"domainName": name, **one.shown()} for name in names for one in self._wanted(tx, name)]

    def _wanted(self, tx: Tx, domain: str) -> list[checks.Record]:
        key = dkim_keys.active(tx, domain)
        return checks.records(
            domain,
            self._settings.server.hostname,
            [checks.PublishedKey(key.selector, key.public_key, True)] if key is not None else [],
            reports_to=f"postmaster@{domain}",
        )

    def _write(self, unit: Callable[[Tx], T]) -> T:
        self._folder.check_store()
        with migrate.transaction(self._folder.database) as tx:
            return unit(tx)

    def _read(self, unit: Callable[[Tx], T]) -> T:
        self._folder.check_store()
        with migrate.look(self._folder.database) as tx:
            return unit(tx)


def write_configuration(path: Path, domain: str, template: str) -> None:
    """The documented configuration with the names of one domain filled in. Whoever runs the daemon may read it: what is
    secret lies in files of its own, which it names."""
    text = template.replace('hostname = "localhost"', f'hostname = "{domain}"', 1)
    text = text.replace('shared_domains = ["agents.test"]', f'shared_domains = ["{domain}"]', 1)
    text = text.replace('public_url = "http://127.0.0.1:8025"', f'public_url = "https://{domain}"', 1)
    for folder in [*reversed(path.parent.parents), path.parent]:
        if not is_there(folder):
            folder.mkdir()
            folder.chmod(0o755)
    write_new_file(path, text.encode())
    path.chmod(0o644)


def _opened(row: DkimKey, sealer: Sealer) -> SigningKey | str:
    try:
        return dkim.opened(row, sealer)
    except SealError as error:
        return str(error)
