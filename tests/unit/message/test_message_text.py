"""HTML to text, the new words of a reply, and snippets."""

from __future__ import annotations

import pytest

from maild.message.text import extract_reply, html_to_text, snippet


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("plain", "plain"),
        ("<p>one</p><p>two</p>", "one\n\ntwo"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ("a<br><br>b", "a\n\nb"),
        ("<div>a</div><div>b</div>", "a\nb"),
        ("a  b\n\tc", "a b c"),
        ("<b>bo</b>ld <i>it</i>", "bold it"),
        ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
        ("<ol><li>a<li>b</ol>", "1. a\n2. b"),
        ("<ul><li>a<ul><li>n</li></ul></li></ul>", "- a\n  - n"),
        ('<a href="https://x.org/a">here</a>', "here (https://x.org/a)"),
        ('<a href="https://x.org/">x.org</a>', "x.org"),
        ("<a href=mailto:a@x.org>a@x.org</a>", "a@x.org"),
        ('<a href="javascript:alert(1)">x</a>', "x"),
        ('<a href="https://x.org"></a>y', "y"),
        ("<script>alert('</p>')</script>x<style>p{}</style>", "x"),
        ("<SCRIPT>bad</SCRIPT >x", "x"),
        ("<script>never closed", ""),
        ("<title>T</title>x", "x"),
        ("a<!-- c > --> b", "a b"),
        ("a<!-- never closed <p>b</p>", "a"),
        ("<!DOCTYPE html><?xml?>x", "x"),
        ("&lt;b&gt; &amp;&nbsp;&euro; &#8364; &#x20ac;", "<b> & € € €"),
        ("&#" + "9" * 6000 + "; &#xffffffffffff;", "\ufffd \ufffd"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("<3 you", "<3 you"),
        ('<p title="a > b">x</p>', "x"),
        ("<p title=it's>x</p>y", "x\n\ny"),
        ('<a href="https://x.org>x</a> rest', '"https://x.org'[:0] + "x rest"),
        ('<img src=x alt="Logo"> y', "[Logo] y"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"),
        ("<pre>a  b\n  c</pre>", "a  b\n  c"),
        ("x<blockquote>q<br>r</blockquote>y", "x\n\n> q\n> r\n\ny"),
        ('<div style="display: none">secret<div>more</div>still</div>x', "x"),
        ("<span style='color:red'>x</span>", "x"),
        ("a<hr>b", "a\n\n---\n\nb"),
        ("zero\u200bwidth\u00ad\ud800", "zerowidth"),
    ],
)
def test_html_to_text(html: str, text: str) -> None:
    assert html_to_text(html) == text


@pytest.mark.parametrize(
    "bomb",
    [
        "<a " * 330000,
        '<a x="' * 160000,
        "<!--" * 250000,
        "<" * 1000000,
        "<div>" * 200000,
        "&" * 1000000,
        "<blockquote>x" * 80000,
        "<script>" * 120000,
        "<a " * 300000 + '=">"',
        "<a ='" + "=' " * 300000,
        "&#" * 500000,
        "<a href=http://x>x" * 50000,
        "<p style='display:none'>" * 40000,
        "</" * 500000 + ">",
        "<!" * 500000,
    ],
)
def test_html_bombs_end(bomb: str) -> None:
    html_to_text(bomb)


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("Thanks!", "Thanks!"),
        ("Thanks!\n\nOn Mon, 1 Jan 2026 at 10:00, Al <a@x.org> wrote:\n> hi\n> there\n", "Thanks!"),
        ("Thanks!\n\nOn Mon, 1 Jan 2026 at 10:00, Al\n<a@x.org>\nwrote:\n\nold words", "Thanks!"),
        ("Ja.\n\nAm 01.01.2026 um 10:00 schrieb Bob <b@x.org>:\n> alt", "Ja."),
        ("Oui.\n\nLe lun. 1 janv. 2026 à 10:00, A <a@x.org> a écrit :\n> vieux", "Oui."),
        ("Sí.\n\nEl lun, 1 ene 2026 a las 10:00, A (<a@x.org>) escribió:\n> viejo", "Sí."),
        ("Sì.\n\nIl giorno lun 1 gen 2026 alle ore 10:00 A <a@x.org> ha scritto:\n> v", "Sì."),
        ("Ja.\n\nOp ma 1 jan 2026 om 10:00 schreef A <a@x.org>:\n> oud", "Ja."),
        ("Sim.\n\nEm seg., 1 de jan. de 2026 às 10:00, A <a@x.org> escreveu:\n> v", "Sim."),
        ("2026-01-01 10:00 skrev A <a@x.org>:\n> g\nSvar", "Svar"),
        ("Ok\n\n-----Original Message-----\nFrom: x\nold", "Ok"),
        ("Ok\n\n-----Ursprüngliche Nachricht-----\nVon: x\nold", "Ok"),
        ("Ok\n\n________________________________\nFrom: B <b@x>\nSent: Mon\nTo: me\nSubject: s\n\nold", "Ok"),
        ("Ok\n\nVon: B <b@x>\nGesendet: Mo\nAn: me\nBetreff: s\n\nold", "Ok"),
        ("Ok\n\n*From:* B\n*Sent:* Mo\n*To:* me\n\nold", "Ok"),
        ("> question one\nanswer one\n> question two\nanswer two", "answer one\nanswer two"),
        ("On 1 Jan 2026 A <a@x.org> wrote:\n> q\nmy answer", "my answer"),
        ("Text\n-- \nBob\nCEO, Example Inc.", "Text"),
        ("Text\n\nSent from my iPhone", "Text"),
        ("Sent from my iPhone", "Sent from my iPhone"),
        (
            "FYI\n\n---------- Forwarded message ---------\nFrom: A\n\nbody\n> q",
            "FYI\n\n---------- Forwarded message ---------\nFrom: A\n\nbody\n> q",
        ),
        ("Begin forwarded message:\n\n> From: A\n> body", "Begin forwarded message:\n\n> From: A\n> body"),
        (
            "FYI\n-- \nBob\n---------- Forwarded message ---------\nbody",
            "FYI\n---------- Forwarded message ---------\nbody",
        ),
        ("> only a quote", "> only a quote"),
        ("On reflection, I wrote:\na poem", "On reflection, I wrote:\na poem"),
        ("From: the whole team\nthank you", "From: the whole team\nthank you"),
        ("- item\n--- rule\n* star", "- item\n--- rule\n* star"),
        ("", ""),
    ],
)
def test_extract_reply(text: str, reply: str) -> None:
    assert extract_reply(text) == reply


def test_an_outlook_forward_is_kept_when_the_subject_says_so() -> None:
    text = "FYI\n\nFrom: B <b@x>\nSent: Mon\nTo: me\nSubject: s\n\nbody"
    assert extract_reply(text, is_forward=True) == text
    assert extract_reply(text) == "FYI"


@pytest.mark.parametrize(
    "bomb",
    [
        "On " * 350000,
        "On 1 schrieb x schrieb x : :\n" * 30000,
        "\n" * 1000000,
        "From: x\n" * 120000,
        ">" * 1000000,
        "_____\n" * 160000,
        "-- \n" * 250000,
        "On 1\n" * 200000,
        ("On 1 a wrote:\n" + "\n" * 50) * 15000,
        "From:" * 200000,
    ],
)
def test_reply_bombs_end(bomb: str) -> None:
    extract_reply(bomb)


def test_snippets_are_one_short_line() -> None:
    assert snippet("  Hello\n\n\tWorld \u200b ") == "Hello World"
    assert snippet("x" * 500) == "x" * 200
    assert snippet("ab cd", 4) == "ab c"
    assert snippet("") == ""
    assert len(snippet(" " * 1_000_000 + "x")) == 0
    assert snippet("a\x00b\u202ec") == "abc"
