"""Which of a message's words are its author's: those of its text, of its HTML, or of both; and what it answers."""

import pytest

from maild.message.digest import Digest, digest

CODE = "Your code is 591823"
HTML = f"Content-Type: text/html\n\n<p>{CODE}</p>"
FOOTER = "Content-Type: text/plain\n\nConfidential."
FORM = "From: Jane Roe\nSent: 2026-11-02 10:00\nSubject: Quote"


def mail(content: str, subject: str = "Hello") -> Digest:
    fields = f"From: ann@example.org\nSubject: {subject}\nMIME-Version: 1.0\n"
    return digest((fields + content).replace("\n", "\r\n").encode())


def multipart(kind: str, *parts: str) -> str:
    inner = "".join(f"--{kind}\n{part}\n" for part in parts)
    return f"Content-Type: multipart/{kind}; boundary={kind}\n\n{inner}--{kind}--\n"


@pytest.mark.parametrize(
    "blank", ["\n", "   ", "\u00a0\n", "\u200b", "=0D=0A"], ids=["line", "blanks", "nbsp", "width", "coded"]
)
def test_a_blank_text_part_does_not_hide_what_the_html_says(blank: str) -> None:
    coding = "Content-Transfer-Encoding: quoted-printable\n" if "=" in blank else ""
    text = f"Content-Type: text/plain; charset=utf-8\n{coding}\n{blank}"
    said = mail(multipart("alternative", text, HTML))
    assert (said.extracted_text, said.snippet, said.search_words) == (CODE, CODE, CODE)
    assert said.text_body is not None
    assert not said.text_body.strip("\u200b \u00a0\r\n")


@pytest.mark.parametrize(
    "stub",
    [
        "To read this letter, please use a program that shows HTML!",
        "Your e-mail client can't show HTML",
        "Read this in your browser:\nhttps://example.org/letters/7?to=ann&" + "k=v&" * 100,
        "Ihr Programm zeigt kein HTML-Format an.",
        "Afficher ce message dans votre navigateur\n<https://example.org/7>",
        "HTMLメールに対応した環境でご覧ください。",
        "Если письмо не видно, откройте его в браузере.",
    ],
)
def test_a_text_that_sends_its_readers_to_the_html_says_what_that_says(stub: str) -> None:
    text = f"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n{stub}"
    said = mail(multipart("alternative", text, HTML))
    assert said.text_body is not None and said.text_body.strip() == stub
    assert (said.extracted_text, said.snippet, said.search_words) == (CODE, CODE, CODE)


@pytest.mark.parametrize(
    ("kind", "html", "text"),
    [
        ("mixed", HTML, "The HTML is below."),  # it stands for none of it
        ("alternative", "Content-Type: text/html\n\n<img src=a.png>", "Read this in your browser"),
        ("alternative", HTML, f"{CODE}. It is of no use in another browser than yours. " + "Keep it. " * 40),
        ("alternative", HTML, "See https://example.org/browser.html"),
    ],
)
def test_a_text_that_says_something_is_said(kind: str, html: str, text: str) -> None:
    said = mail(multipart(kind, f"Content-Type: text/plain\n\n{text}", html))
    assert (said.extracted_text or said.text_body or "").startswith(text.strip())


def test_words_beside_a_text_that_sends_its_readers_to_the_html_are_said() -> None:
    letter = multipart("alternative", "Content-Type: text/plain\n\nUse a program that shows HTML.", HTML)
    said = mail(multipart("mixed", "Content-Type: text/plain\n\nAnn passes this on: pay today.", letter))
    assert (said.extracted_text or said.text_body or "").startswith("Ann passes this on: pay today.")


def test_html_that_no_text_stands_for_is_said_beside_a_footer_of_text() -> None:
    said = mail(multipart("mixed", HTML, FOOTER))
    assert said.extracted_text == f"{CODE}\n\nConfidential."
    assert said.snippet == f"{CODE} Confidential."
    assert said.search_words == said.extracted_text
    assert said.text_body == "Confidential."


def test_a_notice_of_text_above_the_html_stays_above_it() -> None:
    assert mail(multipart("mixed", FOOTER, HTML)).extracted_text == f"Confidential.\n\n{CODE}"


def test_an_alternative_without_text_is_said_beside_a_footer_of_text() -> None:
    said = mail(multipart("mixed", multipart("alternative", HTML), FOOTER))
    assert said.extracted_text == f"{CODE}\n\nConfidential."


@pytest.mark.parametrize("html_first", [True, False])
@pytest.mark.parametrize(
    ("text", "said_once"),
    [
        ("Your  code\nis 591823\n", "Your  code\nis 591823"),
        ("Hello Ann,\n\nYour code is 591823", "Hello Ann,\n\nYour code is 591823"),
        ("code is 591823", CODE),
        ("our code is 59182", None),
        ("591823", None),  # too little to be another form of it: a footer has the words of an answer too
        (f"{CODE}{' and stands among other words' * 3}", None),
    ],
)
def test_what_text_and_html_say_alike_is_said_once(
    text: str, said_once: str | None, html_first: bool
) -> None:
    parts = [f"Content-Type: text/plain\n\n{text}", HTML]
    said = mail(multipart("mixed", *(reversed(parts) if html_first else parts)))
    words = said.text_body if said.extracted_text is None else said.extracted_text
    assert words is not None
    if said_once is None:
        assert {*words.split("\n\n")} == {CODE, text}
    else:
        assert words.strip() == said_once


@pytest.mark.parametrize("kind", ["related", "alternative"])
def test_html_in_one_branch_with_text_stands_for_itself(kind: str) -> None:
    branch = multipart("mixed", HTML, FOOTER)
    said = mail(multipart(kind, branch, "Content-Type: image/png\n\nPNG"))
    assert said.extracted_text == f"{CODE}\n\nConfidential."


@pytest.mark.parametrize("html_first", [True, False])
def test_the_html_of_an_alternative_is_not_said_twice(html_first: bool) -> None:
    text = f"Content-Type: text/plain\n\n{CODE} in text"
    related = multipart("related", HTML)
    said = mail(
        multipart(
            "mixed", multipart("alternative", *((HTML, text) if html_first else (text, related))), FOOTER
        )
    )
    assert said.text_body == f"{CODE} in text\nConfidential."
    assert said.extracted_text is said.search_words is None


def test_empty_html_behind_an_attachment_adds_nothing() -> None:
    attached = "Content-Type: application/pdf; name=a.pdf\n\nx"
    empty = "Content-Type: text/html\n\n<html><body><br></body></html>"
    said = mail(multipart("mixed", FOOTER, attached, empty))
    assert (said.text_body, said.extracted_text, said.search_words) == ("Confidential.", None, None)


@pytest.mark.parametrize(
    "text",
    [
        f"You have a new message from your website.\n\n{FORM}\n\nPlease call me back.",
        "A new comment.\n\nOn 2 November 2026 at 10:00, Jane Roe <jane@example.org> wrote:\n\nPlease call me back.",
        "To install it:\n\n> npm install maild\n\nThen call me back.",
    ],
    ids=["form", "comment", "prompt"],
)
def test_mail_that_answers_nothing_keeps_what_may_be_its_own(text: str) -> None:
    assert mail(f"\n{text}\n").extracted_text in (None, text)
    assert mail(f"\n{text}\n", subject="Re: Hello").extracted_text not in (None, text)


@pytest.mark.parametrize(
    "original",
    [
        "From: Jane Roe\nSent: 2026-11-02 10:00\nTo: Ann\nSubject: Quote\n\nWhat does it cost?",
        "-----Original Message-----\nFrom: Jane Roe\nSubject: Quote\n\nWhat does it cost?",
        "On 2 November 2026 at 10:00, Jane Roe <jane@example.org> wrote:\n> What does it cost?",
    ],
    ids=["fields", "mark", "quote"],
)
def test_a_whole_copy_and_a_quote_below_an_attribution_are_anothers_in_any_mail(original: str) -> None:
    assert mail(f"\nTen.\n\n{original}\n").extracted_text == "Ten."
