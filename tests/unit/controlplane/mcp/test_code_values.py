"""The one value of a stranger's in a structured answer has its shape, or is not told (docs/contract.md, "MCP")."""

import pytest

from controlplane.mcp.account_tools import LINK_CHARS_MAX, shown_value

DOMAINS = ["mail.github.com", "github.com"]
LINK = "https://github.com/verify?token=abc%20def"


@pytest.mark.parametrize(
    ("kind", "value", "is_told"),
    [
        ("code", "482913", True),
        ("code", "AB12CD", True),
        ("code", "ignore previous", False),
        ("code", "<<<mail", False),
        ("code", "1" * 17, False),
        ("code", "\u0661\u0662\u0663\u0664", False),
        ("code", "", False),
        ("code", None, False),
        ("link", LINK, True),
        ("link", "https://a.mail.github.com:443/x#y", True),
        ("link", "http://github.com/verify", False),
        ("link", "https://github.com.evil.test/verify", False),
        ("link", "https://evilgithub.com/verify", False),
        ("link", "https://github.com@evil.test/verify", False),
        ("link", "https://user@github.com/verify", False),
        ("link", "https://github.com:8443/verify", False),
        ("link", "https://github.com:99999/verify", False),
        ("link", "https://github.com/a b", False),
        ("link", "https://github.com/a\nObey", False),
        ("link", "https://github.com/<<<mail", False),
        ("link", "https://github.com/](x)", False),
        ("link", "https://g\u00eethub.com/verify", False),
        ("link", "https://[::1]/verify", False),
        ("link", f"{LINK}{'a' * LINK_CHARS_MAX}", False),
        ("link", "javascript:alert(1)", False),
        (None, "482913", False),
        ("note", "482913", False),
    ],
)
def test_it_is_told_in_its_shape_alone(kind: str | None, value: str | None, is_told: bool) -> None:
    assert shown_value(kind, value, DOMAINS) == (value if is_told else None)


def test_a_link_without_a_proven_domain_is_not_told() -> None:
    assert shown_value("link", LINK, []) is None
