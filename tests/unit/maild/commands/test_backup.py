"""A backup beside a running daemon is the store as it was at one moment; what goes wrong leaves the last one whole."""

import errno
import fcntl
import os
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from maild.commands import backup
from maild.commands.backup import BackupFault, back_up
from maild.commands.checking import check
from storage.clock import Clock
from storage.data_folder import DataFolder
from storage.engine import migrate
from storage.engine.migrate import StoreError
from storage.upkeep import snapshot
from tests.conftest import Start
from tests.support.laws.synced import Synced
from tests.support.running import Running, Template
from tests.unit.maild.test_cli import (
    SOMEBODY,
    answer,
    as_somebody,
    config,
    fault,
    in_folder,
    open_folder,
    run,
)

__all__ = ["config", "open_folder"]  # the fixtures

LARGE = "Subject: large {0}\nFrom: friend@elsewhere.test\n\n" + "word {0} " * 40_000
SMALL = "Subject: small\nFrom: friend@elsewhere.test\n\nhello\n"


def saved(running: Running, target: Path) -> dict[str, Any]:
    return back_up(DataFolder(running.settings.data_path), target)


def assert_whole(target: Path, messages: int) -> None:
    found = check(DataFolder(target), Clock())
    assert found["ok"] and not found["strayFiles"], found
    assert found["blobs"] == messages


async def test_what_it_is_in_has_its_name_before_a_backup_is_told(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D2: each folder is lost with all in it where its name is not on the disk."""
    maild = await start()
    large = await maild.received(await maild.inbox("bot"), LARGE.format(1))
    synced, target = Synced(monkeypatch), tmp_path / "backups" / "last"
    saved(maild, target)
    ((blob_id,),) = maild.sql("SELECT blob_id FROM messages WHERE id = ?", large["id"])
    file = DataFolder(target).blobs / blob_id[-2:] / blob_id
    for path in (file, *file.parents[:4], DataFolder(target).database):
        assert path.name in synced.names(path.parent), path


async def test_a_daemon_goes_on_from_a_backup_with_all_that_it_had(
    start: Start, template: Template, tmp_path: Path
) -> None:
    maild = await start()
    bot = await maild.inbox("bot")
    small, large = await maild.received(bot, SMALL), await maild.received(bot, LARGE.format(1))
    done = saved(maild, tmp_path / "backup")
    assert (done["ok"], done["files"], done["copied"], done["removed"]) == (True, 1, 1, 0)
    await maild.received(bot, LARGE.format(2))  # after it
    raw = await maild.raw(large["id"])
    await maild.stop()
    shutil.copy(template.folder / "master.key", tmp_path / "backup")
    restored = await Running.start(replace(template, folder=tmp_path / "backup"), tmp_path / "restored")
    try:
        assert [one["id"] for one in await restored.api.messages()] == [large["id"], small["id"]]
        assert await restored.raw(large["id"]) == raw
        assert (await restored.received(bot, SMALL))["subject"] == "small"
    finally:
        await restored.stop()


@as_somebody
async def test_a_file_that_root_brought_back_is_named_and_all_else_is_looked_at(
    start: Start, open_folder: Path
) -> None:
    maild, copy = await start(), DataFolder(open_folder / "copy")
    bot = await maild.inbox("bot")
    for number in range(2):
        await maild.received(bot, LARGE.format(number))
    saved(maild, copy.path)
    closed, _ = sorted(copy.blobs.glob("??/blb_*"), key=lambda path: path.name)
    for path in (copy.path, *copy.path.rglob("*")):
        if path != closed:
            os.chown(path, SOMEBODY, SOMEBODY)
    closed.chmod(0o600)
    os.seteuid(SOMEBODY)
    try:
        found = check(copy, Clock())
    finally:
        os.seteuid(0)
    assert found["blobs"] == 2
    assert found["damage"] == [
        {
            "kind": "blob",
            "id": closed.name,
            "fault": "its file is closed to this user: it belongs to the user root",
        }
    ]


@pytest.mark.parametrize("is_link", [False, True])
async def test_a_backup_is_not_opened_with_the_log_of_the_store_that_it_replaces(
    start: Start, tmp_path: Path, is_link: bool
) -> None:
    """`cp -a backup/. data_dir` after a crash: SQLite would write pages of the one store over those of the other. Where
    the store's file is a link, to another disk say, both lie there."""
    maild = await start()
    bot = await maild.inbox("bot")
    await maild.received(bot, SMALL)
    saved(maild, tmp_path / "backup")
    await maild.received(bot, SMALL)
    mixed = DataFolder(tmp_path / "mixed")
    shutil.copytree(maild.settings.data_path, mixed.path)
    place = mixed.path
    if is_link:
        place = Path(shutil.copytree(mixed.path, tmp_path / "other"))
        for file in mixed.path.glob("maild.sqlite3*"):
            file.unlink()
        mixed.database.symlink_to(place / mixed.database.name)
    shutil.copyfile(tmp_path / "backup" / "maild.sqlite3", mixed.database)
    for open_it in (lambda: check(mixed, Clock()), lambda: migrate.prepare(mixed.database)):
        with pytest.raises(StoreError, match=r"maild\.sqlite3-wal is of another database"):
            open_it()
    assert mixed.database.read_bytes() == DataFolder(tmp_path / "backup").database.read_bytes()
    for beside in ("-wal", "-shm"):
        (place / f"maild.sqlite3{beside}").unlink()
    assert check(mixed, Clock())["blobs"] == 1


async def test_the_next_backup_copies_what_is_new_and_removes_what_went(start: Start, tmp_path: Path) -> None:
    maild = await start()
    bot = await maild.inbox("bot")
    first = await maild.received(bot, LARGE.format(1))
    await maild.received(bot, LARGE.format(2))
    saved(maild, tmp_path / "backup")
    assert_whole(tmp_path / "backup", 2)
    await maild.api.call("DELETE", f"/v1/messages/{first['id']}")
    await maild.received(bot, LARGE.format(3))
    done = saved(maild, tmp_path / "backup")
    assert (done["files"], done["copied"], done["removed"]) == (2, 1, 1)
    assert_whole(tmp_path / "backup", 2)
    assert saved(maild, tmp_path / "backup")["copied"] == 0


async def test_a_message_that_goes_between_snapshot_and_copy_is_in_no_backup(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maild = await start()
    bot = await maild.inbox("bot")
    await maild.received(bot, LARGE.format(1))
    real, taken = snapshot.take, 0

    def take(database: Path, to: Path) -> None:
        # As if the second message had come after the first look and gone again right after the snapshot.
        nonlocal taken
        taken += 1
        if taken == 1:
            maild.sql(
                "INSERT INTO blobs (id, size_bytes, sha256, refs, created_at) VALUES ('blb_xx', 9, x'00', 0, 0)"
            )
        real(database, to)
        maild.sql("DELETE FROM blobs WHERE id = 'blb_xx'")

    monkeypatch.setattr(snapshot, "take", take)
    done = saved(maild, tmp_path / "backup")
    assert done["ok"] and done["files"] == 1 and taken == 2
    assert_whole(tmp_path / "backup", 1)


async def test_what_the_store_has_lost_is_told_and_all_else_is_in_the_backup(
    start: Start, tmp_path: Path
) -> None:
    maild = await start()
    bot = await maild.inbox("bot")
    for number in range(3):
        await maild.received(bot, LARGE.format(number))
    lost, changed, _ = sorted(
        DataFolder(maild.settings.data_path).blobs.glob("??/blb_*"), key=lambda path: path.name
    )
    lost.unlink()
    changed.write_bytes(b"x" * changed.stat().st_size)
    done = saved(maild, tmp_path / "backup")
    assert not done["ok"] and done["copied"] == 1
    assert done["faults"] == [
        {"id": lost.name, "fault": "its file is gone"},
        {"id": changed.name, "fault": "its bytes have changed since they were stored"},
    ]


async def test_a_full_disk_leaves_the_last_backup_whole(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maild = await start()
    bot = await maild.inbox("bot")
    await maild.received(bot, LARGE.format(1))
    saved(maild, tmp_path / "backup")
    await maild.received(bot, LARGE.format(2))

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BackupFault, match="No space left on device"):
        saved(maild, tmp_path / "backup")
    monkeypatch.undo()
    assert_whole(tmp_path / "backup", 1)


def test_a_first_backup_that_fails_leaves_nothing(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer("init", "--config", config)

    def full(_: object, to: Path) -> None:
        to.write_bytes(b"what the disk had room for")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(to))

    monkeypatch.setattr(snapshot, "take", full)
    assert "No space left on device" in fault("backup", tmp_path / "backup", "--config", config)
    assert list((tmp_path / "backup").iterdir()) == []


def test_a_lock_that_was_taken_away_locks_nobody_out_and_nobody_in(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the opening of the lock and its taking, the one who had it took it away."""
    answer("init", "--config", config)
    target = tmp_path / "backup"
    real = fcntl.flock

    def taken_away(descriptor: int, how: int) -> None:
        (target / backup._LOCK).unlink()
        real(descriptor, how)

    with monkeypatch.context() as patched:
        patched.setattr(fcntl, "flock", taken_away)
        with pytest.raises(BackupFault, match="another backup"):
            back_up(DataFolder(tmp_path / "data"), target)
    assert back_up(DataFolder(tmp_path / "data"), target)["ok"]


def test_no_path_is_not_the_current_folder(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a script says it whose variable is not set."""
    answer("init", "--config", config)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    done = run("backup", "", "--config", config)
    assert (done.exit_code, done.stdout) == (2, "") and "'TARGET': it is empty" in done.stderr
    assert list(here.iterdir()) == []


def test_nothing_is_written_over_what_is_no_backup_of_this_store(config: Path, tmp_path: Path) -> None:
    answer("init", "--config", config)
    data = tmp_path / "data"
    for target in (data, data / "inside", tmp_path):
        assert "is the data folder, lies in it, or holds it" in fault("backup", target, "--config", config)
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("years of work")
    assert "has other files (thesis.txt)" in fault("backup", other, "--config", config)
    (other / "thesis.txt").rename(other / "lock")
    assert "is the data folder of a daemon" in fault("backup", other, "--config", config)
    assert [path.name for path in other.iterdir()] == ["lock"]
    files = tmp_path / "files" / "blobs"  # of a store whose database is gone: all that is left of its mail
    files.mkdir(parents=True)
    assert "has other files (blobs)" in fault("backup", files.parent, "--config", config)


def test_a_backup_of_another_store_stays(config: Path, tmp_path: Path) -> None:
    answer("init", "--config", config)
    answer("backup", tmp_path / "backup", "--config", config)
    before = (tmp_path / "backup" / "maild.sqlite3").read_bytes()
    shutil.rmtree(tmp_path / "data")
    answer("init", "--config", config)
    assert "holds the backup of another store" in fault("backup", tmp_path / "backup", "--config", config)
    assert (tmp_path / "backup" / "maild.sqlite3").read_bytes() == before


def test_the_backup_of_an_older_version_is_replaced(config: Path, tmp_path: Path) -> None:
    answer("init", "--config", config)
    answer("backup", tmp_path / "backup", "--config", config)
    conn = sqlite3.connect(tmp_path / "backup" / "maild.sqlite3")
    conn.execute("PRAGMA user_version = 7")
    conn.close()
    assert answer("backup", tmp_path / "backup", "--config", config)["ok"]
    assert_whole(tmp_path / "backup", 0)


def test_one_backup_into_a_folder_at_a_time(config: Path, tmp_path: Path) -> None:
    answer("init", "--config", config)
    target = tmp_path / "backup"
    answer("backup", target, "--config", config)
    with (target / backup._LOCK).open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert "another backup" in fault("backup", target, "--config", config)
    assert answer("backup", target, "--config", config)["ok"]


def test_a_backup_tells_people_what_it_has_and_what_it_lacks(config: Path, tmp_path: Path) -> None:
    answer("init", "--config", config)
    told = run("backup", tmp_path / "backup", "--config", config)
    assert told.exit_code == 0 and "0 large messages in files" in told.stdout
    assert "master key is not in it" in told.stderr
    assert sorted(path.name for path in (tmp_path / "backup").iterdir()) == ["backup.lock", "maild.sqlite3"]
    assert (tmp_path / "backup" / "maild.sqlite3").stat().st_mode & 0o777 == 0o600


@as_somebody
def test_a_backup_by_root_is_no_trap_for_the_next_one_by_the_user_of_the_daemon(
    open_folder: Path, config: Path
) -> None:
    """One by hand before an upgrade, and the timer's every night."""
    data, target = open_folder / "data", open_folder / "backup"
    readable = in_folder(config, open_folder, data="data")
    for folder in (data, target):
        folder.mkdir()
        os.chown(folder, SOMEBODY, SOMEBODY)
    answer("init", "--config", readable)
    answer("backup", target, "--config", readable)
    assert {one.stat().st_uid for one in target.rglob("*")} == {SOMEBODY}
    os.seteuid(SOMEBODY)
    try:
        assert answer("backup", target, "--config", readable)["ok"]
    finally:
        os.seteuid(0)


@as_somebody
def test_root_goes_on_with_a_backup_of_its_own_in_a_folder_of_the_user_of_the_daemon(
    open_folder: Path, config: Path
) -> None:
    """As versions before left it there."""
    data, target = open_folder / "data", open_folder / "backup"
    readable = in_folder(config, open_folder, data="data")
    for folder in (data, target):
        folder.mkdir()
    answer("init", "--config", readable)
    answer("backup", target, "--config", readable)
    for one in (data, target, *data.iterdir()):
        os.chown(one, SOMEBODY, SOMEBODY)
    assert answer("backup", target, "--config", readable)["ok"]


async def test_a_backup_that_ended_well_is_noted(maild: Running, tmp_path: Path) -> None:
    folder = DataFolder(maild.settings.data_path)
    assert folder.backed_up_at is None
    assert saved(maild, tmp_path / "backup")["noted"] and folder.backed_up_at is not None


async def test_a_backup_without_a_lost_message_is_not_noted(maild: Running, tmp_path: Path) -> None:
    large = await maild.received(await maild.inbox("bot"), LARGE.format(1))
    ((blob_id,),) = maild.sql("SELECT blob_id FROM messages WHERE id = ?", large["id"])
    folder = DataFolder(maild.settings.data_path)
    (folder.blobs / blob_id[-2:] / blob_id).unlink()
    found = saved(maild, tmp_path / "backup")
    assert (found["ok"], found["noted"], folder.backed_up_at) == (False, False, None)


async def test_a_backup_is_as_good_where_it_can_not_be_noted(
    maild: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(folder: DataFolder) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(DataFolder, "note_backup", refuses)
    found = saved(maild, tmp_path / "backup")
    assert (found["ok"], found["noted"]) == (True, False)
    assert_whole(tmp_path / "backup", messages=0)
