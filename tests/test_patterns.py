"""Regular expressions that every Python we run on matches alike.

`(?:ab)*+` goes wrong in Debian 12's Python (3.11.2): it takes what does not match (CPython's gh-106052), and where it
stands in another it never ends; captures in it are wrong up to 3.12.7 (gh-101955). `(?>(?:ab)*)` says the same and is
right everywhere. A possessive repeat of a single character, `[a-z]*+`, is another operation, and is right too.
"""

import ast
import re

import pytest

from tests.support.laws.sources import PACKAGES, found_in

_POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*(?:,\d*)?\})\+")


def possessive_groups(source: str) -> list[str]:
    """The texts of a module, in order, in which a group is repeated possessively."""
    texts = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    decoded = (text.decode("latin-1") if isinstance(text, bytes) else text for text in texts)
    return [text for text in decoded if isinstance(text, str) and _POSSESSIVE_GROUP.search(text)]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_group_is_repeated_possessively(package: str) -> None:
    assert found_in(package, possessive_groups) == {}


@pytest.mark.parametrize("pattern", [r"(?:ab)*+", r"(a|b)++", r"(?:a)?+", r"(?:ab){1,4}+", r"a(?:\.b)*+c"])
def test_such_a_group_is_found(pattern: str) -> None:
    assert (
        possessive_groups(f"import re\nX = re.compile({pattern!r})\nY = re.compile({pattern.encode()!r})")
        == [pattern] * 2
    )
    formatted = pattern.replace("{", "{{").replace("}", "}}")
    assert possessive_groups(f"z = 'b'\nX = rf'{{z}}{formatted}'")


@pytest.mark.parametrize("pattern", [r"(?>(?:ab)*)", r"[a-z]*+", r"\)*+", r"(?:ab)*", r"\d{1,2}+"])
def test_others_are_not(pattern: str) -> None:
    assert possessive_groups(f"X = {pattern!r}") == []
