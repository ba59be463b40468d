"""What is written of a verdict, and what is believed of another host's."""

import pytest

from maild.authentication.arc_check import ArcResult
from maild.authentication.dkim_check import DkimResult
from maild.authentication.dmarc import DmarcResult
from maild.authentication.spf import SpfResult
from maild.authentication.verdict import Auth, Findings, auth_of, dmarc_passed, refusal_text, results_field


@pytest.mark.parametrize(
    ("results", "is_believed"),
    [
        (" mx.list.test; dmarc=pass header.from=bank.test", True),
        (
            " mx.list.test;\r\n\tspf=fail; dmarc=pass (p=reject dis=none) header.from=Bank.Test; dkim=none",
            True,
        ),
        (" mx.list.test; dmarc=fail header.from=bank.test", False),
        (" mx.list.test; dmarc=pass header.from=evil.test", False),
        (" mx.list.test; dmarc=pass", False),
        (' mx.list.test; dmarc=pass header.from=bank.test; x="y', False),
        (' mx.list.test; dmarc=pass header.from=bank.test; x="y\\"', False),
        (" mx.list.test; dmarc=pass header.from=evil.test; dmarc=pass header.from=bank.test", False),
        (' mx.list.test; spf=pass smtp.mailfrom="; dmarc=pass header.from=bank.test ;"@evil.test', False),
        (" mx.list.test; spf=pass (; dmarc=pass header.from=bank.test ;) smtp.mailfrom=evil.test", False),
        (" mx.list.test; spf=pass ((; dmarc=pass header.from=bank.test ;)) smtp.mailfrom=e.test", False),
        (" mx.list.test; spf=pass ((((; dmarc=pass header.from=bank.test ;))))", False),
        (' mx.list.test; spf=pass smtp.mailfrom="a\\"; dmarc=pass header.from=bank.test', False),
        (" mx.list.test; spf=pass (\\); dmarc=pass header.from=bank.test", False),
        ("", False),
    ],
)
def test_a_sealer_s_results_are_read_without_the_words_of_strangers(results: str, is_believed: bool) -> None:
    assert dmarc_passed(results, "bank.test") is is_believed


HOSTILE = "evil.test\r\nX-Injected: 1; dmarc=pass (\u202e\0" + "x" * 500


def test_no_words_of_a_stranger_make_a_line_or_a_result() -> None:
    found = Findings(
        HOSTILE,
        SpfResult("fail", HOSTILE, "mailfrom", HOSTILE),
        [DkimResult("fail", HOSTILE, HOSTILE, HOSTILE, "rsa", HOSTILE, HOSTILE)],
        ArcResult("fail", HOSTILE),
        DmarcResult("fail", "reject", HOSTILE, HOSTILE),
    )
    lines = results_field("mx.test", found).split("\r\n")
    assert lines[0] == "Authentication-Results: mx.test;"
    assert all(line.startswith("\t") and line[1:].isprintable() and line.isascii() for line in lines[1:])
    assert max(map(len, lines)) <= 998
    methods = [line.strip().split()[0] for line in lines[1:]]
    assert methods == ["spf=fail", "dkim=fail", "dmarc=fail", "arc=fail"]
    assert refusal_text(found).isprintable()
    assert auth_of(found)["verifiedDomain"] is None


def judged(dmarc: str, *signatures: tuple[str, str], author: str = "bank.test") -> Auth:
    """`signatures`: each its result and its domain."""
    dkim = [DkimResult(result, domain) for result, domain in signatures]
    return auth_of(
        Findings(author, SpfResult("none", "", "helo", None), dkim, ArcResult("none"), DmarcResult(dmarc))
    )


@pytest.mark.parametrize(
    ("dmarc", "signature", "is_verified"),
    [
        ("pass", ("fail", "bank.test"), True),
        ("none", ("pass", "bank.test"), True),
        ("none", ("pass", "mail.bank.test"), False),
        ("none", ("fail", "bank.test"), False),
        ("temperror", ("pass", "bank.test"), False),
        ("permerror", ("pass", "bank.test"), False),
        ("fail", ("pass", "evil.test"), False),
    ],
)
def test_a_domain_is_verified_by_dmarc_or_where_no_policy_is_by_its_own_signature(
    dmarc: str, signature: tuple[str, str], is_verified: bool
) -> None:
    assert judged(dmarc, signature)["verifiedDomain"] == ("bank.test" if is_verified else None)


def test_of_several_signatures_one_that_passed_is_told_and_of_failures_the_authors() -> None:
    assert judged("none")["dkim"] == "none"
    assert judged("none", ("fail", "bank.test"), ("pass", "list.test"))["dkim"] == "pass"
    assert judged("fail", ("permerror", "list.test"), ("fail", "bank.test"))["dkim"] == "fail"
