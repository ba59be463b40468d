"""Attachments of a send: base64 → bytes, within the limits of decisions.md ("Errors, limits")."""

import base64
import binascii

from controlplane.errors import ApiError, Fault, invalid
from controlplane.schemas import SendMessage
from maild.message.compose import OutgoingAttachment

MEGABYTE = 1_048_576
ATTACHMENT_MAX = 10 * MEGABYTE
ATTACHMENTS_MAX = 15 * MEGABYTE
PAYLOAD_MAX = 15 * MEGABYTE


def decode_attachments(request: SendMessage) -> tuple[OutgoingAttachment, ...]:
    """Every attachment that does not decode is named; sizes are checked after."""
    faults: list[Fault] = []
    decoded: list[OutgoingAttachment] = []
    for index, one in enumerate(request.attachments):
        try:
            content = base64.b64decode(one.content, validate=True)
        except (binascii.Error, ValueError):
            message = "Expected standard base64 (RFC 4648 §4) without line breaks"
            faults.append(Fault(f"attachments[{index}].content", "invalid_base64", message))
            continue
        decoded.append(OutgoingAttachment(one.filename, one.contentType.lower(), content))
    if faults:
        raise invalid(faults)
    _check_sizes(request, decoded)
    return tuple(decoded)


def _check_sizes(request: SendMessage, decoded: list[OutgoingAttachment]) -> None:
    for index, one in enumerate(decoded):
        size = len(one.content)
        if size > ATTACHMENT_MAX:
            details = {"index": index, "filename": one.filename, "sizeBytes": size, "limit": ATTACHMENT_MAX}
            raise ApiError("attachment_too_large", details=details)
    total = sum(len(one.content) for one in decoded)
    if total > ATTACHMENTS_MAX:
        raise ApiError("attachment_too_large", details={"sizeBytes": total, "limit": ATTACHMENTS_MAX})
    words = sum(len(text.encode()) for text in (request.text, request.html) if text)
    if total + words > PAYLOAD_MAX:
        raise ApiError("payload_too_large")
