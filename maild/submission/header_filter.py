"""The header of a submitted message while it comes in: held back until it is whole, edited, then passed on.

What follows it is passed on as it comes, and looked at for lines too long to be sent. What its author wrote
(`submitted_header`) is hashed on the way, so that the same message is known when it is submitted again, whatever the
server adds.
"""

import hashlib

from maild.errors import SmtpError
from maild.message.writing.header_writer import MAX_SENT_HEADER_BYTES
from maild.message.writing.long_lines import LongLineWatch
from maild.message.writing.submitted_header import (
    ServerFields,
    SubmittedHeader,
    SubmittedHeaderError,
    edit_header,
)

_END = b"\r\n\r\n"


class SubmittedSection:
    """A HeaderFilter. `message_id`: the author's own, once `is_over`; None where the server gave one."""

    def __init__(self, server: ServerFields) -> None:
        self._server = server
        self._held = b"\r\n"  # an empty header ends with the first line
        self._own = hashlib.sha256()
        self._lines = LongLineWatch()
        self.hops = 0
        self.is_over = False
        self.message_id: str | None = None

    @property
    def own_hash(self) -> bytes:
        """The hash of what its author wrote, header and body; 32 octets."""
        return self._own.digest()

    @property
    def has_long_lines(self) -> bool:
        """Has the body a line that no host has to take (RFC 5321 §4.5.3.1.6)?"""
        return self._lines.found

    def is_light(self, piece: bytes) -> bool:
        return True  # all that it may hold takes 3 ms

    def feed(self, data: bytes) -> bytes:
        if self.is_over:
            self._own.update(data)
            self._lines.feed(data)
            return data
        begin = max(0, len(self._held) - len(_END) + 1)
        self._held += data
        end = self._held.find(_END, begin)
        if (len(self._held) if end < 0 else end) > MAX_SENT_HEADER_BYTES:
            raise SmtpError(552, "5.3.4", f"the header section is larger than {MAX_SENT_HEADER_BYTES} octets")
        return b"" if end < 0 else self._edit(self._held[2 : end + 2], self._held[end + len(_END) :])

    def finish(self) -> bytes:
        if self.is_over:
            return b""
        section = self._held[2:]
        return self._edit(section if section.endswith(b"\r\n") or not section else section + b"\r\n", b"")

    def _edit(self, section: bytes, body: bytes) -> bytes:
        edited = self._edited(section)
        self.is_over, self._held = True, b""
        self.hops, self.message_id = edited.hops, edited.message_id
        self._own.update(edited.own + b"\r\n" + body)
        self._lines.feed(body)
        return edited.octets + body

    def _edited(self, section: bytes) -> SubmittedHeader:
        try:
            return edit_header(section, self._server)
        except SubmittedHeaderError as error:
            raise SmtpError(554, "5.6.0", str(error)) from error
