"""Is this host's own network away? Then no other host is at fault, and nothing counts against any.

Nothing is kept of it: it is asked where a host could not be reached, so it is over with the first that can be.
"""

from collections.abc import Callable, Sequence

import structlog

from maild.resolver import Resolver
from maild.ways import ANYWHERE_V4, ANYWHERE_V6, has_way
from storage.exhaustion import Spells

log = structlog.get_logger("maild.daemon")


class OwnNetwork:
    """`has_way`: does the kernel know where packets for the address go?"""

    def __init__(self, resolver: Resolver, has_way: Callable[[str], bool] = has_way) -> None:
        self._resolver = resolver
        self._has_way = has_way
        self._spells = Spells()

    async def is_away(self, addresses: Sequence[str], is_named: bool) -> bool:
        """A host was not reached: at these addresses, or its name has given none. `is_named`: DNS was asked for it.

        Seconds, where nameservers are silent.
        """
        if addresses and not any(map(self._has_way, (*addresses, ANYWHERE_V4, ANYWHERE_V6))):
            return self._told("there is no way to any other host")
        if is_named and await self._resolver.is_cut_off():
            return self._told("no nameserver answers")
        return False

    def _told(self, reason: str) -> bool:
        if self._spells.begins():
            log.error("network_away", reason=reason)
        return True
