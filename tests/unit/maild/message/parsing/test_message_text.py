"""HTML to text, the new words of a reply, and snippets."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from maild.message.parsing.text import extract_reply, html_to_text, snippet
from tests.support.laws.work import Bomb, assert_proportional, bomb


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
        ("<a href=mailto:a@x.org>&lt;a@x.org&gt;</a>", "<a@x.org>"),
        ('<a href="javascript:alert(1)">x</a>', "x"),
        ('<a href="https://x.org"></a>y', "y"),
        ("<script>alert('</p>')</script>x<style>p{}</style>", "x"),
        ("<SCRIPT>bad</SCRIPT >x", "x"),
        ("<script>never closed", ""),
        ("a<script><!--<script></script>hidden--></script>b", "ab"),
        ("a<script><!--<script></script></script>b", "ab"),
        ("a<script><!--<script>--></script>b", "ab"),
        ("a<script><!--><script></script>b", "ab"),
        ("a<script><script></script>b", "ab"),
        ("a<script><!--<scripts></script>b", "ab"),
        ("a<template>b<template>c</template>hidden</template>d", "ad"),
        ("a<template><!-- <template> --></template>b", "ab"),
        ("a<TEMPLATE>never closed<template></template>", "a"),
        ("a</template>b", "ab"),
        ("<title>T</title>x", "x"),
        ("a <math><mfrac><mn>1</mn><mn>2</mn></mfrac><mo>=</mo><mi>x</mi></math>.", "a 1 2 = x ."),
        ("<math><mi>x</mi><annotation encoding=a>never x</annotation></math>b", "x b"),
        (
            "a<svg><desc>hidden</desc><text>b <tspan>c</tspan>d</text><path/><text>e</text></svg>f",
            "a b cd e f",
        ),
        ("<svg><desc/><text>a</text></svg>", "a"),
        ("<svg><desc>hidden</svg>a<svg><desc>hidden<p>b</p><desc>c</desc>", "a\n\nb\n\nc"),
        ("<svg></p><desc>a</desc><font>b</font>", "ab"),
        ("<svg><foreignObject><desc>a</desc></foreignObject><desc>hidden</desc></svg>", "a"),
        ("<math><defs>a</defs></math><svg><annotation>b</annotation></svg>", "a b"),
        ("<svg/><desc>a</desc></svg></math>b", "ab"),
        ("<noscript>a</noscript>b", "ab"),
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
        ('code is<span style="display:block">482913</span>Thanks', "code is\n482913\nThanks"),
        ('code is<b style="color:red; DISPLAY : Block">482913</b>Thanks', "code is\n482913\nThanks"),
        ('code is<font style="display:list-item">482913</font>Thanks', "code is\n482913\nThanks"),
        ('a<i style="display:flex"><i>b</i>c</i>d', "a\nbc\nd"),
        ('a<i>b<i style="display:grid">c</i></i>d', "ab\nc\nd"),
        ('a<i style="display:block">b', "a\nb"),
        ('a<i style="display:block;display:inline">b</i>c', "abc"),
        ('a<i style="display:inline-block">b</i><i style="x-display:block">c</i>d', "abcd"),
        ('<p>a</p><i style="display:block">b</i><p>c</p>', "a\n\nb\n\nc"),
        ('<ul><li><i style="display:block">a</i>b</ul>', "- a\nb"),
        ('a<img style="display:block" alt="Logo">b', "a\n[Logo]\nb"),
        ('<a href="https://x.org/a" style="display:block">here</a>y', "here (https://x.org/a)\ny"),
        ('<a href="https://x.org/a"><b style="display:block">here</b></a>y', "here (https://x.org/a)\ny"),
        ('x<a href="https://x.org/a"><b style="display:block">x.org/a</b></a>y', "x\nx.org/a\ny"),
        ('<p>x</p><a href="https://x.org/a">x.org/a</a>', "x\n\nx.org/a"),
        ("code is<button>482913</button>Thanks", "code is 482913 Thanks"),
        ("a<hgroup>b</hgroup>c<menu>d</menu>e", "a\nb\nc\nd\ne"),
        ("Hello <!-- x --!> SHOWN", "Hello SHOWN"),
        ("a</ secret='>'>b</>c</3 d>e</\u00e9>f</g>h</", "a'>bcefh</"),
        ("a<!-->b<!--->c<!--!>d-->e<!----!>f<!-- <!--!>g", "abcefg"),
        ("a<textarea>b\n&lt;i></textarea>c", "a b\n<i> c"),
        ("a<xmp>b <i>&lt;</xmp>c", "a\nb <i>&lt;\nc"),
        ('a<textarea style="display:none">b</textarea>c<xmp style="visibility:hidden">d</xmp>e', "ace"),
        ("<div style='display:none'><textarea>a</textarea><xmp></div></xmp></div>b", "b"),
    ],
)
def test_html_to_text(html: str, text: str) -> None:
    assert html_to_text(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p hidden>a</p>b", "b"),
        ('<p HIDDEN="false">a</p>b', "b"),
        ('<p hidden style="display:block">a</p>b', "a\n\nb"),
        ('<p class="hidden x" title=hidden data-hidden>a</p>', "a"),
        ("<p style='display:/**/none'>a</p>b", "b"),
        (r"<p style='d\69splay:n\6f ne'>a</p>b", "b"),
        ("<p style='display:none;display:block'>a</p>b", "a\n\nb"),
        ("<p style='display:none!important;display:block'>a</p>b", "b"),
        ("<p style='display:none;display:shown'>a</p>b", "b"),
        ("<p style='x-display:none'>a</p>b", "a\n\nb"),
        ("<p style='font-family:\"x;display:none\"'>a</p>b", "a\n\nb"),
        ("<b style='visibility:collapse'>a</b>b", "b"),
        ("<img hidden alt=Logo><img style='display:none' alt=Logo>b", "b"),
        ("a<br style='display:none'>b", "ab"),
        (
            '<a style="color:#fff;mso-hide:all" href="https://x.test/a">Confirm</a>',
            "Confirm (https://x.test/a)",
        ),
    ],
)
def test_what_a_browser_does_not_show_is_left_out(html: str, text: str) -> None:
    assert html_to_text(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p hidden>a<p>b", "b"),
        ("<p hidden>a<div>b</div>", "b"),
        ("<ul><li hidden>a<ul><li>n</ul>m<li>b</ul>", "- b"),
        ("<table><tr><td hidden>a<td>b<tr hidden><td>c<tr><td>d</table>", "b\nd"),
        ("<div><span hidden>a</div>b", "b"),
        ("<p><span hidden>a</p>b", "b"),
        ("<div><div hidden>a</span></p></b>a</div>b</div>c", "b\nc"),
        ("<div hidden>a<table><tr><td>a</div>a</table>a</div>b", "b"),
        ("<div hidden><b>a</div>b</b>", "b"),
        ("<tr hidden>b", "b"),
        ("<div hidden>" + "<i>" * 5000 + "a" + "</i>" * 5000 + "a</div>b", "b"),
    ],
)
def test_hidden_words_end_where_their_element_does(html: str, text: str) -> None:
    """As in a browser: with its end tag, with what can't stand in it, and with the element that it stands in."""
    assert html_to_text(html) == text


def as_it_is(html: str) -> str:
    return html


def nothing(_html: str) -> str:
    return ""


def quotes(html: str) -> str:
    """The texts of blockquotes, each one deeper: a mark more, up to ten."""
    depths = (min(depth, 10) for depth in range(1, html.count("<blockquote>x") + 1))
    return "\n\n".join("> " * depth + "x" for depth in depths)


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        (bomb("<a "), str.rstrip),
        (bomb('<a x="'), as_it_is),
        (bomb("<!--"), as_it_is),
        (bomb("<"), as_it_is),
        (bomb("<div>"), nothing),
        (bomb("&"), as_it_is),
        (bomb("<blockquote>x"), quotes),
        (bomb("<script>"), nothing),
        (bomb("<script></script>", before="<script><!--"), nothing),
        (bomb("<template>"), nothing),
        (bomb("<a ", after='=">"'), lambda _html: '"'),
        (bomb("=' ", before="<a ='"), str.rstrip),
        (bomb("&#"), as_it_is),
        (bomb("<a href=http://x>x"), lambda html: "x" * html.count("<a")),
        (bomb("<p style='display:none'>"), nothing),
        (bomb("<b></i>", before="<div hidden>"), nothing),
        (bomb("/*", before="<p style='display:", after="'>"), nothing),
        (bomb("</", after=">"), nothing),
        (bomb("</>"), nothing),
        (bomb("<svg>"), nothing),
        (bomb("<svg><foreignObject></math>"), nothing),
        (bomb("<path></desc>", before="<svg><desc>"), nothing),
        (bomb("<!"), as_it_is),
        (bomb("<i style='display:block'>"), nothing),
        (bomb("<i style='display:block'></i>"), nothing),
        (bomb("display:", before="<i style='", after="'>"), nothing),
        (bomb("<!-- --!"), as_it_is),
        (bomb("<xmp>"), lambda html: html[len("<xmp>") :]),
        (bomb("<textarea>"), lambda html: html[len("<textarea>") :]),
        (bomb("<textarea></textarea>"), nothing),
    ],
)
def test_html_takes_work_in_proportion(html: Bomb[str], shown: Callable[[str], str]) -> None:
    assert_proportional(html_to_text, html)
    whole = html.whole()
    assert html_to_text(whole) == shown(whole)


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
    "unit",
    [
        "On ",
        "On 1 schrieb x schrieb x : :\n",
        "\n",
        "From: x\n",
        ">",
        "_____\n",
        "-- \n",
        "On 1\n",
        "On 1 a wrote:\n" + "\n" * 50,
        "From:",
    ],
)
def test_replies_take_work_in_proportion(unit: str) -> None:
    """Nobody's words are in them, or nothing else: all of it is shown."""
    text = bomb(unit)
    assert_proportional(extract_reply, text)
    assert extract_reply(text.whole()) == text.whole().strip()


def test_snippets_are_one_short_line() -> None:
    assert snippet("  Hello\n\n\tWorld \u200b ") == "Hello World"
    assert snippet("x" * 500) == "x" * 200
    assert snippet("ab cd", 4) == "ab c"
    assert snippet("") == ""
    assert len(snippet(" " * 1_000_000 + "x")) == 0
    assert snippet("a\x00b\u202ec") == "abc"
