"""What an answer quotes, and how many it goes to, whatever it answers."""

import pytest

from controlplane.contract.sending.replies import ForwardMessage, ReplyMessage
from controlplane.sending.writing.html_shape import DEPTH_MAX, is_too_complex
from controlplane.sending.writing.replying import Answer, forward_request, reply_request
from maild.message.writing.quoting import Original
from maild.message.writing.reply_recipients import ReplyRecipients
from tests.support.worlds.memory_store import message_row

FOUND = Answer(message_row(1), ReplyRecipients(["ada@there.test"], (), "from", ()), None)
DEEP = Original(None, "ada@there.test", (), (), "Hi", 0, "the words", "<div>" * (DEPTH_MAX + 1) + "the words")
FLAT = DEEP._replace(html="<p>the words</p>")


@pytest.mark.parametrize("original", [DEEP, FLAT])
def test_html_too_deep_is_quoted_by_its_words(original: Original) -> None:
    made = reply_request(FOUND, ReplyMessage(html="<p>yes</p>"), original)
    assert made.html is not None
    assert "<p>yes</p>" in made.html and "the words" in made.html
    assert not is_too_complex(made.html)
    assert ("<p>the words</p>" in made.html) == (original is FLAT)


@pytest.mark.parametrize(
    ("text", "html", "has_text"),
    [("yes", None, True), ("yes", "<p>yes</p>", True), (None, "<p>yes</p>", False)],
)
def test_the_text_quotes_unless_it_is_made_of_the_html(text: str, html: str, has_text: bool) -> None:
    made = reply_request(FOUND, ReplyMessage(text=text, html=html), FLAT)
    assert ("> the words" in (made.text or "")) == has_text


@pytest.mark.parametrize("original", [DEEP, FLAT])
@pytest.mark.parametrize(("text", "html"), [("see below", None), (None, "<p>see below</p>")])
def test_html_too_deep_is_passed_on_by_its_words(
    original: Original, text: str | None, html: str | None
) -> None:
    request = ForwardMessage.model_validate({"to": ["bob@there.test"], "text": text, "html": html})
    made = forward_request(message_row(1), request, original)
    assert made.html is not None
    assert "see below" in made.html and "the words" in made.html
    assert not is_too_complex(made.html)
    assert ("<p>the words</p>" in made.html) == (original is FLAT)
    assert (made.text is None) == (text is None)  # then it is made of the HTML
