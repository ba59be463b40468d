"""Lists of messages in words: a line of the server's for each, and below, between fences, what their authors wrote.

The lines of both lists are numbered, so that no author's words stand among ours.
"""

from collections.abc import Sequence

import msgspec

from controlplane.mcp.safe_facts import domain
from maild.message.context import fences
from maild.message.context.thread_context import one_line
from maild.message.context.tokens import UNIT

_SENDER, _SUBJECT, _SNIPPET, _LABELS = (tokens * UNIT for tokens in (30, 30, 60, 20))


class VerifiedSender(msgspec.Struct, rename="camel"):
    """Who the sender is proven to be."""

    verified_domain: str | None = None


class MailAttachment(msgspec.Struct):
    """That there is one."""

    id: str


class ListedMail(msgspec.Struct, rename="camel"):
    """A message of a list, as far as a line tells of it."""

    id: str
    direction: str
    from_address: str
    snippet: str
    created_at: str
    thread_id: str | None = None
    inbox_id: str | None = None
    status: str = ""
    from_name: str | None = None
    to_addresses: list[str] = []
    subject: str = ""
    labels: list[str] = []
    risk: str | None = None
    auth: VerifiedSender | None = None
    attachments: list[MailAttachment] = []


def told(mail: Sequence[ListedMail], key: bytes, *, names_inboxes: bool) -> str:
    """Both lists. `names_inboxes`: the caller has several."""
    ours = [f"{number}. {_facts(one, names_inboxes)}" for number, one in enumerate(mail, 1)]
    theirs = [f"{number}. {_words(one)}" for number, one in enumerate(mail, 1)]
    name = ",".join(one.id for one in mail)
    return "\n".join([*ours, fences.fenced(key, name, "\n".join(theirs))])


def _facts(mail: ListedMail, names_inboxes: bool) -> str:
    """Ids, enums, numbers, times and a verified domain."""
    verified = domain(mail.auth.verified_domain) if mail.auth is not None else None
    facts = [mail.id, mail.direction]
    if mail.direction == "inbound":
        facts.append(f"sender domain verified: {verified}" if verified else "sender not verified")
    elif mail.status:
        facts.append(mail.status)
    facts += [mail.created_at]
    facts += [mail.thread_id] if mail.thread_id else []
    facts += [mail.inbox_id] if names_inboxes and mail.inbox_id else []
    facts += ["unread"] if "unread" in mail.labels else []
    facts += [f"risk: {mail.risk}"] if mail.risk else []
    facts += [f"attachments: {len(mail.attachments)}"] if mail.attachments else []
    return " · ".join(facts)


def _words(mail: ListedMail) -> str:
    sender = f"{mail.from_name} <{mail.from_address}>" if mail.from_name else mail.from_address
    words = [f"From: {one_line(sender, _SENDER)}"]
    if mail.direction == "outbound" and mail.to_addresses:
        words.append(f"To: {one_line(', '.join(mail.to_addresses[:5]), _SENDER)}")
    if mail.subject:
        words.append(f"Subject: {one_line(mail.subject, _SUBJECT)}")
    labels = [label for label in mail.labels if label != "unread"]
    words += [f"Labels: {one_line(', '.join(labels), _LABELS)}"] if labels else []
    return " · ".join([*words, one_line(mail.snippet, _SNIPPET)])
