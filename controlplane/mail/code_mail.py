"""What of a mail is handed out as its code or its link, and for which hosts a link may be."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from controlplane.contract.mail.codes import CodeKind
from maild.message.fields.address import is_within
from maild.message.sign_in.codes import FoundValue, find_code
from maild.message.sign_in.sign_in_links import find_link
from storage.agents.code_claims import CodeMail

PIECE_CHARS = 16 * 1024


class WantedCode(NamedTuple):
    """What a caller asks for. `from_domain`: an A-label, at or above which the sender's proven domain is."""

    kinds: Sequence[CodeKind]
    from_domain: str | None
    link_hosts: Sequence[str]


def pieces(sizes: Sequence[tuple[str, int]]) -> Iterator[Sequence[str]]:
    """The mails, each with its characters, in their order: as many together as have PIECE_CHARS, or one that has more.
    That is what is read of them at a time, and looked into in one turn."""
    piece: list[str] = []
    together = 0
    for message_id, chars in sizes:
        if piece and together + chars > PIECE_CHARS:
            yield piece
            piece, together = [], 0
        piece.append(message_id)
        together += chars
    if piece:
        yield piece


class FoundCode(NamedTuple):
    """A mail and what was found in it."""

    mail: CodeMail
    kind: CodeKind
    found: FoundValue


def look(mail: CodeMail, wanted: WantedCode) -> FoundCode | None:
    """The code of the mail, else its link, as far as they are asked for; None where there is neither. A code that is
    ambiguous stands before a link that is not: nobody can tell which of the two the mail means."""
    code = find_code(mail.subject, mail.words) if "code" in wanted.kinds else None
    if code is not None:
        return FoundCode(mail, "code", code)
    link = find_link(mail.words, partial(_is_trusted, mail, wanted)) if "link" in wanted.kinds else None
    return FoundCode(mail, "link", link) if link is not None else None


def _is_trusted(mail: CodeMail, wanted: WantedCode, host: str) -> bool:
    """Is the host the proven sender's, or one that the caller named?"""
    domains = list(wanted.link_hosts)
    if mail.verified_domain is not None:
        domains += [mail.verified_domain, mail.org_domains.get(mail.verified_domain, mail.verified_domain)]
        if wanted.from_domain is not None:
            domains.append(wanted.from_domain)
    return any(is_within(host, domain) for domain in domains)
