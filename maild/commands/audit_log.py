"""What stands in an organization's audit log, for the operator: also in that of one that was deleted."""

from collections.abc import Sequence
from typing import Any

from controlplane.operations.accounts.audit import shown_row
from maild.commands.store_commands import StoreCommands
from storage.audit import trail
from storage.audit.chain import AuditRow
from storage.engine.tx import Tx
from storage.records import load

_BEHIND_ALL = 2**63 - 1


class AuditCommands(StoreCommands):
    """Reading the log; whether it is whole is for `audit_verifying`."""

    def list(
        self, organization_id: str, *, limit: int, types: Sequence[str], actor: str | None
    ) -> list[dict[str, Any]]:
        """Newest first, as `GET /v1/audit` shows them. `types`: empty for all. KeyError without the organization."""

        def unit(tx: Tx) -> list[dict[str, Any]]:
            if not trail.is_known(tx, organization_id):
                raise KeyError(f"organization {organization_id}")
            found: list[AuditRow] = []
            before, is_end = _BEHIND_ALL, False
            while len(found) < limit and not is_end:
                left = limit - len(found)
                page = trail.page_back(
                    tx, organization_id, before, limit=left, types=types or None, actor=actor
                )
                found += page.rows
                before, is_end = page.position, page.is_end
            return [{**shown_row(row), "details": load(row.details)} for row in found]

        return self._look(unit)
