"""Messages as answers show them: with their bodies, in pieces where these are large; and lists, part by part."""

from collections.abc import AsyncIterator, Mapping
from typing import NamedTuple

import msgspec

from controlplane.contract import rendering
from controlplane.mail import bodies
from controlplane.mail.bodies import Bodies, MessageBody
from controlplane.operations.operation import Call
from controlplane.operations.results import JsonPieces, Result
from storage.engine.tx import Tx
from storage.mail import blobs
from storage.mail.blobs import Blob
from storage.shown.message_json import Part, ShownMessage


class Whole(NamedTuple):
    """A message with everything that its JSON needs: the blob where a body lies there."""

    shown: ShownMessage
    blob: Blob | None

    @classmethod
    def of(cls, tx: Tx, shown: ShownMessage) -> "Whole":
        if shown.blob_id is None or not bodies.needs_blob(shown):
            return cls(shown, None)
        return cls(shown, blobs.get(tx, shown.blob_id))


async def read_bodies(call: Call, whole: Whole, is_sanitized: bool = False) -> Bodies:
    """The message's text and HTML, in memory only where they are small. `is_sanitized`: the HTML is safe to show."""
    return await call.services.body_reader.read(call.organization_id, whole.shown, whole.blob, is_sanitized)


async def shown_message(call: Call, whole: Whole, is_sanitized: bool = False) -> Result | JsonPieces:
    """The message with its bodies. `is_sanitized`: its HTML is."""
    bodies = await read_bodies(call, whole, is_sanitized)
    if bodies.are_held:
        return Result(rendering.message(whole.shown.json, bodies.text.text, bodies.html.text))
    names = {"textBody": bodies.text, "htmlBody": bodies.html}
    return JsonPieces(member_pieces(call, whole, names), brief=msgspec.Raw(whole.shown.json))


async def member_pieces(call: Call, whole: Whole, members: Mapping[str, MessageBody]) -> AsyncIterator[bytes]:
    """The message's JSON with these members besides, in pieces."""
    yield whole.shown.json[:-1]
    for name, body in members.items():
        yield b',"' + name.encode() + b'":'
        async for piece in call.services.body_reader.json(call.organization_id, body):
            yield piece
    yield b"}"


async def nothing() -> AsyncIterator[bytes]:
    """The parts of an empty list."""
    return
    yield b""


async def parts(call: Call, part: Part) -> AsyncIterator[bytes]:
    """This one and the rest, each read in a turn of its own."""
    yield part.json
    while part.rest is not None:
        part = await call.read(part.rest)
        yield part.json
