"""Room on the disk: what is on its way in counts before it is written (storage/disk.py)."""

import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from storage.disk import Disk


class System:
    """A file system of 1,000 bytes in blocks of one, and the clock of the looks at it."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.free, self.inodes, self.now = 1000, 1000, 0.0
        self.is_away = False
        patch.setattr(os, "statvfs", self.statvfs)
        patch.setattr(time, "monotonic", lambda: self.now)

    def statvfs(self, folder: os.PathLike[str]) -> SimpleNamespace:
        if self.is_away:
            raise FileNotFoundError(folder)
        return SimpleNamespace(
            f_bavail=self.free, f_frsize=1, f_blocks=1000, f_files=1000, f_favail=self.inodes
        )


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> System:
    return System(monkeypatch)


@pytest.fixture
def disk(system: System) -> Disk:
    return Disk(Path("/nowhere"), 10)


def test_the_reserve_of_bytes_and_inodes_is_kept(disk: Disk, system: System) -> None:
    assert disk.has_room(900) and not disk.has_room(901)
    system.inodes, system.now = 99, 2.0
    assert not disk.has_room()
    assert not disk.claim("a").cover(1)


def test_of_a_folder_that_is_away_it_says_what_it_saw_last(disk: Disk, system: System) -> None:
    """Whoever asks goes on to the store, which refuses in words of its own."""
    assert disk.has_room(900)
    system.is_away, system.now = True, 2.0
    assert disk.has_room(900) and not disk.has_room(901)


def test_the_operator_is_told_once_that_mail_is_refused_and_once_that_it_is_not(system: System) -> None:
    """Else only refusals at level info tell that nobody can write to this host."""
    told: list[tuple[bool, int, int]] = []
    disk = Disk(Path("/nowhere"), 10, lambda *all_of_it: told.append(all_of_it))
    assert disk.has_room(900) and told == []
    system.free, system.now = 500, 2.0
    assert not disk.has_room(450) and not disk.has_room(700)
    assert disk.has_room(100)  # a small one still fits, and a large one would be refused
    assert told == [(False, 500, 1000)]
    system.free, system.now = 700, 4.0
    assert disk.has_room(100) and not disk.has_room(700)
    assert told == [(False, 500, 1000)]
    system.free, system.now = 900, 6.0
    assert disk.has_room(100)
    assert told == [(False, 500, 1000), (True, 900, 1000)]
    system.inodes, system.now = 99, 8.0
    assert not disk.has_room()
    assert told[2:] == [(False, 900, 99)]


def test_the_disk_is_short_while_anything_is_refused(disk: Disk, system: System) -> None:
    assert not disk.is_short
    assert not disk.has_room(901) and disk.is_short, "what was refused would be again"
    system.free, system.now = 1001, 2.0
    assert not disk.is_short and disk.has_room(901)
    system.free, system.now = 100, 4.0
    assert disk.is_short, "nobody was refused yet, and everybody would be"
    system.free, system.inodes, system.now = 1000, 99, 6.0
    assert disk.is_short


def test_a_disk_without_a_reserve_is_short_when_it_is_full(system: System) -> None:
    system.free = 0
    assert Disk(Path("/nowhere"), 0).is_short


def test_what_is_claimed_is_no_room_for_others_written_or_not(disk: Disk, system: System) -> None:
    claim = disk.claim("a")
    assert claim.cover(300)
    assert disk.has_room(600) and not disk.has_room(601)
    claim.wrote(200)
    assert disk.has_room(600) and not disk.has_room(601)  # the last look did not see them yet
    system.free, system.now = 800, 2.0
    assert disk.has_room(600) and not disk.has_room(601)
    claim.wrote(300)
    system.free, system.now = 700, 4.0
    claim.release()
    assert disk.has_room(600) and not disk.has_room(601)


def test_what_was_claimed_and_not_written_is_given_back(disk: Disk) -> None:
    claim = disk.claim("a")
    assert claim.cover(400)
    claim.wrote(100)
    for _ in range(2):
        claim.release()
    assert disk.has_room(800) and not disk.has_room(801)
    assert claim.cover(10)  # and it may begin anew


def test_a_claim_grows_only_beyond_what_it_covers(disk: Disk) -> None:
    claim = disk.claim("a")
    assert claim.cover(300) and claim.cover(200) and claim.cover(300)
    assert disk.has_room(600)


def test_nobody_claims_more_than_is_left_for_the_others(disk: Disk) -> None:
    first, second = disk.claim("greedy"), disk.claim("greedy")
    assert first.cover(300)
    assert not second.cover(200)
    assert second.cover(150)
    assert not disk.claim("greedy").cover(1)
    assert disk.claim("newcomer").cover(225)
    assert disk.has_room(225)
