"""What is a want of this host's own, and what only looks like one."""

import errno
import os
import socket
from typing import Any

import pytest

from storage.exhaustion import is_exhaustion

PERHAPS = (errno.EAGAIN, errno.EADDRNOTAVAIL, errno.EADDRINUSE)


def system_error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


class WithoutPorts(socket.socket):
    """A socket on a machine that has no port of UDP left."""

    def bind(self, address: Any) -> None:
        if self.type == socket.SOCK_DGRAM:
            raise system_error(errno.EADDRINUSE)
        super().bind(address)


@pytest.mark.parametrize("number", PERHAPS)
def test_where_no_port_is_left_that_is_a_want(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socket", WithoutPorts)
    assert is_exhaustion(system_error(number))
    assert not is_exhaustion(system_error(errno.ECONNREFUSED))


@pytest.mark.parametrize("number", PERHAPS)
def test_where_ports_are_left_it_is_something_else(number: int) -> None:
    """An address in use, or one that this host does not have."""
    assert not is_exhaustion(system_error(number))
