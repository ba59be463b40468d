"""What mail systems say about mail of ours: delivery reports and complaints. Pure, tolerant, bounded.

`read_report` takes any message and never raises. It says what is written, and nothing about whether it is
true: who may report what is decided by `maild/inbound/reading/reports.py`, what a status means by `bounces.py`.

    complaints          RFC 5965 in any multipart (it wants `multipart/report`); XARF (`xarf.py`); Hotmail's, which is
                        the message that came back and its name
    delivery reports    RFC 3464 in any multipart (RFC 6522 wants `multipart/report`; scanners and lists wrap it), also
                        in UTF-8 (RFC 6533), under a type of the mailer's own, or in a message that is all there is:
                        `delivery_status.py`
                        qmail's text, Exim's header, and any other words: `worded_reports.py`
                        a receipt of the Sieve action `reject` (RFC 5429)

What a text tells beside a form: `explanations.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from maild.message.characters.decode import IDENTITY, decode_slice
from maild.message.characters.guessing import Guesser
from maild.message.fields.auto_reply import is_auto_reply, is_delivery_report
from maild.message.fields.headers import Headers, find_body, read_headers
from maild.message.fields.parameters import media_type, read_value
from maild.message.fields.thread_headers import base_subject, is_forward
from maild.message.model import ParsedMessage, Slice
from maild.message.octets import RawMessage
from maild.message.parsing.parse import parse, read_text
from maild.message.parsing.text import html_to_text
from maild.message.reports.bounces import is_unspecific, says_something
from maild.message.reports.delivery_status import read_status
from maild.message.reports.explanations import reasons_in, with_origins, with_steps
from maild.message.reports.fates import (
    MAX_FATES,
    MAX_TEXT_CHARS,
    DeliveryReport,
    Fate,
    addresses_in_values,
    failed_fate,
    ids_in_text,
    original_ids,
)
from maild.message.reports.report_words import begins_by_giving_up, says_it_gave_up
from maild.message.reports.worded_reports import read_any_words, read_exim, read_qmail
from maild.message.reports.xarf import XARF_MAX, read_xarf

MAX_STATUS_BYTES: Final = 256 * 1024
MAX_ORIGINAL_BYTES: Final = 64 * 1024  # of the returned message, for its header
MAX_HTML_CHARS: Final = 16 * 1024
_MAX_PARTS = 10
_TEXT_PARTS = 3  # a scanner's or a list's own words may stand before the report

_STATUS_TYPES = ("message/delivery-status", "message/global-delivery-status")
_FEEDBACK_TYPE = "message/feedback-report"
_JSON_TYPE = "application/json"
_ORIGINAL_TYPES = (
    "message/rfc822", "text/rfc822-headers", "message/rfc822-headers", "message/global",
    "message/global-headers",
)  # fmt: skip
_HOTMAIL_FIELD = "x-hmxmroriginalrecipient"
_RECEIPT_TYPE = "message/disposition-notification"
_REJECTING: Final = ("reject", "refused")
_REJECTED: Final = "5.0.0"  # RFC 5429 §2.2: as final as the 5yz reply in whose place it is
_MAIL_SYSTEMS = (
    "mailer-daemon",
    "postmaster",
    "post_master",
    "mail delivery",
    "mdaemon",
    "system administrator",
    "mail administrator",
)


@dataclass(frozen=True, slots=True)
class Complaint:
    """`addresses`: who complained, if the report says; `senders`: envelope senders of the message. Both are
    comparison keys."""

    feedback_type: str
    addresses: tuple[str, ...]
    senders: tuple[str, ...]
    message_ids: tuple[str, ...]


Report = DeliveryReport | Complaint


def read_report(raw: RawMessage, parsed: ParsedMessage, guesser: Guesser | None = None) -> Report | None:
    """The report that this message is, or None when it is another kind of mail."""
    guesser = guesser or Guesser()
    found = _read_report(raw, parsed, guesser)
    has_form = found is not None and not (isinstance(found, DeliveryReport) and found.is_worded)
    wrapped = None if has_form else _wrapped_report(raw, parsed)
    return (_read_report(wrapped, parse(wrapped, guesser), guesser) if wrapped is not None else None) or found


def _wrapped_report(raw: RawMessage, parsed: ParsedMessage) -> bytes | None:
    """A report that a scanner has put into a message of its own, with the one field that tells its parts. What came
    back is never a report: we send none."""
    if not _top_type(parsed.headers).startswith("multipart/"):
        return None
    for part in _parts(parsed, ("message/rfc822",))[:1]:
        # RFC 2046 §5.2.1 allows no other; and what is encoded was not counted (`digest_at_once`).
        if part.encoding != IDENTITY:
            return None
        inner = _content(raw, part, MAX_STATUS_BYTES)
        fields_end, body = find_body(inner, 0, len(inner))
        headers = read_headers(inner[: min(fields_end, MAX_ORIGINAL_BYTES)])
        if _top_type(headers) == "multipart/report":
            told = (headers.octets("content-type") or "").encode("latin-1")
            return b"Content-Type: " + told + b"\r\n\r\n" + inner[body:]
    return None


def _top_type(headers: Headers) -> str:
    return media_type(read_value(headers.octets("content-type") or "")[0])


def _read_report(raw: RawMessage, parsed: ParsedMessage, guesser: Guesser) -> Report | None:
    top = _top_type(parsed.headers)
    complaint = None
    if top.startswith("multipart/"):
        complaint = _read_complaint(raw, parsed)
    if complaint is None and top.startswith(("multipart/", "message/rfc822")):
        complaint = _read_hotmail(raw, parsed)
    if complaint is not None:
        return complaint
    text = _words(raw, parsed, guesser)
    told = _read_delivery_report(raw, parsed, text) if top.startswith("multipart/") else None
    # RFC 3464 §2.3.3 requires an action; Haraka writes none where it tells of some recipients.
    if told is not None and any(fate.action for fate in told.fates):
        return told
    failed = parsed.headers.get("x-failed-recipients")
    in_form = read_qmail(text) or (read_exim(failed, text) if failed else None)
    if in_form is not None and in_form.fates:
        return in_form
    return _read_words(raw, parsed, text) or in_form or told


def _words(raw: RawMessage, parsed: ParsedMessage, guesser: Guesser) -> str:
    """What the message says to people, or its beginning."""
    text, _ = read_text(raw, parsed.text[:_TEXT_PARTS], MAX_TEXT_CHARS, guesser)
    if text.strip() or not parsed.html:
        return text
    html, _ = read_text(raw, parsed.html[:1], MAX_HTML_CHARS, guesser)
    return html_to_text(html)


def _read_words(raw: RawMessage, parsed: ParsedMessage, text: str) -> DeliveryReport | None:
    """A report in any words. What a person's mailbox answers says what that person wants it to, a receipt tells of a
    mailbox that is there, and who answers a report, or hands it on, has its subject behind a prefix."""
    receipts = _parts(parsed, (_RECEIPT_TYPE,))
    if receipts:
        return _read_rejection(read_headers(_content(raw, receipts[0], MAX_STATUS_BYTES)), text)
    base, is_reply = base_subject(parsed.subject)
    if (is_reply or is_forward(parsed.subject)) and begins_by_giving_up(base):
        return None
    author = (parsed.headers.get("from") or "").lower().strip()
    is_by_system = author.endswith("<>") or any(name in author for name in _MAIL_SYSTEMS)
    is_answer = is_auto_reply(parsed.headers, parsed.subject, "")
    if is_answer and not is_by_system:
        return None
    is_by_system = is_by_system or says_it_gave_up(parsed.subject)
    return read_any_words(text, parsed.subject, is_by_system=is_by_system, is_answer=is_answer)


def _read_rejection(receipt: Headers, text: str) -> DeliveryReport | None:
    """RFC 5429 §2.2.1: a message that was rejected after it was taken is one that was deleted unread."""
    mode, _, disposition = (receipt.get("disposition") or "").lower().replace(" ", "").partition(";")
    if not mode.startswith("automatic-action") or not disposition.startswith("deleted"):
        return None
    who = addresses_in_values([(receipt.get("final-recipient") or "").rpartition(";")[2]])
    words = text[:MAX_HTML_CHARS].lower()
    if not who or not any(one in words for one in _REJECTING):
        return None
    fate = failed_fate(who, text.strip())
    return DeliveryReport((replace(fate, enhanced=fate.enhanced or _REJECTED),), ())


# Parts --------------------------------------------------------------------------------------------


def _read_delivery_report(raw: RawMessage, parsed: ParsedMessage, text: str) -> DeliveryReport | None:
    parts = _parts(parsed, _STATUS_TYPES)
    # GNU Mailutils writes the receipt of a rejection as a delivery status.
    for part in parts[:1]:
        rejection = _read_rejection(read_headers(_content(raw, part, MAX_STATUS_BYTES)), text)
        if rejection is not None:
            return replace(rejection, message_ids=original_ids(_originals(raw, parsed)))
    of_other_type = [] if parts else _machine_readable(parsed)
    fates = [
        fate for part in parts or of_other_type for fate in read_status(_content(raw, part, MAX_STATUS_BYTES))
    ]
    if not parts and not fates:
        return None
    told = with_steps(with_origins(_with_reasons(fates[:MAX_FATES], text), text), text)
    return DeliveryReport(tuple(told), original_ids(_originals(raw, parsed)))


def _machine_readable(parsed: ParsedMessage) -> list[Slice]:
    """RFC 6522 §3: the part that a report of this kind has for programs, where its type is a mailer's own
    (`message/xdelivery-status`)."""
    if not is_delivery_report(parsed.headers):
        return []
    return [one.slice for one in parsed.attachments[:_MAX_PARTS] if one.content_type not in _ORIGINAL_TYPES]


def _with_reasons(fates: list[Fate], text: str) -> list[Fate]:
    """Where neither status nor diagnostic says anything, the text may say why, as Exim's does, and sendmail's of what
    happened at home (`X-Unix; 73`)."""
    mute = {
        at: _first_name(fate)
        for at, fate in enumerate(fates)
        if fate.action == "failed" and (not _is_telling(fate) or _is_wordless(fate))
    }
    by_name = any(fates[at].diagnostic for at in mute)
    names = [name for name in mute.values() if name or len(mute) == 1]
    are_told = all(_is_telling(fates[at]) for at in mute)
    reasons = reasons_in(text, names, by_name=by_name, are_told=are_told) if names else {}
    return [
        _with_reason(fate, reasons.get(mute[at], "")) if at in mute else fate for at, fate in enumerate(fates)
    ]


def _first_name(fate: Fate) -> str:
    """The empty string where it names nobody."""
    return fate.addresses[0] if fate.addresses else ""


def _is_telling(fate: Fate) -> bool:
    return (fate.enhanced is not None and not is_unspecific(fate.enhanced)) or says_something(fate.diagnostic)


def _is_wordless(fate: Fate) -> bool:
    """Does its diagnostic say nothing to a person (`X-Unix; 67`)?"""
    return not any(map(str.isalpha, fate.diagnostic))


def _with_reason(fate: Fate, words: str) -> Fate:
    if not words or (not _is_wordless(fate) and not says_something(words)):
        return fate
    told = failed_fate(fate.addresses, words)
    enhanced = fate.enhanced if _is_telling(fate) else told.enhanced or fate.enhanced
    return replace(fate, code=told.code or fate.code, enhanced=enhanced, diagnostic=told.diagnostic)


def _read_complaint(raw: RawMessage, parsed: ParsedMessage) -> Complaint | None:
    parts = _parts(parsed, (_FEEDBACK_TYPE,))
    if not parts:
        return None
    fields = read_headers(_content(raw, parts[0], MAX_STATUS_BYTES))
    feedback_type = (fields.get("feedback-type") or "").split(";")[0].strip().lower()[:100]
    if feedback_type == "xarf":
        return _read_xarf(raw, parsed)
    originals = _originals(raw, parsed)
    who = fields.get_all("original-rcpt-to") or fields.get_all("removal-recipient")
    named = addresses_in_values([one.rpartition(";")[2] for one in who[:MAX_FATES]])
    senders = [
        *fields.get_all("original-mail-from")[:1],
        *(one.get("return-path") or "" for one in originals),
    ]
    return Complaint(
        feedback_type=feedback_type,
        addresses=named or _hotmail_names(originals),
        senders=addresses_in_values(senders),
        message_ids=original_ids(originals),
    )


def _read_xarf(raw: RawMessage, parsed: ParsedMessage) -> Complaint | None:
    parts = _parts(parsed, (_JSON_TYPE,))[:1]
    told = read_xarf(_content(raw, parts[0], XARF_MAX)) if parts else None
    if told is None:
        return None
    originals = [_header_section(octets[:MAX_ORIGINAL_BYTES]) for octets in told.originals]
    senders = [told.sender, *(one.get("return-path") or "" for one in originals)]
    return Complaint(
        "abuse",
        addresses_in_values([told.recipient]) or _hotmail_names(originals),
        addresses_in_values(senders),
        (*ids_in_text(f"Message-ID: {told.message_id}"), *original_ids(originals)),
    )


def _read_hotmail(raw: RawMessage, parsed: ParsedMessage) -> Complaint | None:
    """Hotmail's complaint has no part that says so: its message begins with who complained, or the whole says what it
    is."""
    if _parts(parsed, _STATUS_TYPES):
        return None
    originals = _originals(raw, parsed)[:1]
    names = [name.lower() for one in originals for name, _ in one.items()]
    if _HOTMAIL_FIELD not in (names if _is_feedback(parsed.headers) else names[:1]):
        return None
    senders = [one.get("return-path") or "" for one in originals]
    return Complaint(
        "abuse", _hotmail_names(originals), addresses_in_values(senders), original_ids(originals)
    )


def _is_feedback(headers: Headers) -> bool:
    parameters = read_value(headers.octets("content-type") or "")[1]
    return parameters.get("report-type", "").lower() == "feedback-report"


def _hotmail_names(originals: list[Headers]) -> tuple[str, ...]:
    return addresses_in_values([one.get(_HOTMAIL_FIELD) or "" for one in originals])


def _parts(parsed: ParsedMessage, types: tuple[str, ...]) -> list[Slice]:
    found = (one.slice for one in parsed.attachments if one.content_type in types)
    return [part for part, _ in zip(found, range(_MAX_PARTS), strict=False)]


def _content(raw: RawMessage, part: Slice, limit: int) -> bytes:
    octets = bytes(raw[part.offset : part.offset + min(part.length, limit * 4)])
    return decode_slice(octets, part.encoding)[:limit]


def _originals(raw: RawMessage, parsed: ParsedMessage) -> list[Headers]:
    """The header sections of what came back."""
    return [
        _header_section(_content(raw, part, MAX_ORIGINAL_BYTES)) for part in _parts(parsed, _ORIGINAL_TYPES)
    ]


def _header_section(original: bytes) -> Headers:
    return read_headers(original.replace(b"\r\n", b"\n").lstrip(b"\n").partition(b"\n\n")[0])
