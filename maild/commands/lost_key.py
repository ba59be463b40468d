"""`maild replace-lost-master-key`: the way back to a daemon that starts, where the master key is lost for good.

Mail is not sealed, and stays. What was sealed can't be opened again, so each of it gets something else in its place, in
one transaction (storage/upkeep/rotation.py): DKIM keys under the next selectors, secrets of webhooks, and the server's
own, which are made when they are next needed. Each organization finds in its audit log what became of its own.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from controlplane.domains.fresh_keys import MakeDkimKey, sealed_behind
from controlplane.webhooks.secrets import Secrets
from maild.commands.records import CommandRecords
from storage import server_secrets
from storage.audit import trail
from storage.audit.acts import OPERATOR, Act
from storage.audit.rechaining import rechain
from storage.audit.trail import AuditRecorder
from storage.clock import Clock
from storage.domains import dkim_keys, domains
from storage.domains.dkim_keys import Algorithm, DkimKey
from storage.engine.tx import Tx
from storage.publishing import webhooks
from storage.sealing import Sealer


class Replaced(NamedTuple):
    """What was put in the place of what can't be opened any more: domains with new DKIM keys, webhooks with new
    secrets, organizations whose audit log has another key."""

    domains: list[str]
    webhooks: int
    audit_logs: int

    def told(self) -> dict[str, Any]:
        """The answer of the command."""
        return {"domains": self.domains, "webhooks": self.webhooks, "auditLogs": self.audit_logs}


class LostKey:
    """Puts new secrets in place. `make_dkim_keys`: of each algorithm that mail is signed by."""

    def __init__(
        self, audit: CommandRecords, clock: Clock, make_dkim_keys: Mapping[Algorithm, MakeDkimKey]
    ) -> None:
        self._audit = audit
        self._clock = clock
        self._make_dkim_keys = make_dkim_keys

    def renew(self, tx: Tx, sealer: Sealer) -> Replaced:
        """In the transaction that names the new key. The audit log comes first: the rest is told to it."""
        server_secrets.forget(tx)
        records = self._audit.under(tx, sealer)
        logs = self._renew_logs(tx, self._audit.audit_key(tx, sealer), records)
        names = dkim_keys.names(tx)
        selectors = {name: self._renew_keys(tx, sealer, name) for name in names}
        for row in domains.of_everybody(tx):
            told = {"selectors": selectors.get(row.domain_name, [])}
            records.record(tx, row.organization_id, Act.DOMAIN_KEY_ROTATED, OPERATOR, row.id, told)
        return Replaced(names, self._renew_webhooks(tx, sealer, records), logs)

    def _renew_logs(self, tx: Tx, audit_key: bytes, records: AuditRecorder) -> int:
        count = 0
        for organization_id in trail.organizations(tx):
            before = rechain(tx, audit_key, organization_id)
            if before.seq:
                told = {"through": before.seq, "hash": before.hash.hex()}
                records.record(tx, organization_id, Act.AUDIT_KEY_LOST, OPERATOR, None, told)
                count += 1
        return count

    def _renew_keys(self, tx: Tx, sealer: Sealer, name: str) -> list[str]:
        """The selectors of the domain's new keys."""
        keys = dkim_keys.of_domain(tx, name)
        dkim_keys.retire(tx, name)
        made = [
            self._key(sealer, name, algorithm, of_algorithm)
            for algorithm in self._make_dkim_keys
            if (of_algorithm := [key for key in keys if key.algorithm == algorithm])
        ]
        for key in made:
            dkim_keys.insert(tx, key)
        return [key.selector for key in made]

    def _key(self, sealer: Sealer, name: str, algorithm: Algorithm, keys: list[DkimKey]) -> DkimKey:
        private, public = self._make_dkim_keys[algorithm]()
        # RSA signs at once, as no other key is left to; a second signature waits until DNS shows its key.
        status = "active" if algorithm == "rsa" else "published"
        row = DkimKey(name, "", status, private, public, self._clock.now_ms(), algorithm)
        return sealed_behind(keys, row, sealer)

    def _renew_webhooks(self, tx: Tx, sealer: Sealer, records: AuditRecorder) -> int:
        secrets = Secrets(sealer)
        found = webhooks.forget_secrets(tx)
        for webhook_id, organization_id in found:
            _, sealed = secrets.make(webhook_id)
            webhooks.set_secret(tx, webhook_id, sealed, self._clock.now_ms())
            records.record(tx, organization_id, Act.WEBHOOK_SECRET_ROTATED, OPERATOR, webhook_id)
        return len(found)
