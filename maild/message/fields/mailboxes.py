"""RFC 5322 §3.4 address lists as they are met in the wild.

One pass over tokens, no recursion: comments nest by counting (§3.2.2), groups are flattened
(§3.4), obsolete routes are dropped (§4.4). Encoded words are decoded in names alone, after the
structure is known, so that no encoding can make an address out of a name.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

from maild.message.characters.encoded_words import decode_words
from maild.message.characters.guessing import Guesser
from maild.message.fields.idn import ascii_domain
from maild.message.model import Mailbox

MAX_MAILBOXES: Final = 1000
MAX_ADDRESS_CHARS: Final = 998
_MAX_TOKENS = 50_000

_ATEXT = r"A-Za-z0-9!#$%&'*+/=?^_`{|}~\-"
# `Name <a@b>`, `"Name" <a@b>` and `a@b`: nearly all that is ever sent.
_SIMPLE = re.compile(
    rf'[ \t]*+(?:(?:"([^"\\<>@]*+)"|([^"\\<>@,;:()\[\]]*+))[ \t]*+<([{_ATEXT}.]++@[A-Za-z0-9.-]++)>'
    rf"|([{_ATEXT}.]++@[A-Za-z0-9.-]++))[ \t]*+(?:,|\Z)"
)
# An encoded word is one, whatever its text says: programs leave commas and parentheses in it, against RFC 2047 §5.
_ENCODED = (
    r'(?P<encoded>=\?[^? \t\r\n<>,;:@."()\[\]\\]{1,64}\?[bBqQ]\?[^?\r\n<>@\[\]\\]*+\?=(?=[ \t\r\n<]|=\?|\Z))'
)
_TOKEN = re.compile(
    rf'(?P<space>[ \t\r\n]++)|{_ENCODED}|(?P<quote>")'
    r'|\\"(?P<escaped>[^"\\<>@]*+)\\"|(?P<literal>\[[^\[\]\\<>]*+\])'
    r'|(?P<special>[<>,;:@.(])|(?P<atom>[^ \t\r\n<>,;:@."(\[]++)|(?P<other>.)',
    re.DOTALL,
)
# Where a quote or a comment was opened that is never closed, no other is.
_LOOSE_TOKEN = re.compile(
    rf"(?P<space>[ \t\r\n]++)|{_ENCODED}|(?P<literal>\[[^\[\]\\<>]*+\])"
    r'|(?P<special>[<>,;:@.])|(?P<atom>[^ \t\r\n<>,;:@."\[]++)|(?P<other>.)',
    re.DOTALL,
)
# What says the same to who sees no encoded word in it.
_BALANCED = re.compile(r'(?>(?:[^"()]++|"[^"]*+"|\([^"()]*+\))*)')
_COMMENT_MARK = re.compile(r"\\.|[()]", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_DOT_ATOM = re.compile(rf"[{_ATEXT}\u0080-\U0010ffff]++(?>(?:\.[{_ATEXT}\u0080-\U0010ffff]++)*)")
_LOOSE_ATOM = re.compile(rf"[{_ATEXT}.\u0080-\U0010ffff]++")
_DOMAIN = re.compile(r"[\w-]++(?>(?:\.[\w-]++)*)\.?|\[[!-Z^-~]++\]")
# What is put before an address in angle brackets: by who copies a link, and by Exchange.
_SCHEMES: Final = ("mailto", "smtp")
_MARKS: Final = ("Mn", "Mc")
_JOINERS: Final = "\u200c\u200d"
# Controls, and the marks that make a name run the other way on a screen (UAX #9).
_UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+")


class AddressReading(NamedTuple):
    """The mailboxes of an address list. `is_irregular`: not all of it is what RFC 5322 §3.4 calls one; `names_another`:
    another reader could find an address in it that is none of these."""

    mailboxes: tuple[Mailbox, ...]
    is_irregular: bool
    names_another: bool


def parse_mailboxes(value: str, guesser: Guesser | None = None) -> tuple[Mailbox, ...]:
    """The mailboxes of an address list, at most MAX_MAILBOXES; what is none is left out."""
    return read_mailboxes(value, guesser).mailboxes


def read_mailboxes(value: str, guesser: Guesser | None = None) -> AddressReading:
    """The same, and how certain it is."""
    simple = _read_simple(value, guesser)
    if simple is not None:
        return AddressReading(simple, is_irregular=False, names_another=False)
    reader = _Reader(value, guesser)
    return AddressReading(reader.read(), reader.is_irregular or reader.names_another, reader.names_another)


def display_name(raw: str, guesser: Guesser | None = None) -> str | None:
    """A phrase as it may be shown: decoded, no controls, no direction overrides; None if empty."""
    name = decode_words(raw, guesser)
    if not name.isprintable():
        name = _UNSHOWN.sub("", name.replace("\t", " "))
    return name.strip() or None


def quote_local(local: str) -> str:
    """An unquoted local part in its shortest legal form (RFC 5321 §4.1.2: quoted if need be)."""
    if _DOT_ATOM.fullmatch(local):
        return local
    return '"' + local.replace("\\", "\\\\").replace('"', '\\"') + '"'


def unescape(quoted: str) -> str:
    """The content of a quoted string without its quoted pairs (RFC 5322 §3.2.4)."""
    return _ESCAPE.sub(r"\1", quoted) if "\\" in quoted else quoted


def end_of_quoted(value: str, start: int) -> int:
    """Where the quoted string ends whose content begins there: at its `"`, or with the value where it is left open,
    before a backslash that has nothing behind it. A pattern for that keeps 200 octets for each quoted pair."""
    while (end := value.find('"', start)) >= 0:
        if not _backslashes(value[start:end]) % 2:
            return end
        start = end + 1
    return len(value) - _backslashes(value[start:]) % 2


def _backslashes(text: str) -> int:
    """How many stand at its end."""
    return len(text) - len(text.rstrip("\\"))


def _read_simple(value: str, guesser: Guesser | None) -> tuple[Mailbox, ...] | None:
    found: list[Mailbox] = []
    position, end = 0, len(value)
    while position < end:
        match = _SIMPLE.match(value, position)
        if match is None:
            return None
        quoted, phrase, angle, bare = match.groups()
        address = angle or bare
        local_domain = address.partition("@")
        if len(address) > MAX_ADDRESS_CHARS or not _DOMAIN.fullmatch(local_domain[2]):
            return None
        name = quoted if quoted is not None else phrase
        found.append(Mailbox(display_name(name, guesser) if name else None, address.removesuffix(".")))
        position = match.end()
        if len(found) == MAX_MAILBOXES:
            break
    return tuple(found)


class _Reader:
    """The state of one reading. A piece is (kind, text): "atom", "encoded", "quoted", "literal", ".", "@", " "."""

    def __init__(self, value: str, guesser: Guesser | None) -> None:
        self.is_irregular = self.names_another = self._is_loose = False
        self._guesser = guesser
        self._value = value
        self._found: list[Mailbox] = []
        self._start_mailbox()

    def _start_mailbox(self) -> None:
        self._pieces: list[tuple[str, str]] = []  # of the phrase, or of a bare address
        self._angle: list[tuple[str, str]] | None = None
        self._is_angle_open = False
        self._comment = ""
        self._follows_comment = False
        self._is_split = False  # a comment stands between pieces, or before them with an address of its own

    def read(self) -> tuple[Mailbox, ...]:
        value, position, end = self._value, 0, len(self._value)
        for _ in range(_MAX_TOKENS):
            if position >= end or len(self._found) >= MAX_MAILBOXES:
                break
            token = (_LOOSE_TOKEN if self._is_loose else _TOKEN).match(value, position)
            assert token is not None  # the last branch takes any character
            position = token.end()
            kind = token.lastgroup or "other"
            if kind == "quote":
                position = self._read_quoted(position)
            elif kind != "special":
                self._piece(kind, token[kind])
            elif token[0] == "(":
                position = self._read_comment(position - 1)
            else:
                self._special(token[0])
        else:
            self.is_irregular = True  # the rest is not read
        self._end_mailbox()
        return tuple(self._found[:MAX_MAILBOXES])

    def _read_quoted(self, start: int) -> int:
        end = end_of_quoted(self._value, start)
        if self._value[end : end + 1] != '"':
            self._is_loose = self.names_another = True
            return start
        self._piece("quoted", self._value[start:end])
        return end + 1

    def _read_comment(self, start: int) -> int:
        depth = 0
        for mark in _COMMENT_MARK.finditer(self._value, start):
            depth += {"(": 1, ")": -1}.get(mark[0], 0)
            if depth == 0:
                self._keep_comment(self._value[start + 1 : mark.start()])
                return mark.end()
        self._is_loose = self.names_another = True
        self._piece("atom", "(")
        return start + 1

    def _keep_comment(self, text: str) -> None:
        if self._is_angle_open:
            self.is_irregular = True
        self._comment = unescape(text)
        self._follows_comment = True
        if not self._pieces:  # a quote that begins here could end behind the address
            self._is_split = self._is_split or '"' in text or "@" in decode_words(text, self._guesser)
        if "<" in self._comment and "@" in self._comment:
            self.names_another = True  # whoever knows no comments takes what stands in angle brackets

    def _piece(self, kind: str, text: str) -> None:
        if kind == "space":
            text = kind = " "
        elif kind == "other":
            if text == '"':  # one that means nothing (`_LOOSE_TOKEN`)
                return
            kind = "atom"
        elif kind == "escaped":
            kind = "quoted"
            self.names_another = True  # to others a quote begins at the second octet
        elif kind == "encoded":
            self.names_another = self.names_another or not _BALANCED.fullmatch(text)
        elif kind == "quoted" and '\\"' in text and "@" in text:
            self.names_another = True  # whoever knows no quoted pairs sees it end there
        if self._is_angle_open and self._angle is not None:
            self._angle.append((kind, text))
        elif self._angle is not None:
            self.is_irregular = self.is_irregular or kind != " "  # words after `<…>`
            self.names_another = self.names_another or kind == "@"
        else:
            self._outer_piece(kind, text)

    def _outer_piece(self, kind: str, text: str) -> None:
        if kind != " ":
            self._is_split = self._is_split or (self._follows_comment and bool(self._pieces))
            self._follows_comment = False
        elif not self._pieces:
            return
        self._pieces.append((kind, text))

    def _special(self, mark: str) -> None:
        if mark in "@.":
            self._piece(mark, mark)
        elif mark == "<":
            self._open_angle()
        elif mark == ">":
            self.is_irregular = self.is_irregular or not self._is_angle_open
            self._is_angle_open = False
        elif mark == ":":
            self._colon()
        elif mark == "," and self._is_in_route():
            pass
        else:
            self._end_mailbox()

    def _is_in_route(self) -> bool:
        return (
            self._is_angle_open and bool(self._angle) and self._angle is not None and self._angle[0][0] == "@"
        )

    def _open_angle(self) -> None:
        if self._angle is not None:
            self.is_irregular = True
            self._end_mailbox()
        self._angle = []
        self._is_angle_open = True

    def _colon(self) -> None:
        self.is_irregular = True
        if self._is_angle_open and self._angle is not None:
            if self._is_in_route():  # RFC 5322 §4.4 obs-route
                self.names_another = True
                self._angle.clear()
            elif len(self._angle) <= 3 and _phrase(self._angle).casefold() in _SCHEMES:
                self._angle.clear()
            else:
                self._angle.append(("atom", ":"))  # which no address has
        elif self._angle is None:  # §3.4: what stood before is the name of a group
            self.names_another = self.names_another or _has_at(self._pieces)
            self._start_mailbox()

    def _end_mailbox(self) -> None:
        if self._is_angle_open:
            self.is_irregular = True
        if self._angle is not None:
            self._add(_phrase(self._pieces) or self._comment, self._angle, is_bare=False)
            self._check_phrase()
        elif _has_at(self._pieces):
            self.is_irregular = self.is_irregular or self._is_split
            self._add(self._comment, self._pieces, is_bare=True)
        elif any(kind != " " for kind, _ in self._pieces):
            self.is_irregular = True
        self._start_mailbox()

    def _check_phrase(self) -> None:
        """`a@b.c <d@e.f>`: some readers show the first. `a@b.c <a@b.c>` is alike for all, `Ada @ Work` no address."""
        if not _has_at(self._pieces) or not any(map(_is_like_address, _runs(self._pieces))):
            return
        address = self._found[-1].address if self._found else ""
        phrase = decode_words(_phrase(self._pieces), self._guesser)
        if phrase.strip(" '").casefold() != address.casefold():
            self.names_another = True

    def _add(self, name: str, pieces: list[tuple[str, str]], *, is_bare: bool) -> None:
        runs = _runs(pieces)
        if len(runs) > 1:
            self.is_irregular = True
        if is_bare:  # `bob smith@x`: the words before are a name without its brackets
            runs = [run for run in runs if _has_at(run)]
            self.names_another = self.names_another or len(runs) > 1
            runs = runs[-1:]
        if len(runs) == 1 and _is_in_apostrophes(runs[0]):
            self.is_irregular = self.names_another = True
            runs = [_without_ends(runs[0])]
        address = _address(runs[0]) if len(runs) == 1 else None
        if address is None:
            self.is_irregular = True
            self.names_another = self.names_another or _has_at(pieces)
            return
        self._found.append(Mailbox(display_name(name, self._guesser), address))


def _has_at(pieces: list[tuple[str, str]]) -> bool:
    return any(kind == "@" for kind, _ in pieces)


def _phrase(pieces: list[tuple[str, str]]) -> str:
    return "".join(unescape(text) if kind == "quoted" else text for kind, text in pieces).strip()


def _runs(pieces: list[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Pieces cut at blanks, but not at blanks beside "." and "@" (RFC 5322 §4.4 allows those)."""
    runs: list[list[tuple[str, str]]] = []
    is_joined = False
    for piece in pieces:
        if piece[0] == " ":
            is_joined = is_joined and runs[-1][-1][0] in ".@"
        elif is_joined or (runs and piece[0] in ".@"):
            runs[-1].append(piece)
            is_joined = True
        else:
            runs.append([piece])
            is_joined = True
    return runs


def _is_in_apostrophes(pieces: list[tuple[str, str]]) -> bool:
    """Programs quote addresses so; no domain ends with one."""
    (first, start), (last, end) = pieces[0], pieces[-1]
    return first == last == "atom" and start[0] == end[-1] == "'" and _has_at(pieces)


def _without_ends(pieces: list[tuple[str, str]]) -> list[tuple[str, str]]:
    (first, start), (last, end) = pieces[0], pieces[-1]
    return [(first, start[1:]), *pieces[1:-1], (last, end[:-1])]


def _is_like_address(pieces: list[tuple[str, str]]) -> bool:
    """Whether there is something before an "@", and a dot somewhere behind one, or what runs the other way."""
    kinds = [kind for kind, _ in pieces]
    if "@" not in kinds[1:]:
        return False
    is_turned = any(kind != " " and not text.isprintable() for kind, text in pieces)
    return is_turned or "." in kinds[kinds.index("@", 1) :] or "literal" in kinds


def _address(pieces: list[tuple[str, str]]) -> str | None:
    """local@domain of one run, or None when it is not exactly that."""
    at = [index for index, (kind, _) in enumerate(pieces) if kind == "@"]
    if len(at) != 1 or any(kind == "quoted" for kind, _ in pieces[at[0] :]):
        return None
    if any(kind == "encoded" for kind, _ in pieces):
        return None
    local_pieces, domain = pieces[: at[0]], "".join(text for _, text in pieces[at[0] + 1 :])
    is_quoted = any(kind == "quoted" for kind, _ in local_pieces)
    local = "".join(unescape(text) if kind == "quoted" else text for kind, text in local_pieces)
    if not local or not local.isprintable() or not (is_quoted or _LOOSE_ATOM.fullmatch(local)):
        return None
    if len(local) + len(domain) >= MAX_ADDRESS_CHARS or not _DOMAIN.fullmatch(_without_marks(domain)):
        return None
    if not domain.isascii():
        try:
            domain = ascii_domain(domain)
        except ValueError:
            return None
    return f"{quote_local(local) if is_quoted else local}@{domain.removesuffix('.')}"


def _without_marks(domain: str) -> str:
    """Without what is a part of the letter before it (vowels of Hindi and Thai, accents that are not composed), and
    what joins letters. Whether they may stand where they do, IDNA says (RFC 5892 §2.6, appendix A)."""
    if domain.isascii():
        return domain
    return "".join(one for one in domain if one not in _JOINERS and unicodedata.category(one) not in _MARKS)
