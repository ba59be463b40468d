"""One mail before a milter, as an MTA shows it: sendmail's protocol, version 6, without its shortcuts.

added = await show("run/socket", mail)         the header fields that it wants inserted: (name, value) pairs
"""

import asyncio
import re
import struct
from pathlib import Path

_VERSION, _ACTIONS, _LEADING_BLANKS = 6, 0x1FF, 0x100000  # SMFIP_HDR_LEADSPC: values as they stand
_BODY_OCTETS = 65_535
_CONTINUE, _PROGRESS, _INSERT, _ADD = b"c", b"p", b"i", b"h"
_FIELD = re.compile(rb"([^:\r\n]+):((?:[^\r\n]|\r\n[ \t])*)\r\n")


class MilterConversation:
    """Over one connection; a command is answered before the next."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def say(self, command: bytes, data: bytes) -> tuple[bytes, list[tuple[bytes, bytes]]]:
        """The reply that ends it, and what comes before that: (command, data) each."""
        self.tell(command, data)
        before: list[tuple[bytes, bytes]] = []
        while True:
            (length,) = struct.unpack("!I", await self._reader.readexactly(4))
            answer = await self._reader.readexactly(length)
            if answer[:1] not in (_PROGRESS, _INSERT, _ADD):
                return answer[:1], before
            before.append((answer[:1], answer[1:]))

    def tell(self, command: bytes, data: bytes = b"") -> None:
        """What has no answer."""
        self._writer.write(struct.pack("!I", len(data) + 1) + command + data)

    async def show(self, raw: bytes, address: str, helo: str, sender: str) -> list[tuple[str, str]]:
        """Fields that the milter inserts. It may be content before it has seen all."""
        head, _, body = raw.partition(b"\r\n\r\n")
        fields = _FIELD.findall(head + b"\r\n")
        steps = [
            (b"C", b"client\0004" + struct.pack("!H", 25) + _word(address)),
            (b"H", _word(helo)),
            (b"M", _word(f"<{sender}>")),
            (b"R", _word("<bot@agents.test>")),
            *(
                (b"L", name.rstrip() + b"\0" + value.replace(b"\r\n", b"\n") + b"\0")
                for name, value in fields
            ),
            (b"N", b""),
            *((b"B", body[at : at + _BODY_OCTETS]) for at in range(0, len(body), _BODY_OCTETS)),
        ]
        await self.say(b"O", struct.pack("!III", _VERSION, _ACTIONS, _LEADING_BLANKS))
        for command, data in steps:
            if (await self.say(command, data))[0] != _CONTINUE:
                return []
        _, before = await self.say(b"E", b"")
        return [_named(data[4:]) for command, data in before if command == _INSERT]


async def show(
    socket: Path, raw: bytes, *, address: str = "127.0.0.1", helo: str = "client.test", sender: str = ""
) -> list[tuple[str, str]]:
    """The header fields that the milter at this socket wants inserted into the mail."""
    reader, writer = await asyncio.open_unix_connection(socket)
    try:
        talk = MilterConversation(reader, writer)
        added = await talk.show(raw, address, helo, sender)
        talk.tell(b"Q")
        return added
    finally:
        writer.close()


def _word(text: str) -> bytes:
    return text.encode() + b"\0"


def _named(data: bytes) -> tuple[str, str]:
    name, value, _ = data.split(b"\0")
    return name.decode(), value.decode("utf-8", "replace")
