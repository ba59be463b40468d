"""What is made durably is whole and has its name, whatever moment power is lost at (storage/durable_files.py; D2)."""

import errno
import os
import stat
from pathlib import Path

import pytest

from storage.data_folder import DataFolder
from storage.durable_files import building_beside, is_there, make_folder, write_new_file
from storage.engine import migrate
from storage.engine.migrate import StoreError
from tests.support.laws.synced import Synced


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> Synced:
    return Synced(monkeypatch)


def test_a_folder_has_its_name_and_those_above_it_too(tmp_path: Path, synced: Synced) -> None:
    make_folder(tmp_path / "one" / "two" / "three", 0o700)
    assert synced.names(tmp_path) == {"one"}
    assert synced.names(tmp_path / "one") == {"two"}
    assert synced.names(tmp_path / "one" / "two") == {"three"}
    assert stat.S_IMODE((tmp_path / "one" / "two" / "three").stat().st_mode) == 0o700


def test_a_folder_that_another_has_just_made_has_its_name_too(tmp_path: Path, synced: Synced) -> None:
    (tmp_path / "there").mkdir()
    make_folder(tmp_path / "there", 0o700)
    assert synced.names(tmp_path) == {"there"}


def test_the_data_folder_has_its_name_before_a_store_is_made_in_it(tmp_path: Path, synced: Synced) -> None:
    DataFolder(tmp_path / "var" / "data").make()
    assert "var" in synced.names(tmp_path) and "data" in synced.names(tmp_path / "var")


def test_a_file_is_whole_before_it_has_its_name(tmp_path: Path, synced: Synced) -> None:
    path = tmp_path / "file"
    write_new_file(path, b"octets")
    (written, octets), *_ = synced.seen
    assert (written.parent, octets) == (tmp_path, b"octets") and written != path
    assert synced.seen[-1] == (tmp_path, {"file"})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_a_process_of_the_same_number_has_left_is_in_nobodys_way(tmp_path: Path) -> None:
    """It was killed. In a container the next one has the same number."""
    for name in ("file", "store"):
        (tmp_path / f"{name}.{os.getpid()}.building").write_bytes(b"half")
    write_new_file(tmp_path / "file", b"octets")
    migrate.prepare(tmp_path / "store")
    assert is_there(tmp_path / "file") and is_there(tmp_path / "store")


def test_what_killed_processes_were_building_is_removed_once_nobody_builds(tmp_path: Path) -> None:
    """A store or a compacted one may be large, and is left just where room is short."""
    elsewhere, folder = tmp_path / "disk" / "maild.sqlite3", DataFolder(tmp_path / "data")
    elsewhere.parent.mkdir()
    folder.make()
    folder.database.symlink_to(elsewhere)
    left = [building_beside(one) for one in (elsewhere, folder.master_key, folder.path / "another")]
    for one in (*left, left[0].with_name(f"{left[0].name}-journal")):
        one.write_bytes(b"half")
    dated = folder.path / "maild.sqlite3.20261130.new"  # as a person names a copy
    others = [
        folder.path / "maild.building",
        dated,
        elsewhere.with_name("theirs.01234567.building"),
        elsewhere,
    ]
    for one in others:
        one.touch()
    building_beside(folder.path / "folder").mkdir()
    assert folder.remove_unfinished() == 4
    assert sorted(one for one in tmp_path.rglob("*") if one.is_file() and not one.is_symlink()) == sorted(
        others
    )


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"first")
    with pytest.raises(FileExistsError):
        write_new_file(path, b"second")
    assert path.read_bytes() == b"first" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("code", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_hard_links_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """As exFAT, which keeps no rights of files either, and some that reach over a network."""

    def refuse(source: Path, target: Path) -> None:
        raise OSError(code, os.strerror(code), str(source), None, str(target))

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(OSError, match="no hard links"):
        write_new_file(tmp_path / "file", b"octets")
    with pytest.raises(StoreError, match="no hard links"):
        migrate.prepare(tmp_path / "store")
    assert list(tmp_path.iterdir()) == []


def test_what_can_not_be_asked_for_is_not_missing(tmp_path: Path) -> None:
    assert is_there(tmp_path)
    assert not is_there(tmp_path / "store")
    assert not is_there(tmp_path / "no folder" / "store")
    with pytest.raises(OSError, match="too long"):
        is_there(tmp_path / ("x" * 300))


@pytest.mark.parametrize("package", ["maild", "storage"])
def test_nobody_asks_a_path_that_says_no_when_it_can_not_see(package: str) -> None:
    """`Path.exists` answers differently from Python 3.14 on."""
    root = Path(__file__).parents[3]
    assert [path for path in (root / package).rglob("*.py") if ".exists()" in path.read_text()] == []
