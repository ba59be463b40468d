"""The caller that an operation acts for, and what a key may do at all (docs/contract.md, section 5)."""

from collections.abc import Sequence
from typing import NamedTuple

from controlplane.contract.refusals import Refusal
from controlplane.contract.scopes import grants
from storage.audit.acts import Actor
from storage.engine.tx import Tx
from storage.mail import inboxes
from storage.tenants import callers

LIVE = "live"  # a mode of keys, named as the scope that a test key would need; no key can hold it
SEES_HELD = "reviews:read"
_READING = ("messages:read", "threads:read", "messages:send")
NO_INBOX = ""  # an id that no inbox has


class Principal(NamedTuple):
    """The caller, by its key. `inbox_id`: the inbox that the key is bound to, or None. `request_id`: of the request of
    HTTP that it calls by. `session_id`: of a member, who is no key, and whose id stands in its place: the session that
    it calls by. `tool`: that of MCP which a model called."""

    key_id: str
    organization_id: str
    inbox_id: str | None
    scopes: Sequence[str]
    mode: str
    request_id: str | None = None
    session_id: str | None = None
    tool: str | None = None

    @property
    def is_member(self) -> bool:
        """Is it a person, whom no rule for keys is about?"""
        return self.session_id is not None

    @property
    def credential_id(self) -> str:
        """What it shows, and what can be revoked: its key, or its session."""
        return self.session_id or self.key_id

    @property
    def minter_id(self) -> str | None:
        """Which key a key that it makes descends from; None: none."""
        return None if self.is_member else self.key_id

    @property
    def actor(self) -> Actor:
        """Who the audit log says it was."""
        return Actor(self.key_id, self.request_id, self.tool)

    def require(self, scope: str) -> None:
        """Refusal `insufficient_scope` unless the key's scopes grant it; it tells which scope is required."""
        if not self.holds(scope):
            raise Refusal(
                "insufficient_scope",
                f"This key lacks the scope '{scope}'.",
                {"requiredScope": scope, "grantedScopes": list(self.scopes)},
            )

    def holds(self, scope: str) -> bool:
        """Do the key's scopes grant it?"""
        return grants(self.scopes, scope)

    @property
    def reads_mail(self) -> bool:
        """May it be shown the words of mail? Who sends can forward them to itself."""
        return any(self.holds(scope) for scope in _READING)

    @property
    def sees_held(self) -> bool:
        """Is what has come in and is held there for the caller, where it is asked for? For bound keys it never is."""
        return self.inbox_id is None and self.holds(SEES_HELD)

    def ask(self, tx: Tx) -> None:
        """Refusal 401 when the key, or the session, was revoked since the request was admitted: its body may have taken
        minutes."""
        if not callers.is_active(tx, self.credential_id):
            raise Refusal("invalid_api_key")

    def require_live(self) -> None:
        """Refusal for a test key: what is asked for would take from live keys something that both share."""
        if self.mode != LIVE:
            raise Refusal(
                "insufficient_scope",
                "A test key can't do this to what live keys use; use a live key.",
                {"requiredScope": LIVE, "grantedScopes": list(self.scopes)},
            )

    def confine(self, inbox_id: str) -> None:
        """Refusal `inbox_access_denied` unless the key is bound to this inbox, or not bound at all."""
        if self.inbox_id is not None and self.inbox_id != inbox_id:
            raise Refusal("inbox_access_denied")

    def refuse_beyond_reach(self, tx: Tx, kind: str, id: str) -> None:
        """Refusal `inbox_access_denied` when what is named belongs to another inbox of the organization than the key's.

        What the organization does not have passes, for it is not found. `kind`: as of `inboxes.owner_of`.
        """
        if self.inbox_id is None or (kind == "inbox" and id == self.inbox_id):
            return
        owner = inboxes.owner_of(tx, kind, self.organization_id, id)
        if owner is not None:
            self.confine(owner)

    def listed_inbox(self, asked: str | None = None) -> str | None:
        """The inbox that a list is confined to, where the query asks for `asked`; None: all inboxes, in both.

        A bound key that asks for another inbox is shown an empty list (NO_INBOX).
        """
        if self.inbox_id is None:
            return asked
        return self.inbox_id if asked in (None, self.inbox_id) else NO_INBOX
