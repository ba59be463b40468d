"""HTML of a mail for a frame that has no origin: what is cleaned already, made to lead nowhere and load nothing.

Links are taken out and told: where each leads stands behind its words, and in a list beside the frame, in which they
can be followed. Images go, whatever they are; what they are called stays. HTML that is long comes in parts, one a
document: what would be a fault of a part (a tag that is open where it ends) is none to a browser.
"""

import html as entities
import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

from controlplane.console.budget import PAGE_BYTES
from maild.message.html.html_tokens import HtmlToken, TokenKind, html_tokens, read_attributes

WORDS_CHARS = 80
LOOK_BACK_CHARS = 1000  # for a tag, where a part ends better than in a word
PART_CHARS = 32 * 1024  # of HTML, as it came
_REST = '<p><ins class="img">This part has more than is shown: the raw message has all of it.</ins></p>'
_FRAME = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Message</title><style>'
    "html{{background:#fff;color:#1c1d1f;color-scheme:light}}"
    "body{{margin:12px;font:15px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}}"
    "img{{display:none}}table{{max-width:100%}}"
    "ins.to{{font:12px ui-monospace,monospace;color:#5b6068;text-decoration:none}}"
    "ins.img{{font-size:12px;color:#5b6068;border:1px dashed #aaa;padding:0 4px;text-decoration:none}}"
    "</style><body>{body}</body></html>"
)
_SUSPECT = re.compile(r"url|class|background\s*=", re.IGNORECASE)
_DROPPED = frozenset(["class", "background"])
_FOLLOWED = ("http", "https", "mailto")
_LEADING = tuple(f"{scheme}:" for scheme in _FOLLOWED)


class MailLink(NamedTuple):
    """`words`: what is shown for it. `host`: where it leads; of mail the address."""

    url: str
    words: str
    host: str


def part_of_html(html: str, start: int) -> tuple[str, int | None]:
    """The part that begins there, and where the next one does; None: there is none. No part ends in a tag, and in a
    comment or a style sheet only where it has nothing else."""
    end = start + PART_CHARS
    if end >= len(html):
        return html[start:], None
    for begin, finish in (("<!--", "-->"), ("<style", "</style")):
        opened = html.rfind(begin, start, end)
        if opened > start and html.find(finish, opened, end) < 0:
            end = opened
    tag = html.rfind("<", start + 1, end)
    if tag > html.rfind(">", start, end) or tag > end - LOOK_BACK_CHARS:
        end = tag
    return html[start:end], end


def document_of(cleaned: str) -> str:
    """The whole document, of PAGE_BYTES at most. `cleaned`: as the sanitiser left it."""
    room = PAGE_BYTES - len(_FRAME) - len(_REST)
    pieces = []
    for piece in _pieces(cleaned):
        octets = piece.encode("utf-8", "replace")
        if len(octets) > room:
            pieces += [_beginning(octets, room), _REST]
            break
        room -= len(octets)
        pieces.append(piece)
    return _FRAME.format(body="".join(pieces))


def _beginning(octets: bytes, room: int) -> str:
    """Of text so many octets, without half a character reference; of a tag nothing."""
    if octets.startswith(b"<"):
        return ""
    text = octets[:room].decode("utf-8", "ignore")
    whole, mark, reference = text.rpartition("&")
    return whole if mark and ";" not in reference else text


def _pieces(cleaned: str) -> Iterator[str]:
    open_link: str | None = None
    for token in html_tokens(cleaned):
        if token.kind is TokenKind.OPEN and token.name == "img":
            yield _image(token)
        elif token.kind is TokenKind.OPEN and token.name == "a":
            open_link = read_attributes(token.attributes).get("href", "")
            yield "<u>"
        elif token.kind is TokenKind.CLOSE and token.name == "a":
            yield "</u>"
            if open_link:
                yield f' <ins class="to">[{entities.escape(_host(open_link))}]</ins>'
            open_link = None
        elif token.name == "area":  # of an image, which is gone
            continue
        elif token.kind is TokenKind.OPEN and _SUSPECT.search(token.attributes):
            yield _without_suspects(token)
        else:
            yield cleaned[token.start : token.end]


def _without_suspects(token: HtmlToken) -> str:
    """The tag without what would load something, or pass for a note of ours."""
    kept = {
        name: value
        for name, value in read_attributes(token.attributes).items()
        if name not in _DROPPED and not (name == "style" and "url" in value.lower())
    }
    told = "".join(f' {name}="{entities.escape(value)}"' for name, value in kept.items())
    return f"<{token.name}{told}>"


def _image(token: HtmlToken) -> str:
    named = read_attributes(token.attributes).get("alt", "").strip()
    return f'<ins class="img">image{": " + entities.escape(named[:WORDS_CHARS]) if named else ""}</ins>'


def link_to(url: str, words: str) -> MailLink | None:
    """Of what a link leads to and shows; None: it leads nowhere."""
    url = url.strip()
    if not url.lower().startswith(_LEADING):
        return None
    return MailLink(url, " ".join(words.split())[:WORDS_CHARS], _host(url))


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "unreadable"
    if parts.scheme.lower() not in _FOLLOWED:
        return parts.scheme[:WORDS_CHARS]
    return (parts.hostname or parts.path)[:WORDS_CHARS]
