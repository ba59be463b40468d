"""Where mail of test keys ends: a capture with scripted outcomes. No network, no DNS.

The message itself is kept like any other; what the recipient "did" is decided here by the address
alone, so that the same test always sees the same.
"""

from collections.abc import Sequence

from maild.outcomes import Verdict
from storage.outbound import Due

DOMAIN = "simulator.test"
DEFERRALS = 2

_ACCEPTED = Verdict("delivered", 250, "2.0.0", "captured by the simulator")
_BOUNCED = Verdict("bounced", 550, "5.1.1", "no such user (simulated)")
_DEFERRED = Verdict("deferred", 451, "4.7.1", "try again later (simulated)")


def simulate(rows: Sequence[Due]) -> dict[int, Verdict]:
    return {row.position: _verdict(row) for row in rows}


def _verdict(row: Due) -> Verdict:
    if row.domain != DOMAIN:
        return _ACCEPTED
    match row.address.rpartition("@")[0].lower():
        case "bounce":
            return _BOUNCED
        case "defer" if row.attempts <= DEFERRALS:
            return _DEFERRED
        case _:
            return _ACCEPTED
