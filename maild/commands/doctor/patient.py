"""Who is examined, and what a check says of it."""

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from conf.settings import Settings
from conf.tls import knows_authorities
from controlplane.domains.checks import Record
from maild.outbound.signing.dkim import SigningKey
from maild.resolver import Resolver
from maild.ways import has_way
from storage.clock import Clock

SHOWN_CHARACTERS = 200


class Diagnosis(NamedTuple):
    """`check`: what was looked at, of which `subject`; `advice`: what to do, "" where all is well."""

    check: str
    subject: str
    status: Literal["ok", "warning", "fault"]
    found: str
    advice: str = ""


class QueueMoves(NamedTuple):
    """Since when it is paused, and since when the recipient has been due that is due for longest; Unix milliseconds,
    None: it is not, and none is."""

    paused_since: int | None = None
    due_since: int | None = None


@dataclass(frozen=True)
class Patient:
    """`records`: what the shared domains are to publish, by domain; `signers`: the keys that sign for them, or why one
    can't be opened; `reach`: domains whose mail hosts are tried; `outside`: who says what others hear of this host
    (outside_view.py), None where nobody does; `homeless`: domains with active inboxes that nobody has, as
    `inboxes.without_domain`; `newest_ms`: when the latest event was published."""

    settings: Settings
    folder: Path
    records: dict[str, list[Record]]
    resolver: Resolver
    outside: Resolver | None
    clock: Clock
    signers: Mapping[str, SigningKey | str]
    queue: QueueMoves
    reach: Sequence[str] = ()
    has_way: Callable[[str, str], bool] = has_way
    knows_authorities: Callable[[], bool] = knows_authorities
    homeless: Sequence[tuple[str, int]] = ()
    newest_ms: int | None = None


Check = Callable[[Patient], Awaitable[Iterable[Diagnosis]]]


def ip_version(address: str) -> str:
    """As `outbound.ip_versions` has it."""
    return "ipv6" if ":" in address else "ipv4"


def why(error: Exception) -> str:
    """What kept a connection or a file from us, in the system's words; a timeout has none."""
    number = getattr(error, "errno", None)
    return "no answer" if number is None else os.strerror(number)
