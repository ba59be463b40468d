"""Marks that speak to a program in its own form: chat templates and tool calls, and fences like those of maild."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from typing import Final

from maild.message.context.fences import CLOSING, OPENING
from maild.message.evidence.confusables import LOOKS_LIKE

MAX_MARKS: Final = 200

_TAGS = (
    r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id|begin_of_text)\|>"
    r"|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>|</?(?:system|tool_call|tool_calls|function_calls?|invoke|tool_use"
    r"|tool_result|tool_response|assistant|system-reminder|system_prompt|antml:[a-z_]+|instructions?)(?:\s[^<>]{0,80})?>"
)
_ROLE_MARKUP = re.compile(
    _TAGS
    + r"|^[ \t>*]*#{2,4}[ \t]*(?:system|instructions?|assistant|developer)(?: prompt| message)?[ \t]*+:?[ \t]*+$"
    r"|^[ \t>*\[(]*(?:system|developer)[ _](?:prompt|override|instructions?)[\])]?[ \t*]*:(?=\s)"
    r"|^[ \t>*]*\[(?:system|developer|assistant)\](?=[\s:])"
    r"|^[ \t>*]*system:\s{1,3}(?=you (?:are|must|will|shall)|ignore|disregard|override|forget|new )"
    r'|"role"\s{0,3}:\s{0,3}"(?:system|assistant|tool|developer)"'
    r'|"(?:tool_calls?|function_call)"\s{0,3}:'
    r"|(?:begin|end|start of|end of)[ _](?:system|hidden|admin)[ _](?:prompt|message|instructions)"
    r"|(?:^|\n)[ \t]*(?:human|user):[^\n]{1,500}\n{1,3}[ \t]*assistant:",
    re.MULTILINE,
)
# Where one of them may begin: a tag, or at a word that all of its kind have, or in the line of such a word.
_TAG = re.compile(f"(?=[<[])(?:{_TAGS})")
_QUOTED = ('"role"', '"tool_call', '"function_call')
_LINE_WORDS = ("system", "developer", "assistant", "instruction", "human:", "user:")
_SECTION_WORDS = ("system", "hidden", "admin")
_SECTION_BEGINS = ("begin", "end", "start of", "end of")

# What fences of ours look like: nobody outside may write them.
_FENCE = re.compile(
    rf"[{OPENING}]{{2,6}}\s{{0,5}}mail\b(?=\s+[0-9a-f]{{4,}})|\bmail\s{{1,5}}[0-9a-f]{{6,64}}\s{{0,5}}[{CLOSING}]{{2,6}}"
)
_SET_APART = "\n \n"
_BRACKETS = re.compile(f"[{OPENING}{CLOSING}]{{2}}")
_LOOKS_OF_FENCES = {code: letter for code, letter in LOOKS_LIKE.items() if letter in "mail0123456789abcdef"}


def role_markup(text: str) -> Iterator[tuple[int, int]]:
    """Where the folded text has marks of a chat template or of tool calls. Linear."""
    end = count = 0
    for start in sorted(set(_role_begins(text))):
        if start < end or (found := _ROLE_MARKUP.match(text, start)) is None:
            continue
        yield found.span()
        end, count = found.end(), count + 1
        if count == MAX_MARKS:
            return


def marked(texts: Sequence[str]) -> set[int]:
    """Which of these folded texts have `role_markup`; many short ones cost what a long one does."""
    ends = list(accumulate(len(one) + len(_SET_APART) for one in texts))
    likely = {bisect_right(ends, at) for at in _role_begins(_SET_APART.join(texts))}
    return {number for number in likely if number < len(texts) and any(role_markup(texts[number]))}


def _role_begins(text: str) -> Iterator[int]:
    """All places where a mark may begin, and others."""
    if "<" in text or "[" in text:
        for found in _TAG.finditer(text):
            yield found.start()
    for word in _QUOTED:
        yield from _places(text, word)
    for word in _SECTION_WORDS:
        for at in _places(text, word):
            for before in _SECTION_BEGINS:
                if text.endswith(before, 0, max(0, at - 1)):
                    yield at - 1 - len(before)
    for word in _LINE_WORDS:
        yield from _line_begins(text, word)


def _line_begins(text: str, word: str) -> Iterator[int]:
    """Where lines begin that have the word, and where the line end before them is."""
    looked = 0
    for at in _places(text, word):
        line = text.rfind("\n", looked, at) + 1
        if line:
            yield from (line - 1, line)
        elif not looked:
            yield 0
        looked = at


def _places(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def fences(text: str) -> Iterator[tuple[int, int]]:
    """Where the folded text imitates the fences that maild puts around mail."""
    if "<<" in text or ">>" in text or (not text.isascii() and _BRACKETS.search(text)):
        looks = text if text.isascii() else text.translate(_LOOKS_OF_FENCES)
        if "mail" not in looks:
            return
        for found in islice(_FENCE.finditer(looks), MAX_MARKS):
            yield found.span()
