"""Policies in the operator's hands, also beside a running daemon, and where no key may change them."""

from collections.abc import Mapping
from typing import Any

from controlplane.contract.validation import validated
from controlplane.contract.work.policies import ReplaceInboxPolicy, ReplaceOrganizationPolicy
from controlplane.operations.work.policies import replace_policy, shown_policy
from maild.commands.store_commands import StoreCommands
from storage.agents import policies
from storage.agents.policies import RECOMMENDED, document_of
from storage.audit.acts import OPERATOR
from storage.engine.tx import Tx
from storage.mail import inboxes
from storage.tenants import organizations


class PolicyCommands(StoreCommands):
    """Of an organization, or of one of its inboxes. KeyError names what does not exist; Refusal as over the API."""

    def show(self, organization_id: str, inbox_id: str | None) -> dict[str, Any]:
        """The own document, with its version."""

        def unit(tx: Tx) -> dict[str, Any]:
            owner_id = _owner(tx, organization_id, inbox_id)
            row = policies.of_owner(tx, organization_id, owner_id)
            return shown_policy(row, is_of_inbox=inbox_id is not None)

        return self._look(unit)

    def replace(self, organization_id: str, inbox_id: str | None, given: Mapping[str, Any]) -> dict[str, Any]:
        """Write it; `given`: the body of PUT, which has the version that it replaces."""
        model = ReplaceOrganizationPolicy if inbox_id is None else ReplaceInboxPolicy
        request = validated(model, dict(given))

        def unit(tx: Tx) -> dict[str, Any]:
            owner_id = _owner(tx, organization_id, inbox_id)
            now_ms = self._clock.now_ms()
            return replace_policy(tx, organization_id, owner_id, request, self._audit, OPERATOR, now_ms)

        return self._run(unit)

    def recommend(self, tx: Tx, organization_id: str) -> dict[str, str]:
        """Give the organization the recommended document, unless it has one; inside the caller's transaction."""
        if policies.of_owner(tx, organization_id, organization_id) is not None:
            return {"policy": "unchanged: the organization has one"}
        document = document_of(RECOMMENDED)
        parts = {name: document[name] for name in ("outbound", "inbound", "review")}
        request = ReplaceOrganizationPolicy(version=policies.NO_VERSION, **parts)
        now_ms = self._clock.now_ms()
        replace_policy(tx, organization_id, organization_id, request, self._audit, OPERATOR, now_ms)
        return {"policy": "recommended"}


def _owner(tx: Tx, organization_id: str, inbox_id: str | None) -> str:
    if organizations.get(tx, organization_id) is None:
        raise KeyError(f"organization {organization_id}")
    if inbox_id is None:
        return organization_id
    if inboxes.get_active(tx, organization_id, inbox_id) is None:
        raise KeyError(f"inbox {inbox_id} of organization {organization_id}")
    return inbox_id
