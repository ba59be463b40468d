"""A message that its author's program composed (SMTP submission): what is asked of it, and what it asks for.

It is sent as it stands, so that signatures, encryption, invitations and pictures survive; the fields that the API shows
are read of it, as of any mail. Who gets it, the envelope says: a recipient that neither To nor Cc names is a blind one,
and whom these name beside the envelope gets nothing.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from controlplane.access.principal import Principal
from controlplane.contract.mail.messages import SendMessage
from controlplane.contract.refusals import Fault, Refusal, invalid
from controlplane.sending.submission import Retry, Submission, WrittenMail
from controlplane.sending.writing.attachments import ATTACHMENT_MAX, ATTACHMENTS_MAX, PAYLOAD_MAX
from maild.message.digest import Digest
from maild.message.fields.address import normalize
from maild.message.fields.author import AMBIGUOUS_AUTHOR, NO_AUTHOR
from maild.message.model import Mailbox, ParsedMessage
from maild.message.writing.outgoing_warnings import AuthoredWords
from storage.mail.blobs import Stored

PARTS_MAX = 100  # rows of one message; a newsletter has some ten pictures
ENDPOINT = "SMTP submission"


@dataclass(frozen=True, slots=True)
class MailSubmission:
    """What a door hands over of such a message. `address`: the sending inbox's, as a comparison key; `recipients`: of
    the envelope, checked, domains as A-labels; `message_id`: the author's own, None where the server gave one;
    `own_hash`: of what the author wrote; `token`: see WrittenMail."""

    inbox_id: str
    address: str
    recipients: Sequence[str]
    stored: Stored
    message_id: str | None
    own_hash: bytes
    token: str


def submission_of(principal: Principal, mail: MailSubmission, found: Digest) -> Submission:
    """The wish to send it; Refusal for what may not be sent so."""
    for check in (_has_the_inbox_as_author, _is_read_whole, _has_few_parts, _has_small_parts):
        check(mail, found)
    return Submission(
        principal,
        _request(mail, found.parsed),
        _retry(principal, mail),
        written=WrittenMail(mail.stored, found, mail.token),
        words=_words(found),
    )


# What is asked of it -----------------------------------------------------------------------------

_NOBODY = {
    NO_AUTHOR: "The message has no From. ",
    AMBIGUOUS_AUTHOR: "Some readers take the name in From for an address. ",
}


def _has_the_inbox_as_author(mail: MailSubmission, found: Digest) -> None:
    """One From field with one mailbox, which all readers see alike (`maild.message.fields.author`)."""
    author = found.parsed.from_
    if author is None or normalize(author.address) != mail.address:
        why = next((words for defect, words in _NOBODY.items() if defect in found.parsed.defects), "")
        raise Refusal(
            "inbox_access_denied",
            f"{why}From must be one mailbox, {mail.address}: the inbox that you log in as.",
        )


def _is_read_whole(mail: MailSubmission, found: Digest) -> None:
    """What is not read is neither shown nor counted."""
    if {"too-many-parts", "too-deep", "too-many-fields", "header-too-large"} & set(found.parsed.defects):
        raise invalid([Fault("", "too_complex", "The message has too many parts, or they lie too deep")])


def _has_few_parts(mail: MailSubmission, found: Digest) -> None:
    if len(found.parsed.attachments) > PARTS_MAX:
        raise invalid([Fault("", "too_many", f"Send at most {PARTS_MAX} attachments and pictures")])


def _has_small_parts(mail: MailSubmission, found: Digest) -> None:
    parsed = found.parsed
    sizes = [one.size_bytes for one in parsed.attachments]
    if any(size > ATTACHMENT_MAX for size in sizes) or sum(sizes) > ATTACHMENTS_MAX:
        raise Refusal("attachment_too_large")
    if sum(sizes) + sum(one.length for one in (*parsed.text, *parsed.html)) > PAYLOAD_MAX:
        raise Refusal("payload_too_large")


# The request -------------------------------------------------------------------------------------


def _request(mail: MailSubmission, parsed: ParsedMessage) -> SendMessage:
    to, cc = _keys(parsed.to), _keys(parsed.cc)
    recipients = list({normalize(one): one for one in reversed(mail.recipients)}.values())[::-1]
    return SendMessage.model_construct(
        inboxId=mail.inbox_id,
        to=[one for one in recipients if normalize(one) in to],
        cc=[one for one in recipients if normalize(one) in cc - to],
        bcc=[one for one in recipients if normalize(one) not in to | cc],
        subject=parsed.subject,
    )


def _words(found: Digest) -> AuthoredWords:
    """What a mail program quotes can't be told from what its user wrote for certain."""
    text = found.text_body if found.text_body is not None else found.search_words
    return AuthoredWords(found.parsed.subject, text, None, has_files=bool(found.parsed.attachments))


def _keys(mailboxes: Sequence[Mailbox]) -> frozenset[str]:
    return frozenset(normalize(one.address) for one in mailboxes)


def _retry(principal: Principal, mail: MailSubmission) -> Retry | None:
    """Submitted again: the same Message-ID for the same recipients. Programs split long lists of recipients, so others
    may have the same message; not another message under its name."""
    if mail.message_id is None:
        return None
    family = f"{mail.inbox_id} {mail.message_id} "
    everyone = "\n".join(sorted({normalize(one) for one in mail.recipients}))
    key = family + hashlib.sha256(everyone.encode("utf-8", "surrogatepass")).hexdigest()
    fingerprint = hashlib.sha256(principal.mode.encode() + b"\n" + mail.own_hash).digest()
    return Retry(ENDPOINT, key, fingerprint, family)
