"""A text for people, read as statements: paragraphs that name addresses, with what is said of them there or, where that
is nothing, in the paragraphs behind, up to a line of dashes. It ends where the message that came back begins, whose
words are not the reporter's. Pure, tolerant, bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from maild.message.fields.address import normalize
from maild.message.reports.bounce_words import WIDE_MARKS
from maild.message.reports.bounces import is_address_fault, is_refusal, own_status, says_something

_STATEMENT_CHARS: Final = 4096
_PIECES_MAX: Final = 400
REPORTER_CHARS: Final = 16 * 1024  # a reporter's own words; the event loop reads them
NAMES_MAX: Final = 400
_FOOTERS_MAX: Final = 20
# Whom to write to for help, which is not who failed.
_ROLES: Final = (
    "postmaster",
    "mailer-daemon",
    "abuse",
    "support",
    "helpdesk",
    "hostmaster",
    "admin",
    "noc",
    "webmaster",
)
PARAGRAPHS: Final = re.compile(r"\n[ \t]*+\n\s*+")
_NOT_TO_WHOM: Final = re.compile(
    r"^[ \t>*]*+(?:original[ -])?(?:from|sender(?:-mta)?|mail from|reply-to|return-path|subject|message-id|in-reply-to"
    r"|betreff|objet|asunto|oggetto|assunto|onderwerp|ämne|emne|temat|předmět|тема|件名|主题|主旨|제목"
    r"|发件人|寄件人|寄件者|差出人|보낸 ?사람)[ \t]*+[:：][^\n]*+$\n?",
    re.IGNORECASE | re.MULTILINE,
)
# Who sent it, in more words than a header has: the line says no more than the address.
_WHO_SENT: Final = re.compile(
    r"^[ \t>*]*+(?=[^\n:：@]{2,45}[:：])(?:original[ -])?(?:(?:envelope|message|mail|smtp)[ -])?"
    r"(?:(?:sender|from)(?:['’]s)?(?:[ -]e-?mail)?(?:[ -]?address)?|return[ -]path|von|de|da|van|från|fra|od|от"
    r"|absender(?:-?adresse)?|(?:adresse )?(?:de l['’])?exp[ée]diteur|(?:dirección )?(?:del? )?remitente"
    r"|(?:indirizzo )?(?:del )?mittente"
    r"|(?:endereço )?(?:do )?remetente|(?:adres )?(?:van )?(?:de )?afzender|avsändar(?:e|adress)"
    r"|a[fv]sender(?:adresse)?|(?:adres )?nadawc[ay]|(?:adresa )?odes[íi]latele?|(?:адрес )?отправител[ья]"
    r"|(?:送信者|発信者|差出人|发件人|寄件人|寄件者|보낸 ?사람)(?:の?(?:メール)?アドレス|地址| ?주소)?)"
    r"[ \t\xa0]*+[:：][^\n@]{0,200}+@[^\s@]{1,255}+(?:@[^\s@]{1,255}+)?[ \t]*+$\n?",
    re.IGNORECASE | re.MULTILINE,
)
# What sendmail says at last of whatever a delivery program, or a host, has refused (EX_UNAVAILABLE).
_SENDMAILS_END: Final = re.compile(
    r"^5\d\d (?:5\.\d\.\d )?(?:<[^<>\n]{1,320}>\.\.\. )?Service unavailable[ \t]*+$", re.MULTILINE
)
_RULE: Final = re.compile(r"[ \t]*+[-=_*]{10,}+\s*+")
_RULED: Final = re.compile(r"[ \t]*+(?:[-=_*]{10,}+|_{5,}+|--)[ \t]*+(?:\n|\Z)")
# What lists and scanners put below: a paragraph behind such a line.
_FOOTER: Final = re.compile(
    r"^[ \t]*+(?:_{5,}+|--)[ \t]*+\n(?:[ \t]*+\n)*(?:[ \t]*+\S[^\n]*+(?:\n|\Z))+", re.MULTILINE
)
_ADDRESS: Final = re.compile(rf"[^\s<>()\[\]{{}}\"',;:=|{WIDE_MARKS}]{{1,200}}+")
_COPY: Final = re.compile(
    r"^(?:[ \t>*=_\-]*+(?:(?:begin(?:ning)? of |start of )?(?:the |your )?"
    r"(?:original|returned|unsent|undelivered|rejected|failed|bounced) (?:message|mail|e-mail)"
    r"(?: headers?| text)?(?: follows?| below| attached| is attached)?[ \t:.*=_\-]*+$"
    r"|(?:below (?:this line )?is a copy|this is a copy of|here is (?:a copy|the)"
    r"|(?:attached is |attachment is )?a copy of (?:the|your)"
    r"|message headers? follows?|message text follows?|the headers? (?:and|of)|header of the|text of (?:the|your)"
    r"|full headers|original headers|start of returned|included is a copy"
    r"|if your message was also sent to additional recipients"  # Courier's last words, whatever it tells of
    r"|the message you sent(?:[ \t:.*=_\-]*+$| (?:follows|is attached|was as follows))))"
    r"|(?:Received|Return-Path|DKIM-Signature|MIME-Version|Message-ID|X-[A-Za-z\-]{1,40}):"
    r"|>(?!>>|[ \t]?[^\s@]{1,64}@[^\s@]{1,255}$))",
    re.MULTILINE | re.IGNORECASE,
)


class Statement(NamedTuple):
    """`names`: the comparison keys of the addresses that it is about; none where it names nobody."""

    names: tuple[str, ...]
    words: str


def statements(text: str, wanted: Sequence[str] = (), *, are_told: bool = False) -> Iterator[Statement]:
    """`wanted`: addresses that are no helper's here, whatever their names. `are_told`: as `reasons_in`
    (`explanations.py`) has it."""
    names: tuple[str, ...] = ()
    words = ""
    is_telling = False
    for piece in islice(_pieces(text), _PIECES_MAX):
        found = names_in(piece, wanted)
        if found and names and not is_telling and _is_reply_of_others(piece, found, names):
            found = ()
        if are_told and names and _RULED.match(piece):
            break
        is_rule = _RULE.fullmatch(piece) is not None
        ends = is_rule and len(words.split()) > len(names)
        if not found and names and not ends and not is_telling:
            words = words if is_rule else f"{words}\n{piece}"[:_STATEMENT_CHARS]
            is_telling = says_something(piece)
            continue
        if words:
            yield Statement(names, _without_end(words))
        names, words = found, "" if ends else piece[:_STATEMENT_CHARS]
        is_telling = bool(names) and says_something(words)
    if words:
        yield Statement(names, _without_end(words))


def _is_reply_of_others(piece: str, found: tuple[str, ...], names: tuple[str, ...]) -> bool:
    """Is it a host's refusal, which names somebody to write to, and blames no address?"""
    return (
        set(found).isdisjoint(names) and is_refusal(piece[: piece.index("@")]) and not is_address_fault(piece)
    )


def _without_end(words: str) -> str:
    """Less what sendmail says at last, where it is not all that is said."""
    rest = _SENDMAILS_END.sub("", words)
    return rest if rest != words and says_something(rest) else words


def _pieces(text: str) -> Iterator[str]:
    """The paragraphs before the message that came back; a line that begins with an address begins another, unless
    nothing but addresses came before."""
    for paragraph in PARAGRAPHS.split(own_words(text), _PIECES_MAX):
        piece: list[str] = []
        has_words = False
        for line in paragraph.split("\n"):
            if has_words and _begins_with_address(line):
                yield "\n".join(piece)
                piece, has_words = [], False
            piece.append(line)
            has_words = has_words or not _is_address(line)
        yield "\n".join(piece)


def own_words(text: str) -> str:
    """What stands before the message that came back, less lines of who sent it, and about what, and what lists and
    scanners say."""
    told = _NOT_TO_WHOM.sub("", _WHO_SENT.sub("", _without_copy(text)))
    return _FOOTER.sub(_with_reason, told, _FOOTERS_MAX)


def _with_reason(footer: re.Match[str]) -> str:
    """Some put a host's reply behind such a line, or what is wrong with an address; below one that stands alone, it
    may follow."""
    is_named = any(map(_is_address, footer[0].split("\n")))
    words = footer.string[footer.start() :] if is_named else footer[0]
    return footer[0] if own_status(words) or is_refusal(words) or is_address_fault(words) else ""


def _without_copy(text: str) -> str:
    """What stands before the message that came back."""
    told = text[:REPORTER_CHARS]
    copy = _COPY.search(told)
    return told[: copy.start()] if copy else told


def _begins_with_address(line: str) -> bool:
    return _is_address(line.split(maxsplit=1)[0]) if line[:400].strip() else False


def _is_address(words: str) -> bool:
    words = words.strip()
    return "@" in words and " " not in words


def names_in(piece: str, wanted: Sequence[str] = (), *, most: int = _STATEMENT_CHARS) -> tuple[str, ...]:
    """The comparison keys of the addresses in a piece, but those of people who help, and of who sent it."""
    found: dict[str, None] = {}
    for match in islice(_ADDRESS.finditer(piece[:most]), NAMES_MAX):
        word = match[0].rstrip(".")
        if "@" in word[1:-1] and word.count("@") == 1:
            key = normalize(word)
            if key in wanted or not word.lower().startswith(_ROLES):
                found[key] = None
    return tuple(found)
