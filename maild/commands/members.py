"""Members in the operator's hands: the people who may sign in to the console, and links that let them in.

Also beside a running daemon, which sees it with its next statement: who is removed is signed out by the commit.
"""

from typing import Any

from controlplane.access.console_links import link_to
from controlplane.operations.accounts.organization import shown_member
from maild.commands.store_commands import StoreCommands
from maild.message.fields.address import AddressSyntaxError, normalize, validate
from storage.audit.acts import OPERATOR, Act
from storage.clock import iso
from storage.engine.tx import Tx
from storage.tenants import console_sessions, members, organizations
from storage.tenants.console_sessions import secret_of
from storage.tenants.members import MemberRow


class MemberFault(Exception):
    """What the operator asked for can't be; the text says why."""


class MemberCommands(StoreCommands):
    """KeyError names what does not exist; MemberFault."""

    def add(self, organization_id: str, email: str, role: str, name: str | None) -> dict[str, Any]:
        """Make a member, or give the one of that address this role and, where it is given, this name; `changed`: it
        was not there, or not so."""
        address = _address(email)

        def unit(tx: Tx) -> dict[str, Any]:
            _require(tx, organization_id)
            known = members.by_email(tx, organization_id, address)
            if known is None:
                row = MemberRow(
                    self._ids.new("mem"), organization_id, address, name, role, self._clock.now_ms()
                )
                members.add(tx, row)
                self._audit.record(tx, organization_id, Act.MEMBER_ADDED, OPERATOR, row.id, {"role": role})
                return {**shown_member(row), "changed": True}
            row = known._replace(role=role, name=known.name if name is None else name)
            if row != known:
                members.change(tx, known, row.role, row.name)
                self._audit.record(tx, organization_id, Act.MEMBER_CHANGED, OPERATOR, row.id, {"role": role})
            return {**shown_member(row), "changed": row != known}

        return self._run(unit)

    def list(self, organization_id: str) -> list[dict[str, Any]]:
        """All of them, in the order in which they joined."""

        def unit(tx: Tx) -> list[dict[str, Any]]:
            _require(tx, organization_id)
            return [shown_member(row) for row in members.of(tx, organization_id)]

        return self._look(unit)

    def remove(self, organization_id: str, email: str) -> dict[str, Any]:
        """Delete a member, with all sessions."""

        def work(tx: Tx, row: MemberRow) -> dict[str, Any]:
            members.remove(tx, row)
            self._audit.record(tx, organization_id, Act.MEMBER_REMOVED, OPERATOR, row.id)
            return {**shown_member(row), "removed": True}

        return self._run(lambda tx: work(tx, _find(tx, organization_id, email)))

    def link(self, organization_id: str, email: str) -> dict[str, Any]:
        """A link that signs the member in once, within fifteen minutes. MemberFault where nothing serves it."""
        http, server = self._settings.http, self._settings.server
        if not http.console:
            raise MemberFault("http.console is false: there is no console to sign in to")
        if not server.is_private_or_encrypted:
            raise MemberFault(
                f"server.public_url is {server.public_url}: the console wants https://, or a loopback address"
            )
        secret = secret_of(self._ids.chance(console_sessions.SECRET_BYTES))

        def work(tx: Tx, row: MemberRow) -> dict[str, Any]:
            link = console_sessions.add_link(tx, secret, organization_id, row.id, self._clock.now_ms())
            self._audit.record(tx, organization_id, Act.LOGIN_LINK_MADE, OPERATOR, row.id)
            return {
                "member": row.email,
                "link": link_to(server.public_url, secret),
                "expiresAt": iso(link.expires_at),
            }

        return self._run(lambda tx: work(tx, _find(tx, organization_id, email)))


def _address(email: str) -> str:
    try:
        return normalize(validate(email))
    except AddressSyntaxError as error:
        raise MemberFault(f"--email: {error}") from error


def _require(tx: Tx, organization_id: str) -> None:
    if organizations.get(tx, organization_id) is None:
        raise KeyError(f"organization {organization_id}")


def _find(tx: Tx, organization_id: str, email: str) -> MemberRow:
    """By its address, or its id."""
    _require(tx, organization_id)
    asked = normalize(email)
    row = members.by_email(tx, organization_id, asked) or members.by_id(tx, organization_id, asked)
    if row is None:
        raise KeyError(f"member {email} of organization {organization_id}")
    return row
