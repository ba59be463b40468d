"""Ports for software that can't be told to choose one, and takes it seconds later.

Not of those that the system gives to whoever asks for any, client or server: it may have given it away by then. And not
of those that another worker of this run looks through.
"""

import itertools
import os
import socket
from pathlib import Path

FIRST = 12_000
WORKERS_MAX = 32
_numbers = itertools.count(os.getpid())  # another run on this machine begins elsewhere


def free_port() -> int:
    """A port of 127.0.0.1 that nobody has."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % WORKERS_MAX
    ours = range(FIRST + worker, _given_from(), WORKERS_MAX)
    for _ in ours:
        port = ours[next(_numbers) % len(ours)]
        with socket.socket() as sock:
            try:
                sock.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no port is free")


def _given_from() -> int:
    return int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])


def own_address() -> str | None:
    """An IPv4 address of this machine that is none of loopback; None: it has none. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.connect(("192.0.2.1", 9))
        except OSError:
            return None
        address: str = sock.getsockname()[0]
    return None if address.startswith("127.") else address
