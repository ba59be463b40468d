"""An exception that is raised keeps the frames that it goes through, and adds those of the next time: a constant that
is raised keeps every session, message and password that it ever met.
"""

import ast

import pytest

from tests.support.laws.sources import PACKAGES, found_in


def raised_constants(source: str) -> list[str]:
    """The names of a module's constants that it raises."""
    raised = (node.exc for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Raise))
    return [one.id for one in raised if isinstance(one, ast.Name) and one.id.isupper()]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_constant_is_raised(package: str) -> None:
    assert found_in(package, raised_constants) == {}


def test_such_a_constant_is_found() -> None:
    assert raised_constants("_LATE = Late()\ndef f():\n    raise _LATE from None\n") == ["_LATE"]
    assert raised_constants("def f():\n    raise Late\n    raise late\n    raise LATE()\n") == []
