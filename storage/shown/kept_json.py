"""JSON of messages and threads that was rendered lately, in memory, for the next list that shows them.

Why it is never stale: what a message shows is rendered from columns that no statement can change (triggers in
`schema.sql` refuse it), and from some that may: those are its *state*, which every list reads anew, in the transaction
of the list. What is kept is used only with the very state that it was rendered from. `storage.shown.message_json` says
which columns are which; a message that was deleted has no row, and so is in no list. Of a thread everything may change,
and everything is its state (`storage.shown.thread_json`).

Units that read keep, units that write don't: what they see may be taken back.

What a crash or a restart leaves: nothing; it is filled by reading. It holds KEPT_BYTES at most. Any thread may ask.
"""

from typing import Any

from storage.recent import Recent

KEPT_BYTES = 16 * 1024 * 1024
ENTRY_BYTES_MAX = 16 * 1024  # few messages are longer, and they would drive out many
ENTRY_BYTES = 800  # what an entry takes besides


class KeptJson:
    """`pages`: whose newest page was read lately and needs little work, so that its rows are surely in memory."""

    def __init__(self, max_bytes: int = KEPT_BYTES) -> None:
        self._shown: Recent[tuple[tuple[Any, ...], bytes]] = Recent(max_bytes)
        self.pages: Recent[bool] = Recent(max_bytes // 16)

    def find(self, id: str, state: tuple[Any, ...]) -> bytes | None:
        """The JSON where it was rendered from this very state."""
        kept = self._shown.get(id)
        return kept[1] if kept is not None and kept[0] == state else None

    def keep(self, id: str, state: tuple[Any, ...], json: bytes) -> None:
        """From now on, unless it is long."""
        size_bytes = ENTRY_BYTES + len(json) + sum(len(one) for one in state if isinstance(one, str))
        if size_bytes <= ENTRY_BYTES_MAX:
            self._shown.put(id, (state, json), size_bytes)
