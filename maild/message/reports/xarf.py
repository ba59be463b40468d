"""A complaint as XARF (versions 1 to 3, and 4): JSON behind an ARF part that says `Feedback-Type: xarf`. Pure.

https://github.com/abusix/xarf, https://xarf.org. It is decoded into the members that tell whose mail it is about; what
it says of hosts, logins and pages is no complaint about mail.
"""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Final, NamedTuple

import msgspec

XARF_MAX: Final = 1024 * 1024
_SAMPLES_MAX = 10
_MAIL_TYPES = ("message/rfc822", "text/rfc822-headers", "message/global")
_OF_MAIL = frozenset({"spam", "bulk_messaging"})

_Text = Annotated[str, msgspec.Meta(max_length=1000)]


class _XarfSample(msgspec.Struct, rename="pascal"):
    payload: str = ""
    content_type: str = ""
    base64_encoded: bool = msgspec.field(default=False, name="Base64Encoded")


class _XarfActivity(msgspec.Struct, rename="pascal"):
    report_type: _Text = ""
    smtp_mail_from_address: _Text | None = None
    smtp_rcpt_to_address: _Text | None = None
    samples: list[_XarfSample] | None = None


class _XarfEvidence(msgspec.Struct):
    content_type: str = ""
    payload: str = ""


class _XarfDocument(msgspec.Struct):
    """Version 4; `report` is all of the older ones."""

    report: _XarfActivity | None = msgspec.field(default=None, name="Report")
    type: _Text = ""
    smtp_from: _Text | None = None
    smtp_to: _Text | None = None
    message_id: _Text | None = None
    evidence: list[_XarfEvidence] | None = None


class XarfReport(NamedTuple):
    """`recipient`, `sender`: of the envelope. `originals`: the mail, as octets."""

    recipient: str
    sender: str
    message_id: str
    originals: list[bytes]


_DECODER: Final = msgspec.json.Decoder(_XarfDocument)


def read_xarf(octets: bytes) -> XarfReport | None:
    """None where it is none, or none about mail."""
    try:
        document = _DECODER.decode(octets)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    report = document.report
    if (document.type if report is None else report.report_type).lower() not in _OF_MAIL:
        return None
    if report is None:
        evidence = (document.evidence or [])[:_SAMPLES_MAX]
        mails = _mails([(one.content_type, one.payload, True) for one in evidence])
        return XarfReport(document.smtp_to or "", document.smtp_from or "", document.message_id or "", mails)
    samples = (report.samples or [])[:_SAMPLES_MAX]
    mails = _mails([(one.content_type, one.payload, one.base64_encoded) for one in samples])
    return XarfReport(report.smtp_rcpt_to_address or "", report.smtp_mail_from_address or "", "", mails)


def _mails(samples: list[tuple[str, str, bool]]) -> list[bytes]:
    mails = [one for one in samples if one[0].lower().partition(";")[0].strip() in _MAIL_TYPES]
    return [_octets(payload, is_base64) for _, payload, is_base64 in mails]


def _octets(payload: str, is_base64: bool) -> bytes:
    if not is_base64:
        return payload.encode("utf-8", "replace")
    try:
        return base64.b64decode(payload)
    except (binascii.Error, ValueError):  # who says that it is, and writes it as it came
        return payload.encode("utf-8", "replace")
