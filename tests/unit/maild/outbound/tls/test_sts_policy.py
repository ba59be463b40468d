"""RFC 8461: its record, its file, its patterns."""

import pytest

from maild.outbound.tls.sts_policy import (
    FILE_OCTETS_MAX,
    MAX_AGE_S,
    BadPolicy,
    StsPolicy,
    read_id,
    read_policy,
)


@pytest.mark.parametrize(
    ("records", "found"),
    [
        ([b"v=STSv1; id=20160831085700Z;"], "20160831085700Z"),
        ([b"v=STSv1;id=1"], "1"),
        ([b"v=STSv1 ; x=y ; id = 7 "], "7"),
        ([b"v=spf1 -all", b"v=STSv1; id=1;"], "1"),
        ([], None),
        ([b"v=spf1 -all"], None),
        ([b"v=STSv1; id=1;", b"v=STSv1; id=1;"], None),
        ([b"id=1; v=STSv1;"], None),
        ([b"v=STSv10; id=1;"], None),
        ([b"v=STSv1; id=;"], None),
        ([b"v=STSv1; id=a-b;"], None),
        ([b"v=STSv1; id=" + b"1" * 33], None),
        ([b"v=STSv1;"], None),
        ([b"v=STSv1; id=\xff;"], None),
    ],
)
def test_the_id_of_the_only_record(records: list[bytes], found: str | None) -> None:
    assert read_id(records) == found


def test_the_policy_of_the_rfc() -> None:
    hosts = b"mx: mail.example.com\nmx: *.example.net\r\nmx: BackupMX.example.com\n"
    file = b"version: STSv1\nmode: enforce\n" + hosts + b"max_age: 604800\n"
    mx = "mail.example.com", "*.example.net", "backupmx.example.com"
    assert read_policy(file) == StsPolicy("enforce", mx, 604_800)


def test_of_a_field_that_stands_twice_the_first_counts() -> None:
    file = b"version: STSv1\nmode:testing\nmode: enforce\nmx: a.test\nmax_age: 1\nmax_age: 2\nx-new.one: \xc3\xbc\n\n"
    assert read_policy(file) == StsPolicy("testing", ("a.test",), 1)


def test_an_age_beyond_a_year_is_a_year() -> None:
    assert read_policy(b"version: STSv1\nmode: none\nmax_age: 9999999999").max_age_s == MAX_AGE_S


@pytest.mark.parametrize(
    "file",
    [
        b"",
        b"version: STSv2\nmode: none\nmax_age: 1",
        b"version: STSv1\nmode: Enforce\nmx: a.test\nmax_age: 1",
        b"version: STSv1\nmode: enforce\nmax_age: 1",
        b"version: STSv1\nmode: enforce\nmx: a.test",
        b"version: STSv1\nmode: enforce\nmx: a.test\nmax_age: -1",
        b"version: STSv1\nmode: enforce\nmx: a.test\nmax_age: \xd9\xa1",
        b"version: STSv1\nmode: enforce\nmx: a.test\nmax_age: 12345678901",
        b"version: STSv1\nmode: enforce\nmx: *\nmax_age: 1",
        b"version: STSv1\nmode: enforce\nmx: *.*.test\nmax_age: 1",
        b"version: STSv1\nmode: enforce\nmx: a.*.test\nmax_age: 1",
        b"version: STSv1\nmode: enforce\nmx: a b\nmax_age: 1",
        b"version: STSv1\nmode: enforce\nmx: a..test\nmax_age: 1",
        b"version: STSv1\nmode: none\nno field\nmax_age: 1",
        b"version: STSv1\nmode: none\nmax_age: 1\xff",
        b"version: STSv1\nmode: enforce\nmax_age: 1\n" + b"mx: a.test\n" * 101,
        b"version: STSv1\nmode: none\nmax_age: 1\n" + b"x: y\n" * FILE_OCTETS_MAX,
    ],
)
def test_what_breaks_the_grammar_is_no_policy(file: bytes) -> None:
    with pytest.raises(BadPolicy):
        read_policy(file)


@pytest.mark.parametrize(
    ("pattern", "host", "is_named"),
    [
        ("mx.a.test", "mx.a.test", True),
        ("mx.a.test", "my.a.test", False),
        ("*.a.test", "mx.a.test", True),
        ("*.a.test", "a.test", False),
        ("*.a.test", "x.mx.a.test", False),
        ("*.a.test", ".a.test", True),  # no host has an empty label
        ("*.test", "test", False),
    ],
)
def test_a_wildcard_stands_for_one_label(pattern: str, host: str, is_named: bool) -> None:
    assert StsPolicy("enforce", (pattern,), 1).names(host) is is_named
