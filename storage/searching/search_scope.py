"""Whose messages a search or a list is about, and which of them, as conditions of SQL.

One condition says over which index the messages are walked (`Scope.walked`), from the newest on; all others are written
so that SQLite can choose no index by them. What few messages are (spam, say) has partial indexes, whose very words a
statement has to say. Every scope is of one organization.
"""

from typing import Any, NamedTuple

from storage.engine.dialect import contains, ending_in, has_member, unindexed
from storage.records import dump
from storage.searching import labels
from storage.visibility import HELD, VISIBLE

UNSETTLED = ("held", "scheduled", "queued", "failed", "cancelled")  # statuses that few messages have

_IS_VERIFIED = f"({has_member('m.auth', 'verifiedDomain')})"
_HAS_ATTACHMENTS = "EXISTS (SELECT 1 FROM attachments a WHERE a.message_id = m.id)"


class Few(NamedTuple):
    """What few messages are, found by partial indexes, by inbox and by organization: `condition` is theirs."""

    indexes: str
    condition: str


_ANY_UNSETTLED = " OR ".join(f"m.status = '{one}'" for one in UNSETTLED)
_UNSETTLED = Few("messages_unsettled", f"m.status = :status AND ({_ANY_UNSETTLED})")
_SPAM = Few("messages_spam", "m.is_spam = 1")
_AUTO_REPLIES = Few("messages_auto_replies", "m.is_auto_reply = 1")


class Scope(NamedTuple):
    """Whose messages, and which of them; None: no matter. `first_id` is what `bounded` makes of `since_ms`.

    `from_domain`, `from_domain_shown`: the A-label of the author's domain, and its U-label, lower case. `is_verified`:
    is that domain proven? `labels`: all of them, without `unread`. `is_held`: what is held, not what is visible.
    `walked_label`: what `bounded` chooses."""

    organization_id: str
    inbox_id: str | None = None
    thread_id: str | None = None
    direction: str | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    first_id: str | None = None
    from_domain: str | None = None
    from_domain_shown: str | None = None
    is_verified: bool | None = None
    labels: tuple[str, ...] = ()
    is_unread: bool | None = None
    status: str | None = None
    is_auto_reply: bool | None = None
    is_spam: bool | None = None
    has_attachments: bool | None = None
    is_held: bool = False
    walked_label: str | None = None

    @property
    def is_filtered(self) -> bool:
        """Whether some of the messages that are walked over may be left out."""
        whose = {"organization_id", "inbox_id", "thread_id", "is_held"}
        is_narrowed = any(
            value not in (None, ()) for name, value in self._asdict().items() if name not in whose
        )
        return is_narrowed or bool(self.inbox_id and self.thread_id)

    @property
    def few(self) -> Few | None:
        """What its messages are and few others; None where many are, or a thread or what is held is few already."""
        if self.thread_id is not None or self.is_held:
            return None
        if self.status in UNSETTLED:
            return _UNSETTLED
        if self.is_spam:
            return _SPAM
        return _AUTO_REPLIES if self.is_auto_reply else None

    def parameters(self) -> dict[str, Any]:
        """By name, for `conditions`."""
        given = self._asdict()
        for name in ("from_domain", "from_domain_shown"):
            given[name] = ending_in(f"@{given[name]}") if given[name] else None
        return {**given, "labels": dump(self.labels), "label": self.walked_label}

    def walked(self) -> str:
        """By which index its messages are walked over: nobody walks over the whole organization's mail for one quiet
        inbox."""
        by = "thread" if self.thread_id else "inbox" if self.inbox_id else "organization"
        seen = HELD if self.is_held else VISIBLE
        walked = [f"m.{by}_id = :{by}_id AND m.{seen}"]
        if self.few is not None:
            walked.append(self.few.condition)
        if self.first_id is not None:
            walked.append("m.id >= :first_id")
        return " AND ".join(walked)

    def conditions(self) -> str:
        """All of them; none but `walked` chooses an index."""
        optional = (
            ("direction = :direction", self.direction),
            ("inbox_id = :inbox_id", self.inbox_id),
            ("thread_id = :thread_id", self.thread_id),
            ("created_at >= :since_ms", self.since_ms),
            ("created_at < :until_ms", self.until_ms),
            ("status = :status", self.status),
            ("is_auto_reply = :is_auto_reply", self.is_auto_reply),
            ("is_spam = :is_spam", self.is_spam),
        )
        held = [unindexed(f"m.{condition}") for condition, value in optional if value is not None]
        if self.is_verified is not None:
            held.append(f"{_IS_VERIFIED} = :is_verified")
        if self.is_unread is not None:
            held.append(f"{labels.is_unread('m')} = :is_unread")
        if self.labels:
            held.append(labels.has_all("m", ":labels"))
        if self.has_attachments is not None:
            held.append(f"{_HAS_ATTACHMENTS} = :has_attachments")
        if self.from_domain is not None:
            ends = (contains("m.from_address", pattern) for pattern in (":from_domain", ":from_domain_shown"))
            held.append(f"({' OR '.join(ends)})")
        # The direction stands in the indexes: who is left out by it is left out before its row is read.
        return " AND ".join([self.walked(), *held, unindexed("m.organization_id = :organization_id")])
