"""Rules of an organization in the operator's hands, also beside a running daemon, and where no key may change them."""

from collections.abc import Mapping
from typing import Any

from controlplane.contract.validation import validated
from controlplane.contract.work.rules import CreateRule
from controlplane.operations.work.rules import remove_rule, shown_rule, write_rule
from maild.commands.store_commands import StoreCommands
from storage.agents import rules
from storage.audit.acts import OPERATOR
from storage.engine.tx import Tx
from storage.tenants import organizations


class RuleCommands(StoreCommands):
    """KeyError names what does not exist; Refusal as over the API."""

    def add(self, organization_id: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Make a rule; `given`: the body of `POST /v1/rules`. One that says the same is answered as it stands, and not
        `changed`."""
        request = validated(CreateRule, dict(given))

        def unit(tx: Tx) -> dict[str, Any]:
            _require(tx, organization_id)
            rule_id, now_ms = self._ids.new("rul"), self._clock.now_ms()
            row = write_rule(tx, organization_id, request, rule_id, self._audit, OPERATOR, now_ms)
            return {**shown_rule(row), "changed": row.id == rule_id}

        return self._run(unit)

    def list(self, organization_id: str) -> list[dict[str, Any]]:
        """All of them, newest first."""

        def unit(tx: Tx) -> list[dict[str, Any]]:
            _require(tx, organization_id)
            found = rules.list_rules(tx, organization_id, limit=rules.RULES_MAX)
            return [shown_rule(row) for row in found]

        return self._look(unit)

    def remove(self, organization_id: str, rule_id: str) -> None:
        """Delete it."""

        def unit(tx: Tx) -> None:
            _require(tx, organization_id)
            if not remove_rule(tx, organization_id, rule_id, self._audit, OPERATOR):
                raise KeyError(f"rule {rule_id} of organization {organization_id}")

        self._run(unit)


def _require(tx: Tx, organization_id: str) -> None:
    if organizations.get(tx, organization_id) is None:
        raise KeyError(f"organization {organization_id}")
