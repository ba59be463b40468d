"""Labels: what a list asks for by them, and how those of a message change."""

from collections.abc import Sequence
from typing import NamedTuple

from controlplane.contract.mail.messages import LABELS_MAX
from controlplane.contract.refusals import Fault, invalid
from storage.engine.tx import Tx
from storage.mail import messages
from storage.publishing.change_events import ChangeEvents
from storage.records import MessageRow, load
from storage.searching.labels import UNREAD


class AskedLabels(NamedTuple):
    """The labels of a filter, without `unread`, which is asked for by a name of its own too."""

    labels: tuple[str, ...]
    is_unread: bool | None
    is_contradiction: bool

    @classmethod
    def of(cls, labels: Sequence[str] | None, unread: bool | None) -> "AskedLabels":
        asked = dict.fromkeys(labels or ())
        wants_unread = UNREAD in asked
        asked.pop(UNREAD, None)
        return cls(tuple(asked), True if wants_unread else unread, wants_unread and unread is False)

    @property
    def are_any(self) -> bool:
        return bool(self.labels) or self.is_unread is not None


def replace(tx: Tx, told: ChangeEvents, message: MessageRow, labels: Sequence[str]) -> bool:
    """Give the message these labels, each once, in their order; did anything change?"""
    return _set(tx, told, message, list(dict.fromkeys(labels)))


def change(
    tx: Tx,
    told: ChangeEvents,
    message: MessageRow,
    added: Sequence[str],
    removed: Sequence[str],
    field: str = "addLabels",
) -> bool:
    """Add labels behind those that are there, and take others away; did anything change? Refusal where there would be
    too many, told at the `field` that names the added ones."""
    kept = [label for label in load(message.labels) if label not in removed]
    labels = list(dict.fromkeys([*kept, *added]))
    if len(labels) > max(LABELS_MAX, len(kept)):
        text = f"Message {message.id} would have more than {LABELS_MAX} labels; remove some"
        raise invalid([Fault(field, "too_many", text)])
    return _set(tx, told, message, labels)


def _set(tx: Tx, told: ChangeEvents, message: MessageRow, labels: list[str]) -> bool:
    if labels == load(message.labels):
        return False
    messages.set_labels(tx, message, labels)
    told.message_updated(tx, message, labels)
    return True
