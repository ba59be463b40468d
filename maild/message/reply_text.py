"""The new words of a reply.

Line by line, each line looked at a bounded number of times and only its first characters, so that
no text takes long. Interleaved answers stay; forwarded messages stay; when nothing is left, the
author wrote nothing else, and the whole text is the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

MAX_LINES: Final = 20_000
_LINE_CHARS = 300
_ATTRIBUTION_LINES = 4
_HEADER_BLOCK_LINES = 8

_ATTRIBUTION_START = re.compile(
    r"(?:on|am|le|el|il|op|em|den|w dniu|\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{4})\b"
    r"|(?:mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so|lun|mar|mer|jeu|ven|sam|dim)[a-z]{0,8}[,.]",
    re.IGNORECASE,
)
_ATTRIBUTION_END = re.compile(
    r"(?:\bwrote|\bschrieb(?: [^:]{1,200}+)?|\ba écrit|\bescribió|\bha scritto|\bschreef(?: [^:]{1,200}+)?"
    r"|\bescreveu|\bnapisał\(?a?\)?|\bskrev(?: [^:]{1,200}+)?)\s{0,2}:\s*\Z",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_FORWARDED = re.compile(
    r"(?:-{2,}|_{2,}|)\s{0,2}(?:forwarded message|begin forwarded message|weitergeleitete nachricht"
    r"|anfang der weitergeleiteten|message transféré|début du message (?:transféré|réexpédié)"
    r"|mensaje reenviado|inicio del mensaje reenviado|messaggio inoltrato|inizio messaggio inoltrato"
    r"|doorgestuurd bericht|begin doorgestuurd bericht|mensagem encaminhada"
    r"|início da mensagem (?:reencaminhada|encaminhada))\b",
    re.IGNORECASE,
)
_ORIGINAL = re.compile(
    r"-{2,}\s{0,2}(?:original message|original appointment|ursprüngliche nachricht|originalnachricht"
    r"|message d'origine|message original|mensaje original|messaggio originale|oorspronkelijk bericht"
    r"|mensagem original|reply message|urspr\. nachricht)\s{0,2}-{2,}",
    re.IGNORECASE,
)
_HEADER_FROM = re.compile(r"\*?(?:from|von|de|da|van|od)\s?:\*?\s{0,4}\S", re.IGNORECASE)
_HEADER_OTHER = re.compile(
    r"\*?(?:sent|date|to|cc|subject|gesendet|datum|an|betreff|envoyé|date|à|objet|enviado(?: el)?|fecha|para"
    r"|asunto|inviato|data|a|oggetto|verzonden|aan|onderwerp|enviada(?: em)?|assunto)\s?:\*?",
    re.IGNORECASE,
)
_STARTS = "on,am,le,el,il,op,em,de,da,va,od,vo,fo,be,an,dé,in,mo,tu,we,th,fr,sa,su,di,mi,do,so,lu,ma,me,je,ve,w ".split(
    ","
)


def _either_case(letters: Iterable[str]) -> str:
    return "[" + "".join(sorted({form for one in letters for form in (one, one.upper())})) + "]"


def _beginnings() -> str:
    """How all that is ever taken off begins, by one character or two. The first one is asked for by itself: most lines
    are known to be words by it."""
    seconds: dict[str, set[str]] = {}
    for one in _STARTS:
        seconds.setdefault(one[0], set()).add(one[1])
    words = "|".join(_either_case(first) + _either_case(found) for first, found in seconds.items())
    firsts = _either_case(seconds)[1:-1]
    return rf"\n[^\S\n]{{0,{_LINE_CHARS - 1}}}+(?=[>_=*\-\d{firsts}])(?:[>_=*-]|\d{{1,4}}[-/.]\d|{words})"


_MARKED = re.compile(_beginnings())
_SIGNATURE = re.compile(r"--\s?\Z")
_DEVICE = re.compile(
    r"(?:sent from (?:my|mail|yahoo|outlook|proton|samsung)|get outlook for|von meinem? .{1,40} gesendet"
    r"|gesendet (?:von|mit)|envoyé de(?:puis)? m|enviado desde m|inviato da(?:l mio)? |verstuurd vanaf m"
    r"|verzonden vanaf m|enviado do meu)",
    re.IGNORECASE,
)
_RULE = re.compile(r"[_=\-*]{5,200}\Z")


def extract_reply(text: str, *, is_forward: bool = False) -> str:
    """What the author wrote: without quotes, attribution lines, copied headers and signature.

    `is_forward` (from the subject) keeps what Outlook copies below, which looks like a reply's
    quote. Returns the whole text, trimmed, when nothing else would remain.
    """
    candidates = _marked_lines(text)
    if not candidates:
        return _trim(text) or text.strip()
    lines = text.split("\n", MAX_LINES)
    kept: list[str] = []
    position = 0
    for marked in candidates:
        if marked < position:
            continue
        head = _head(lines[marked])
        kept += lines[position:marked]
        position = len(lines)  # what follows is taken off, unless a branch says otherwise
        if _FORWARDED.match(head) or (is_forward and _begins_copy(lines, marked)):
            kept += lines[marked:]
        elif head[0] == ">":
            position = marked + 1
        elif _SIGNATURE.match(lines[marked][:_LINE_CHARS]):
            position = _next_forward(lines, marked + 1)
        elif not _begins_copy(lines, marked):
            span = _attribution_span(lines, marked)
            if not span:
                kept.append(lines[marked])
                position = marked + 1
            elif _is_quoted(lines, marked + span):
                position = marked + span
    return _trim("\n".join(kept + lines[position:])) or text.strip()


def _marked_lines(text: str) -> list[int]:
    """The numbers of the lines that something to be taken off may begin at."""
    numbers: list[int] = []
    text, number, seen = "\n" + text, 0, 0  # each line is found by the line end before it
    for found in _MARKED.finditer(text):
        number += text.count("\n", seen, found.start())
        if number > MAX_LINES:
            break
        numbers.append(number)
        seen = found.start()
    return numbers


def _head(line: str) -> str:
    return line[:_LINE_CHARS].strip()


def _begins_copy(lines: list[str], position: int) -> bool:
    """Outlook's ways to begin the copy of the original: a marker, or a block of its headers."""
    head = _head(lines[position])
    if _ORIGINAL.match(head):
        return True
    if _RULE.match(head):  # "________" above the block
        position += 1
        head = _head(lines[position]) if position < len(lines) else ""
    if not _HEADER_FROM.match(head):
        return False
    following = lines[position + 1 : position + 1 + _HEADER_BLOCK_LINES]
    return sum(_HEADER_OTHER.match(_head(line)) is not None for line in following) >= 2


def _attribution_span(lines: list[str], position: int) -> int:
    """How many lines from here are "On …, … wrote:"; 0 when they are not."""
    if not _ATTRIBUTION_START.match(_head(lines[position])):
        return 0
    joined = ""
    for span, line in enumerate(lines[position : position + _ATTRIBUTION_LINES], 1):
        head = _head(line)
        if not head:
            return 0
        joined = f"{joined} {head}"
        if _ATTRIBUTION_END.search(head) and (_DIGIT.search(joined) or "@" in joined):
            return span
    return 0


def _is_quoted(lines: list[str], position: int) -> bool:
    """Whether the next words are a `>` quote, so that an answer may stand below it."""
    while position < len(lines) and not _head(lines[position]):
        position += 1
    return position < len(lines) and _head(lines[position])[0] == ">"


def _next_forward(lines: list[str], position: int) -> int:
    while position < len(lines) and not _FORWARDED.match(_head(lines[position])):
        position += 1
    return position


def _trim(text: str) -> str:
    """Without blank lines, rules and a device's signature at its end."""
    text = text.rstrip()
    last = _last_line(text)
    while last and _RULE.match(last.strip()[:_LINE_CHARS]):
        text = text[: -len(last)].rstrip()
        last = _last_line(text)
    if len(last) < len(text) and _DEVICE.match(last.strip()[:_LINE_CHARS]):
        text = text[: -len(last)]
    return text.strip()


def _last_line(text: str) -> str:
    return text[text.rfind("\n") + 1 :]
