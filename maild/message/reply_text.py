"""The new words of a reply.

Line by line, each line looked at a bounded number of times and only its first characters, so that
no text takes long. Interleaved answers stay; forwarded messages stay; when nothing is left, the
author wrote nothing else, and the whole text is the answer.
"""

from __future__ import annotations

import re
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
# How all that is ever taken off begins, by one character or two: most lines are known to be words by these.
_MARKS = frozenset(">-_=*")
_STARTS = frozenset(
    "on am le el il op em de da va od vo fo be an dé in mo tu we th fr sa su di mi do so lu ma me je ve".split()
) | {"w "}
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
    lines = text.split("\n", MAX_LINES)
    heads = [line[:_LINE_CHARS].strip() for line in lines]
    kept: list[str] = []
    position = 0
    candidates = [
        at
        for at, head in enumerate(heads)
        if head[:1] in _MARKS
        or head[:2].lower() in _STARTS
        or (head[:1].isdigit() and _ATTRIBUTION_START.match(head))  # a date
    ]
    for marked in candidates:
        head = heads[marked]
        if marked < position or not head:
            continue
        kept += lines[position:marked]
        position = len(lines)  # what follows is taken off, unless a branch says otherwise
        if _FORWARDED.match(head) or (is_forward and _begins_copy(heads, marked)):
            kept += lines[marked:]
        elif head[0] == ">":
            position = marked + 1
        elif _SIGNATURE.match(lines[marked][:_LINE_CHARS]):
            position = _next_forward(heads, marked + 1)
        elif not _begins_copy(heads, marked):
            span = _attribution_span(heads, marked)
            if not span:
                kept.append(lines[marked])
                position = marked + 1
            elif _is_quoted(heads, marked + span):
                position = marked + span
    return _trim(kept + lines[position:]) or text.strip()


def _begins_copy(heads: list[str], position: int) -> bool:
    """Outlook's ways to begin the copy of the original: a marker, or a block of its headers."""
    head = heads[position]
    if _ORIGINAL.match(head):
        return True
    if _RULE.match(head):  # "________" above the block
        position += 1
        head = heads[position] if position < len(heads) else ""
    if not _HEADER_FROM.match(head):
        return False
    following = heads[position + 1 : position + 1 + _HEADER_BLOCK_LINES]
    return sum(_HEADER_OTHER.match(line) is not None for line in following) >= 2


def _attribution_span(heads: list[str], position: int) -> int:
    """How many lines from here are "On …, … wrote:"; 0 when they are not."""
    if not _ATTRIBUTION_START.match(heads[position]):
        return 0
    joined = ""
    for span, line in enumerate(heads[position : position + _ATTRIBUTION_LINES], 1):
        if not line:
            return 0
        joined = f"{joined} {line}"
        if _ATTRIBUTION_END.search(line) and (_DIGIT.search(joined) or "@" in joined):
            return span
    return 0


def _is_quoted(heads: list[str], position: int) -> bool:
    """Whether the next words are a `>` quote, so that an answer may stand below it."""
    while position < len(heads) and not heads[position]:
        position += 1
    return position < len(heads) and heads[position][0] == ">"


def _next_forward(heads: list[str], position: int) -> int:
    while position < len(heads) and not _FORWARDED.match(heads[position]):
        position += 1
    return position


def _trim(kept: list[str]) -> str:
    while kept and (not kept[-1].strip() or _RULE.match(kept[-1].strip()[:_LINE_CHARS])):
        kept.pop()
    if len(kept) > 1 and _DEVICE.match(kept[-1].strip()[:_LINE_CHARS]):
        kept.pop()
    return "\n".join(kept).strip()
