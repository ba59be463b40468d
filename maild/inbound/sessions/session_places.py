"""Whose session gives its place to a newcomer where all places are taken.

One address has `smtp.max_sessions_per_address` of them, so twenty addresses that send an octet a second would have all,
and shut everybody out. The site that has most gives way to a newcomer whose site has fewer: by the session in which the
client has had the word for the longest. Where nobody has more than the newcomer, a client between two messages that has
had the word for PATIENCE_S is cut off: RFC 5321 §4.5.3.2 has more patience, and so has Postfix, but while it is under
stress (`smtpd_timeout`). A message that came whole is never given up. Pure.
"""

from collections import Counter
from collections.abc import Collection
from typing import Protocol, TypeVar

from conf.addresses import site_of

PATIENCE_S = 10


class PlacedSession(Protocol):
    """`is_busy`: a message is on its way."""

    peer: str
    is_busy: bool

    @property
    def is_open(self) -> bool: ...
    @property
    def client_has_word_since(self) -> float | None: ...


S = TypeVar("S", bound=PlacedSession)


def who_gives_way(sessions: Collection[S], newcomer: S, now: float) -> S | None:
    """Of `sessions`, the newcomer among them; None where it is the newcomer. `now`: seconds by the sessions' clock."""
    sites = Counter(site_of(one.peer) for one in sessions)
    site, most = sites.most_common(1)[0]
    is_hoarded = most > sites[site_of(newcomer.peer)]
    waited_for = [
        (since, one)
        for one in sessions
        if one is not newcomer
        and one.is_open
        and (since := one.client_has_word_since) is not None
        and (site_of(one.peer) == site if is_hoarded else not one.is_busy and now - since >= PATIENCE_S)
    ]
    return min(waited_for, key=lambda one: one[0])[1] if waited_for else None
