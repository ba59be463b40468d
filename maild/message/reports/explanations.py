"""What a report's text explains of fates: why, to which command the host replied so, and of which address of ours the
one that failed came. Pure, tolerant, bounded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from maild.message.reports.bounces import says_something
from maild.message.reports.fates import Fate, addresses_in_values
from maild.message.reports.statements import NAMES_MAX, REPORTER_CHARS, statements

# Exim's, sendmail's and Postfix's words for an address that came of another one, by aliases or forwarding.
_CAME_OF: Final = re.compile(
    r"\((?:(?:ultimately )?generated|expanded) from:?[ \n]{1,40}<?([^\s()<>]{1,320})>?\)"
)
# Postfix's and Exim's words for a refusal before it was said for whom the mail is, or of the message to all of them.
_STEP: Final = re.compile(
    r"\b(?:in\s{1,10}reply\s{1,10}to|after(?:\s{1,10}pipelined)?)\s{1,10}"
    r"(?:(?P<sender>MAIL\s{1,10}FROM\b)|(?P<greeting>(?:EHLO|HELO|LHLO|initial\s{1,10}connection)\b)"
    r"|(?P<message>(?:end\s{1,10}of\s{1,10})?DATA\b))",
    re.IGNORECASE,
)
# sendmail's transcript: the command, and what the host replied. Behind DATA stand replies to RCPT too (RFC 2920).
_ANSWERED: Final = re.compile(
    r"^>>> (?:(?P<sender>MAIL FROM:)|(?P<greeting>(?:EHLO|HELO|LHLO) ))[^\n]*+\n<<< (?P<reply>5\d\d[ \-][^\n]*+)",
    re.IGNORECASE | re.MULTILINE,
)
_STEPS: Final = {
    "sender": "(in reply to MAIL FROM)",
    "greeting": "(in reply to EHLO)",
    "message": "(in reply to a message of several recipients)",
}
# sendmail's "----- The following addresses had permanent fatal errors -----": of all of them, and no reason.
_HEADING: Final = re.compile(r"^[ \t]*+-{3,}+ [^\n]{1,200} -{3,}[ \t]*+$\n?", re.MULTILINE)


def reasons_in(
    text: str, addresses: Sequence[str], *, by_name: bool = False, are_told: bool = False
) -> dict[str, str]:
    """What a text says of each of these comparison keys: the first statement that says something, less the name at its
    beginning; "" where there is none. Of the only one it may speak by another address, which it is forwarded to, unless
    it must be `by_name`. `are_told`: a status says it already, and what stands below the names behind a line of dashes
    is of nobody."""
    wanted = dict.fromkeys(addresses, "")
    telling: set[str] = set()
    spoken = ""
    for statement in statements(text, addresses, are_told=are_told):
        words = _HEADING.sub("", statement.words)
        is_telling = says_something(words)
        if not spoken and is_telling:
            spoken = words
        names = [name for name in statement.names if name in wanted and name not in telling]
        if names and is_telling:
            telling.update(names)
            wanted.update(dict.fromkeys(names, _without_name(words)))
        else:
            wanted.update({name: wanted[name] or _without_name(words) for name in names})
    if spoken and len(wanted) == 1 and not telling and not by_name:
        return dict.fromkeys(addresses, spoken)
    return wanted


def _without_name(words: str) -> str:
    first, _, rest = words.strip().partition("\n")
    return rest if len(first.split()) == 1 and "@" in first else words


def with_origins(fates: Sequence[Fate], text: str) -> list[Fate]:
    """Who failed has also the name that we wrote to, where a text says that the one came of the other."""
    failed = [fate.addresses[0] for fate in fates if fate.action == "failed" and fate.addresses]
    origins = _origins(text, failed) if failed and _CAME_OF.search(text) else {}
    if len(failed) == len(origins) == 1 and not origins.keys() & set(failed):
        origins = dict(zip(failed, origins.values(), strict=True))  # an undisclosed address
    return [_with_origin(fate, origins) for fate in fates]


def _origins(text: str, failed: Sequence[str]) -> dict[str, str]:
    """By the first name of the statement that tells them."""
    found: dict[str, str] = {}
    for names, words in statements(text, failed):
        origin = addresses_in_values(_CAME_OF.findall(words)[:1])
        if names and origin:
            found.setdefault(names[0], origin[0])
    return found


def _with_origin(fate: Fate, origins: Mapping[str, str]) -> Fate:
    origin = origins.get(fate.addresses[0]) if fate.action == "failed" and fate.addresses else None
    return replace(fate, addresses=tuple(dict.fromkeys([*fate.addresses, origin]))) if origin else fate


def with_steps(fates: Sequence[Fate], text: str) -> list[Fate]:
    """A diagnostic is what the host replied; to which command, a text may say alone."""
    failed = {fate.addresses[0]: fate for fate in fates if fate.action == "failed" and fate.addresses}
    steps: dict[str, str] = {}
    if failed and _STEP.search(text):
        for names, words in statements(text, [*failed]):
            step = _STEP.search(words)
            steps.update(dict.fromkeys(names, step.lastgroup or "") if step else {})
    answers = islice(_ANSWERED.finditer(text[:REPORTER_CHARS]), NAMES_MAX)
    answered = {match["reply"].strip(): "sender" if match["sender"] else "greeting" for match in answers}
    steps.update(
        {name: answered[fate.diagnostic] for name, fate in failed.items() if fate.diagnostic in answered}
    )
    is_for_all = sum(steps.get(name) == "message" for name in failed) > 1
    return [_with_step(fate, steps, is_for_all=is_for_all) for fate in fates]


def _with_step(fate: Fate, steps: Mapping[str, str], *, is_for_all: bool) -> Fate:
    name = fate.addresses[0] if fate.action == "failed" and fate.addresses else ""
    step = steps.get(name, "")
    if step == "message":
        is_told = not is_for_all or name in fate.diagnostic.lower()
    else:
        is_told = not step or _STEP.search(fate.diagnostic) is not None
    return fate if is_told else replace(fate, diagnostic=f"{fate.diagnostic} {_STEPS[step]}".strip())
