"""API keys in the operator's hands, also beside a running daemon, where a revoked key does nothing more."""

import os
from collections.abc import Sequence
from typing import Any

from controlplane.operations.accounts.keys import LISTED_MAX, shown_key
from maild.commands.store_commands import StoreCommands
from storage.audit.acts import OPERATOR, Act
from storage.engine.tx import Tx
from storage.mail import inboxes
from storage.records import load
from storage.tenants import keys, organizations


class KeyCommands(StoreCommands):
    """Keys of all organizations."""

    def create(
        self, organization_id: str, name: str, scopes: Sequence[str], inbox_id: str | None, mode: str
    ) -> dict[str, str]:
        """KeyError names what does not exist."""

        def unit(tx: Tx) -> dict[str, str]:
            if organizations.get(tx, organization_id) is None:
                raise KeyError(f"organization {organization_id}")
            if inbox_id is not None and inboxes.get_active(tx, organization_id, inbox_id) is None:
                raise KeyError(f"inbox {inbox_id}")
            return self.mint(tx, organization_id, name, scopes, inbox_id, mode)

        return self._run(unit)

    def list(self, organization_id: str) -> list[dict[str, Any]]:
        """All of them, revoked ones too, newest first, as the API shows them. KeyError without the organization."""

        def unit(tx: Tx) -> list[dict[str, Any]]:
            if organizations.get(tx, organization_id) is None:
                raise KeyError(f"organization {organization_id}")
            found = page = keys.list_keys(tx, organization_id, limit=LISTED_MAX)
            while len(page) == LISTED_MAX:
                page = keys.list_keys(tx, organization_id, limit=LISTED_MAX, before=page[-1].id)
                found = [*found, *page]
            return [{**shown_key(row), "scopes": load(row.scopes)} for row in found]

        return self._run(unit)

    def revoke(self, key_id: str) -> bool:
        """False when there is no such key."""

        def unit(tx: Tx) -> bool:
            organization_id = keys.organization_of(tx, key_id)
            if organization_id is None:
                return False
            if not keys.revoke(tx, organization_id, key_id, self._clock.now_ms()):
                return False
            self._audit.record(tx, organization_id, Act.KEY_REVOKED, OPERATOR, key_id)
            return True

        return self._run(unit)

    def mint(
        self, tx: Tx, organization_id: str, name: str, scopes: Sequence[str], inbox_id: str | None, mode: str
    ) -> dict[str, str]:
        """In a transaction of the caller: the key, which is shown once."""
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
        details = {"scopes": list(scopes), "mode": mode, "inboxId": inbox_id}
        self._audit.record(tx, organization_id, Act.KEY_MINTED, OPERATOR, key_id, details)
        return {"id": key_id, "apiKey": raw_key}
