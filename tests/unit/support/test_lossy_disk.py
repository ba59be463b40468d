"""What a disk may hold after power was lost: the rules that tests/support/machine/lossy_disk.py states."""

import random
from pathlib import Path, PurePosixPath

import pytest

from tests.support.machine.lossy_disk import SECTOR_BYTES, WHOLE, Change, LossyDisk, Lot, Name, Octets

FILE, FOLDER, INSIDE, OTHER, ROOT = map(PurePosixPath, ("file", "folder", "folder/inside", "other", ""))
NOTHING = Lot(lambda change: 0, random.Random(0))
NAMES_ALONE = Lot(lambda change: isinstance(change, Name), random.Random(0))
OCTETS_ALONE = Lot(lambda change: not isinstance(change, Name), random.Random(0))


@pytest.fixture
def disk() -> LossyDisk:
    return LossyDisk()


def left(disk: LossyDisk, folder: Path, lot: Lot = NOTHING) -> dict[str, bytes]:
    """The files that a loss of power at this moment leaves."""
    target = folder / str(len(list(folder.iterdir())))
    disk.rebuild(target, lot)
    return {str(path.relative_to(target)): path.read_bytes() for path in target.rglob("*") if path.is_file()}


def synced_file(disk: LossyDisk, octets: bytes) -> None:
    """By its octets and its name, before moment 10."""
    disk.create(FILE, 1)
    disk.append(FILE, octets, 2)
    disk.sync(FILE, 3)
    disk.sync(ROOT, 4)


def test_octets_and_the_name_are_two_things_and_each_needs_its_sync(disk: LossyDisk, tmp_path: Path) -> None:
    disk.create(FILE, 1)
    disk.append(FILE, b"octets", 2)
    disk.sync(FILE, 3)
    assert left(disk, tmp_path) == {}
    assert left(disk, tmp_path, NAMES_ALONE) == {"file": b"octets"}
    disk.append(FILE, b" more", 4)
    disk.sync(ROOT, 5)
    assert left(disk, tmp_path) == {"file": b"octets"}
    assert left(disk, tmp_path, WHOLE) == {"file": b"octets more"}
    disk.sync(FILE, 6)
    assert left(disk, tmp_path) == {"file": b"octets more"}


def test_what_returned_after_the_sync_began_is_not_covered(disk: LossyDisk, tmp_path: Path) -> None:
    synced_file(disk, b"ab")
    disk.write(FILE, b"X", 0, 11)
    disk.write(FILE, b"Y", 1, 13)
    disk.sync(FILE, 12)
    assert left(disk, tmp_path) == {"file": b"Xb"}
    assert left(disk, tmp_path, WHOLE) == {"file": b"XY"}


def test_a_folder_is_lost_with_all_in_it_where_its_own_name_was_not_synced(
    disk: LossyDisk, tmp_path: Path
) -> None:
    disk.make_folder(FOLDER, 1)
    disk.create(INSIDE, 2)
    disk.append(INSIDE, b"octets", 3)
    disk.sync(INSIDE, 4)
    disk.sync(FOLDER, 5)
    assert left(disk, tmp_path) == {}
    disk.sync(ROOT, 6)
    assert left(disk, tmp_path) == {"folder/inside": b"octets"}


def test_a_move_is_two_changes_and_each_folder_keeps_its_own(disk: LossyDisk, tmp_path: Path) -> None:
    synced_file(disk, b"octets")
    disk.make_folder(FOLDER, 5)
    disk.sync(ROOT, 6)
    disk.rename(FILE, INSIDE, 11)
    assert left(disk, tmp_path) == {"file": b"octets"}
    disk.sync(FOLDER, 12)
    assert left(disk, tmp_path) == {"file": b"octets", "folder/inside": b"octets"}
    assert left(disk, tmp_path, WHOLE) == {"folder/inside": b"octets"}
    disk.sync(ROOT, 13)
    assert left(disk, tmp_path) == {"folder/inside": b"octets"}


def test_the_old_name_may_be_gone_before_the_new_one_is_there(disk: LossyDisk, tmp_path: Path) -> None:
    synced_file(disk, b"octets")
    disk.make_folder(FOLDER, 5)
    disk.sync(ROOT, 6)
    disk.rename(FILE, INSIDE, 11)
    disk.sync(ROOT, 12)
    assert left(disk, tmp_path) == {}


def test_a_name_means_the_old_file_or_the_new_one(disk: LossyDisk, tmp_path: Path) -> None:
    synced_file(disk, b"old")
    disk.create(OTHER, 11)
    disk.append(OTHER, b"new", 12)
    disk.sync(OTHER, 13)
    disk.rename(OTHER, FILE, 14)
    lots = [Lot(lambda change: 0.5, random.Random(seed)) for seed in range(30)]
    assert {left(disk, tmp_path, lot)["file"] for lot in lots} == {b"old", b"new"}


def test_a_file_that_was_removed_may_be_back(disk: LossyDisk, tmp_path: Path) -> None:
    synced_file(disk, b"octets")
    disk.remove(FILE, 11)
    assert not disk.has(FILE)
    assert left(disk, tmp_path) == {"file": b"octets"}
    disk.sync(ROOT, 12)
    assert left(disk, tmp_path) == {}


def test_two_names_are_one_file(disk: LossyDisk, tmp_path: Path) -> None:
    synced_file(disk, b"octets")
    disk.link(FILE, OTHER, 11)
    disk.write(FILE, b"O", 0, 12)
    found = left(disk, tmp_path, Lot(lambda change: isinstance(change, Name) or 0.5, random.Random(1)))
    assert found["file"] == found["other"]


def test_a_write_is_torn_at_sectors_alone(disk: LossyDisk, tmp_path: Path) -> None:
    old, new = bytes(5 * 4096), b"n" * (3 * 4096)
    synced_file(disk, old)
    disk.write(FILE, new, 700, 11)
    seen = set()
    for seed in range(40):
        octets = left(disk, tmp_path, Lot(lambda change: 0.5, random.Random(seed)))["file"]
        assert len(octets) == len(old)
        changes = [place for place in range(1, len(octets)) if octets[place] != octets[place - 1]]
        assert all(place in (700, 700 + len(new)) or place % min(SECTOR_BYTES) == 0 for place in changes)
        seen.add(octets)
    assert len(seen) > 30


def test_what_a_file_grew_by_may_be_zeros_or_anything(disk: LossyDisk, tmp_path: Path) -> None:
    synced_file(disk, b"")
    disk.write(FILE, b"a" * 4096, 0, 11)
    disk.write(FILE, b"b" * 4096, 4096, 12)
    second = disk.unsynced()[-1]
    gaps = set()
    for seed in range(10):
        octets = left(disk, tmp_path, Lot(lambda change: change is second, random.Random(seed)))["file"]
        assert octets[4096:] == b"b" * 4096
        gaps.add(octets[:4096])
    assert bytes(4096) in gaps and len(gaps) > 1


def test_a_file_is_cut_off_or_not(disk: LossyDisk, tmp_path: Path) -> None:
    synced_file(disk, b"octets")
    disk.truncate(FILE, 3, 11)
    assert left(disk, tmp_path) == {"file": b"octets"}
    assert left(disk, tmp_path, WHOLE) == {"file": b"oct"}
    disk.append(FILE, b"!", 12)
    disk.sync(FILE, 13)
    assert left(disk, tmp_path) == {"file": b"oct!"}


def test_each_change_that_is_not_synced_is_there_or_not_by_itself(disk: LossyDisk, tmp_path: Path) -> None:
    synced_file(disk, b"...")
    for place in range(3):
        disk.write(FILE, b"x", place, 11 + place)
    assert [change.offset for change in disk.unsynced() if isinstance(change, Octets)] == [0, 1, 2]

    def without(lost: Change) -> bytes:
        return left(disk, tmp_path, Lot(lambda change: change is not lost, random.Random(0)))["file"]

    assert [without(change) for change in disk.unsynced()] == [b".xx", b"x.x", b"xx."]


def test_octets_of_a_file_that_has_no_name_are_nowhere(disk: LossyDisk, tmp_path: Path) -> None:
    disk.create(FILE, 1)
    disk.append(FILE, b"octets", 2)
    assert left(disk, tmp_path, OCTETS_ALONE) == {}
