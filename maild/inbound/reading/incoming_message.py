"""A received message as values: what is the same for every inbox it reaches, its row, what finds its thread. Pure."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from maild.message.digest import Digest
from maild.message.envelope_sender import message_id_of
from maild.message.fields.address import normalize, with_ascii_domain
from maild.message.fields.auto_reply import answers_another, is_auto_reply, is_delivery_report
from maild.message.fields.idn import unicode_domain
from maild.message.fields.lists import read_list
from maild.message.fields.thread_headers import base_subject, named_messages
from maild.message.model import Mailbox
from storage.mail.arrivals import ConversationClues
from storage.mail.inboxes import RecipientInbox
from storage.records import MessageRow, dump

PARTICIPANTS = 50


class IncomingMessage(NamedTuple):
    """One message on its way to one or more inboxes: all that is the same for each of them.

    `is_report`: a mail system wrote it about mail of ours; `reported_ids`: the Message-IDs that it quotes. `is_spam`:
    its author's domain disowns it, or it has no one author. `is_local`: it never left the host. `org_domains`,
    `is_one_click_signed`: see SenderVerdict."""

    digest: Digest
    blob_id: str
    size_bytes: int
    from_address: str
    from_name: str | None
    to: tuple[str, ...]
    cc: tuple[str, ...]
    reply_to: str | None
    envelope_from: str
    auth: Mapping[str, str | None]
    mode: str = "live"
    is_report: bool = False
    reported_ids: tuple[str, ...] = ()
    is_spam: bool = False
    is_local: bool = False
    org_domains: Mapping[str, str] = {}
    is_one_click_signed: bool = False


def incoming_message(
    found: Digest, blob_id: str, size_bytes: int, envelope_from: str, auth: Mapping[str, str | None]
) -> IncomingMessage:
    """`envelope_from`: "" for the null sender. `auth`: as the API shows it."""
    parsed = found.parsed
    # Without one unambiguous author the envelope sender stands in (it is checked syntax, not a claim).
    return IncomingMessage(
        digest=found,
        blob_id=blob_id,
        size_bytes=size_bytes,
        from_address=parsed.from_.address if parsed.from_ else with_ascii_domain(envelope_from),
        from_name=parsed.from_.name if parsed.from_ else None,
        to=tuple(one.address for one in parsed.to),
        cc=tuple(one.address for one in parsed.cc),
        reply_to=parsed.reply_to[0].address if parsed.reply_to else None,
        envelope_from=envelope_from,
        auth=auth,
    )


def references(incoming: IncomingMessage) -> list[str]:
    """The Message-IDs that may name a known thread, the likeliest first."""
    parsed = incoming.digest.parsed
    return named_messages(parsed.answered, parsed.references)


def clues_of(incoming: IncomingMessage, inbox_address: str, delivered_to: str) -> ConversationClues:
    """What its conversation in that inbox is found by. `delivered_to`: the address that it came to; many reports, and
    some programs that answer, name what they tell of by this alone."""
    told_of = message_id_of(delivered_to)
    base, is_reply = base_subject(incoming.digest.parsed.subject)
    return ConversationClues(
        base_subject=base,
        is_reply=is_reply,
        correspondent=_correspondent(incoming, inbox_address),
        references=[*references(incoming), *incoming.reported_ids, *([told_of] if told_of else [])],
        participants=participants(incoming),
        # Whoever got another copy knows its id; what is disowned is none.
        message_id=None if incoming.is_spam else incoming.digest.parsed.message_id,
        root=None if incoming.is_spam else _root(incoming),
    )


def _root(incoming: IncomingMessage) -> str | None:
    """RFC 5322 §3.6.4: where a mail has no References, they would begin with its In-Reply-To."""
    parsed = incoming.digest.parsed
    return next(iter([*parsed.references[:1], *parsed.answered[:1]]), None)


def _correspondent(incoming: IncomingMessage, inbox_address: str) -> str:
    """Subjects are easily guessed. Anybody writes what its domain disowns, or an envelope sender where no author is;
    and the inbox itself takes part in all its conversations."""
    if incoming.is_spam or not incoming.from_address:
        return ""
    key = normalize(incoming.from_address)
    return "" if key == normalize(inbox_address) else key


def is_post_of(incoming: IncomingMessage, inbox_address: str) -> bool:
    """Does a mailing list (RFC 2369 §3.4, RFC 2919) show this inbox as the author? Those that write From themselves,
    for its domain's DMARC policy, name the author in Reply-To."""
    parsed = incoming.digest.parsed
    by_list = read_list(parsed.headers)
    if by_list is None:
        return False
    shown = [incoming.from_address]
    if by_list.post is not None and normalize(by_list.post) == normalize(incoming.from_address):
        shown = [one.address for one in parsed.reply_to]
    return [normalize(one) for one in shown] == [normalize(inbox_address)]


def participants(incoming: IncomingMessage) -> list[str]:
    """Comparison keys of author and visible recipients, each once, PARTICIPANTS at most. An envelope sender of ours is
    nobody."""
    everyone = [incoming.from_address, *incoming.to, *incoming.cc]
    people = [one for one in everyone if one and message_id_of(one) is None]
    return list(dict.fromkeys(map(normalize, people)))[:PARTICIPANTS]


def message_row(
    incoming: IncomingMessage, box: RecipientInbox, address: str, message_id: str, trace: bytes, now_ms: int
) -> MessageRow:
    """The row of one inbox's copy, in no thread yet. `address`: that it came to; `trace`: the header fields in front of
    the stored bytes; `now_ms`: when it came."""
    found, parsed = incoming.digest, incoming.digest.parsed
    by_list = read_list(parsed.headers)
    if by_list is not None and not (incoming.is_local or incoming.is_one_click_signed):  # RFC 8058 §4
        by_list = by_list._replace(oneClick=False)
    return MessageRow(
        id=message_id,
        organization_id=box.organization_id,
        inbox_id=box.inbox_id,
        thread_id="",
        direction="inbound",
        mode=incoming.mode,
        status="received",
        from_address=incoming.from_address,
        from_name=incoming.from_name,
        to_addresses=dump(incoming.to),
        cc_addresses=dump(incoming.cc),
        bcc_addresses="[]",
        reply_to=incoming.reply_to,
        subject=parsed.subject,
        snippet=found.snippet,
        text_body=found.text_body,
        text_slices=dump(found.text_slices) if found.text_slices else None,
        html_slices=dump(found.html_slices) if found.html_slices else None,
        extracted_text=found.extracted_text,
        message_id_header=parsed.message_id,
        in_reply_to=parsed.in_reply_to,
        reference_ids=dump(parsed.references),
        labels='["unread"]',
        is_auto_reply=int(_is_auto_reply(incoming)),
        is_spam=int(incoming.is_spam),
        auth=dump(incoming.auth),
        trace=trace,
        blob_id=incoming.blob_id,
        size_bytes=incoming.size_bytes,
        header_length=parsed.header_length,
        envelope_from=incoming.envelope_from,
        bounce_token=None,
        failure_reason=None,
        scheduled_at=None,
        sent_at=None,
        created_at=now_ms,
        from_domain_shown=_shown_domain(incoming.from_address),
        reply_to_addresses=_addresses(parsed.reply_to) if len(parsed.reply_to) > 1 else None,
        authors=_addresses(parsed.authors) if parsed.from_ is None else None,
        org_domains=dump(incoming.org_domains) if incoming.org_domains else None,
        delivered_to=with_ascii_domain(address),
        mailing_list=dump(by_list._asdict()) if by_list else None,
    )


def _addresses(mailboxes: Iterable[Mailbox]) -> str:
    return dump([one.address for one in mailboxes])


def _shown_domain(address: str) -> str | None:
    domain = address.rpartition("@")[2].lower()
    shown = unicode_domain(domain)
    return shown if shown != domain else None


def _is_auto_reply(incoming: IncomingMessage) -> bool:
    parsed = incoming.digest.parsed
    if parsed.is_auto_reply or incoming.is_report or is_delivery_report(parsed.headers):
        return True
    # Programs that answer have no return path (RFC 3834 §3.3), and people have one; then less will do.
    return not incoming.envelope_from and (
        answers_another(parsed.headers) or is_auto_reply(parsed.headers, parsed.subject, "")
    )
