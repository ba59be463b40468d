"""SPF records and macros as text: the RFC's own examples, and what strangers may write."""

from functools import partial

import pytest

from maild.authentication.spf_record import (
    EXPLANATION_CHARS_MAX,
    MACROS_MAX,
    NAME_CHARS_MAX,
    RECORD_OCTETS_MAX,
    TERMS_AT_ONCE,
    MacroString,
    Mechanism,
    SpfSyntaxError,
    expand_name,
    expand_text,
    is_spf,
    parse_explanation,
    parse_record,
)
from tests.support.laws.work import assert_proportional, bomb, steps

VALUES = {
    "s": "strong-bad@email.example.com",
    "l": "strong-bad",
    "o": "email.example.com",
    "d": "email.example.com",
    "i": "192.0.2.3",
    "p": "mx.example.org",
    "v": "in-addr",
    "h": "mx.example.com",
    "c": "192.0.2.3",
    "r": "receiver.test",
    "t": "1",
}


@pytest.mark.parametrize(
    ("macro", "expanded"),
    [  # RFC 7208 §7.4
        ("%{s}", "strong-bad@email.example.com"),
        ("%{o}", "email.example.com"),
        ("%{d4}", "email.example.com"),
        ("%{d3}", "email.example.com"),
        ("%{d2}", "example.com"),
        ("%{d1}", "com"),
        ("%{dr}", "com.example.email"),
        ("%{d2r}", "example.email"),
        ("%{l}", "strong-bad"),
        ("%{l-}", "strong.bad"),
        ("%{lr}", "strong-bad"),
        ("%{lr-}", "bad.strong"),
        ("%{l1r-}", "strong"),
        ("%{ir}.%{v}._spf.%{d2}", "3.2.0.192.in-addr._spf.example.com"),
        ("%{lr-}.lp._spf.%{d2}", "bad.strong.lp._spf.example.com"),
        ("%{ir}.%{v}.%{l1r-}.lp._spf.%{d2}", "3.2.0.192.in-addr.strong.lp._spf.example.com"),
        ("%{d2}.trusted-domains.example.net", "example.com.trusted-domains.example.net"),
        ("%{S}", "strong-bad%40email.example.com"),
        ("%{d" + "9" * 5000 + "}", "email.example.com"),
        ("a.%%.%-.b.test", "a.%.%20.b.test"),
        ("a.test.", "a.test"),
    ],
)
def test_what_macros_become(macro: str, expanded: str) -> None:
    (mechanism,) = parse_record(f"v=spf1 exists:{macro}".encode()).mechanisms
    assert expand_name(mechanism.domain or (), VALUES) == expanded


NO_DOMAINS = """
%{d0}.x.test %{d000}.x.test %{d}%{ % %{q} %{c}.x.test %{d}com x x.123 x.-a x.a- x.test/ x.%(d) x.a} x.%%_ x.. x.ü
"""


@pytest.mark.parametrize("term", [*NO_DOMAINS.split(), "", "a b", "x.te\tst", "x.test\n"])
def test_what_is_no_domain(term: str) -> None:
    with pytest.raises(SpfSyntaxError):
        parse_record(f"v=spf1 exists:{term} -all".encode())


@pytest.mark.parametrize(
    "ending", ["a.b", "a.b.", "a.b-c", "a.1b", "a.%%", "a.%_", "a.%-", "%{d}", "a}.b", "a/b.test"]
)
def test_what_is_one(ending: str) -> None:
    assert parse_record(f"v=spf1 exists:{ending}".encode()).mechanisms[0].kind == "exists"


NO_TERMS = """
a/33 a/01 a//129 a/ a// a/8/8 a:/8 mx: ip4:1.2.3 ip4:1.2.3.04 ip4:1.2.3.4/33 ip4 ip4:::1 ip6:1.2.3.4 ip6:::1/129
ip6:::1%25eth0 all:x.test all/8 include include:x.test/8 ptr/8 ptr: exists redirect= exp= redirect:x.test =x 1a=x - +
!all --all all. unknown unknown:x m=% m=%{x}
"""
TWICE = ["redirect=x.test redirect=x.test", "exp=x.test EXP=y.test"]


@pytest.mark.parametrize("term", [*NO_TERMS.split(), *TWICE, "ip4:" + "1" * 5000])
def test_a_syntax_error_anywhere_spoils_all_of_it(term: str) -> None:
    with pytest.raises(SpfSyntaxError):
        parse_record(f"v=spf1 +all {term}".encode())


@pytest.mark.parametrize("term", TWICE)
def test_a_modifier_twice_is_found_however_far_apart(term: str) -> None:
    first, second = term.split()
    with pytest.raises(SpfSyntaxError):
        parse_record(f"v=spf1 {first} {'all ' * 2 * TERMS_AT_ONCE}{second}".encode())


def test_a_record_read() -> None:
    record = parse_record(
        b"V=SPF1  -A/24//64 ?mx:%{d}/8 ip4:192.0.2.0/24 ~IP6:2001:db8::/32 x.y=%{c}  exp=e.test "
    )
    assert record.mechanisms == (
        Mechanism("fail", "a", None, 24, 64),
        Mechanism("neutral", "mx", (("d", 0, False, ""),), 8, 128),  # type: ignore[arg-type]
        Mechanism("pass", "ip4", None, 24, 128, bytes((192, 0, 2, 0))),
        Mechanism("softfail", "ip6", None, 32, 32, bytes.fromhex("20010db8") + bytes(12)),
    )
    assert record.exp == ("e.test",)
    assert record.redirect is None


@pytest.mark.parametrize(
    ("record", "is_one"),
    [
        (b"v=spf1", True),
        (b"V=Spf1 x", True),
        (b"v=spf1\tx", False),
        (b"v=spf10", False),
        (b" v=spf1", False),
        (b"", False),
    ],
)
def test_which_records_are_spf(record: bytes, is_one: bool) -> None:
    assert is_spf(record) == is_one


def test_a_long_name_loses_labels_on_its_left() -> None:
    labels = ".".join(["abcdefghi"] * 40)
    for length in range(250, 270):  # wherever the bound falls in a label
        name = labels[-length:].lstrip(".")
        kept = expand_name((name,), VALUES)
        assert kept is not None
        assert name.endswith(kept)
        assert NAME_CHARS_MAX - 10 < len(kept) <= NAME_CHARS_MAX
        assert len(name) <= NAME_CHARS_MAX or name[-len(kept) - 1] == "."
        assert expand_name(tuple(name), VALUES) == kept, "in pieces as in one"
    assert expand_name(("a." + "b" * 250 + ".",), VALUES) == "a." + "b" * 250 + ""
    assert expand_name(("a." * 126 + "b.",), VALUES) == "a." * 126 + "b"
    assert expand_name(("x" * 300,), VALUES) == ""


def test_a_value_that_is_not_ascii_matches_nothing() -> None:
    record = parse_record(b"v=spf1 exists:%{L}.x.test exists:%{d}")  # RFC 8616 §4
    values = VALUES | {"l": "jürgen"}
    first, second = (mechanism.domain for mechanism in record.mechanisms)
    assert first is not None
    assert second is not None
    assert expand_name(first, values) is None
    assert expand_name(second, values) == "email.example.com"


@pytest.mark.parametrize(
    ("text", "values", "expanded"),
    [
        (b"%{i} is not of %{d},%_see %{H}", {}, "192.0.2.3 is not of email.example.com, see mx.example.com"),
        (b"", {}, ""),
        (b"  two  ", {}, "  two  "),
        (b"%{h}", {"h": "a\r\n250 ok"}, None),
        (b"%{l}", {"l": "\u00fc"}, None),
        (b"%{L}", {"l": "\ud800\u00fc"}, "%3F%C3%BC"),
        (b"x" * 600, {}, "x" * EXPLANATION_CHARS_MAX),
    ],
)
def test_explanations(text: bytes, values: dict[str, str], expanded: str | None) -> None:
    assert expand_text(parse_explanation(text), VALUES | values) == expanded


@pytest.mark.parametrize(
    "text", [b"%", b"a\xc3\xbc", b"a\tb", b"%{x}", b"%{d}" * (MACROS_MAX + 1), b" " * 20_000]
)
def test_what_is_no_explanation(text: bytes) -> None:
    with pytest.raises(SpfSyntaxError):
        parse_explanation(text)


def test_records_and_their_macros_are_bounded() -> None:
    spaces = RECORD_OCTETS_MAX - len("v=spf1")
    assert parse_record(b"v=spf1" + b" " * spaces).mechanisms == ()
    with pytest.raises(SpfSyntaxError):
        parse_record(b"v=spf1" + b" " * (spaces + 1))
    parse_record(b"v=spf1 exists:" + b"%{d}" * MACROS_MAX)
    with pytest.raises(SpfSyntaxError):
        parse_record(b"v=spf1 exists:" + b"%{d}" * (MACROS_MAX + 1))


UNITS = [
    "ip4:192.0.2.1 ",
    "a ",
    "exists:%{i}.x.test ",
    "%{d",
    "a/",
    "a//",
    "1.",
    "-",
    "%{d1111",
    "a:1-1-1-",
    "m=%%",
    "  ",
]


@pytest.mark.parametrize("unit", UNITS)
def test_reading_is_linear(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maild.authentication.spf_record.RECORD_OCTETS_MAX", 10**9)

    def read(text: str) -> None:
        try:
            parse_record(text.encode())
        except SpfSyntaxError:
            pass

    for text in (bomb(unit, "v=spf1 "), bomb(unit, "v=spf1 exists:"), bomb(unit, "v=spf1 -all ", "!")):
        assert_proportional(read, text)
        read(text.of(65_000 // len(unit)))  # as much as DNS brings


def test_macros_are_expanded_as_far_as_a_name_goes_and_no_further() -> None:
    values = VALUES | {"l": ".".join("a" * 32)}
    few, many = (steps(partial(expand_name, domain_of(b"%{l1}." * count), values)) for count in (40, 80))
    assert many < 2.2 * few
    long = domain_of(b"%{s}.x" * (MACROS_MAX - 1))
    assert 240 < len(expand_name(long, VALUES) or "") <= NAME_CHARS_MAX
    assert steps(partial(expand_name, long, VALUES)) < steps(
        partial(expand_name, long, dict.fromkeys(VALUES, ""))
    )


def domain_of(text: bytes) -> MacroString:
    (mechanism,) = parse_record(b"v=spf1 exists:" + text + b".test").mechanisms
    assert mechanism.domain is not None
    return mechanism.domain
