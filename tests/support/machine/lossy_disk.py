"""A disk that forgets what was not synced: what it may hold after power was lost.

A program's calls are told one after another (`write`, `rename`, `sync`, …); `rebuild` then writes down a folder as the
disk could have it at this moment. A `Lot` decides how much of what was not synced has reached it.

What is certain, and what is not:

- fsync() of a file: its octets and its length, as far as they were written before the call began; fdatasync() the same,
  since it transfers all that is needed to read the file back (POSIX.1-2017, fsync and fdatasync, "synchronized I/O file
  integrity completion"). Not its name: "calling fsync() does not necessarily ensure that the entry in the directory
  containing the file has also reached disk. For that an explicit fsync() on a file descriptor for the directory is also
  needed" (Linux, fsync(2)).
- fsync() of a folder: the names that were made, moved and removed in it before the call began. Not those in its parent,
  its own among them, and no octet of a file.
- All else may be there or not, each change by itself and in any order. POSIX promises none, and no journal's order or
  delayed allocation is counted on ("All File Systems Are Not Created Equal", Pillai et al., OSDI 2014). What a call
  that did not return yet changes may be there as well.
- One name is changed as a whole: it means what it meant before or what it means afterwards (POSIX rename()). A move is
  two such changes, one in each folder.
- A write is torn at sectors, each of which has the old octets or the new ones ("Atomic Commit In SQLite", 2.0 Hardware
  Assumptions; SQLite's powersafe overwrite: octets beside those that are written stay). Where a file has become longer
  and its octets did not come, there are zeros or whatever the disk held before.
"""

import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Generic, TypeVar

SECTOR_BYTES = (512, 4096)


@dataclass(frozen=True, eq=False)
class Octets:
    """They were written into a file at this place."""

    offset: int
    data: bytes = field(repr=False)


@dataclass(frozen=True, eq=False)
class Length:
    """A file was cut off, or made longer with zeros."""

    size_bytes: int


@dataclass(frozen=True, eq=False)
class Name:
    """A folder's name means this from now on; None: nothing."""

    name: str
    meaning: "StoredFile | StoredFolder | None" = field(repr=False)


Change = Octets | Length | Name
C = TypeVar("C", bound=Change)


@dataclass(eq=False)
class _Stored(Generic[C]):
    """`pending`: what is not known to have reached the disk, with the moment at which each call returned."""

    pending: list[tuple[int, C]] = field(default_factory=list)


@dataclass(eq=False)
class StoredFile(_Stored[Octets | Length]):
    durable: bytearray = field(default_factory=bytearray)
    size_bytes: int = 0  # as the program sees it

    def sync(self, before: int) -> None:
        for returned, change in self.pending:
            if returned < before:
                _apply(self.durable, change, WHOLE)
        self.pending = [one for one in self.pending if one[0] >= before]


@dataclass(eq=False)
class StoredFolder(_Stored[Name]):
    durable: "dict[str, StoredFile | StoredFolder]" = field(default_factory=dict)
    now: "dict[str, StoredFile | StoredFolder]" = field(default_factory=dict)  # as the program sees it

    def set(self, name: str, meaning: "StoredFile | StoredFolder | None", returned: int) -> None:
        change = Name(name, meaning)
        _mean(self.now, change)
        self.pending.append((returned, change))

    def sync(self, before: int) -> None:
        for returned, change in self.pending:
            if returned < before:
                _mean(self.durable, change)
        self.pending = [one for one in self.pending if one[0] >= before]


class Lot:
    """What of the unsynced changes is there. `share` says how much of a change: 0 nothing, 1 all of it, between them
    each of its sectors with this probability (a change without sectors: whether it is there)."""

    def __init__(self, share: Callable[[Change], float], randomness: random.Random) -> None:
        self._share = share
        self._randomness = randomness
        self._sector_bytes = randomness.choice(SECTOR_BYTES)
        self._is_zeroed = randomness.random() < 0.5

    def falls(self, change: Change) -> bool:
        return self._randomness.random() < self._share(change)

    def pieces(self, change: Octets) -> list[Octets]:
        """What is left of it, cut at sectors."""
        share = self._share(change)
        if share >= 1:
            return [change]
        end = change.offset + len(change.data)
        first = change.offset - change.offset % self._sector_bytes
        cuts = [change.offset, *range(first + self._sector_bytes, end, self._sector_bytes), end]
        return [
            Octets(start, change.data[start - change.offset : stop - change.offset])
            for start, stop in pairwise(cuts)
            if self._randomness.random() < share
        ]

    def stale(self, size_bytes: int) -> bytes:
        """What is read where a file has become longer and nothing was written."""
        return bytes(size_bytes) if self._is_zeroed else self._randomness.randbytes(size_bytes)


WHOLE = Lot(lambda change: 1, random.Random(0))


class LossyDisk:
    """Paths are relative to a folder that is there, durably. Moments are the caller's, and grow: `returned` is when the
    call came back, and a sync covers what returned before it began."""

    def __init__(self) -> None:
        self._root = StoredFolder()

    def has(self, path: PurePosixPath) -> bool:
        """As the program sees it."""
        return path.name in self._folder(path.parent).now

    def create(self, path: PurePosixPath, returned: int) -> None:
        self._folder(path.parent).set(path.name, StoredFile(), returned)

    def make_folder(self, path: PurePosixPath, returned: int) -> None:
        self._folder(path.parent).set(path.name, StoredFolder(), returned)

    def link(self, path: PurePosixPath, to: PurePosixPath, returned: int) -> None:
        self._folder(to.parent).set(to.name, self._at(path), returned)

    def rename(self, path: PurePosixPath, to: PurePosixPath, returned: int) -> None:
        self.link(path, to, returned)
        self.remove(path, returned)

    def remove(self, path: PurePosixPath, returned: int) -> None:
        self._folder(path.parent).set(path.name, None, returned)

    def append(self, path: PurePosixPath, data: bytes, returned: int) -> None:
        self.write(path, data, self._file(path).size_bytes, returned)

    def write(self, path: PurePosixPath, data: bytes, offset: int, returned: int) -> None:
        file = self._file(path)
        change = Octets(offset, data)
        file.size_bytes = max(file.size_bytes, change.offset + len(data))
        file.pending.append((returned, change))

    def truncate(self, path: PurePosixPath, size_bytes: int, returned: int) -> None:
        file = self._file(path)
        file.size_bytes = size_bytes
        file.pending.append((returned, Length(size_bytes)))

    def sync(self, path: PurePosixPath, began: int) -> None:
        """fsync or fdatasync has returned."""
        self._at(path).sync(began)

    def unsynced(self) -> list[Change]:
        """What may be lost now, of all that the program or the disk can reach; oldest first in each file and folder."""
        return [change for one in self._reachable() for _, change in one.pending]

    def rebuild(self, target: Path, lot: Lot) -> None:
        """Write what this lot leaves into a new folder."""
        target.mkdir()
        _Rebuilding(lot).fill(self._root, target)

    def _reachable(self) -> "list[StoredFile | StoredFolder]":
        found: dict[int, StoredFile | StoredFolder] = {}
        todo: list[StoredFile | StoredFolder] = [self._root]
        while todo:
            one = todo.pop()
            if id(one) in found:
                continue
            found[id(one)] = one
            if isinstance(one, StoredFolder):
                todo += [*one.durable.values(), *one.now.values()]
                todo += [change.meaning for _, change in one.pending if change.meaning is not None]
        return list(found.values())

    def _at(self, path: PurePosixPath) -> StoredFile | StoredFolder:
        return self._folder(path.parent).now[path.name] if path.name else self._root

    def _folder(self, path: PurePosixPath) -> StoredFolder:
        folder = self._root
        for name in path.parts:
            found = folder.now[name]
            assert isinstance(found, StoredFolder), path
            folder = found
        return folder

    def _file(self, path: PurePosixPath) -> StoredFile:
        found = self._at(path)
        assert isinstance(found, StoredFile), path
        return found


class _Rebuilding:
    """One pass over what is left; a file that has two names is one file."""

    def __init__(self, lot: Lot) -> None:
        self._lot = lot
        self._written: dict[int, Path] = {}

    def fill(self, folder: StoredFolder, target: Path) -> None:
        names = dict(folder.durable)
        for _, change in folder.pending:
            if self._lot.falls(change):
                _mean(names, change)
        for name, meaning in names.items():
            self._put(meaning, target / name)

    def _put(self, stored: StoredFile | StoredFolder, path: Path) -> None:
        if isinstance(stored, StoredFolder):
            path.mkdir()
            self.fill(stored, path)
        elif id(stored) in self._written:
            os.link(self._written[id(stored)], path)
        else:
            octets = bytearray(stored.durable)
            for _, change in stored.pending:
                _apply(octets, change, self._lot)
            path.write_bytes(octets)
            self._written[id(stored)] = path


def _mean(names: dict[str, StoredFile | StoredFolder], change: Name) -> None:
    if change.meaning is None:
        names.pop(change.name, None)
    else:
        names[change.name] = change.meaning


def _apply(octets: bytearray, change: Octets | Length, lot: Lot) -> None:
    if isinstance(change, Octets):
        for piece in lot.pieces(change):
            if piece.offset > len(octets):
                octets += lot.stale(piece.offset - len(octets))
            octets[piece.offset : piece.offset + len(piece.data)] = piece.data
    elif lot.falls(change):
        grown = change.size_bytes - len(octets)
        octets += bytes(max(0, grown))
        del octets[change.size_bytes :]
