"""What other hosts report about the shared domains, which no organization has registered."""

from typing import Any

from controlplane.operations.accounts.domains import shown_report
from maild.commands.store_commands import CommandGround, StoreCommands
from maild.message.fields.idn import ascii_domain
from storage.domains import domain_reports
from storage.domains.domain_reports import DomainReportRow
from storage.engine.tx import Tx


class ReportCommands(StoreCommands):
    """Reports that came to the operator's inbox."""

    def __init__(self, ground: CommandGround) -> None:
        super().__init__(ground)
        self._domains = ground.settings.server.shared_domains

    def list(self, name: str | None, kind: str | None, limit: int) -> list[dict[str, Any]]:
        """Newest first, of one shared domain or of all: as `GET /v1/domains/{id}/reports` shows them, with the domain's
        name instead of an id. KeyError for another domain."""
        names = self._domains if name is None else [_written(name)]
        if not set(names) <= set(self._domains):
            raise KeyError(f"shared domain {name}; server.shared_domains has {', '.join(self._domains)}")

        def unit(tx: Tx) -> list[DomainReportRow]:
            found = [
                row for one in names for row in domain_reports.list_shared(tx, one, limit=limit, kind=kind)
            ]
            return sorted(found, key=lambda row: row.id, reverse=True)[:limit]

        return [_shown(row) for row in self._look(unit)]


def _written(name: str) -> str:
    """As the settings have it; itself where it is no domain name, which none of them is."""
    try:
        return ascii_domain(name)
    except ValueError:
        return name


def _shown(row: DomainReportRow) -> dict[str, Any]:
    shown = shown_report(row)
    del shown["domainId"]
    return {"domainName": row.shared_domain, **shown}
