"""S15: the author is one mailbox that every reader sees alike, or nobody."""

from __future__ import annotations

import pytest

from maild.message.address import Mailbox, parse_mailboxes
from maild.message.parse import parse
from tests.support.work import assert_proportional, bomb


@pytest.mark.parametrize(
    ("value", "name", "address"),
    [
        ("b@x.org", None, "b@x.org"),
        ("<b@x.org>", None, "b@x.org"),
        ("Bob Example <b@x.org>", "Bob Example", "b@x.org"),
        ('"Example, Bob" <b@x.org>', "Example, Bob", "b@x.org"),
        ('"ceo@bank.example" <b@x.org>', "ceo@bank.example", "b@x.org"),
        ("b@x.org (Bob)", "Bob", "b@x.org"),
        ("Bob (a (nested) note) <b@x.org>", "Bob", "b@x.org"),
        ("=?utf-8?b?QsO2Yg==?= <b@x.org>", "Böb", "b@x.org"),
        ('"=?utf-8?q?B=C3=B6b?=" <b@x.org>', "Böb", "b@x.org"),
        ("b@bücher.example", None, "b@xn--bcher-kva.example"),
        ("b@xn--bcher-kva.example", None, "b@xn--bcher-kva.example"),
        ('"b c"@x.org', None, '"b c"@x.org'),
        ('"b"@x.org', None, "b@x.org"),
        ("\u202emoc.knab\u202c <b@x.org>", "moc.knab", "b@x.org"),
        ("b . c @ x . org", None, "b.c@x.org"),
        ("jö@x.org", None, "jö@x.org"),
        ("u@[192.0.2.1]", None, "u@[192.0.2.1]"),
    ],
)
def test_one_author(value: str, name: str | None, address: str) -> None:
    assert parse(f"From: {value}\r\n\r\n".encode()).from_ == Mailbox(name, address)


@pytest.mark.parametrize(
    ("value", "defect"),
    [
        ("", "no-from"),
        ("a@x.org, b@y.org", "several-from"),
        ("<a@x.org> <b@y.org>", "several-from"),
        ("a@x.org <b@y.org>", "ambiguous-from"),
        ("Bob <b@x.org> junk", "ambiguous-from"),
        ("Bob <b@x.org", "ambiguous-from"),
        ("group: a@x.org;", "ambiguous-from"),
        ("undisclosed:;", "ambiguous-from"),
        ("<@route:a@x.org>", "ambiguous-from"),
        ("a(comment)@x.org", "ambiguous-from"),
        ("a@b@c.org", "ambiguous-from"),
        ("<a b@x.org>", "ambiguous-from"),
        ("=?utf-8?q?Bob_=3Cb=40x.org=3E?=", "ambiguous-from"),
        ("<b\u202e@x.org>", "ambiguous-from"),
        ("<b\x00@x.org>", "ambiguous-from"),
    ],
)
def test_no_author_but_a_defect(value: str, defect: str) -> None:
    message = parse(f"From: {value}\r\n\r\n".encode())
    assert message.from_ is None
    assert message.defects == (defect,)


def test_two_from_fields_are_no_author() -> None:
    message = parse(b"From: a@x.org\r\nFrom: a@x.org\r\n\r\n")
    assert (message.from_, message.defects) == (None, ("several-from",))


def test_lists_flatten_groups_routes_and_rubbish() -> None:
    value = 'Team: A <a@x.org>, "B, C" <b@x.org>; <@r1,@r2:d@x.org>,, nobody, "e\\"f"@x.org (Eff)'
    assert [(box.name, box.address) for box in parse_mailboxes(value)] == [
        ("A", "a@x.org"),
        ("B, C", "b@x.org"),
        (None, "d@x.org"),
        ("Eff", '"e\\"f"@x.org'),
    ]


@pytest.mark.parametrize(
    "unit", ["(", '"', "<", "a,", "a@", "=?", "a:", "[", ' "', "\\", "(\\", "a b ", "(a", '"\\', "a <"]
)
@pytest.mark.parametrize("before", ["", "x <"])
def test_addresses_take_work_in_proportion(unit: str, before: str) -> None:
    text = bomb(unit, before)
    assert_proportional(parse_mailboxes, text)
    assert parse_mailboxes(text.whole()) == ()


def test_lists_are_capped() -> None:
    assert len(parse_mailboxes("a@x.org," * 5000)) == 1000
    assert len(parse_mailboxes("A (c) <a@x.org>," * 5000)) == 1000
