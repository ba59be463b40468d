"""JSON of messages that was rendered lately, in memory, for the next list that shows them.

Why it is never stale: what a message shows is rendered from columns that no statement can change (triggers in
`schema.sql` refuse it), and from some that may: those are its *state*, which every list reads anew, in the
transaction of the list. What is kept is used only with the very state that it was rendered from.
`storage.message_json` says which columns are which; a message that was deleted has no row, and so is in no list.

Units that read keep, units that write don't: what they see may be taken back.

What a crash or a restart leaves: nothing; it is filled by reading. It holds KEPT_BYTES at most. Any thread may ask.
"""

from collections.abc import Hashable

from storage.recent import Recent

KEPT_BYTES = 16 * 1024 * 1024
ENTRY_BYTES_MAX = 16 * 1024  # few messages are longer, and they would drive out many
ENTRY_BYTES = 600  # what an entry takes besides


class KeptJson:
    """`pages`: whose newest page was read lately and needs little work, so that its rows are surely in memory."""

    def __init__(self, max_bytes: int = KEPT_BYTES) -> None:
        self._messages: Recent[tuple[Hashable, bytes]] = Recent(max_bytes)
        self.pages: Recent[bool] = Recent(max_bytes // 16)

    def find(self, message_id: str, state: Hashable) -> bytes | None:
        """The message's JSON where it was rendered from this very state."""
        kept = self._messages.get(message_id)
        return kept[1] if kept is not None and kept[0] == state else None

    def keep(self, message_id: str, state: Hashable, json: bytes) -> None:
        if len(json) <= ENTRY_BYTES_MAX:
            self._messages.put(message_id, (state, json), len(json) + ENTRY_BYTES)
