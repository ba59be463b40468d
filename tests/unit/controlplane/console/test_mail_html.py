"""HTML of a mail for a frame: nothing of it leads anywhere, and where it would lead is told."""

from html.parser import HTMLParser
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from controlplane.console.mail_html import LINKS_MAX, document_of
from controlplane.sending.sanitize import Sanitizer

PAYLOADS = (Path(__file__).parents[3] / "data" / "xss_payloads.txt").read_text("utf-8").splitlines()
LEADING = {
    "href",
    "src",
    "srcset",
    "background",
    "action",
    "formaction",
    "ping",
    "data",
    "xlink:href",
    "poster",
}
RUNNING = {
    "script",
    "style",
    "iframe",
    "object",
    "embed",
    "form",
    "input",
    "meta",
    "base",
    "link",
    "img",
    "svg",
}
clean = Sanitizer().clean_any


def body(html: str) -> str:
    return document_of(clean(html)).html.partition("<body>")[2]


class Leads(HTMLParser):
    """What in a document a browser would follow, load or run."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [tag] if tag in RUNNING else []
        for name, value in attrs:
            is_url = name == "style" and "url" in (value or "").lower()
            if name in LEADING or name.startswith("on") or is_url:
                self.found.append(f"{tag} {name}={value}")


def test_no_payload_leads_anywhere() -> None:
    for payload in (*PAYLOADS, "\n".join(PAYLOADS)):
        assert Leads(body(payload)).found == [], payload


@given(
    st.lists(
        st.sampled_from([*PAYLOADS, "<p>", "</p>", "<a href='https://x.test/'>", "</a>", "words"]), max_size=8
    )
)
def test_no_mixture_of_them_does(parts: list[str]) -> None:
    assert Leads(body(" ".join(parts))).found == []


@given(st.text(max_size=400))
def test_it_is_total(text: str) -> None:
    document_of(text)
    document_of(clean(text))


def test_links_are_told_with_their_hosts() -> None:
    made = document_of(
        clean(
            '<a href="https://Pay.Evil.test:8443/x?y=1&amp;z">your <b>bank</b></a>, '
            '<a href="mailto:a@b.test">write</a>, '
            '<a href="//evil.test/">relative</a>, <a href="javascript:alert(1)">run</a>, <a name="here">place</a>'
        )
    )
    assert [(one.words, one.host) for one in made.links] == [
        ("your bank", "pay.evil.test"),
        ("write", "a@b.test"),
    ]
    assert made.links[0].url == "https://Pay.Evil.test:8443/x?y=1&z"
    assert "[pay.evil.test]" in made.html and "<b>bank</b>" in made.html


def test_a_mail_can_not_write_notes_of_ours() -> None:
    made = body('<a href="https://evil.test">x</a><ins class="to">[bank.test]</ins>')
    assert made.count('class="to"') == 1 and "[evil.test]" in made


def test_links_that_are_too_many_are_not_listed() -> None:
    made = document_of(clean('<a href="https://x.test/">x</a>' * (LINKS_MAX + 50)))
    assert len(made.links) == LINKS_MAX and made.html.count("[x.test]") == LINKS_MAX + 50
