"""Coroutines as plain functions: `maild_client/_sync` out of `maild_client/_async`.

What can't be told by words (tasks or threads) stands in modules that both worlds have by hand.
"""

import re
from pathlib import Path

BY_HAND = ("crew.py",)
HEAD = "# Derived from maild_client/_async/{name} by scripts/clients: change that one.\n"
RULES = [
    (re.compile(pattern), replacement)
    for pattern, replacement in {
        r"\bAwaitable\[((?:[^\[\]]|\[[^\[\]]*\])*)\]": r"\1",
        r"\bAwaitable, ": "",
        r"\basyncio\.sleep\b": "time.sleep",
        r"\bimport asyncio\b": "import time",
        r"\bStopAsyncIteration\b": "StopIteration",
        r"\b__a(enter|exit|iter|next)__": r"__\1__",
        r"\basync (def|for|with)\b": r"\1",
        r"\bawait ": "",
        r"\ba(next|iter)\(": r"\1(",
        r"\ba(close|read)\b": r"\1",
        r"\bAsync(?=[A-Z])": "",
        r"\b_async\b": "_sync",
        r"The client in coroutines: the source of .*?\.": "The client in plain functions.",
    }.items()
]


def derive(source: Path, folder: Path) -> None:
    """Write the modules of `source` anew in `folder`, but for those that are there by hand."""
    folder.mkdir(parents=True, exist_ok=True)
    for module in sorted(source.glob("*.py")):
        if module.name not in BY_HAND:
            derived = HEAD.format(name=module.name) + plain(module.read_text("utf-8"))
            (folder / module.name).write_text(derived, "utf-8")


def plain(text: str) -> str:
    """The text of a module without coroutines."""
    for pattern, replacement in RULES:
        text = pattern.sub(replacement, text)
    return text
