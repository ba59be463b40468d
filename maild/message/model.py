"""The values that reading a message yields.

Offsets and lengths count octets of the raw message. Nothing here holds a body: a `Slice` says
where it is and how to read it, so that an attachment is downloaded without parsing again.
"""

from __future__ import annotations

from dataclasses import dataclass

from maild.message.fields.headers import Headers


@dataclass(frozen=True, slots=True)
class Mailbox:
    """One RFC 5322 §3.4 mailbox: decoded display name (or None) and `local@domain`."""

    name: str | None
    address: str


@dataclass(frozen=True, slots=True)
class Slice:
    """A range of the raw message and how to read it.

    `encoding` is "identity", "base64", "quoted-printable" or "uuencode"; `charset` as declared, lower case; `flow` what
    its lines are (maild/message/parsing/flowed.py), or ENRICHED (maild/message/parsing/enriched.py), None where they
    are what they seem.
    """

    offset: int
    length: int
    encoding: str
    charset: str | None
    flow: str | None = None


@dataclass(frozen=True, slots=True)
class AttachmentPart:
    """A leaf that is not body text. `size_bytes` is exactly `len(decode_slice(…))`."""

    slice: Slice
    filename: str
    content_type: str
    size_bytes: int
    content_id: str | None
    is_inline: bool


@dataclass(frozen=True, slots=True)
class ParsedMessage:
    """What a message says, and where. `defects` are short codes, each at most once.

    The header section is raw[header_start:header_length], with the blank line; of what stands before
    it (blank lines, a byte order mark) nothing is read. `from_` is the one author, or None with a defect when
    there is none, several, or a form that two readers would read differently. `html_alone`: of the html what no text
    stands for. `authors`: whom From names together; that is `from_` alone where there is one. Message ids keep their
    angle brackets; `answered` are the first ten of In-Reply-To, `references` a hundred at most, the first and the
    newest.
    """

    headers: Headers
    header_start: int
    header_length: int
    from_: Mailbox | None
    authors: tuple[Mailbox, ...]
    to: tuple[Mailbox, ...]
    cc: tuple[Mailbox, ...]
    reply_to: tuple[Mailbox, ...]
    subject: str
    message_id: str | None
    answered: tuple[str, ...]
    references: tuple[str, ...]
    text: tuple[Slice, ...]
    html: tuple[Slice, ...]
    html_alone: tuple[Slice, ...]
    attachments: tuple[AttachmentPart, ...]
    is_auto_reply: bool
    defects: tuple[str, ...]

    @property
    def in_reply_to(self) -> str | None:
        """The one id of In-Reply-To that is shown."""
        return self.answered[0] if self.answered else None
