"""What is found in a message: kinds, their severities, and the risk that follows (a table, published with the API)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

VERSION: Final = 2  # of what is looked for; findings of another one are made anew
EXCERPT_CHARS: Final = 200

Severity = Literal["low", "medium", "high"]
Risk = Literal["none", "low", "medium", "high"]
Kind = Literal[
    "hidden_text",
    "comment_text",
    "zero_width",
    "bidi_control",
    "tag_characters",
    "variation_smuggling",
    "part_mismatch",
    "preheader",
    "display_name_address",
    "reply_to_mismatch",
    "several_from",
    "lookalike_domain",
    "unverified_sender",
    "first_time_sender",
    "link_text_mismatch",
    "link_ip",
    "link_userinfo",
    "link_punycode",
    "link_scheme",
    "markdown_reference",
    "remote_image_with_data",
    "directive",
    "role_markup",
    "secret_request",
    "fence_spoof",
    "double_extension",
    "active_content",
    "encrypted_archive",
    "filename_trick",
]

# What a kind weighs; all others are low. Concealment with a directive in it is high, whatever stands here.
_SEVERITIES: dict[Kind, Severity] = {
    "tag_characters": "high",
    "variation_smuggling": "high",
    "fence_spoof": "high",
    "part_mismatch": "medium",
    "reply_to_mismatch": "medium",
    "lookalike_domain": "medium",
    "link_text_mismatch": "medium",
    "directive": "medium",
    "role_markup": "medium",
    "secret_request": "medium",
}
CONCEALMENT: Final[frozenset[Kind]] = frozenset(
    ["hidden_text", "comment_text", "zero_width", "bidi_control", "part_mismatch"]
)
# Facts that say nothing against a mail: they add no risk.
_NO_RISK: Final[frozenset[Kind]] = frozenset(["preheader", "first_time_sender", "unverified_sender"])
_ORDER: Final[tuple[Risk, ...]] = ("none", "low", "medium", "high")


class EvidenceFinding(NamedTuple):
    """`view[start:end]` in code points, and its first EXCERPT_CHARS as `excerpt`. `directive`: words there tell a
    program what to do. `why`: what hides it, or which of several forms it has. `shown`, `target`: of a name that is
    shown, and of what stands behind it."""

    kind: Kind
    severity: Severity
    view: str
    start: int
    end: int
    excerpt: str
    directive: bool = False
    why: str | None = None
    shown: str | None = None
    target: str | None = None


class EvidenceFound(NamedTuple):
    """`hidden_characters`: of the text that nobody sees. `truncated`: not all of the message was looked at, or there
    is more than `items` hold."""

    version: int
    risk: Risk
    hidden_characters: int
    truncated: bool
    items: tuple[EvidenceFinding, ...]


def finding(
    kind: Kind,
    view: str,
    words: str,
    start: int,
    end: int,
    *,
    directive: bool = False,
    is_high: bool = False,
    why: str | None = None,
    shown: str | None = None,
    target: str | None = None,
) -> EvidenceFinding:
    """A finding in `words`, the whole of the field that `view` names, with the severity of its kind."""
    severity = _SEVERITIES.get(kind, "low")
    if is_high or (directive and kind in CONCEALMENT):
        severity = "high"
    excerpt = words[start : min(end, start + EXCERPT_CHARS)]
    return EvidenceFinding(kind, severity, view, start, end, excerpt, directive, why, shown, target)


def risk_of(items: Iterable[EvidenceFinding], truncated: bool) -> Risk:
    """The greatest severity of what counts; what was not looked at whole is never `none`."""
    severities: list[Risk] = [one.severity for one in items if one.kind not in _NO_RISK]
    return max([*severities, "low" if truncated else "none"], key=_ORDER.index)
