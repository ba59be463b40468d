"""What commands write for other programs arrives whole, or they say that it does not."""

import io

import pytest

from maild.cli.common import say_octets


class Few(io.RawIOBase):
    """Takes a few octets at a time, as a pipe or a disk does that is nearly full, and in the end nothing."""

    def __init__(self, room: int) -> None:
        self.taken = b""
        self._room = room

    def writable(self) -> bool:
        return True

    def write(self, octets: memoryview) -> int:  # type: ignore[override]
        if len(self.taken) == self._room:
            raise OSError(28, "No space left on device")
        piece = bytes(octets[: min(7, self._room - len(self.taken))])
        self.taken += piece
        return len(piece)


class Unbuffered:
    """stdout with PYTHONUNBUFFERED."""

    def __init__(self, room: int) -> None:
        self.buffer = Few(room)


def test_octets_are_written_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Unbuffered(room=1000)
    monkeypatch.setattr("sys.stdout", out)
    say_octets(b"0123456789" * 10)
    assert out.buffer.taken == b"0123456789" * 10


def test_a_disk_that_takes_a_part_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", Unbuffered(room=40))
    with pytest.raises(OSError, match="No space"):
        say_octets(b"0123456789" * 10)
