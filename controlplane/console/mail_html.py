"""HTML of a mail for a frame that has no origin: what is cleaned already, made to lead nowhere and load nothing.

Links are taken out and told: where each leads stands behind its words, and in a list beside the frame, in which they
can be followed. Images go, whatever they are; what they are called stays.
"""

import html as entities
import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

from maild.message.html_tokens import HtmlToken, TokenKind, html_tokens, read_attributes

LINKS_MAX = 100
WORDS_CHARS = 80
HTML_CHARS = 1024 * 1024
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


class MailLink(NamedTuple):
    """`words`: what is shown for it. `host`: where it leads; of mail the address."""

    url: str
    words: str
    host: str


class FrameDocument(NamedTuple):
    """The whole document, and its links in their order, as many as a page shows."""

    html: str
    links: list[MailLink]


def document_of(cleaned: str) -> FrameDocument:
    """`cleaned`: as the sanitiser left it."""
    links: list[MailLink] = []
    body = "".join(_pieces(cleaned[:HTML_CHARS], links))
    return FrameDocument(_FRAME.format(body=body), links)


def _pieces(cleaned: str, links: list[MailLink]) -> Iterator[str]:
    open_link: tuple[str, int] | None = None
    for token in html_tokens(cleaned):
        if token.kind is TokenKind.OPEN and token.name == "img":
            yield _image(token)
        elif token.kind is TokenKind.OPEN and token.name == "a":
            open_link = (read_attributes(token.attributes).get("href", ""), token.end)
            yield "<u>"
        elif token.kind is TokenKind.CLOSE and token.name == "a":
            yield "</u>"
            if open_link is not None and open_link[0]:
                url, start = open_link
                link = _link(url, cleaned[start : token.start])
                if len(links) < LINKS_MAX:
                    links.append(link)
                yield f' <ins class="to">[{entities.escape(link.host)}]</ins>'
            open_link = None
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


def _link(url: str, inner: str) -> MailLink:
    words = " ".join(
        entities.unescape(inner[token.start : token.end])
        for token in html_tokens(inner)
        if token.kind is TokenKind.TEXT
    )
    return MailLink(url, " ".join(words.split())[:WORDS_CHARS], _host(url))


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "unreadable"
    if parts.scheme.lower() not in _FOLLOWED:
        return parts.scheme[:WORDS_CHARS]
    return (parts.hostname or parts.path)[:WORDS_CHARS]
