"""What looks wrong in words that are about to be sent, with its places: nothing of it stops a message.

    empty_body          there are no words at all, and no file
    placeholder         what a template or an author left to be filled in
    model_artifact      what a language model says to whoever asked it, not to the reader
    secret              keys and tokens, by their shapes
    attachment_missing  the words speak of a file, and there is none

Beside them: addresses that nobody reads (`is_no_reply`), and those that stand in other mail (`AddressFinder`).

Places are code points of the very field that was given. Of HTML, words are looked for between its tags, and shapes
(templates, markup of models, secrets) everywhere. Only the beginning of a long field is looked at, in pieces: one call
of the regular expressions keeps the interpreter to its end. Each expression costs in proportion to what it reads.

Pure: values in, values out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from maild.message.evidence.projection import Folded, Folding
from maild.message.fields.address import normalize, split
from maild.message.fields.idn import unicode_domain
from maild.message.html.html_tokens import unescape

View = Literal["subject", "text", "html"]
Code = Literal["empty_body", "placeholder", "model_artifact", "secret", "attachment_missing"]

TEXT_CHARS: Final = 64 * 1024
HTML_CHARS: Final = 128 * 1024
PIECE_CHARS: Final = 8 * 1024
OVERLAP_CHARS: Final = 512  # no shape that is told needs more to be known
WARNINGS_MAX: Final = 10  # of one code, in one field


class AuthoredWords(NamedTuple):
    """What its author wrote of a message. `has_more`: it has words or files besides, as a forward has."""

    subject: str
    text: str | None
    html: str | None
    has_files: bool = False
    has_more: bool = False


class Flaw(NamedTuple):
    """One thing that looks wrong. `view` None: it is about the whole message."""

    code: Code
    view: View | None = None
    start: int | None = None
    end: int | None = None


# What braces and brackets stand for in templates. A bracket that a link follows is Markdown.
_TEMPLATES: Final = (
    r"\{\{[^{}\n]{0,100}\}\}|\{%[^{}\n]{1,100}%\}|\$\{[A-Za-z_][\w.]{0,60}\}|<<[A-Za-z_][\w .]{0,60}>>"
    r"|%[A-Z][A-Z0-9]{0,30}_[A-Z0-9_]{1,30}%|\*\|[A-Z][A-Z0-9_:]{1,40}\|\*"
)
_BLANKS_TO_FILL: Final = (
    r"your|my|our|insert|enter|add|recipient|sender|customer|client|company|first|last|full|name|date|time|link|url"
    r"|title|position|phone|email|address|amount|topic|product"
    r"|ihr|ihre|dein|deine|mein|vorname|nachname|datum|firma|betrag|einfügen"
    r"|votre|vos|mon|nom|prénom|entreprise|tu|su|mi|nombre|apellido|fecha|empresa|seu|sua|meu|nome|data|empresa"
    r"|il tuo|la tua|il mio|cognome|azienda|uw|jouw|mijn|naam|bedrijf|twoje|twój|imię|nazwisko|firma|ditt|din|mitt"
    r"|namn|företag|adınız|isim|ad|soyad|şirket|ваше|ваш|имя|фамилия|компания|дата|ім['’]я|прізвище|компанія"
)
_PLACEHOLDER_WORDS: Final = re.compile(
    rf"\[(?:(?:{_BLANKS_TO_FILL})\b[^\[\]\n]{{0,60}}|(?:お名前|名前|会社名|日付|您的|姓名|公司|日期)[^\[\]\n]{{0,30}})\](?!\()"
    r"|\blorem ipsum\b",
    re.IGNORECASE,
)
_TODO: Final = re.compile(r"\b(?:TODO|FIXME|TBD)\b(?=\s{0,4}[:(\]]|[ \t]{0,4}(?:$|[a-z]))", re.MULTILINE)
_TEMPLATE_SHAPES: Final = re.compile(_TEMPLATES)

_MODEL_SHAPES: Final = re.compile(
    r"<\|[a-z_]{2,30}\|>|\[/?INST\]|</?(?:think|thinking|tool_call|function_calls?|antml:[a-z_]{1,20})>"
    r"|oai_?cite(?:ation)?\b|contentReference\[|\bturn\d{1,3}(?:search|view|news)\d{1,3}\b|\u3010\d{1,3}(?:†|:)[^\u3010\u3011\n]{0,60}\u3011"
    r"|\A\s{0,8}```"
)
_MODEL_WORDS: Final = re.compile(
    r"\bas an? (?:AI|artificial intelligence|(?:large )?language model)\b(?: (?:language model|assistant|model))?"
    r"|\bI(?:['’]m| am) (?:just )?an AI (?:language model|assistant|model)\b"
    r"|\b(?:my|the) knowledge cut-?off\b|\bI (?:can(?:no|['’])t|am unable to) (?:assist|help) with that request\b"
    r"|\b(?:sure|certainly|of course|absolutely)[!,.] {0,2}here(?:['’]s| is| are)\b[^\n]{0,60}\b"
    r"(?:e-?mail|draft|reply|response|message|version)\b"
    r"|^\s{0,8}here(?:['’]s| is) (?:a|an|the|your) [^\n]{0,40}\b(?:e-?mail|draft|reply|response|version)\b"
    r"[^\n]{0,40}:[ \t]{0,8}$"
    r"|\A\s{0,8}(?:\*\*)?(?:subject|betreff|objet|asunto|assunto|oggetto|onderwerp|temat|ämne|konu|тема):(?=[^\n]{1,200}$)"
    r"|\blet me know if you(?:['’]d| would) like me to (?:adjust|change|revise|modify|make|tweak|rewrite)\b"
    r"|\bals (?:KI|künstliche Intelligenz)[ -](?:Sprach)?modell\b|\ben tant que (?:modèle de langage|(?:qu['’])?IA)\b"
    r"|\bcomo (?:un )?(?:modelo de (?:lenguaje|linguagem))\b|\bin quanto (?:modello linguistico|IA)\b"
    r"|\bals (?:AI-)?taalmodel\b|как (?:языковая модель|ИИ)\b|як (?:мовна модель|ШІ)\b"
    r"|(?:作为|作為)(?:一个|一個)?(?:人工智能|AI|大?(?:语言|語言)模型)|(?:AI|人工知能|言語モデル)として",
    re.IGNORECASE | re.MULTILINE,
)

# Shapes that their makers publish so that they are found. A run that failed is not looked at again from its middle.
_SECRETS: Final = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    r"|(?<![A-Za-z0-9_-])(?:"
    r"svc_(?:live|test)_[A-Za-z0-9]{16,}+|whsec_[A-Za-z0-9+/=_-]{16,}+"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"
    r"|gh[pousr]_[A-Za-z0-9]{36,}+|github_pat_[A-Za-z0-9_]{22,}+|glpat-[A-Za-z0-9_-]{20,}+"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}+|[rs]k_(?:live|test)_[A-Za-z0-9]{16,}+"
    r"|sk-(?=[A-Za-z_-]{0,20}[0-9])[A-Za-z0-9_-]{20,}+|AIza[A-Za-z0-9_-]{35}"
    r"|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{16,}+|hf_[A-Za-z0-9]{30,}+|SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"
    r"|ya29\.[A-Za-z0-9_-]{20,}+|dop_v1_[a-f0-9]{64}"
    r"|eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+"
    r"|(?:https?|ftp|ssh|postgres(?:ql)?|mysql|mongodb(?:\+srv)?|redis|amqp)://[^\s/:@<>\"']{1,64}:[^\s/:@<>\"']{3,64}@"
    r")"
)

# English, German, French, Spanish, Portuguese, Italian, Dutch, Polish, Swedish, Turkish, Russian, Ukrainian, Japanese,
# Chinese: the languages of maild/message/evidence/phrases.toml.
_ATTACHED: Final = re.compile(
    r"\b(?:attached|attaching|enclosed)\b|\b(?:see|open|find|in|the|my|our|this|as an?) attachments?\b"
    r"|\bim anhang\b|\banbei\b|\b(?:angehängt|beigefügt|beiliegend)\w{0,2}\b|\b(?:in der|als) (?:anlage|anhang)\b"
    r"|\bci[- ]joint(?:e|s|es)?\b|\bpi[èe]ces? jointes?\b|\ben annexe\b|\bje joins\b"
    r"|\badjunt(?:o|a|os|as|amos)\b"
    r"|\bem anexo\b|\banex(?:o|os|ado|ada|ados|adas|ei|amos)\b"
    r"|\ballegat[oaie]\b|\ballego\b|\balleghiamo\b"
    r"|\bbijgevoegde?\b|\bbijlagen?\b|\bbijgesloten\b"
    r"|\bza[łl][ąa]cz(?:am|amy|on[yae]|eniu|nik\w{0,3})\b"
    r"|\bbifoga(?:r|d|de|t)\b|\bbilag(?:a|an|or|orna)\b"
    r"|\bekte(?:ki|dir)?\b|\bekli\b|\bilişikte\b|\bekledim\b"
    r"|\bво вложении\b|\b(?:прикрепл|прилага|прикладыва)\w{1,6}\b|\bвложенн\w{1,3}\b"
    r"|\bу (?:вкладенні|додатку)\b|\b(?:прикріпл|долуча)\w{1,6}\b|\bвкладен\w{1,3}\b"
    r"|添付|附件|随附|隨附|附檔|附上",
    re.IGNORECASE,
)
_NONE_ATTACHED: Final = re.compile(
    r"(?:\b(?:no|not|without|nothing|never|isn['’]t|wasn['’]t|kein(?:e|en)?|nicht|ohne|sans|sin|sem|senza|geen|zonder|bez"
    r"|utan|ingen|без|не)\b)(?:\s\w{1,12}){0,2}\s$",
    re.IGNORECASE,
)
_BEFORE_CHARS: Final = 40
_NO_REPLY: Final = re.compile(
    r"(?:^|[._+-])(?:no[._-]?repl(?:y|ies)|do[._-]?not[._-]?reply|nicht[._-]?antworten|ne[._-]?pas[._-]?repondre"
    r"|no[._-]?responder|nao[._-]?responda|non[._-]?rispondere|mailer-daemon|bounces?)(?:$|[._+-])",
    re.IGNORECASE,
)
_LOCAL_CHARS: Final = 64  # RFC 5321 §4.5.3.1.1
_ASCII_DOMAIN: Final = re.compile(r"[A-Za-z0-9.-]{1,255}+")
_ANY_DOMAIN: Final = re.compile(r"[\w.-]{1,255}+")
_BESIDE_LOCALS: Final = frozenset(" \t\r\n<>()[],;:\"'@")
_MARKUP: Final = re.compile(r"<[^<>]*>")
_TAG: Final = re.compile(r"<(?:!--|(style|script|blockquote)\b|[A-Za-z/!?])", re.IGNORECASE)
_ENDS: Final = {name: re.compile(f"</{name}", re.IGNORECASE) for name in ("style", "script", "blockquote")}
_QUOTED_LINE: Final = re.compile(r"^[ \t]{0,8}>.*$", re.MULTILINE)


def content_warnings(words: AuthoredWords) -> list[Flaw]:
    """All that looks wrong in the words by themselves: of the whole first, then by field and place."""
    found: list[Flaw] = []
    text, html = (words.text or "")[:TEXT_CHARS], (words.html or "")[:HTML_CHARS]
    shown = seen_of(html)
    if not (
        words.has_files
        or words.has_more
        or (words.text or "").strip()
        or shown.strip()
        or "<img" in html.lower()
    ):
        found.append(Flaw("empty_body"))
    found += _in_field("subject", words.subject, words.subject)
    found += _in_field("text", text, text)
    found += _in_field("html", html, shown)
    if not words.has_files:
        found += _speaks_of_files(words.subject, text, shown)
    return found


def seen_of(html: str) -> str:
    """The words of HTML at their places: tags, comments, styles, scripts and quotations are blanks of equal length."""
    shown: list[str] = []
    at = 0
    while (tag := _TAG.search(html, at)) is not None:
        end = _end_of(html, tag)
        shown += (html[at : tag.start()], " " * (end - tag.start()))
        at = end
    return "".join(shown) + html[at:]


def _end_of(html: str, tag: re.Match[str]) -> int:
    """Behind the tag, or behind the whole element where that is none of the words. What is not closed goes on."""
    start = tag.end()
    if tag[0] == "<!--":
        end = html.find("-->", start)
        return len(html) if end < 0 else end + 3
    if tag[1]:
        closing = _ENDS[tag[1].lower()].search(html, start)
        if closing is None:
            return len(html)
        start = closing.end()
    end = html.find(">", start)
    return len(html) if end < 0 else end + 1


def _in_field(view: View, field: str, shown: str) -> list[Flaw]:
    looks: Sequence[tuple[Code, re.Pattern[str], str]] = (
        ("placeholder", _TEMPLATE_SHAPES, field),
        ("placeholder", _PLACEHOLDER_WORDS, shown),
        ("placeholder", _TODO, shown),
        ("model_artifact", _MODEL_SHAPES, field),
        ("model_artifact", _MODEL_WORDS, shown),
        ("secret", _SECRETS, field),
    )
    found = {
        Flaw(code, view, *span) for code, expression, within in looks for span in _spans(expression, within)
    }
    return sorted(found, key=lambda one: (one.start or 0, one.code))


def _spans(expression: re.Pattern[str], field: str) -> list[tuple[int, int]]:
    """Where it matches, WARNINGS_MAX at most."""
    spans: list[tuple[int, int]] = []
    for at in range(0, len(field), PIECE_CHARS):
        until = at + PIECE_CHARS + OVERLAP_CHARS
        for match in expression.finditer(field, at, until):
            if match.start() >= at + PIECE_CHARS:
                break  # found in the next piece
            is_cut = match.end() == until
            whole = (is_cut and expression.match(field, match.start())) or match
            if not spans or whole.start() >= spans[-1][1]:
                spans.append(whole.span())
            if len(spans) == WARNINGS_MAX:
                return spans
    return spans


def _speaks_of_files(subject: str, text: str, shown: str) -> Iterator[Flaw]:
    """The first place of each field is enough."""
    written = _QUOTED_LINE.sub(lambda match: " " * len(match[0]), text)
    fields: Sequence[tuple[View, str]] = (("subject", subject), ("text", written), ("html", shown))
    for view, field in fields:
        for start, end in _spans(_ATTACHED, field):
            if not _NONE_ATTACHED.search(field[max(0, start - _BEFORE_CHARS) : start]):
                yield Flaw("attachment_missing", view, start, end)
                break


def is_no_reply(address: str) -> bool:
    """Does the address say of itself that nobody reads what it gets?"""
    return _NO_REPLY.search(split(address)[0]) is not None


class FoundAddress(NamedTuple):
    """`address`: as it was given. `start`, `end`: where."""

    address: str
    start: int
    end: int


class AddressFinder:
    """Finds some addresses in words, however they are written there: in either form of their domains, in any case,
    between letters of a script without blanks."""

    def __init__(self, addresses: Iterable[str]) -> None:
        self._locals: dict[str, dict[str, str]] = {}  # domain → local part → the address as it was given
        for address in addresses:
            local, domain = split(normalize(address))
            for form in {domain, unicode_domain(domain)}:
                self._locals.setdefault(form.casefold(), {})[local] = address

    def find(self, words: str) -> Iterator[FoundAddress]:
        """In the order of the words."""
        at = words.find("@")
        while at >= 0:
            found = self._around(words, at)
            if found is not None:
                yield found
            at = words.find("@", at + 1)

    def find_disguised(self, words: str) -> Iterator[FoundAddress]:
        """The same, and those that are there once compatible forms are one and nothing invisible stands between."""
        yield from self.find(words)
        if not words.isascii():
            folded = Folded(words, Folding())
            for one in self.find(folded.text):
                start, end = folded.span(one.start, one.end)
                yield one._replace(start=start, end=end)

    def find_in_markup(self, html: str) -> tuple[Sequence[FoundAddress], frozenset[str]]:
        """Those that stand in HTML, shown or not: in its text, in links, in comments; and of the others the addresses
        that are there once references are decoded, and tags are no more between."""
        found = list(self.find_disguised(html))
        decoded = (unescape(html).replace("%40", "@"), unescape(_MARKUP.sub("", html)))
        there = {one.address for words in decoded if words != html for one in self.find_disguised(words)}
        return found, frozenset(there) - {one.address for one in found}

    def _around(self, words: str, at: int) -> FoundAddress | None:
        for expression in (_ASCII_DOMAIN, _ANY_DOMAIN):
            match = expression.match(words, at + 1)
            domain = match[0].rstrip(".-") if match else ""
            known = self._locals.get(domain.casefold())
            if known is not None:
                start = self._start_of_local(words, at)
                # "=ada@", "到ada@": what stands before the local part may look like a part of it.
                for begin in range(start, at):
                    address = known.get(normalize(words[begin:at]))
                    is_whole = begin == start or not (
                        words[begin - 1].isascii() and words[begin - 1].isalnum()
                    )
                    if address is not None and is_whole:
                        return FoundAddress(address, begin, at + 1 + len(domain))
        return None

    @staticmethod
    def _start_of_local(words: str, at: int) -> int:
        start, least = at, max(0, at - _LOCAL_CHARS)
        while start > least and words[start - 1] not in _BESIDE_LOCALS:
            start -= 1
        return start
