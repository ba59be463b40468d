"""The documents that people read in docs/, as the daemon serves them: programs read them where they find the API."""

import re
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

_COMMENT = re.compile(r"^<!--.*?-->\n+", re.DOTALL | re.MULTILINE)  # in recipes, mail that the tests play
_PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\n+", re.MULTILINE)  # for people, who read the source
PLACEHOLDER_URL = "https://mail.example.org"  # what the documents call the address of the API


def documents(public_url: str) -> Mapping[str, str]:
    """Path in docs/ → text, in which `public_url` stands wherever the document names the API; without its comments
    and pictures."""
    here = public_url.rstrip("/")
    return {
        path: _PICTURE.sub("", _COMMENT.sub("", text)).replace(PLACEHOLDER_URL, here)
        for path, text in sorted(_read(_folder()))
    }


def _folder() -> Traversable:
    """Beside this module in a wheel, which has no other place for it; in a checkout where it is written."""
    shipped = resources.files("controlplane.reference") / "docs"
    return shipped if shipped.is_dir() else Path(__file__).parents[2] / "docs"


def _read(folder: Traversable, prefix: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for one in folder.iterdir():
        if one.is_dir():
            found += _read(one, f"{prefix}{one.name}/")
        elif one.name.endswith(".md"):
            found.append((prefix + one.name, one.read_text("utf-8")))
    return found
