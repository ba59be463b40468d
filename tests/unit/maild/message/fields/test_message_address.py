"""SMTP paths, comparison keys and API addresses."""

from __future__ import annotations

import pytest

from maild.message.fields.address import (
    AddressSyntaxError,
    normalize,
    parse_path,
    split,
    strip_plus,
    validate,
)


@pytest.mark.parametrize(
    ("argument", "address"),
    [
        (b"<a@b.org>", "a@b.org"),
        (b" <a@b.org>", "a@b.org"),
        (b"<>", ""),
        (b"<A.b+c@X.Org>", "A.b+c@X.Org"),
        (b"<@one.org,@two.org:u@x.org>", "u@x.org"),
        (b'<"a b\\"c"@x.org>', '"a b\\"c"@x.org'),
        (b'<"u@x"@ours.test>', '"u@x"@ours.test'),
        (b"<u%x@ours.test>", "u%x@ours.test"),
        (b"<u@[192.0.2.1]>", "u@[192.0.2.1]"),
        (b"<u@[IPv6:2001:db8::1]>", "u@[IPv6:2001:db8::1]"),
        (b"<postmaster>", "postmaster"),
        (b"<Postmaster>", "Postmaster"),
        (b"<u@x.org.>", "u@x.org"),
        (b"<u@foo_bar.org>", "u@foo_bar.org"),
        (b"<a..b@x.org>", "a..b@x.org"),
        (b"<.a@x.org>", ".a@x.org"),
        (b"<a.@x.org>", "a.@x.org"),
        (b"<" + b"a" * 64 + b"@x.org>", "a" * 64 + "@x.org"),
        (
            b"<SRS0=Zm9v=X4=ours.test=b+" + b"a" * 43 + b"@x.org>",
            f"SRS0=Zm9v=X4=ours.test=b+{'a' * 43}@x.org",
        ),
    ],
)
def test_paths(argument: bytes, address: str) -> None:
    assert parse_path(argument).address == address


@pytest.mark.parametrize(
    "argument",
    [
        b"",
        b"a@b.org",
        b"<a@b.org",
        b"<a@x..org>",
        b"<a@.org>",
        b"<a@-x.org>",
        b"<a@x-.org>",
        b"<a@>",
        b"<@x.org>",
        b"<a>",
        b"< a@x.org>",
        b"<a@x.org >",
        b"<a b@x.org>",
        b"<a@x.org\x00>",
        b"<a\r\n@x.org>",
        b"<a@x.org>\r\nRCPT TO:<b@x.org>",
        b"<a\x7f@x.org>",
        b"<a@x.org>SIZE=1",
        b"<a@x.org> SIZE=1 size=2",
        b"<a@x.org> =1",
        b"<a@x.org> SIZE=",
        b"<a@[1.2.3]>",
        b"<a@[IPv6:zz]>",
        b'<"a@x.org>',
        b"<a@b@c.org>",
        b"<" + b"a" * 250 + b"@x.org>",
        b"<a@" + b"b" * 256 + b">",
        b"<" + b"a" * 60 + b"@" + b"b." * 100 + b"org>",
        "<é@x.org>".encode(),
        b"<\xff@x.org>",
        b"<" + b"a" * 1_000_000,
        b"<@" + b"a,@" * 600 + b":u@x>",
    ],
)
def test_bad_paths_are_refused(argument: bytes) -> None:
    with pytest.raises(AddressSyntaxError):
        parse_path(argument)


def test_path_parameters_keep_values_and_fold_names() -> None:
    path = parse_path(b"<a@b.org> size=100 BODY=8BITMIME  AUTH=<> SMTPUTF8".replace(b"AUTH=<>", b"RET=HDRS"))
    assert path.parameters == {"SIZE": "100", "BODY": "8BITMIME", "RET": "HDRS", "SMTPUTF8": None}


def test_utf8_paths_need_smtputf8() -> None:
    assert parse_path("<é@x.org>".encode(), smtputf8=True).address == "é@x.org"
    assert parse_path("<é@bücher.example> SMTPUTF8".encode()).address == "é@bücher.example"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Bob@X.Org", "bob@x.org"),
        ("bob@x.org.", "bob@x.org"),
        ('"bob"@x.org', "bob@x.org"),
        ('"b\\ob"@x.org', "bob@x.org"),
        ('"a..b."@x.org', "A..b.@x.org"),
        ("bob@bücher.example", "bob@XN--BCHER-KVA.example"),
        ("jo\u0308@x.org", "J\u00d6@x.org"),
        ("STRASSE@x.org", "straße@x.org"),
    ],
)
def test_equal_addresses_have_one_key(one: str, other: str) -> None:
    assert normalize(one) == normalize(other)
    assert normalize(normalize(one)) == normalize(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a+b@x.org", "a@x.org"),
        ("a.b@x.org", "ab@x.org"),
        ('"a b"@x.org', "ab@x.org"),
        ("a@x.org", "a@y.org"),
    ],
)
def test_different_addresses_have_different_keys(one: str, other: str) -> None:
    assert normalize(one) != normalize(other)


@pytest.mark.parametrize(
    "text", ["", "@", "x", '"', '"@', "é", "a@" + "ü" * 100_000, "\ud800@\ud800", "a@xn--zz--"]
)
def test_what_is_no_address_is_its_own_key(text: str) -> None:
    assert normalize(text) == text


def test_split_and_strip_plus() -> None:
    assert split("a@b@c") == ("a@b", "c")
    assert split("abc") == ("abc", "")
    assert split("@x.org") == ("", "x.org")
    assert strip_plus("bob+tag+more") == "bob"
    assert strip_plus("+bob") == "+bob"
    assert strip_plus("bob") == "bob"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("bob@example.org", "bob@example.org"),
        ("Bob.X+tag@Example.ORG", "Bob.X+tag@example.org"),
        ("jö@bücher.example", "jö@xn--bcher-kva.example"),
        ("a@x.test", "a@x.test"),
        ("a@deep.x.invalid", "a@deep.x.invalid"),
        ("a@host.local", "a@host.local"),
        ("a@localhost", "a@localhost"),
        ("a@x.ONION", "a@x.onion"),
    ],
)
def test_valid_api_addresses(address: str, expected: str) -> None:
    assert validate(address) == expected


@pytest.mark.parametrize(
    "address",
    [
        "",
        "bob",
        "@x.org",
        "bob@",
        "Bob <b@x.org>",
        "<b@x.org>",
        "a@b@x.org",
        "a b@x.org",
        "a..b@x.org",
        "a@x",
        "a@x.org\r\nBcc: v@x.org",
        "a@x.org\x00",
        "a@x.org, b@x.org",
        "a@[192.0.2.1]",
        '"Ada" <a@x.org>',
        '""@x.org',
        '"a"b@x.org',
        '"a\nb"@x.org',
        "\ud800@x.org",
        "a" * 65 + "@x.org",
        '"' + "a " * 31 + 'a"@x.org',  # 65 octets before the "@", the quotes among them
        "\u00fc" * 33 + "@x.org",
        "a" * 64 + "@" + ".".join(["b" * 60] * 3) + ".invalid",  # 255 octets
        "a@" + "b" * 64 + ".org",
        "a@" + "b." * 130 + "org",
        "a" * 1000000,
        "a@-x.test",
        "a@.test",
        "a@x..test",
        "a\u2028@x.org",
        "a\u202e@x.org",
    ],
)
def test_bad_api_addresses_are_refused_with_a_short_text(address: str) -> None:
    with pytest.raises(AddressSyntaxError) as refused:
        validate(address)
    assert 0 < len(str(refused.value)) < 300


def test_quoted_local_parts_stay_quoted_where_they_must() -> None:
    """RFC 5321 §4.1.2."""
    for address in ('"a b"@x.org', '"a@b"@x.org', '"a,b;c<d>"@x.org', '"a\\"b"@x.org'):
        assert validate(address) == address
    assert validate('"plain"@x.org') == "plain@x.org"


@pytest.mark.parametrize(
    "address", ['"' + "a " * 31 + '"@x.org', "\u00fc" * 32 + "@x.org", '"' + "a" * 64 + '"@x.org']
)
def test_a_local_part_may_have_64_octets(address: str) -> None:
    """RFC 5321 §4.5.3.1.1."""
    sent = validate(address)
    assert len(sent.partition("@")[0].encode()) == 64
    assert parse_path(f"<{sent}>".encode(), smtputf8=True).address == sent
