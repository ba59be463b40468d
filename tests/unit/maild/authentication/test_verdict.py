"""What is written of a verdict, and what is believed of another host's."""

import pytest

from maild.authentication.arc_check import ArcResult
from maild.authentication.dkim_check import DkimResult
from maild.authentication.dmarc import DmarcResult
from maild.authentication.spf import SpfResult
from maild.authentication.verdict import Findings, auth_of, dmarc_passed, refusal_text, results_field


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
        DmarcResult("fail", "reject", HOSTILE, None, HOSTILE),
    )
    lines = results_field("mx.test", found).split("\r\n")
    assert lines[0] == "Authentication-Results: mx.test;"
    assert all(line.startswith("\t") and line[1:].isprintable() and line.isascii() for line in lines[1:])
    assert max(map(len, lines)) <= 998
    methods = [line.strip().split()[0] for line in lines[1:]]
    assert methods == ["spf=fail", "dkim=fail", "dmarc=fail", "arc=fail"]
    assert refusal_text(found).isprintable()
    assert auth_of(found)["verifiedDomain"] is None
