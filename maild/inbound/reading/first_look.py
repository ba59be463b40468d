"""What is looked at in a message before it is stored, where an inbox's policy holds what is of high risk.

Looking reads the store and takes the thread for what computes, so it is done before the transaction. What was found is
kept with the message, held or not.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from maild.inbound.reading.incoming_message import IncomingMessage, message_row
from maild.ports import ExamineArrival
from storage.clock import Clock
from storage.ids import Ids
from storage.mail import messages
from storage.mail.blobs import Blob
from storage.mail.evidence import EvidenceRow
from storage.mail.inboxes import RecipientInbox
from storage.records import AttachmentRow

HIGH = "high"
_YET = "~"  # behind all ids: it has none before it is stored


class ArrivalFindings(NamedTuple):
    """What was found for one inbox. `attachments`: the rows whose ids stand in it, without their message."""

    attachments: list[AttachmentRow]
    found: EvidenceRow

    @property
    def is_of_high_risk(self) -> bool:
        return self.found.risk == HIGH


class FirstLook:
    """`examine`: looks at one inbox's copy, and keeps nothing."""

    def __init__(self, ids: Ids, clock: Clock, examine: ExamineArrival) -> None:
        self._ids = ids
        self._clock = clock
        self._examine = examine

    async def at(
        self, incoming: IncomingMessage, boxes: Iterable[RecipientInbox], blob: Blob
    ) -> Mapping[str, ArrivalFindings]:
        """By the id of the inbox, for those whose policy asks."""
        looked_at = {}
        for box in boxes:
            if box.looks_first:
                row = message_row(incoming, box, _YET, "", b"", self._clock.now_ms())
                attachments = messages.attachment_rows(self._ids, _YET, incoming.digest.parts())
                looked_at[box.inbox_id] = ArrivalFindings(
                    attachments, await self._examine(row, attachments, blob)
                )
        return looked_at
