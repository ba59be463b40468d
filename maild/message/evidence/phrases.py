"""The table of phrases (phrases.toml, which says how it is written)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib import resources
from typing import Any, Final

_TABLE: Final[dict[str, Any]] = tomllib.loads(
    (resources.files("maild.message.evidence") / "phrases.toml").read_text("utf-8")
)

UNSPACED: Final = frozenset(_TABLE["unspaced"])
NEGATIONS: Final = tuple(_TABLE["negations"].split())
UNSPACED_NEGATIONS: Final = tuple(_TABLE["unspaced_negations"].split())


def rows() -> Iterator[tuple[str, str, str, str]]:
    """(group, language, id, phrase) of each phrase; the groups are those of language.py."""
    for language, ids in _TABLE["directive"].items():
        for id, phrases in ids.items():
            for phrase in phrases:
                yield "directive", language, id, phrase
    for language, phrases in _TABLE["secret_request"].items():
        for phrase in phrases:
            yield "secret_request", language, "secret_request", phrase
    for language, verbs in _TABLE["sending"].items():
        yield "sending", language, "sending", verbs
