"""The file that SQLite's connections share (`-shm`), on a file system that writes what changes to another place.

It is mapped into memory. btrfs looks for room at the first change of a page since that was last written back, and where
the disk is full the process is killed (SIGBUS): with every connection, though most of them only read. What is written
in place needs no room. That is an attribute, which a file can be given only while it is empty, so the file is made here
before SQLite opens it. Where it is there already, it belongs to connections, and is left alone: to close it would give
up their locks (https://www.sqlite.org/howtocorrupt.html §2.2).
"""

import fcntl
import os
import struct
from contextlib import suppress
from pathlib import Path

from storage.durable_files import building_beside, give_name, is_there
from storage.engine.store_files import beside

# linux/fs.h
_SET_FLAGS = 0x40086602  # FS_IOC_SETFLAGS
_WRITTEN_IN_PLACE = 0x00800000  # FS_NOCOW_FL


def share_in_place(database: Path) -> None:
    """Before the first connection to it. A file system that has no such attribute needs none, and a folder where
    nothing can be made is for SQLite to tell of."""
    shared = beside(database, "-shm")
    with suppress(OSError):
        if not is_there(shared):
            _make(shared, database.stat().st_mode & 0o777)


def _make(shared: Path, mode: int) -> None:
    building = building_beside(shared)
    descriptor = os.open(building, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
    try:
        try:
            fcntl.ioctl(descriptor, _SET_FLAGS, struct.pack("i", _WRITTEN_IN_PLACE))
        finally:
            os.close(descriptor)  # before SQLite can find it
        give_name(building, shared)
    finally:
        building.unlink()
