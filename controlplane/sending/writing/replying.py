"""What an answer becomes: whom it goes to, under which subject, with which words below its own.

It stands on what it answers as that is when it is asked for. What it was found to be is sent by the pipeline, whose
guards ask once more, in the transaction that stores it, whether these may be written to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import msgspec

from controlplane.access.principal import Principal
from controlplane.contract.mail.messages import SendMessage
from controlplane.contract.refusals import Fault, Refusal, invalid
from controlplane.contract.sending.replies import OVERRIDES, ForwardMessage, ReplyMessage
from controlplane.sending.admitting.participants import (
    PARTICIPANTS,
    REPLY_ONLY,
    answerable,
    correspondence,
    not_allowed,
)
from controlplane.sending.submission import NO_SUBJECT
from controlplane.sending.writing.html_shape import is_too_complex
from maild.message.fields.address import normalize
from maild.message.fields.thread_headers import forward_subject, reply_subject
from maild.message.writing import quoting
from maild.message.writing.quoting import Original
from maild.message.writing.reply_recipients import (
    RECIPIENTS_MAX,
    Dropped,
    ReplyRecipients,
    TooManyRecipients,
    resolve,
)
from storage.agents import policies
from storage.engine.tx import Tx
from storage.mail import inboxes
from storage.records import InboxRow, MessageRow, load

# What never left, or is to leave yet, can't be answered.
UNANSWERABLE = frozenset(("held", "scheduled", "cancelled", "failed"))
SENDING = "messages:send"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to `parent`. `authority`: see Submission."""

    parent: MessageRow
    recipients: ReplyRecipients
    authority: str | None

    @property
    def resolved(self) -> bytes:
        """How the recipients were found, as the API shows it: JSON."""
        dropped = [one._asdict() for one in self.recipients.dropped]
        return msgspec.json.encode({"source": self.recipients.source, "dropped": dropped})


def require_authority(principal: Principal, request: ReplyMessage) -> None:
    """Refusal `insufficient_scope` where a key that may only answer says whom to, or under which header; or asks for a
    draft that quotes, which is shown to it with the words of mail that it may not read."""
    if any(getattr(request, name) for name in OVERRIDES):
        principal.require(SENDING)
    if request.asDraft and request.quote != "none" and not principal.reads_mail:
        principal.require("messages:read")


def answer(tx: Tx, principal: Principal, parent: MessageRow, request: ReplyMessage) -> Answer:
    """Whom the answer goes to; Refusal where there is nobody, or the answer may not be given."""
    inbox = inboxes.get_active(tx, principal.organization_id, parent.inbox_id)
    if inbox is None:
        raise Refusal("inbox_not_found")
    if parent.status in UNANSWERABLE:
        raise Refusal(
            "no_reply_target", f"A message that is '{parent.status}' can't be answered.", {"dropped": []}
        )
    authority = _authority(principal)
    if request.to is not None:
        found = ReplyRecipients(request.to, (), "given", ())
    elif parent.direction == "inbound" and not parent.envelope_from:
        # RFC 3834 §2: what has no return path wants no answer, least of all a program's.
        raise Refusal("no_reply_target", "It came without a return path, as reports do.", {"dropped": []})
    else:
        found = _resolved(tx, principal, inbox, parent, request, authority)
    return Answer(parent, _with_more(found, request), authority)


def to_nobody(principal: Principal, parent: MessageRow) -> Answer:
    """The answer to it, as far as one is known for which nobody was found."""
    return Answer(parent, ReplyRecipients((), (), "from", ()), _authority(principal))


def _authority(principal: Principal) -> str | None:
    return None if principal.holds(SENDING) else REPLY_ONLY


def _resolved(
    tx: Tx,
    principal: Principal,
    inbox: InboxRow,
    parent: MessageRow,
    request: ReplyMessage,
    authority: str | None,
) -> ReplyRecipients:
    said = correspondence(parent, is_inbound=parent.direction == "inbound")
    if parent.mailing_list is not None:
        said = said._replace(list_post=load(parent.mailing_list)["post"])
    levels = policies.levels(tx, principal.organization_id, inbox.id)
    is_confined = authority == REPLY_ONLY or PARTICIPANTS in levels.recipients
    allowed = None
    if is_confined:
        asked = map(normalize, chain(said.authors, said.reply_to, said.to, said.cc))
        allowed = answerable(tx, principal.organization_id, inbox.id, parent.thread_id, principal.mode, asked)
    try:
        found = resolve(
            said,
            inbox.address,
            reply_all=request.replyAll,
            honors_foreign=not is_confined and levels.effective.outbound.reply_to == "honor",
            may_answer=None if allowed is None else allowed.__contains__,
        )
    except TooManyRecipients as error:
        raise _too_many(error.field) from None
    if not (found.to or found.cc):
        raise _nobody(found.dropped)
    return found


def _nobody(dropped: Sequence[Dropped]) -> Refusal:
    for one in dropped:
        if one.reason == "not_allowed":
            return not_allowed(one.address)
    return Refusal("no_reply_target", details={"dropped": [one._asdict() for one in dropped]})


def _with_more(found: ReplyRecipients, request: ReplyMessage) -> ReplyRecipients:
    cc = [*found.cc, *request.cc]
    if len(cc) > RECIPIENTS_MAX:
        raise _too_many("cc")
    return found._replace(cc=cc)


def _too_many(field: str) -> Refusal:
    return invalid(
        [Fault(field, "too_many", f"The answer would have more than {RECIPIENTS_MAX} recipients here")]
    )


def reply_request(found: Answer, request: ReplyMessage, original: Original | None) -> SendMessage:
    """The send that the answer is. `original`: what it quotes."""
    parent, recipients = found.parent, found.recipients
    text, html = request.text, request.html
    if original is not None:
        text, html = _quoting(text, html, original)
    return SendMessage.model_construct(
        inboxId=parent.inbox_id,
        to=recipients.to,
        cc=recipients.cc,
        bcc=request.bcc,
        subject=reply_subject(parent.subject) if request.subject is None else request.subject,
        text=text,
        html=html,
        inReplyTo=parent.id,
        sendAt=request.sendAt,
        attachments=request.attachments,
        headers=request.headers,
        ifLastMessageId=request.ifLastMessageId,
        claimId=request.claimId,
        completeClaim=request.completeClaim,
    )


def _quoting(text: str | None, html: str | None, original: Original) -> tuple[str | None, str | None]:
    if html is not None:
        quoted = quoting.below(html, quoting.quoted_html(original), "\n")
        if is_too_complex(quoted):
            quoted = quoting.below(html, quoting.quoted_html(original, as_text=True), "\n")
        html = quoted
    if text is not None or html is None:
        text = quoting.below(text, quoting.quoted_text(original), "\n\n") or text
    return text, html


def forward_request(parent: MessageRow, request: ForwardMessage, original: Original | None) -> SendMessage:
    """The send that passes the message on. `original`: None where it goes as a file."""
    text, html = request.text, request.html
    if original is not None:
        text, html = _forwarding(text, html, original)
    subject = "" if parent.subject == NO_SUBJECT else parent.subject
    return SendMessage.model_construct(
        inboxId=parent.inbox_id,
        to=request.to,
        cc=request.cc,
        bcc=request.bcc,
        subject=forward_subject(subject),
        text=text,
        html=html,
    )


def _forwarding(text: str | None, html: str | None, original: Original) -> tuple[str | None, str | None]:
    has_html = html is not None or original.html is not None
    note = html if html is not None else quoting.as_html(text or "")
    passed_on = quoting.below(note, quoting.forwarded_html(original), "\n") if has_html else None
    if passed_on is not None and is_too_complex(passed_on):
        passed_on = quoting.below(note, quoting.forwarded_html(original._replace(html=None)), "\n")
    if text is None and html is not None:
        return None, passed_on  # its text is made of it
    return quoting.below(text, quoting.forwarded_text(original), "\n\n"), passed_on
