"""What DATA carries, decoded as it comes: dots taken off, line ends made CRLF, in linear time.

Only CRLF.CRLF ends a message (the session's reader sees to it), so no other sequence can smuggle a
second one in. Dots are taken off real CRLF lines first, and only then a CR or LF that stands alone
becomes CRLF: what a lax reader would have taken for an end stays text inside one message.
"""

from maild.message.octets import has_bare_line_end


class DataDecoder:
    """Feed it the octets between DATA and the final dot, in pieces cut anywhere. `dots`: how many it took off."""

    def __init__(self) -> None:
        self._at_line_start = True
        self._held = b""  # a CR whose LF may come with the next piece
        self.had_bare_line_end = False
        self.dots = 0

    def feed(self, piece: bytes) -> bytes:
        """The decoded octets of the next piece; a CR at its end is held back."""
        data = self._held + piece if self._held else piece
        self._held = b"\r" if data.endswith(b"\r") else b""
        if self._held:
            data = data[:-1]
        return self._decode(data)

    def finish(self) -> bytes:
        """What was held back; the message is complete."""
        rest, self._held = self._held, b""
        return self._decode(rest)

    def _decode(self, data: bytes) -> bytes:
        if not data:
            return data
        # RFC 5321 §4.5.2: the first character of a line that begins with a period is deleted.
        came = len(data)
        if self._at_line_start and data.startswith(b"."):
            data = data[1:]
        self._at_line_start = data.endswith(b"\r\n")
        if b"." in data:  # one octet is found in a thirtieth of the time that three take; base64 has none
            data = data.replace(b"\r\n.", b"\r\n")
        self.dots += came - len(data)
        if has_bare_line_end(data):
            self.had_bare_line_end = True
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\n", b"\r\n")
        return data
