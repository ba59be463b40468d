"""API keys in the operator's hands, also beside a running daemon, where a revoked key does nothing more."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from controlplane.operations.accounts.keys import LISTED_MAX, shown_key
from maild.commands.store_commands import StoreCommands
from storage.audit.acts import OPERATOR, Act
from storage.engine.tx import Tx
from storage.mail import inboxes, withdrawal
from storage.mail.withdrawal import WithdrawnMail
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

        return self._look(unit)

    def revoke(self, key_id: str, *, with_minted: bool = False, with_mail: bool = False) -> dict[str, Any]:
        """`{"id", "status", "minted": {"revoked", "active"}, "messages": {"withdrawn", "waiting"}}`, all counts. Where
        a crash leaves some, the same command ends it. KeyError without the key.

        `with_minted`: the keys that it minted as well, those that they minted, and so on. `with_mail`: what all of
        these sent and is not delivered yet fails; what is scheduled and what is held too.
        """
        organization_id = self._look(lambda tx: keys.organization_of(tx, key_id))
        if organization_id is None:
            raise KeyError(f"key {key_id}")
        self._revoke_all(organization_id, [key_id])
        minted = self._minted(organization_id, key_id)
        revoked = 0
        # A request that was being answered may have minted one more.
        while with_minted and (active := [one for one, is_active in minted.items() if is_active]):
            self._revoke_all(organization_id, active)
            revoked += len(active)
            minted = self._minted(organization_id, key_id)
        senders = [key_id, *minted] if with_minted else [key_id]
        if with_mail:  # a daemon beside sends none of it from now on
            self._run_for(senders, lambda some, tx: withdrawal.close_keys(tx, organization_id, some))
        waiting = self._look(lambda tx: withdrawal.find_sent_by(tx, organization_id, senders))
        if with_mail:
            self._withdraw(waiting, senders)
        return {
            "id": key_id,
            "status": "revoked",
            "minted": {"revoked": revoked, "active": sum(minted.values())},
            "messages": {
                "withdrawn": waiting.messages if with_mail else 0,
                "waiting": 0 if with_mail else waiting.messages,
            },
        }

    def _minted(self, organization_id: str, key_id: str) -> dict[str, bool]:
        return self._look(lambda tx: keys.minted_with(tx, organization_id, key_id))

    def _revoke_all(self, organization_id: str, key_ids: Sequence[str]) -> None:
        def unit(some: Sequence[str], tx: Tx) -> None:
            for key_id in some:
                keys.revoke(tx, organization_id, key_id, self._clock.now_ms())
                self._audit.record(tx, organization_id, Act.KEY_REVOKED, OPERATOR, key_id)

        self._run_for(key_ids, unit)

    def _run_for(self, key_ids: Sequence[str], unit: Callable[[Sequence[str], Tx], None]) -> None:
        """For some of the keys at a time."""
        self._run_slices(
            partial(unit, key_ids[start : start + keys.REVOKED_AT_ONCE])
            for start in range(0, len(key_ids), keys.REVOKED_AT_ONCE)
        )

    def _withdraw(self, waiting: WithdrawnMail, senders: Sequence[str]) -> None:
        def unit(left: WithdrawnMail, tx: Tx) -> WithdrawnMail:
            is_over = self._clock.ends_in(withdrawal.SLICE_S)
            return withdrawal.withdraw_slice(tx, left, self._ids.new, self._clock.now_ms(), is_over)

        left = waiting
        while left.message_ids:
            began = self._clock.monotonic()
            left = self._run(partial(unit, left))
            self._rest_since(began)
        self._run_for(senders, lambda some, tx: withdrawal.KEYS.end(tx, some))

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
