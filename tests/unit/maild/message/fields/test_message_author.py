"""S15: the author is one mailbox that every reader sees alike, or nobody."""

from __future__ import annotations

import pytest

from maild.message.fields.address import Mailbox, parse_mailboxes
from maild.message.fields.headers import MAX_HEADER_BYTES
from maild.message.parsing.parse import parse
from tests.support.laws.work import Bomb, assert_proportional, bomb


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
        ("b@bu\u0308cher.example", None, "b@xn--bcher-kva.example"),
        # Vowels that are marks on letters before them, in Hindi and Thai, and a joiner in Sinhala.
        ("नाम <हिन्दी@उदाहरण.परीक्षा>", "नाम", "हिन्दी@xn--p1b6ci4b4b3a.xn--11b5bs3a9aj6g"),
        ("b@ตัวอย่าง.ทดสอบ", None, "b@xn--72c1a1bt4awk9o.xn--l3cfk7dp"),
        ("b@ශ්\u200dරී.example", None, "b@xn--10cl1a0b660p.example"),
        ('"b c"@x.org', None, '"b c"@x.org'),
        ('"b"@x.org', None, "b@x.org"),
        ("\u202emoc.knab\u202c <b@x.org>", "moc.knab", "b@x.org"),
        ("b . c @ x . org", None, "b.c@x.org"),
        ("jö@x.org", None, "jö@x.org"),
        ("u@[192.0.2.1]", None, "u@[192.0.2.1]"),
        # RFC 5322 §3.2.2: a comment may stand before an address too.
        ("(Bob Baker) b@x.org", "Bob Baker", "b@x.org"),
        ("(Baker, Bob)\r\n b@x.org", "Baker, Bob", "b@x.org"),
        ("(IT; (B)) b@x.org (Bob)", "Bob", "b@x.org"),
    ],
)
def test_one_author(value: str, name: str | None, address: str) -> None:
    assert parse(f"From: {value}\r\n\r\n".encode()).from_ == Mailbox(name, address)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("b@x.org <b@x.org>", "b@x.org"),
        ("'b@x.org' <b@x.org>", "'b@x.org'"),
        ("B@X.org <b@x.org>", "B@X.org"),
        ("Bob @ Work Inc. <b@x.org>", "Bob @ Work Inc."),
        ("=?utf-8?q?B=C3=B6b_=40_Work?= <b@x.org>", "Böb @ Work"),
        ("@Bob <b@x.org>", "@Bob"),
        ("=?utf-8?q?b=40x.org?= <b@x.org>", "b@x.org"),
        ("=?utf-8?q?b@x.org?= <b@x.org>", "b@x.org"),
        ("=?utf-8?q?B=C3=B6b,_Anna?= <b@x.org>", "Böb, Anna"),
        ('=?utf-8?q?"B=C3=B6b,_Anna"_(IT)?= <b@x.org>', '"Böb, Anna" (IT)'),
        ("=?utf-8?q?B=C3=B6b=2C_Anna?= <b@x.org>", "Böb, Anna"),
        ("=?utf-8?q?B=C3=B6b_=28b=40y.org=29?= <b@x.org>", "Böb (b@y.org)"),
        ('"=?utf-8?q?a=40y.org_=C3=BCber_Bob?=" <b@x.org>', "a@y.org über Bob"),
        ("=?utf-8?b?QsO2Yg==?=\r\n =?utf-8?q?_X?=\r\n <b@x.org>", "Böb X"),
    ],
)
def test_a_name_that_every_reader_shows_alike(value: str, name: str) -> None:
    assert parse(f"From: {value}\r\n\r\n".encode()).from_ == Mailbox(name, "b@x.org")


@pytest.mark.parametrize(
    ("value", "defect"),
    [
        ("", "no-author"),
        ("a@x.org, b@y.org", "several-authors"),
        ("<a@x.org> <b@y.org>", "several-authors"),
        ("Team: a@x.org, b@y.org;", "several-authors"),
        ("a@x.org <b@y.org>", "ambiguous-author"),
        ("'a@x.org' <b@y.org>", "ambiguous-author"),
        ("a@x.org b@y.org", "ambiguous-author"),
        ("'a@x.org'", "ambiguous-author"),
        ("A. a @ x . org <b@y.org>", "ambiguous-author"),
        ("A a@[192.0.2.1] <b@y.org>", "ambiguous-author"),
        ("@a@x.org <b@y.org>", "ambiguous-author"),
        ("\u202egro.x@a\u202c <b@y.org>", "ambiguous-author"),
        ("Bob <b@x.org> junk", "ambiguous-author"),
        ("Bob <b@x.org> a@y.org", "ambiguous-author"),
        ("Bob <b@x.org", "ambiguous-author"),
        ("Bob b@x.org>", "ambiguous-author"),
        ("Bob <b@x.org>>", "ambiguous-author"),
        ("<>", "ambiguous-author"),
        ("Bob", "ambiguous-author"),
        ("group: a@x.org;", "ambiguous-author"),
        ("undisclosed:;", "ambiguous-author"),
        ("<@route:a@x.org>", "ambiguous-author"),
        ("Bob <mailto:b@x.org>", "ambiguous-author"),
        ("Bob <b@x.org:25>", "ambiguous-author"),
        ("a(comment)@x.org", "ambiguous-author"),
        ("(a) a (comment) @x.org", "ambiguous-author"),
        ("(a@y.org) b@x.org", "ambiguous-author"),
        ("(a@y.org) (Bob) b@x.org", "ambiguous-author"),
        ("(=?utf-8?q?a=40y.org?=) b@x.org", "ambiguous-author"),
        ('(a") b@x.org ("@y.org)', "ambiguous-author"),
        ("(<a@y.org>) b@x.org", "ambiguous-author"),
        ("Bob (IT) b@x.org", "ambiguous-author"),
        ("a@b@c.org", "ambiguous-author"),
        ("<a b@x.org>", "ambiguous-author"),
        ("=?utf-8?q?Bob_=3Cb=40x.org=3E?=", "ambiguous-author"),
        ("<b\u202e@x.org>", "ambiguous-author"),
        ("<b@\u0301x.org>", "ambiguous-author"),
        ("<b@a\u200db.org>", "ambiguous-author"),
        ("<b\x00@x.org>", "ambiguous-author"),
        ('"ceo@bank.example\x00" <b@x.org>', "ambiguous-author"),
        ("B\x1bob <b@x.org>", "ambiguous-author"),
        ('"a\\" <a@y.org> \\"" <b@x.org>', "ambiguous-author"),
        ("b@x.org (never closed <a@y.org>", "ambiguous-author"),
        ("b@x.org (<a@y.org>)", "ambiguous-author"),
        ("b@x.org " + "() " * 30_000 + "a@y.org", "ambiguous-author"),
        ("=?utf-8?q?a=2C?= <b@x.org>" + " " * 2000 + "(x)", "ambiguous-author"),
        ('"Bob <b@x.org>', "ambiguous-author"),
        ('\\"Bob\\" <b@x.org>', "ambiguous-author"),
        ("Bob (IT <b@x.org>", "ambiguous-author"),
        ('=?utf-8?q?B=C3=B6b_"?= <b@x.org>, "<a@y.org>', "several-authors"),
        ('=?utf-8?q?B=C3=B6b_"?= <b@x.org>', "ambiguous-author"),
        ("=?utf-8?q?B=C3=B6b_(?= <b@x.org>", "ambiguous-author"),
        ("=?utf-8?q?a,b?= @x.org", "ambiguous-author"),
        ("<=?utf-8?q?a,b?= @x.org>", "ambiguous-author"),
        ("=?utf-8?q?a,a@y.org,b?= <b@x.org>", "several-authors"),
        # Who decodes first, and reads the address then, sees another one.
        ("=?utf-8?q?a=40y.org?= <b@x.org>", "ambiguous-author"),
        ("=?utf-8?q?a@y.org?= <b@x.org>", "ambiguous-author"),
        ("=?utf-8?q?a@y.org?= b@x.org <b@x.org>", "ambiguous-author"),
        ("Bob <mailto:b@x.org>", "ambiguous-author"),
        ("=?utf-8?q?A_=3Ca=40y.org=3E=2C?= <b@x.org>", "ambiguous-author"),
        ('"=?utf-8?q?A=22_=3Ca=40y.org=3E_=22?=" <b@x.org>', "ambiguous-author"),
        ('"=?utf-8?q?a=40y.org=00?=" <b@x.org>', "ambiguous-author"),
        ("=?utf-8?b?YUB5Lm9yZwA=?= <b@x.org>", "ambiguous-author"),
        ("=?utf-8?q?a=40y.org?=@x.org", "ambiguous-author"),
        ("=?utf-8?q?a?=@x.org", "ambiguous-author"),
        ("=?utf-8?q?a=40y.org=0A?=@x.org", "ambiguous-author"),
        ("b@=?utf-8?q?x?=.org", "ambiguous-author"),
    ],
)
def test_no_author_but_a_defect(value: str, defect: str) -> None:
    message = parse(f"From: {value}\r\n\r\n".encode())
    assert message.from_ is None
    assert message.defects == (defect,)


@pytest.mark.parametrize(
    ("header", "address"),
    [
        (b"From : b@x.org\r\n", "b@x.org"),
        (b"fROM:b@x.org\r\n", "b@x.org"),
        (b"From:\r\n b@x.org\r\n", "b@x.org"),
        (b"From: Bob\r\n\t<b@x.org>\r\n", "b@x.org"),
        (b"Subject: x\r\n From: a@y.org\r\nFrom: b@x.org\r\n", "b@x.org"),
        (b"From: b@x.org.\r\n", "b@x.org"),
        (b"From: Bob (B.) <b@x.org.>\r\n", "b@x.org"),
        (b"From: b@x.org\r\nSender: a@y.org\r\nReply-To: c@z.org\r\n", "b@x.org"),
        (b"From: b@x.org\r\nResent-From: a@y.org\r\nX-From: c@z.org\r\n", "b@x.org"),
        (b"From: b@x.org\r\n \r\nSubject: y\r\n", "b@x.org"),
        (b"From: b@x.org\r\n\r\nFrom: a@y.org\r\n", "b@x.org"),
        (b"From: b@m\xc3\xbcller.test\r\n", "b@xn--mller-kva.test"),
        (b"From: b@XN--MLLER-KVA.test\r\n", "b@XN--MLLER-KVA.test"),
        (b'From: "a@y.org"@x.org\r\n', '"a@y.org"@x.org'),
        (b'From: "a@y.org" <b@x.org>\r\n', "b@x.org"),
    ],
)
def test_fields_around_the_author_change_nothing(header: bytes, address: str) -> None:
    message = parse(header + b"\r\n")
    assert message.from_ is not None
    assert (message.from_.address, message.defects) == (address, ())


@pytest.mark.parametrize(
    ("header", "defect"),
    [
        (b"Subject: x\r\n", "no-author"),
        (b"Subject: x\r\n\r\nFrom: a@x.org\r\n", "no-author"),
        (b"Sender: a@x.org\r\n", "no-author"),
        (b"From: a@x.org\r\nFrom: a@x.org\r\n", "several-from-fields"),
        (b"From: a@x.org\r\nfrom : b@y.org\r\n", "several-from-fields"),
        (b"From: a@x.org\r\nFrom:\r\n", "several-from-fields"),
        (b"From: a@x.org\r\nX: " + b"y" * 300_000 + b"\r\nFROM\t: b@y.org\r\n", "several-from-fields"),
        (b"From: a@x.org\r\n" + b"x:\r\n" * 10_000 + b"From: b@y.org\r\n", "ambiguous-author"),
        (b"From: a@x.org, b@y.org\r\nSender: a@x.org\r\n", "several-authors"),
        (b"From: a@x.org\r\nSubject: x\rFrom: b@y.org\r\n", "ambiguous-author"),
        (b"From: a@x.org\rFrom: b@y.org\r\n", "ambiguous-author"),
        (b"From: a@x.org\r\nFr\x00om: b@y.org\r\n", "ambiguous-author"),
        (b"From: a@x.org\r\n\x0bFrom: b@y.org\r\n", "ambiguous-author"),
        (b"From: a@x.org\r\n From: b@y.org\r\n", "ambiguous-author"),
        (b"Subject: x\r\nFrom\r\n : a@x.org\r\nFrom: b@y.org\r\n", "ambiguous-author"),
        (b"From: b@y.org\r\nFROM \n\t: a@x.org\r\n", "ambiguous-author"),
        (b"From: a@m\xfcller.test\r\n", "ambiguous-author"),
    ],
)
def test_where_readers_could_differ_nobody_is_the_author(header: bytes, defect: str) -> None:
    message = parse(header + b"\r\n")
    assert message.from_ is None
    assert defect in message.defects


def test_a_huge_header_is_searched_for_another_author_in_proportion() -> None:
    for unit in (b"\nfrom", b"\nfrom ", b"x" * 7, b"\r\nX: y"):
        assert_proportional(parse, Bomb(unit, b"From: a@x.org\r\nX:" + b"y" * MAX_HEADER_BYTES, b"\r\n\r\n"))
    border = b"From: a@x.org\r\nX: " + b"y" * MAX_HEADER_BYTES
    for gap in range(20):
        assert parse(border + b"y" * (64 * 1024 - gap) + b"\r\nFrom: b@y.org\r\n\r\n").from_ is None


def test_lists_flatten_groups_routes_and_rubbish() -> None:
    value = 'Team: A <a@x.org>, "B, C" <b@x.org>; <@r1,@r2:d@x.org>,, nobody, "e\\"f"@x.org (Eff)'
    assert [(box.name, box.address) for box in parse_mailboxes(value)] == [
        ("A", "a@x.org"),
        ("B, C", "b@x.org"),
        (None, "d@x.org"),
        ("Eff", '"e\\"f"@x.org'),
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        # RFC 2047 §5 has no specials in the word of a phrase; programs that encode what is beyond ASCII alone do.
        ("=?utf-8?q?L=C3=B6w,_Ada?= <a@x.org>, b@y.org", [("Löw, Ada", "a@x.org"), (None, "b@y.org")]),
        ("=?utf-8?q?Sales:_L=C3=B6w;?=\r\n =?utf-8?q?_Ada?= <a@x.org>", [("Sales: Löw; Ada", "a@x.org")]),
        ("=?utf-8?q?L=C3=B6w?==?utf-8?q?,_Ada?=<a@x.org>", [("Löw, Ada", "a@x.org")]),
        ("=?utf-8?q?L=C3=B6w_(IT)?= <a@x.org>", [("Löw (IT)", "a@x.org")]),
        ('=?utf-8?q?L=C3=B6w_"?= <a@x.org>, b@y.org', [('Löw "', "a@x.org"), (None, "b@y.org")]),
        ("=?utf-8?q?L=C3=B6w_(?= <a@x.org>, b@y.org", [("Löw (", "a@x.org"), (None, "b@y.org")]),
        ("=?utf-8?q?a,b?= @x.org, b@y.org", [(None, "b@y.org")]),
        # Programs that quote what is quoted already.
        ('\\"Ada: Sales, too\\" <a@x.org>, b@y.org', [("Ada: Sales, too", "a@x.org"), (None, "b@y.org")]),
        # What is opened and never closed opens nothing.
        ('"Ada <a@x.org>, b@y.org', [("Ada", "a@x.org"), (None, "b@y.org")]),
        ('"Ada" Löw" <a@x.org>, b@y.org', [("Ada Löw", "a@x.org"), (None, "b@y.org")]),
        ("Ada (IT <a@x.org>, b@y.org", [("Ada (IT", "a@x.org"), (None, "b@y.org")]),
        # A link's beginning, or Exchange's word for a kind of address, is no part of one.
        ("Ada <mailto:a@x.org>, <MailTo:b@y.org>", [("Ada", "a@x.org"), (None, "b@y.org")]),
        ("< MAILTO: a@x.org >, b@y.org", [(None, "a@x.org"), (None, "b@y.org")]),
        ("Ada <SMTP:a@x.org>, b@y.org", [("Ada", "a@x.org"), (None, "b@y.org")]),
        ("mailto:a@x.org, b@y.org", [(None, "a@x.org"), (None, "b@y.org")]),
        ("<sip:a@x.org>, <a:mailto:a@x.org>, b@y.org", [(None, "b@y.org")]),
        # Programs that quote addresses with apostrophes, which a local part may have and no domain.
        ("'a@x.org', 'Ada' <'b@y.org'>", [(None, "a@x.org"), ("'Ada'", "b@y.org")]),
        ("'a@x.org, b'@y.org, ''@y.org', '@'", [(None, "'a@x.org"), (None, "b'@y.org"), (None, "'@y.org")]),
    ],
)
def test_no_address_of_a_list_is_lost_to_a_name(value: str, expected: list[tuple[str | None, str]]) -> None:
    message = parse(f"To: {value}\r\n\r\n".encode())
    assert [(box.name, box.address) for box in message.to] == expected


@pytest.mark.parametrize("other", ["Ada <b:a@x.org>", "<a@x.org:25>", "<b c:a@x.org>", "<mailto:b:a@x.org>"])
def test_nobody_is_made_of_what_stands_around_a_colon(other: str) -> None:
    assert [box.address for box in parse_mailboxes(f"{other}, b@y.org")] == ["b@y.org"]


@pytest.mark.parametrize(
    "unit",
    [
        "(",
        '"',
        "<",
        "a,",
        "a@",
        "=?",
        "a:",
        "mailto: ",
        "[",
        ' "',
        "\\",
        "(\\",
        "a b ",
        "(a",
        '"\\',
        "a <",
        "=?u?q?,",
        '\\"',
    ],
)
@pytest.mark.parametrize("before", ["", "x <"])
def test_addresses_take_work_in_proportion(unit: str, before: str) -> None:
    text = bomb(unit, before)
    assert_proportional(parse_mailboxes, text)
    assert parse_mailboxes(text.whole()) == ()


def test_lists_are_capped() -> None:
    assert len(parse_mailboxes("a@x.org," * 5000)) == 1000
    assert len(parse_mailboxes("A (c) <a@x.org>," * 5000)) == 1000
