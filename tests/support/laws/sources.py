"""The product's own modules, for laws that hold in all of them."""

from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[3]
PACKAGES = ("maild", "controlplane", "storage", "conf")


def found_in(package: str, look: Callable[[str], list[str]]) -> dict[str, list[str]]:
    """Path → what `look` found in the source of a module, where that is something."""
    return {
        str(path.relative_to(ROOT)): found
        for path in sorted((ROOT / package).rglob("*.py"))
        if (found := look(path.read_text()))
    }
