"""Addresses of mail hosts that were silent when they were asked last: no connection, or no word within its time.

Each silence costs a delivery half a minute to connect and five for a greeting, so these are tried behind the other
addresses of the destination: else each message that comes alone pays it again, and one whose first host hangs in the
greeting never comes to the second (delivery.HOSTS_FOR_S). RFC 5321 §5.1 has the preferred host tried first; a delivery
in SILENT_FOR_S does so all the same, and finds it when it is back. Forgotten with the process.
"""

from collections import OrderedDict

from maild.outbound.routing.route import Hop
from storage.clock import Clock

SILENT_FOR_S = 600
ADDRESSES_MAX = 10_000

_Place = tuple[str, int, str]  # address, port, and the address that it is connected to from


class SilentAddresses:
    """Beyond ADDRESSES_MAX those are forgotten that were silent first. Called on the event loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: OrderedDict[_Place, float] = OrderedDict()  # monotonic seconds

    def was_silent(self, hop: Hop) -> None:
        """It let its time pass."""
        place = _place(hop)
        self._until.pop(place, None)
        self._until[place] = self._clock.monotonic() + SILENT_FOR_S
        if len(self._until) > ADDRESSES_MAX:
            self._until.popitem(last=False)

    def spoke(self, hop: Hop) -> None:
        """It opened a session, or refused it."""
        self._until.pop(_place(hop), None)

    def comes_last(self, hop: Hop) -> bool:
        """Are others to be tried before it? When its time is over, one delivery tries it, and none beside that."""
        until = self._until.get(_place(hop))
        if until is None:
            return False
        if self._clock.monotonic() < until:
            return True
        self.was_silent(hop)
        return False


def _place(hop: Hop) -> _Place:
    return hop.address, hop.port, hop.source.address
