"""What looks wrong in a message that is about to be sent, as it is told to whoever asks, and to whoever reviews it."""

from typing import Any, NamedTuple


class OutgoingWarning(NamedTuple):
    """One thing that looks wrong; as `CheckWarning` of the contract."""

    code: str
    view: str | None = None
    start: int | None = None
    end: int | None = None
    address: str | None = None
    message_id: str | None = None

    def shown(self) -> dict[str, Any]:
        """As the API shows it."""
        return {
            "code": self.code,
            "view": self.view,
            "start": self.start,
            "end": self.end,
            "address": self.address,
            "messageId": self.message_id,
        }
