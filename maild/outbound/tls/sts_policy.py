"""MTA-STS (RFC 8461) as text: the TXT record and the policy file, and which hosts a policy names. Pure.

Whoever owns a domain writes both, so what is read is bounded, and what breaks the grammar is no policy at all. Unknown
fields are passed over (§3.1, §3.2).
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, cast, get_args

from maild.message.fields.address import is_named

Mode = Literal["enforce", "testing", "none"]

FILE_OCTETS_MAX = 64 * 1024  # RFC 8461 §3.3
MAX_AGE_S = 31_557_600  # §3.2: about a year
PATTERNS_MAX = 100
PATTERN_CHARS_MAX = 4096  # of all of them

_RECORD_BEGINS = re.compile(rb"v=STSv1[ \t]*;")
_ID = re.compile(rb"[A-Za-z0-9]{1,32}")
_AGE = re.compile(r"[0-9]{1,10}")
_PATTERN = re.compile(r"(?:\*\.)?(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,31}")


class BadPolicy(Exception):
    """The file is no policy; the text says why, without its words."""


class StsPolicy(NamedTuple):
    """`mx`: patterns in lower case; empty only where `mode` is "none"."""

    mode: Mode
    mx: tuple[str, ...]
    max_age_s: int

    @property
    def lines(self) -> tuple[str, ...]:
        """As a file would have it (§3.2)."""
        patterns = (f"mx: {one}" for one in self.mx)
        return "version: STSv1", f"mode: {self.mode}", *patterns, f"max_age: {self.max_age_s}"

    def names(self, host: str) -> bool:
        """Is the mail host (lower case, no dot at the end) one of the policy's?"""
        return is_named(host, self.mx)


def read_id(records: Sequence[bytes]) -> str | None:
    """The policy's id as the TXT records of `_mta-sts.DOMAIN` tell it; None where they tell of no policy."""
    ours = [record for record in records if _RECORD_BEGINS.match(record)]
    if len(ours) != 1:  # §3.1: as if there were none
        return None
    for field in ours[0].split(b";")[1:]:
        name, _, value = field.strip(b" \t").partition(b"=")
        if name.rstrip(b" \t") == b"id":
            found = value.lstrip(b" \t")
            return found.decode() if _ID.fullmatch(found) else None
    return None


def read_policy(file: bytes) -> StsPolicy:
    """The policy in a file; BadPolicy."""
    if len(file) > FILE_OCTETS_MAX:
        raise BadPolicy("it is too large")
    try:
        text = file.decode()
    except UnicodeDecodeError:
        raise BadPolicy("it is not UTF-8") from None
    told: dict[str, str] = {}
    patterns: list[str] = []
    for line in re.split(r"\r?\n", text):
        name, value = _field(line)
        if name == "mx":
            patterns.append(value.lower().removesuffix("."))
        elif name:
            told.setdefault(name, value)  # §3.2: of a field that stands twice, the first counts
    if told.get("version") != "STSv1":
        raise BadPolicy("it has no version that is known")
    if told.get("mode") not in get_args(Mode):
        raise BadPolicy("it has no mode that is known")
    if not _AGE.fullmatch(told.get("max_age", "")):
        raise BadPolicy("it has no max_age")
    _check_patterns(patterns, told["mode"])
    return StsPolicy(cast(Mode, told["mode"]), tuple(patterns), min(int(told["max_age"]), MAX_AGE_S))


def _field(line: str) -> tuple[str, str]:
    """Name and value; two empty ones of a blank line."""
    if not line.strip(" \t"):
        return "", ""
    name, colon, value = line.partition(":")
    name = name.rstrip(" \t")
    if not colon or not _NAME.fullmatch(name):
        raise BadPolicy("a line is not a field")
    return name, value.strip(" \t")


def _check_patterns(patterns: list[str], mode: str) -> None:
    if not patterns and mode != "none":  # §3.2
        raise BadPolicy("it names no mail host")
    if len(patterns) > PATTERNS_MAX or sum(map(len, patterns)) > PATTERN_CHARS_MAX:
        raise BadPolicy("it names too many mail hosts")
    if not all(_PATTERN.fullmatch(pattern) for pattern in patterns):
        raise BadPolicy("it names a mail host that is none")
