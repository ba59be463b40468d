"""Is there a way from this host to an address? What it has none to, no host of others is at fault for."""

import socket

from storage.exhaustion import is_exhaustion

DISCARD_PORT = 9
# Root servers of DNS, which are nobody's neighbours.
ANYWHERE_V4, ANYWHERE_V6 = "198.41.0.4", "2001:503:ba3e::2:30"


def has_way(address: str, source: str = "") -> bool:
    """Does the kernel know where packets for the address go, from `source` where one is given? None is sent."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as asking:
            if source:
                asking.bind((source, 0))
            asking.connect((address, DISCARD_PORT))
    except OSError as error:
        return is_exhaustion(error)  # which says nothing of the way
    return True
