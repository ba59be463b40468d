"""Words of strangers made fit to stand between fences in what a language model reads.

A fence is a line before and a line behind the words, with a nonce that only this server can make of these words:
whoever writes a mail can't know it. What looks like a fence inside is broken up all the same, what can't be seen is
shown as `\\u{200B}`, and nothing stays that a host which renders Markdown would load. Linear, and the same words
always give the same text.
"""

import hmac
import re
from collections.abc import Iterator
from typing import Final

_NONCE_BYTES: Final = 8

_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_JOINERS: Final = "\u200c\u200d"
_VARIANTS: Final = "\ufe0e\ufe0f"
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Scripts that spell with joiners (Unicode, section 23.2): Persian and the scripts of India and its neighbours.
_SPELLS_WITH_JOINERS = re.compile(
    "[\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17ff\u1800-\u18af\ufb50-\ufefc]"
)
_PICTURE = re.compile("[\u00a9\u00ae\u203c-\u3299\ufe0f\U0001f000-\U0001faff]")
_PICTURE_OR_KEYCAP = re.compile("[#*0-9\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff]")

# "<" and ">" and what people take for them.
OPENING: Final = (
    "<\u00ab\u02c2\u1438\u2039\u226a\u22d8\u2329\u276c\u276e\u2770\u27e8\u27ea\u29fc\u3008\u300a"
    "\ufe3d\ufe3f\ufe64\uff1c"
)
CLOSING: Final = (
    ">\u00bb\u02c3\u1433\u203a\u226b\u22d9\u232a\u276d\u276f\u2771\u27e9\u27eb\u29fd\u3009\u300b"
    "\ufe3e\ufe40\ufe65\uff1e"
)
_FENCE_LIKE = re.compile(f"[{OPENING}]{{3,}}|[{CLOSING}]{{3,}}|[\u226a\u22d8]|[\u226b\u22d9]")
_IMAGE = re.compile(r"!(?=\[)")
_TARGET = re.compile(r"(?<=\])(?=[(:])")
_LOADING_TAG = re.compile(
    r"<(?=/?(?:img|image|picture|source|video|audio|track|iframe|frame|object|embed|applet|link|style|script|svg|meta"
    r"|base|form|input)\b)",
    re.IGNORECASE,
)


def inert(text: str) -> str:
    """The words with line feeds as line ends, in which nothing is hidden, looks like a fence, or is loaded."""
    text = _LINE_ENDS.sub("\n", text)
    text = _UNSEEN.sub(_shown, text)
    text = _FENCE_LIKE.sub(lambda found: " ".join(found[0]) if len(found[0]) > 1 else f" {found[0]} ", text)
    text = _TARGET.sub(" ", _IMAGE.sub("! ", text))
    return _LOADING_TAG.sub("< ", text)


def inert_line(text: str) -> str:
    """The same for what stands on one line, such as a name."""
    return " ".join(inert(text).split())


def nonce(key: bytes, name: str, words: str) -> str:
    """Of these very words: 16 hexadecimal digits. `name`: what they are of, an id."""
    mac = hmac.digest(key, f"{name}\n{words}".encode("utf-8", "surrogatepass"), "sha256")
    return mac[:_NONCE_BYTES].hex()


def opening(nonce: str) -> str:
    """The line before the words."""
    return f"<<<mail {nonce}"


def closing(nonce: str) -> str:
    """The line behind the words."""
    return f"mail {nonce}>>>"


def fenced(key: bytes, name: str, words: str) -> str:
    """The words, which are inert, between their two lines. `name`: see `nonce`."""
    mark = nonce(key, name, words)
    return f"{opening(mark)}\n{words}\n{closing(mark)}"


def unseen(text: str) -> Iterator[tuple[int, str]]:
    """Each character that a person can't see: its place, and what it is shown as, such as `\\u{200B}`."""
    for found in _UNSEEN.finditer(text):
        shown = _shown(found)
        if shown != found[0]:
            yield found.start(), shown


def _shown(found: re.Match[str]) -> str:
    character = found[0]
    before = found.string[found.start() - 1 : found.start()]
    after = found.string[found.end() : found.end() + 1]
    if character in _JOINERS and _joins(before, after):
        return character
    if character in _VARIANTS and _PICTURE_OR_KEYCAP.match(before):
        return character
    return f"\\u{{{ord(character):04X}}}"


def _joins(before: str, after: str) -> bool:
    return any(script.match(before) and script.match(after) for script in (_SPELLS_WITH_JOINERS, _PICTURE))
