"""Any lines: a reply is made of the text's own lines in their order, and what stands above the original stays."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from maild.message.parsing.text import QuotedWords, extract_reply, whose_quotes

# What clients write, and pieces of it: an example of each branch, to be put together in any order.
PIECES = st.sampled_from(
    [
        "",
        " ",
        "> old",
        ">> older",
        ">:",
        "> wrote:",
        "AE> old",
        "| old",
        "-- ",
        "--",
        "---",
        "_____",
        "-Ann",
        "<",
        "mailto:Ann <ann@example.org>",
        "On Mon, May 4, 2026 at 10:12 AM Ann <ann@example.org> wrote:",
        "On Mon, May 4, 2026 at 10:12 AM Ann <",
        "see On May 4, 2026 at 10:12 AM Ann <ann@example.org> wrote:",
        "ann@example.org>",
        "wrote:",
        "Ann <ann@example.org> schrieb am Mo., 4. Mai 2026 um",
        "10:12 Uhr:",
        "2026/5/4 Ann <ann@example.org>",
        "在 2026年5月4日 写道：",
        "---- Ann wrote ----",
        "-----Original Message-----",
        "---------- Forwarded message ----------",
        "Begin forwarded message:",
        "From: Ann <ann@example.org>",
        "From: ann@example.org Sent: Monday, 4 May",
        "Date: Mon, 4 May 2026 10:12:00 +0200",
        "To: bob@example.org",
        "Subject: Offer",
        "Sent from my iPhone",
        "Get Outlook for iOS",
        "users mailing list",
        "https://example.org/listinfo/users",
    ]
)
LINES = st.lists(PIECES | st.text(max_size=40), max_size=30)
# No mark, colon or digit: nothing that a client writes.
PROSE = st.text(alphabet="abcdefgAmnO äöü.,!?\n", min_size=1, max_size=400).filter(str.strip)
ORIGINALS = st.sampled_from(
    [
        "On Mon, May 4, 2026 at 10:12 AM Ann <ann@example.org> wrote:\n> old\n> older",
        "On Mon, May 4, 2026 at 10:12 AM Ann <\nann@example.org> wrote:\n\nold",
        "-----Original Message-----\nold",
        "________________________________\nFrom: Ann\nSent: Monday\nTo: Bob\nSubject: Offer\n\nold",
        "Date: Mon, 4 May 2026 10:12:00 +0200\nFrom: ann@example.org\nTo: bob@example.org\n\nold",
    ]
)


@settings(max_examples=500, deadline=None)
@given(LINES, st.sampled_from(QuotedWords), st.booleans())
def test_a_reply_is_lines_of_the_text_in_their_order(
    lines: list[str], quoted: QuotedWords, is_forward: bool
) -> None:
    text = "\n".join(lines)
    reply = extract_reply(text, is_forward=is_forward, quoted=quoted)
    assert bool(reply) == bool(text.strip())
    position = 0
    for line in filter(None, map(str.strip, reply.split("\n"))):
        position = text.find(line, position)  # the author's words may be the beginning of a line alone
        assert position >= 0
        position += len(line)


@settings(max_examples=500, deadline=None)
@given(PROSE, st.sampled_from(["\n", "\n\n"]), ORIGINALS, st.sampled_from(QuotedWords))
def test_all_words_above_an_original_stay_and_it_goes(
    prose: str, gap: str, original: str, quoted: QuotedWords
) -> None:
    assert extract_reply(prose, quoted=quoted) == prose.strip()
    assert extract_reply(prose + gap + original, quoted=quoted) == prose.strip()


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="<>blockquotegmail_ type='cite\" ", max_size=200), st.booleans())
def test_whose_quotes_is_total(html: str, answers: bool) -> None:
    assert whose_quotes(html, answers=answers) in QuotedWords
