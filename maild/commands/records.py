"""How commands write into the audit log: into the chains where the master key can be read, else unsealed, for the
daemon (storage/audit/trail.py)."""

from collections.abc import Mapping
from typing import Any

from storage import server_secrets
from storage.audit.acts import Act, Actor
from storage.audit.trail import NO_DETAILS, AuditRecorder, Records, Unsealed
from storage.clock import Clock
from storage.data_folder import DataFolder
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.sealing import Sealer, SealError, master_key_file, read_master_key
from storage.upkeep import rotation


class CommandRecords:
    """A `storage.audit.trail.Records`. The master key is looked for in each transaction: it may have been replaced."""

    def __init__(self, folder: DataFolder, clock: Clock, ids: Ids) -> None:
        self._folder = folder
        self._clock = clock
        self._ids = ids

    def record(
        self,
        tx: Tx,
        organization_id: str,
        act: Act,
        actor: Actor,
        subject: str | None = None,
        details: Mapping[str, Any] = NO_DETAILS,
    ) -> None:
        """As Records."""
        self._records(tx).record(tx, organization_id, act, actor, subject, details)

    def under(self, tx: Tx, sealer: Sealer) -> AuditRecorder:
        """What writes into the chains, by this sealer; the audit key is made where there is none yet. SealError."""
        return AuditRecorder(self.audit_key(tx, sealer), self._clock)

    def audit_key(self, tx: Tx, sealer: Sealer) -> bytes:
        """The key of all chains, made where there is none yet. SealError."""
        fresh = self._ids.chance(server_secrets.SECRET_BYTES)
        return server_secrets.get_or_make(tx, sealer, server_secrets.AUDIT, fresh)

    def _records(self, tx: Tx) -> Records:
        try:
            key = read_master_key(master_key_file(self._folder.master_key))
            rotation.require(tx, key)
        except SealError:
            return Unsealed(self._clock)
        return self.under(tx, Sealer(key))
