"""References of a reply, and the subject that threads compare."""

from __future__ import annotations

import tracemalloc

import pytest

from maild.message.fields.thread_headers import (
    LOOK_FOR,
    base_subject,
    is_forward,
    named_messages,
    reply_references,
    reply_subject,
)
from tests.support.laws.work import Bomb, assert_proportional, bomb


def test_references_of_a_reply_end_with_the_parent() -> None:
    assert reply_references("<c@x>", ("<a@x>", "<b@x>")) == ("<a@x>", "<b@x>", "<c@x>")
    assert reply_references("<c@x>", ()) == ("<c@x>",)
    assert reply_references(None, ("<a@x>",)) == ("<a@x>",)
    assert reply_references(None, ()) == ()


def test_a_parent_that_names_itself_stands_once_and_last() -> None:
    assert reply_references("<a@x>", ("<a@x>", "<b@x>")) == ("<b@x>", "<a@x>")


def test_over_the_cap_the_first_and_the_newest_stay() -> None:
    ids = [f"<{n}@x>" for n in range(100)]
    kept = reply_references("<p@x>", ids, cap=4)
    assert kept == ("<0@x>", "<98@x>", "<99@x>", "<p@x>")
    assert reply_references("<p@x>", ids, cap=1) == ("<p@x>",)
    assert reply_references("<p@x>", ids, cap=0) == ()


def test_a_message_names_what_it_answers_then_the_newest_references_and_always_the_first() -> None:
    assert named_messages(("<p@x>", "<q@x>"), ("<a@x>", "<b@x>", "<p@x>")) == [
        "<p@x>", "<q@x>", "<b@x>", "<a@x>",
    ]  # fmt: skip
    assert named_messages((), ()) == []
    many = [f"<{n}@x>" for n in range(100)]
    newest = [f"<{n}@x>" for n in range(99, 81, -1)]
    assert named_messages(("<p@x>",), many) == ["<p@x>", *newest, "<0@x>"]
    assert named_messages(many[1:], ("<r@x>",)) == [*many[1:LOOK_FOR], "<r@x>"]
    assert named_messages(("<0@x>",), many) == ["<0@x>", *newest, "<81@x>"]


@pytest.mark.parametrize("bad", ["", "a@x", "<a@x", "<a b@x>", "<a@x>\r\nBcc: b@x", "<" + "a" * 2000 + ">"])
def test_what_is_no_id_is_left_out(bad: str) -> None:
    assert reply_references(bad, (bad, "<a@x>")) == ("<a@x>",)


@pytest.mark.parametrize(
    ("subject", "base", "is_reply"),
    [
        ("Hello", "hello", False),
        ("Re: Hello", "hello", True),
        ("RE: AW: Hello", "hello", True),
        ("re[2]: Hello", "hello", True),
        ("Re (3): Hello", "hello", True),
        ("Re^2: Hello", "hello", True),
        ("SV:Hello", "hello", True),
        ("Antw:  Hello   World ", "hello world", True),
        ("Fwd: Hello", "hello", False),
        ("FW: Hello", "hello", False),
        ("WG: AW: Hello", "hello", True),
        ("Re\uff1a 你好", "你好", True),
        ("回复: 你好", "你好", True),
        ("R: Ciao", "ciao", True),
        ("R: I: R: Ciao", "ciao", True),
        ("Rép : Bonjour", "bonjour", True),
        ("Antwort: Hallo", "hallo", True),
        ("ΑΠ: Τιμή", "τιμή", True),
        ("ΣΧΕΤ: Τιμή", "τιμή", True),
        ("השב: שלום", "שלום", True),
        ("رد: مرحبا", "مرحبا", True),
        ("Отв: Цена", "цена", True),
        ("Ответ: Цена", "цена", True),
        ("TL: Giá", "giá", True),
        ("Odg: Cijena", "cijena", True),
        ("ΠΡΘ: Τιμή", "τιμή", False),
        ("הועבר: שלום", "שלום", False),
        ("إعادة توجيه: مرحبا", "مرحبا", False),
        ("Пересл: Цена", "цена", False),
        ("TRS: Harga", "harga", False),
        ("Odp.: Cena", "cena", True),  # these as Evolution's catalogs have them
        ("Risposta: Ciao", "ciao", True),
        ("Одг: Цена", "цена", True),
        ("Ats: Kaina", "kaina", True),
        ("پاسخ: سلام", "سلام", True),
        ("Jawab: Harga", "harga", True),
        ("Přep.: Cena", "cena", False),
        ("Välitä: Hinta", "hinta", False),
        ("Προώθ: Τιμή", "τιμή", False),
        ("Yön: Fiyat", "fiyat", False),
        ("Reenc.: Prezo", "prezo", False),
        ("R 4.3 released: news", "r 4.3 released: news", False),
        ("PR: Hello", "pr: hello", False),
        ("Antworten: alle", "antworten: alle", False),
        ("HTML: Hello", "html: hello", False),
        ("Regarding: Hello", "regarding: hello", False),
        ("Report: Re: x", "report: re: x", False),
        ("Re:", "", True),
        ("", "", False),
        ("STRASSE", "strasse", False),
        ("Re: Straße", "strasse", True),
        ("[List] Hello", "[list] hello", False),
        ("[List] Re: Hello", "[list] hello", True),  # a list moves its name; it says which subject it is
        ("AW: [List] Hello", "[list] hello", True),
        ("Re: [List] AW: [#7] Fwd: Hello", "[list] [#7] hello", True),
        ("[#7] Re: [#7] Hello", "[#7] hello", True),  # said anew
        ("[#7] Re: [#8] Hello", "[#7] [#8] hello", True),
        ("[List]Re: Hello", "[list] hello", True),
        ("[List] Fwd: Hello", "[list] hello", False),
        ("[EXTERNAL] Re: Hello", "hello", True),  # a gateway's word is none of the subject
        ("Re: [EXT] Re: Hello", "hello", True),
        ("RE: [External Email] Hello", "hello", True),
        ("[List] [EXTERN] AW: Hello", "[list] hello", True),
        ("(EXTERNAL) Hello", "hello", False),
        ("*EXTERNAL* RE: Hello", "hello", True),
        ("EXTERNAL: Re: Hello", "hello", True),
        ("EXT: Hello", "hello", False),
        ("Re: [EXTERNAL]", "", True),
        ("***SPAM*** Re: Hello", "hello", True),  # nor is what a filter thought of it
        ("*****SPAM***** Hello", "hello", False),
        ("*** Spam *** RE: Hello", "hello", True),
        ("[SPAM] Re: Hello", "hello", True),
        ("Re: [SPAM?] AW: Hello", "hello", True),
        ("[***SPAM***] Hello", "hello", False),
        ("[Suspected Spam] [List] Re: Hello", "[list] hello", True),
        ("{Spam?} {Disarmed} Re: Hello", "hello", True),
        ("{Definitely Spam?} Hello", "hello", False),
        ("[SPAM] [EXTERNAL] RE: [Ticket#12] Hello", "[ticket#12] hello", True),
        ("Spam Hello", "spam hello", False),
        ("SPAM: Hello", "spam: hello", False),  # as a person writes
        ("[Spam report] Hello", "[spam report] hello", False),
        ("*** Hello", "*** hello", False),
        ("Extern Hello", "extern hello", False),
        ("[External audit] Hello", "[external audit] hello", False),
    ],
)
def test_base_subject(subject: str, base: str, is_reply: bool) -> None:
    assert base_subject(subject) == (base, is_reply)


@pytest.mark.parametrize("tag", ["[a]", "{spam} ", "***spam*** "])
def test_many_tags_before_a_subject_take_little_memory(tag: str) -> None:
    subject = tag * 32 * 1024
    tracemalloc.start()
    try:
        base_subject(subject)
        is_forward(subject)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 * len(subject)


@pytest.mark.parametrize(
    ("text", "base", "is_reply"),
    [
        (bomb("Re: "), "", True),
        (bomb(" ", before="Re"), "re", False),
        (bomb("Re["), "re[" * 333_333, False),
        (bomb(" "), "", False),
        (bomb("Re [1]"), "re [1]" * 166_666, False),
        (bomb("[a] "), " ".join(["[a]"] * 250_000), False),
        (bomb("[a] Re: "), "[a]", True),
        (bomb("[EXT] "), "", False),
        (bomb("*"), "*" * 1_000_000, False),
    ],
)
def test_subjects_take_work_in_proportion(text: Bomb[str], base: str, is_reply: bool) -> None:
    assert_proportional(base_subject, text)
    assert base_subject(text.whole()) == (base, is_reply)


def test_forward_prefix_is_told_from_reply_prefix() -> None:
    assert is_forward("Fwd: news") and is_forward("WG: Neues") and is_forward("I: Ciao")
    assert not is_forward("R: Ciao")
    assert not is_forward("Re: Fwd: news") and not is_forward("news")


@pytest.mark.parametrize(
    "subject", ["Re: Offer", "R: Offerta", "Rép : Offre", "ΑΠ: Τιμή", "Odg: Cijena", "TL: Giá"]
)
def test_an_answer_to_an_answer_keeps_its_subject(subject: str) -> None:
    assert reply_subject(subject) == subject
    assert reply_subject(f"I: {subject}") == f"Re: I: {subject}"
