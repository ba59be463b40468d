"""Attachments of a send: base64 → bytes, within the limits of docs/contract.md, section 8."""

from collections.abc import Sequence

import pybase64

from controlplane.contract.mail.messages import SendMessage
from controlplane.contract.refusals import Fault, Refusal, invalid
from maild.message.writing.compose import OutgoingAttachment
from storage.turns.cpu_threads import CpuThreads

MEGABYTE = 1_048_576
ATTACHMENT_MAX = 10 * MEGABYTE
ATTACHMENTS_MAX = 15 * MEGABYTE
PAYLOAD_MAX = 15 * MEGABYTE
DECODE_INLINE_CHARACTERS = 256 * 1024  # about a millisecond; more than this is decoded in a thread
PIECE_CHARACTERS = 16 * 1024  # a multiple of 4: the decoder keeps the interpreter for a whole piece


async def decode_attachments(
    request: SendMessage, cpu: CpuThreads, organization_id: str
) -> tuple[OutgoingAttachment, ...]:
    """Every attachment that does not decode is named; sizes are checked after. Refusal 400 or 413."""
    if sum(len(one.content) for one in request.attachments) > DECODE_INLINE_CHARACTERS:
        return await cpu.run(organization_id, lambda: _decode_all(request))
    return _decode_all(request)


def decode(text: str, piece: int = PIECE_CHARACTERS) -> bytes:
    """The bytes that base64 stands for, no padding or other character where none belongs. ValueError."""
    if len(text) % 4:
        raise ValueError("no whole groups of four characters")
    decoded = [pybase64.b64decode(text[at : at + piece], validate=True) for at in range(0, len(text), piece)]
    if any(len(one) != piece // 4 * 3 for one in decoded[:-1]):
        raise ValueError("padding before the end")
    return b"".join(decoded)


def _decode_all(request: SendMessage) -> tuple[OutgoingAttachment, ...]:
    faults: list[Fault] = []
    decoded: list[OutgoingAttachment] = []
    for index, one in enumerate(request.attachments):
        try:
            content = decode(one.content)
        except ValueError:  # binascii.Error is one
            message = "Expected standard base64 (RFC 4648 §4) without line breaks"
            faults.append(Fault(f"attachments[{index}].content", "invalid_base64", message))
            continue
        decoded.append(OutgoingAttachment(one.filename, one.contentType, content))
    if faults:
        raise invalid(faults)
    _check_sizes(request, decoded)
    return tuple(decoded)


def _check_sizes(request: SendMessage, decoded: list[OutgoingAttachment]) -> None:
    for index, one in enumerate(decoded):
        size = len(one.content)
        if size > ATTACHMENT_MAX:
            details = {"index": index, "filename": one.filename, "sizeBytes": size, "limit": ATTACHMENT_MAX}
            raise Refusal("attachment_too_large", details=details)
    check_total([len(one.content) for one in decoded], request.text, request.html)


def check_total(sizes: Sequence[int], *words: str | None) -> None:
    """Refusal 413 where attachments of these sizes, or they and the words of a message, are too much for one."""
    total = sum(sizes)
    if total > ATTACHMENTS_MAX:
        raise Refusal("attachment_too_large", details={"sizeBytes": total, "limit": ATTACHMENTS_MAX})
    whole = total + sum(len(text.encode()) for text in words if text)
    if whole > PAYLOAD_MAX:
        raise Refusal("payload_too_large", details={"sizeBytes": whole, "limit": PAYLOAD_MAX})
