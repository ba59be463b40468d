"""What the other side of a TCP connection has not acknowledged: its kernel does that within a round trip, however long
the program behind it takes its time. So what stays unacknowledged tells of a network or a machine that is gone."""

import asyncio
import fcntl
import socket
import sys
import termios


def give_up(transport: asyncio.BaseTransport, after_s: float) -> None:
    """Lose the connection when nothing is acknowledged for so long (RFC 5482); 0: when the kernel says so."""
    if not transport.is_closing():
        connection: socket.socket = transport.get_extra_info("socket")
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(after_s * 1000))


def octets(transport: asyncio.BaseTransport) -> int:
    """How many of what the kernel has taken are not acknowledged. OSError once the connection is closed."""
    connection: socket.socket = transport.get_extra_info("socket")
    waiting = fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, bytes(4))  # SIOCOUTQ, tcp(7)
    return int.from_bytes(waiting, sys.byteorder)
