"""Attribution lines: "On …, … wrote:", in the languages and orders that mail clients write them.

A line is asked from its end, because that is where nearly all of them have a colon: what stands before it (a verb of
writing, an address, a time) and how the line begins (a date, "On" and a date, a name and its address) decide together.
An author writes such lines too. So where a line could be a sentence of his, it counts only above a quote.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Final, NamedTuple, Self

LINE_CHARS: Final = 300  # so much of a line's beginning, or of its end, is looked at
_LINES = 4
_WRAPPED_CHARS = 120  # a line that a client has wrapped is no longer
_WHOLE_CHARS = 160  # nor an attribution with names as most are
_NAME_WORDS = 4
_DATE_WORDS = 6
_ADDRESS_END = 4  # ">" and ":", and what may stand about them
_MARKS = "\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"  # directions
_AROUND = f" \t\xa0*_-—–<>:：.{_MARKS}"

_NO_MARKS = str.maketrans("\xa0", " ", _MARKS)
_UNSEEN = f" \t\xa0*_{_MARKS}"

# Words of programs, which authors use too: of what somebody said, or of what "you" wrote.
_SPOKEN = frozenset(
    "said says sent reče raksta 提到 先前提到 寫下 編輯 написано написали написахте написасте napisaste napisali"
    " napísali piszesz rašėte yazdınız γράψατε escribiches".split()
)
_VERBS = _SPOKEN | frozenset(
    (
        "wrote writes schrieb schreibt geschrieben schreef geschreven skrev skriver skrifaði"
        " écrit escribió escribio escreveu escriure escribiu scritto scris scribis skribis kirjoitti kirjutas"
        " rakstīja napisał napisała napisał(a pisze napsal napsala napsal(a napísal napísala napísal(a napisao napisala"
        " napisao/la napisal написао написао/ла пишет писал(а написал написала написал(а пише написав написала написа"
        " піша напісаў rašė írta írt yazdı yazdi yazmış έγραψε viết menulis idatzi shkroi כתב כתבה כתב/ה كتب نوشت"
        " लिखा เขียนว่า ได้เขียน escrit skreiv piše menulis membalas напиша zuen წერს жазған napisal(a"
        " yazıb schreift skrivaði დაწერა escrito tulis napisal-a napisao/napisala написав(ла"
        " skryf shkruar napísal/a писал писала schrieb(en schreven napisaŭ napisa parašė писав(ла"
        " escriguèt escrich scrit scrît scrijha scribeva yozdi yura ubhale бичихдээ жазғаны يازدىكى লিখিছিল লিখেছিলেন"
        " ਲਿਖਿਆ ಬರೆದಿದ್ದಾರೆ എഴുതിയിരിക്കുന്നു लिहिले వ్రాశారు எழுதியது"
    ).split()
)
# These follow the name without a blank, but one.
_VERB_ENDINGS = (
    *"写道 寫道 写到 寫到 写入 撰寫 编写 書きました 書き込みました のメール のメッセージ 작성 썼습니다".split(),
    *(
        "쓴 글",
        "schrieben sie",
        "napisao je",
        "napisala je",
        "napisao(la",
        "쓴 내용",
        "idatzi du",
        "نوشته است",
        "نوشته بود",
        "લખાયેલ હતું",
        "ලියන ලඳි",
        "의 덧글",
    ),
)
# The name may stand behind these.
_MIDDLE_VERBS = frozenset(
    "schrieb schrieb(en) schreef skryf skreau skrev skreiv skrifaði skrivaði ysgrifennodd scríobh kirjoitti kirjutas"
    " rašė rakstīja napsal napsala yazdı írta писал(а) wrote escreveu"
    " كتب كتب/كتبت נכתב".split()
)
_BEFORE_A_DATE = frozenset(["wrote", "escreveu"])
_MIDDLE_VERB = re.compile(
    rf"(?<!\w)(?:{'|'.join(map(re.escape, _MIDDLE_VERBS - _BEFORE_A_DATE))}"
    r"|wrote(?= (?:on|at)\b)|escreveu(?= no dia\b))\s",
    re.IGNORECASE,
)
# Words by which web mail names the author.
_AUTHOR_WORDS = frozenset("пользователь użytkownik uživatel odesílatel користувач карыстальнік".split())
# With the verbs of these languages.
_AUXILIARIES = frozenset("a ha je је ka va đã idatzi".split())
# With these the author tells what he wrote himself, or somebody whom he has named before.
_OWN_WORDS = frozenset(
    "i we ich wir ik wij jeg jag vi j'ai nous yo eu io я мы ja my he she they er hij zij elle él ella он она"
    " они".split()
)
_PRONOUNS = _OWN_WORDS | frozenset("it sie es il ils elles ellos".split())
_WRITTEN = _VERBS - _SPOKEN
_CLAUSE = re.compile(r",\s[^\W\d_A-ZÀ-ÞА-Я][^\W\d_]")  # ", that …": a sentence goes on
_INTRODUCTION = re.compile(
    r"(?:on|at(?= \d{1,4}[/.-]| \w{3}, \d)|am|le|el|il|in data|op|em|den|på|w dniu|dnia|dňa|dne|tann|ditën e"
    r"|v(?= \w{2,4},)|ühel kenal päeval|vào|în|la|στις|pada|dana|v v"
    r"|בתאריך|في|على|در|روز)\b|在|于|於|เมื่อ|თარიღი",
    re.IGNORECASE,
)
# Indic marks, which words have within them, are no letters to Python.
_WORD = r"[^\W\d_]{1,14}+(?>(?:[\u0900-\u0dff]{1,3}+[^\W\d_]{0,14}+){0,6})(?:-feira)?"
_DATE = re.compile(rf"(?>(?:\(?{_WORD}[.,:،'’׳]{{0,2}}+\s{{1,2}}+){{0,4}})\S{{0,3}}?\d")
_BARE_DATE = re.compile(rf"\(?(?>(?:{_WORD}[.,’'׳]{{0,2}}+\s{{1,2}}+){{0,2}})\d")
_NAME_AND_ADDRESS = re.compile(
    r"(?>(?:[^\s<>@]{1,40}+\s{1,2}+){1,8})[<(\[]{1,2}\s?(?:mailto:)?[^\s<>@()]{1,64}@[^\s<>()]{1,255}"
)
_BLANK = re.compile(r"\s")
_TIME = re.compile(r"(?<!\d)\d{1,2}[:.h]\d\d(?!\d)")
_WEB_TIME = re.compile(
    r"\d[:.]\d\d(?::\d\d)?(?: ?[AaPp]\.?[Mm]\.?)?(?:[,、]| GMT| [+-]\d\d:?\d\d)|[年년]|בתאריך|في"
)
_NAME = r"(?:[^\W\d_a-zß-ÿа-я]\S{0,30}+\s){1,5}?"
_NAMED_BEFORE_DATE = re.compile(  # SeaMonkey, Thunderbird, Roundcube, Notes, The Bat!
    rf"(?:(?:{_NAME}|\S{{1,64}}@\S{{1,255}}\s)(?:wrote on|schrieb am|schreef op|skrev den|skreiv den|skrifaði þann"
    r"|a écrit (?:le|sur)|escribió el|escribiu o|ha escrit el|escreveu (?:em|às)|ha scritto il|a scris la|kirjoitti"
    r"|kirjutas|napsal(?:\(a\))? dne|napísal\(a\) dňa|napisao je|je|írta|rašė|shkroi më|menulis di|membalas pada"
    r"|писал\(а\)|пишет|пише|напісаў|написа на|έγραψε στις|đã viết vào lúc|@|이\(가\)|写于|於|于|píše v)"
    r"|เมื่อ (?:\S{1,10} )?\S{6,12} เวลา|Вы писали)"
    r"\s(?=.{0,30}?\d{1,2}[:.]\d\d)"
    rf"|(?:كتب|נכתב על ידי)\s(?:{_NAME})?\S{{1,30}}+"
    r"(?:,? (?:על|على|في|ב)\S{0,3} ?\S{6,12} .{0,10}\d{1,2}[:.]\d\d)?\Z"
    rf"|skrev (?:{_NAME})?\S{{1,30}}+\Z"
    rf"|{_NAME}on (?:\S{{1,12}}+ ){{1,7}}?\d{{1,2}}[:.]\d\d(?: [AaPp]\.?[Mm]\.?)? wrote\Z"
    rf"|(?:{_NAME})?[^\W\d_a-zß-ÿа-я]\S{{0,30}}, \d{{1,4}}[./-]\d{{1,2}}[./-]\d{{2,4}},? \d{{1,2}}:\d\d\Z"
    r"|\d{1,4}[./-]\d{1,2}[./-]\d{2,4}(?: \(\S{1,4}\),)? \d{1,2}:\d\d(?: [+-]\d{4})?, "
    rf"(?:{_NAME})?\S{{1,30}}+\Z"
)
# A Date field, which Claws writes on a line of its own.
_DATE_LINE = re.compile(
    r"(?:\S{1,3} )?\w{2,4}\.?, \d{1,2} \w{3,5}\.? \d{4} \d\d:\d\d:\d\d [+-]\d{4}(?: \S{1,12})?\Z"
)
_ODD_FORM = re.compile(
    r">>>\s[^\n]{3,200}\s\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\s[^\n]{0,20}>>>\Z"  # GroupWise
    r"|:כתב [^\n]{3,200}, \d[^\n]{6,20}\d בתאריך\Z"  # Roundcube in Hebrew, whose catalog has it the wrong way round
)
# Line breaks that a client wrote as blanks, or lost. In some languages the verb stands before the name, or has an
# auxiliary.
_RUN_ON = re.compile(
    r"<?[^<>\s@]{1,64}@[^<>\s:]{1,255}>?(?:\s(?:h?a\s)?[^\s:]{2,20}[ \xa0]?)?:(?=[ \xa0]{2}|>\s?[^\s>])"
)
_ODD_ENDS = frozenset(">ך")
_QUOTING = re.compile(
    r"(?:quoting|thus (?:spake|wrote)|zitat von|selon|citeren|citando|citazione|citat från|citát|lainaus|cytat"
    r"|citat af|cytowanie|cituji|citiram|citerar|citēju|siterer|s'està citant|estase citando|idézet|vísa til|alıntı"
    r"|цитирую|цитую|παραθέτοντας από|نقل قول|引用|引述)\s",
    re.IGNORECASE,
)
_EXCERPTS = re.compile(r"excerpts from .{1,100}? message of .{0,40}\d", re.IGNORECASE)
_MUTT = re.compile(r"\*\s.{0,200}\s\[[\d :./-]{6,20}\]:\Z")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_NUMBER = re.compile(r"\d+")
_ISO_DATE = re.compile(r"(?:19|20)\d\d[-/.]\d\d?[-/.]\d\d?\s")
_DASHED = re.compile(r"-{2,}\s{0,2}\S")
_INSIDE = re.compile(
    r"(?:(?<=\s)|--)(?:On|At|Am|Le|El|Il|Op|Em|Den|På|W dniu|Dnia|Dne|Vào)\s(?=[^\n]{0,60}\d)"
)
# Where a client has wrapped an attribution, most of them in front of the address.
_CONTINUATION = re.compile(r"\s*+(?:<|[^\s<>@]{1,64}@[^\s<>()]{1,255}[>)])")
_BEHIND_THE_NAME = frozenset("于於")
_SENTENCE_END = re.compile(r"(?:[!?]|(?<!\d)\.)\Z")  # "23." may be the day


class Certainty(IntEnum):
    """Whether a line is an attribution."""

    NOT = 0
    IN_AN_ANSWER = 1  # if a quote follows, and the mail answers another one
    ABOVE_A_QUOTE = 2  # if a quote follows
    ALWAYS = 3


class Attribution(NamedTuple):
    """The lines [start, end) of a text; `words` of the author stand in front of it on its first line."""

    start: int
    end: int
    certainty: Certainty
    words: str = ""


def may_end_one(line: str) -> bool:
    """Cheap, and wrong for few: most lines that end in a colon announce what the author says next."""
    ending = line[-LINE_CHARS:].strip()
    final = ending.rstrip(_UNSEEN)[-1:]
    if final in ":：":
        return (
            len(ending) < 3
            or "@" in ending
            or ">" in ending
            or ending[:-1].rstrip(_UNSEEN)[-1:].isdigit()
            or ending.endswith((" Uhr:", "):"))
            or _TIME.search(ending) is not None
            or _ends_in_verb(ending)
            or not _MIDDLE_VERBS.isdisjoint(ending.lower().split())
        )
    if final in _ODD_ENDS:
        return _ISO_DATE.match(ending) is not None or _ODD_FORM.match(ending) is not None
    if final == "-" and not _MIDDLE_VERBS.isdisjoint(ending.lower().split()):
        return _DASHED.match(ending) is not None
    # Without a colon in English and German, and in some languages of Roundcube.
    return (final in "-etd" or _ISO_DATE.match(ending) is not None) and _ends_in_verb(ending)


def may_run_on(line: str) -> bool:
    """Cheap: whether the original may go on behind its attribution on this line."""
    return "@" in line[:LINE_CHARS] and _RUN_ON.search(line[:LINE_CHARS]) is not None


def runs_on(line: str) -> bool:
    """Whether it does, where it may."""
    found = _RUN_ON.search(line[:LINE_CHARS])
    said = "" if found is None else _without_marks(line[: found.end()])
    return _judge(said, is_apart=True) == (Certainty.ALWAYS, True)


def ends_quoted_one(above: str, line: str) -> bool:
    """Whether a line is the end of an attribution whose beginning stands above it, and is quoted: a gateway has wrapped
    the line that Apple Mail marks as a quote, too."""
    if not may_end_one(line):
        return False
    found = find_attribution([above.lstrip("> "), line], 1, 0)
    return found is not None and found.start == 0 and found.certainty is Certainty.ALWAYS


def find_attribution(lines: list[str], last: int, first: int) -> Attribution | None:
    """The attribution that ends with lines[last], which `may_end_one`, and begins at `first` or later."""
    joined, found = "", None
    for span, start in enumerate(_upwards(lines, last, first), 1):
        line = _without_marks(lines[start][-LINE_CHARS:])
        if span > 1 and (_SENTENCE_END.search(line) or len(line) > _WRAPPED_CHARS):
            break
        joined = f"{line} {joined}" if joined else line
        is_apart = start == 0 or not lines[start - 1].strip()
        certainty, is_introduced = _judge(joined, is_apart=is_apart)
        is_whole = found is not None and not _CONTINUATION.match(lines[found.start])
        if is_introduced and (not is_whole or _is_dated(line)):
            return Attribution(start - _names_author(lines, start, first), last + 1, certainty)
        if not is_whole or _is_date(line):
            found = _with_line_above(found, Attribution(start, last + 1, certainty), line)
        split = _split(lines, start, joined)
        if split:
            return Attribution(start, last + 1, Certainty.ABOVE_A_QUOTE, split)
    return found


def _with_line_above(found: Attribution | None, longer: Attribution, line: str) -> Attribution | None:
    """The longer one where the line above what was found belongs to it: it makes it surer, or is a name."""
    if longer.certainty is Certainty.NOT or (found is not None and longer.certainty < found.certainty):
        return found
    is_named = found is None or longer.certainty > found.certainty or len(line.split()) <= _NAME_WORDS
    return longer if is_named else found


def _is_date(line: str) -> bool:
    """Whether nothing else stands there, as above a name that a client has wrapped onto the next line."""
    if _DATE_LINE.match(line):
        return True
    is_full = _YEAR.search(line) is not None and _TIME.search(line) is not None
    return is_full and line[0].isdigit() and len(line.split()) <= _DATE_WORDS


def _is_dated(line: str) -> bool:
    """Whether a line may be the beginning of an attribution that is whole without it: "On 4 May 2026,"."""
    return line[-1:] == "," or _TIME.search(line) is not None or _YEAR.search(line) is not None


def _names_author(lines: list[str], start: int, first: int) -> bool:
    """Whether the line above says who it was and nothing else, as Gmail's does in Chinese where it is wrapped."""
    if start == first or lines[start].lstrip()[:1] not in _BEHIND_THE_NAME:
        return False
    above = _without_marks(lines[start - 1][-LINE_CHARS:])
    return (
        above[-1:] == ">"
        and (named := _NAME_AND_ADDRESS.match(above)) is not None
        and named.end() == len(above) - 1
    )


def _without_marks(line: str) -> str:
    return (line if line.isascii() else line.translate(_NO_MARKS)).strip()


def _upwards(lines: list[str], last: int, first: int) -> list[int]:
    """The numbers of the lines that may belong to it, from `last` up: four that are not blank, and no blank one
    between but above a lone "<", which Polymail writes."""
    numbers = [last]
    position = last - 1
    while position >= first and len(numbers) < _LINES + 1:
        text = lines[position]
        if text[:LINE_CHARS].strip():
            numbers.append(position)
        elif lines[position + 1].strip() != "<":
            break
        position -= 1
    return numbers


def _judge(joined: str, *, is_apart: bool) -> tuple[Certainty, bool]:
    """(what it is, whether it begins with "On" and a date). `is_apart`: nothing stands right above it."""
    if _ODD_FORM.match(joined):
        return Certainty.ALWAYS, True
    claim = _Claim.of(joined)
    certainty = claim.certainty(is_apart=is_apart)
    return certainty, claim.is_introduced and certainty is not Certainty.NOT


class _Claim(NamedTuple):
    """What may be an attribution."""

    joined: str  # as it stands there
    body: str  # without what may stand around it
    begins_with_date: bool
    is_introduced: bool  # by a word like "On", before the date

    @classmethod
    def of(cls, joined: str) -> Self:
        body = joined.strip(_AROUND + "\"'“”")
        has_date = _DATE.match(body) is not None
        is_introduced = has_date and _INTRODUCTION.match(body) is not None
        begins_with_date = is_introduced or (has_date and _BARE_DATE.match(body) is not None)
        return cls(joined, body, begins_with_date, is_introduced)

    def certainty(self, *, is_apart: bool) -> Certainty:
        if not (self.begins_with_date or _NAME_AND_ADDRESS.match(self.body) or _has_verb_alone(self.body)):
            return self._of_few_words()
        if self.joined.rstrip(" *_" + _MARKS)[-1:] not in (":", "："):
            return self._without_colon()
        if _has_verb(self.body):
            return self._with_verb()
        if _is_above_a_quote(self.joined, self.body):
            return Certainty.ABOVE_A_QUOTE
        if self.body.endswith((")", "]")) or not (_has_address(self.body) and self._is_dated()):
            return Certainty.NOT
        is_sure = self.begins_with_date and is_apart and _is_signed(self.joined, self.body)
        return Certainty.ALWAYS if is_sure else Certainty.ABOVE_A_QUOTE

    def _of_few_words(self) -> Certainty:
        if _is_above_a_quote(self.joined, self.body):
            return Certainty.ABOVE_A_QUOTE
        is_ended = self.joined.rstrip(_UNSEEN)[-1:] in (":", "：")
        is_likely = is_ended and (_is_whole(self.body) or _has_one_name(self.body))
        return Certainty.IN_AN_ANSWER if is_likely else Certainty.NOT

    def _has_time(self) -> bool:
        return _TIME.search(self.body) is not None

    def _is_dated(self) -> bool:
        return self._has_time() or _YEAR.search(self.body) is not None

    def _with_verb(self) -> Certainty:
        words, has_address = self.body.lower().split(), _has_address(self.body)
        if not _OWN_WORDS.isdisjoint(words) or (words[-1] in _SPOKEN and not has_address):
            return Certainty.ABOVE_A_QUOTE
        if not self.begins_with_date:
            is_sure = has_address and self._is_dated() and not _CLAUSE.search(self.body)
        else:
            has_full_date = self.is_introduced and self._is_dated() and len(_NUMBER.findall(self.body)) > 1
            is_sure = has_address or self._has_time() or has_full_date or not _AUTHOR_WORDS.isdisjoint(words)
        return Certainty.ALWAYS if is_sure else Certainty.ABOVE_A_QUOTE

    def _without_colon(self) -> Certainty:
        is_full = self.is_introduced and self._has_time() and _has_address(self.body)
        is_dashed = _DASHED.match(self.joined) is not None and self.joined.endswith("--")
        if is_dashed and is_full and _has_verb(self.body):
            return Certainty.ALWAYS
        if _ends_in_verb(self.body) and (is_dashed or is_full):
            return Certainty.ALWAYS
        words = self.body.lower().split()
        if not _ISO_DATE.match(self.body) or len(words) > _NAME_WORDS * 2:
            return Certainty.NOT
        if self.joined.endswith(">"):
            return Certainty.ABOVE_A_QUOTE
        is_likely = words[-1] in _WRITTEN and _OWN_WORDS.isdisjoint(words)
        return Certainty.IN_AN_ANSWER if is_likely else Certainty.NOT


def _is_above_a_quote(joined: str, body: str) -> bool:
    """What some clients write, and authors might: a mark before who it was, or the date behind."""
    if joined.rstrip(_UNSEEN)[-1:] not in (":", "："):
        return False
    if _NAMED_BEFORE_DATE.match(body) or _EXCERPTS.match(body):
        return True
    if not _has_address(body):
        return False
    return _is_whole(body) or _QUOTING.match(body) is not None or _MUTT.match(joined) is not None


def _is_whole(body: str) -> bool:
    """Whether somebody wrote at a time of a day of a year, in whatever order."""
    return (
        len(body) <= _WHOLE_CHARS
        and _YEAR.search(body) is not None
        and _TIME.search(body) is not None
        and _has_verb(body)
        and _OWN_WORDS.isdisjoint(body.lower().split())
    )


def _has_one_name(body: str) -> bool:
    """`Bot writes:`, as nmh and maildrop do where the display name is one word; and whoever quotes a third person."""
    name, _, verb = body.lower().partition(" ")
    is_written = verb in _WRITTEN or verb in _VERB_ENDINGS
    return is_written and name not in _PRONOUNS and body[0].isalpha() and not body[0].islower()


def _has_address(body: str) -> bool:
    at = body.find("@")
    return 0 < at < len(body) - 2 and not body[at - 1].isspace() and not body[at + 1].isspace()


def _is_signed(joined: str, body: str) -> bool:
    """`04.05.2026, 10:12, "Ann" <ann@example.org>:`, as web mail does without a verb."""
    ends_in_address = ">" in joined[-_ADDRESS_END:] and not _BLANK.search(body, body.rfind("@"))
    return ends_in_address and _WEB_TIME.search(body) is not None


def _has_verb(body: str) -> bool:
    if _ends_in_verb(body):
        return True
    if _MIDDLE_VERBS.isdisjoint(body.lower().split()):
        return False
    middle = _MIDDLE_VERB.search(body)
    return middle is not None and not _CLAUSE.search(body, middle.end())


def _has_verb_alone(body: str) -> bool:
    """`Bob Example wrote`, `bob via A list wrote`, `bob@x.org wrote`: who it was, and not the end of a sentence."""
    if not _ends_in_verb(body):
        return False
    words = body.split()
    if len(words) == 2 and _has_address(words[0]):
        return True
    if len(words) > 2 and words[-2] in _AUXILIARIES:
        del words[-2]
    if " via " in body:
        return len(words) <= _NAME_WORDS * 2
    return 3 <= len(words) <= _NAME_WORDS + 1 and all(word[0].isupper() for word in words[:-1])


def _ends_in_verb(body: str) -> bool:
    body = body.rstrip(_AROUND + ")").lower().replace("\xa0", " ")
    if body[body.rfind(" ") + 1 :].rpartition(">")[2] in _VERBS or body.endswith(_VERB_ENDINGS):
        return True
    note = body.rfind(" (")
    if note > 0 and len(body) - note <= 80:
        return body[:note].rstrip().rpartition(" ")[2] in _VERBS
    return False


def _split(lines: list[str], start: int, joined: str) -> str:
    """The author's words in front of "On …, … wrote:" on its first line; "" where there are none."""
    if not _ends_in_verb(joined):
        return ""
    line = lines[start][-LINE_CHARS:].strip()
    for found in [*_INSIDE.finditer(line)][-2:]:
        rest = joined[found.start() :]
        if found.start() and _judge(rest, is_apart=False) == (Certainty.ALWAYS, True):
            return lines[start].rstrip()[: found.start() - len(line)].rstrip(" \t-")
    return ""
