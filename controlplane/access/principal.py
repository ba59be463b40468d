"""Who an operation acts for, and what a key may do at all (docs/contract.md, section 5)."""

from collections.abc import Sequence
from typing import NamedTuple

from controlplane.contract.refusals import Refusal
from controlplane.contract.scopes import grants
from storage import keys
from storage.database import Tx

LIVE = "live"  # a mode of keys, named as the scope that a test key would need; no key can hold it
NO_INBOX = ""  # an id that no inbox has


class Principal(NamedTuple):
    """Who calls. `inbox_id`: the inbox that the key is bound to, or None."""

    key_id: str
    organization_id: str
    inbox_id: str | None
    scopes: Sequence[str]
    mode: str

    def require(self, scope: str) -> None:
        if not grants(self.scopes, scope):
            raise Refusal(
                "insufficient_scope",
                f"This key lacks the scope '{scope}'.",
                {"requiredScope": scope, "grantedScopes": list(self.scopes)},
            )

    def ask(self, tx: Tx) -> None:
        """Refusal 401 when the key was revoked since the request was admitted: its body may have taken minutes."""
        if not keys.is_active(tx, self.key_id):
            raise Refusal("invalid_api_key")

    def require_live(self) -> None:
        """Refuse a test key what would take from live ones something that both share."""
        if self.mode != LIVE:
            raise Refusal(
                "insufficient_scope",
                "A test key can't do this to what live keys use; use a live key.",
                {"requiredScope": LIVE, "grantedScopes": list(self.scopes)},
            )

    def confine(self, inbox_id: str) -> None:
        """Refuse another inbox than the one the key is bound to."""
        if self.inbox_id is not None and self.inbox_id != inbox_id:
            raise Refusal("inbox_access_denied")

    def listed_inbox(self, asked: str | None = None) -> str | None:
        """Of which inbox a list shows anything, where the query asks for that of `asked`; None: of all.

        A bound key that asks for another inbox is shown an empty list.
        """
        if self.inbox_id is None:
            return asked
        return self.inbox_id if asked in (None, self.inbox_id) else NO_INBOX
