"""Is this mail an aggregate report about a domain, and what does it say? Pure, tolerant, bounded; never raises.

Reports are known by what they are attached as: the types of RFC 8460 §6, or a name in the form of RFC 7489 §7.2.1.1
(`receiver!domain!begin!end.xml.gz`), which RFC 8460 §5.1 has as well. Of DMARC also by the subject that §7.2.1.1 asks
for, for some reporters call the file as they like. Who wrote the mail is not asked here.
"""

from __future__ import annotations

from itertools import chain
from typing import Final

from maild.message.characters.decode import decode_slice
from maild.message.model import AttachmentPart, ParsedMessage
from maild.message.octets import RawMessage
from maild.message.reports.dmarc_report import read_dmarc_report
from maild.message.reports.domain_report import DomainReport, NoReport, domain_of
from maild.message.reports.packed_report import PACKED_MAX, unpack
from maild.message.reports.tls_report import read_tls_report

_TLS_TYPES: Final = ("application/tlsrpt+json", "application/tlsrpt+gzip")
_DMARC_ENDINGS: Final = (".xml", ".gz", ".zip")
_ENDINGS: Final = (*_DMARC_ENDINGS, ".json")
_SUBJECT: Final = "report domain:"
_MARKS = 3  # of "!" in a name
_LOOKED_AT = 50  # attachments


def find_domain_report(parsed: ParsedMessage) -> AttachmentPart | None:
    """The attachment that may be a report; the first."""
    looked_at = [part for part in parsed.attachments[:_LOOKED_AT] if part.size_bytes <= PACKED_MAX]
    by_form = (part for part in looked_at if _has_form(part))
    is_told = parsed.subject.lower().startswith(_SUBJECT)
    by_subject = (part for part in looked_at if is_told and part.filename.lower().endswith(_DMARC_ENDINGS))
    return next(chain(by_form, by_subject), None)


def _has_form(part: AttachmentPart) -> bool:
    name = part.filename.lower()
    return part.content_type in _TLS_TYPES or (name.count("!") >= _MARKS and name.endswith(_ENDINGS))


def _named(part: AttachmentPart) -> str:
    """The domain that the name of the file has, if it is of that form."""
    pieces = part.filename.split("!")
    return domain_of(pieces[1]) if len(pieces) > _MARKS else ""


def read_domain_report(raw: RawMessage, part: AttachmentPart) -> DomainReport | None:
    """For a thread: it may take some 100 ms. None when it is no report after all, or one beyond the bounds."""
    where = part.slice
    octets = decode_slice(bytes(raw[where.offset : where.offset + where.length]), where.encoding)
    try:
        document = unpack(octets).lstrip(b"\xef\xbb\xbf \t\r\n")
        if document.startswith(b"{"):
            return read_tls_report(document, _named(part))
        return read_dmarc_report(document)
    except NoReport:
        return None
