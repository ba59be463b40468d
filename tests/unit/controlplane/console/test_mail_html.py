"""HTML of a mail for a frame: nothing of it leads anywhere, and where it would lead is told."""

from html.parser import HTMLParser
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from controlplane.console.budget import PAGE_BYTES
from controlplane.console.mail_html import PART_CHARS, MailLink, document_of, link_to, part_of_html
from controlplane.console.marking import read_html
from controlplane.sending.writing.sanitize import Sanitizer

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
    return document_of(clean(html)).partition("<body>")[2]


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


LINKS = (
    '<a href="https://Pay.Evil.test:8443/x?y=1&amp;z">your <b>bank</b></a>, '
    '<a href="mailto:a@b.test">write</a>, '
    '<a href="//evil.test/">relative</a>, <a href="javascript:alert(1)">run</a>, <a name="here">place</a>'
)


def test_links_are_told_with_their_hosts() -> None:
    links = read_html(LINKS, []).links
    assert [(one.words, one.host) for one in links] == [("your bank", "pay.evil.test"), ("write", "a@b.test")]
    assert links[0].url == "https://Pay.Evil.test:8443/x?y=1&z"
    made = document_of(clean(LINKS))
    assert "[pay.evil.test]" in made and "<b>bank</b>" in made


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_link_is_total(url: str, words: str) -> None:
    link_to(url, words)
    found = link_to(f"HTTPS:{url}", words)
    assert isinstance(found, MailLink) and "\n" not in found.words


def test_areas_of_an_image_go_with_it() -> None:
    made = body(
        '<img src="https://a.test/b" alt="c" usemap="#d"><map name="d"><area href="https://evil.test/"></map>'
    )
    assert "evil.test" not in made and "image: c" in made


def test_a_mail_can_not_write_notes_of_ours() -> None:
    made = body('<a href="https://evil.test">x</a><ins class="to">[bank.test]</ins>')
    assert made.count('class="to"') == 1 and "[evil.test]" in made


# HTML that is long ----------------------------------------------------------------------------------


@given(
    st.lists(
        st.sampled_from(["<p class=x>", "words ", "<!-- a > b -->", "<style>p{}</style>", "<", ">"]),
        max_size=9,
    )
)
def test_parts_are_all_of_it(some: list[str]) -> None:
    html = "".join(some) * 3000
    parts: list[str] = []
    place: int | None = 0
    while place is not None:
        part, following = part_of_html(html, place)
        assert following is None or following > place
        parts.append(part)
        place = following
    assert "".join(parts) == html
    assert max(map(len, parts)) <= PART_CHARS


def test_a_part_ends_in_no_tag_and_no_style() -> None:
    padding = "w" * (PART_CHARS - 10)
    for cut in ('<p title="a title">', "<style>p{color:red}</style>", "<!-- a > b -->"):
        part, following = part_of_html(padding + cut + "after", 0)
        assert part == padding and following == len(padding), cut


def test_a_document_is_no_longer_than_a_page() -> None:
    for cleaned in (
        "&amp;" * 50_000,
        '<a href="https://x.test/">x</a>' * 5_000,
        "<p>" * 50_000,
        "\ufffd" * 50_000,
    ):
        made = document_of(cleaned)
        assert PAGE_BYTES * 0.9 < len(made.encode()) <= PAGE_BYTES
        assert made.endswith("</body></html>") and "the raw message has all of it" in made
