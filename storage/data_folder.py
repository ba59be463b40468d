"""The data folder: where its parts lie, and the lock that keeps a second daemon out.

Two things are locked: the file `lock`, by which a folder is known to be a daemon's and which is all that an older
daemon locks, and the folder itself. Who removes the file (a clean-up, a restore without it) lets nobody in: a folder
that holds something can't be removed, and one that is put in its place holds another store.

In the file stands which files of the store the daemon has open. A command that finds others under their names, or
none, opens nothing: SQLite would make what is missing, and each would write over what the other has committed.
"""

import fcntl
import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from storage.durable_files import is_there, make_folder, unfinished
from storage.engine.store_files import beside, file_at

ROOT = 0
# As the unit of systemd does it: as that user, who may bind port 25 all the same.
BY_HAND = (
    "setpriv --reuid={user} --regid={group} {groups} --inh-caps=+net_bind_service"
    " --ambient-caps=+net_bind_service maild serve"
)


class DataFolderError(Exception):
    """The folder can't be used; the text says why and what to do."""


class DataFolder:
    """The paths in the data folder; nothing is read or made before a method is called."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = path / "maild.sqlite3"
        self.search_index = path / "search.sqlite3"
        self.blobs = path / "blobs"
        self.master_key = path / "master.key"
        self._last_backup = path / "last_backup"  # empty: its time says when one ended well
        self._lock_file = path / "lock"
        self._locks: list[int] = []

    @property
    def store_files(self) -> list[Path]:
        """Of both databases, each with its write-ahead log."""
        return [one for file in (self.database, self.search_index) for one in (file, beside(file, "-wal"))]

    @property
    def _beside(self) -> tuple[Path, Path]:
        return beside(self.database, "-wal"), beside(self.database, "-shm")

    @property
    def backed_up_at(self) -> float | None:
        """When the last `maild backup` ended well (Unix time); None: none ever has, or the note can't be seen."""
        try:
            return self._last_backup.stat().st_mtime
        except OSError:
            return None

    def note_backup(self) -> None:
        """One has ended well. OSError where the folder takes no note, as one that is read-only."""
        with self.as_its_owner():
            self._last_backup.touch(0o600)

    def make(self) -> None:
        """Create the folder (0700) unless it exists, durably; DataFolderError when it can't be made or used."""
        if is_there(self.path):
            self._check_there()
        try:
            make_folder(self.path, 0o700)
        except OSError as error:
            raise DataFolderError(f"data_dir: can't make {self.path}: {error.strerror}") from error
        self.check()

    @contextmanager
    def as_its_owner(self) -> Iterator[None]:
        """Where root is at work, and the folder is there: what is made and read meanwhile is by its owner, as whom the
        daemon runs, with the groups of that user."""
        owner = self.path.stat() if os.geteuid() == ROOT and is_there(self.path) else None
        if owner is None or owner.st_uid == ROOT:
            yield
            return
        group, groups = os.getegid(), os.getgroups()
        os.setgroups(_groups_of(owner.st_uid, owner.st_gid))
        os.setegid(owner.st_gid)
        os.seteuid(owner.st_uid)
        try:
            yield
        finally:
            os.seteuid(ROOT)
            os.setegid(group)
            os.setgroups(groups)

    def check_readable(self) -> None:
        """DataFolderError unless the folder is there and this user may read it."""
        self._check_there()
        if not os.access(self.path, os.R_OK | os.X_OK):
            raise DataFolderError(
                f"data_dir: {self.path} is not readable by this user; it belongs to the user {user_of(self.path)}"
            )

    def _check_there(self) -> None:
        if not is_there(self.path):
            raise DataFolderError(f"data_dir: {self.path} does not exist; run 'maild init' first")
        if not self.path.is_dir():
            raise DataFolderError(f"data_dir: {self.path} is no folder; name one")

    def check(self) -> None:
        """DataFolderError unless the folder is there and this user may read and write in it."""
        self.check_readable()
        if not os.access(self.path, os.W_OK):
            # A read-only snapshot of btrfs lacks the flag, and root may write wherever anybody may.
            if os.statvfs(self.path).f_flag & os.ST_RDONLY or os.geteuid() == ROOT:
                raise DataFolderError(
                    f"data_dir: {self.path} is on a file system that is read-only here; a unit of systemd that closes"
                    " it must name it in ReadWritePaths="
                )
            raise DataFolderError(
                f"data_dir: {self.path} is not writable by this user; it belongs to the user {user_of(self.path)}"
            )

    def check_user(self) -> None:
        """DataFolderError for root on another user's store: the files that it made would be closed to that user."""
        if os.geteuid() == ROOT and is_there(self.database):
            owner = self.database.stat()
            if owner.st_uid != ROOT:
                raise DataFolderError(
                    f"data_dir: the store in {self.path} belongs to the user {_name_of(owner.st_uid)}, so run it as"
                    f" that one: 'systemctl start maild', or '{_by_hand(owner.st_uid, owner.st_gid)}'"
                )

    def check_store(self) -> None:
        """DataFolderError without a store: one that is made at the start would refuse the mail of all real inboxes."""
        self._check_there()
        self.check_vacant()
        if not is_there(self.database):
            raise DataFolderError(f"data_dir: there is no store in {self.path}; run 'maild init' first")

    def check_writable(self) -> None:
        """DataFolderError where a part of the store belongs to another user, as after a restore by root: all that comes
        in would be refused."""
        for part in self.closed_parts():
            raise DataFolderError(f"data_dir: {part} is closed to this user; make it its owner")

    def closed_parts(self) -> list[Path]:
        """What is there, and the daemon can't use as it must: this user, and where root asks the owner of the folder.
        Large messages are too many to ask of each, so it is of their folders."""
        files = (self.database, *self._beside, self._lock_file)
        wanted = dict.fromkeys(files, os.R_OK | os.W_OK)
        wanted |= dict.fromkeys((self.blobs, *sorted(self.blobs.glob("??"))), os.R_OK | os.W_OK | os.X_OK)
        wanted |= dict.fromkeys((self.master_key, *self.path.glob("smtp-self-signed.*")), os.R_OK)
        there = [part for part in wanted if is_there(part)]  # which the owner may not be let to see
        with self.as_its_owner():
            return [part for part in there if not os.access(part, wanted[part], effective_ids=True)]

    def check_vacant(self) -> None:
        """DataFolderError for raw messages without their store, as after a restore that was interrupted: a new store
        would take them for leftovers, and remove them. Nor may one be made, or opened, where a daemon still has other
        files open than those that are there, or where a link has its name."""
        self._check_in_place()
        if is_there(self.database):
            return
        if self.database.is_symlink():
            raise DataFolderError(
                f"data_dir: {self.database} is a link to what is not there: mount or restore it, or remove the link"
            )
        if any(self.blobs.glob("??/blb_*")):
            raise DataFolderError(
                f"data_dir: {self.blobs} holds messages, but their store is gone: restore {self.database}"
                " from a backup, or move the folder away for a new store"
            )

    def _check_in_place(self) -> None:
        """The lock is asked for where something is amiss alone: a daemon that starts just then would not get it."""
        log, shared = self._beside
        noted = self._noted_files()
        parts = (part for part in (self.database, log, shared) if part.name in noted)
        moved = [part for part in parts if noted[part.name] != _number(part)]
        if not moved and not is_there(self.database):
            moved = [self.database]
        if not moved or not self._is_locked_by_another():
            return
        if self._noted_files() != noted:  # a daemon that begins or ends just now has moved them itself
            return
        if moved == [shared]:
            raise DataFolderError(
                f"data_dir: {shared} was taken away from a maild that runs; restart that first: nothing is lost by it"
            )
        raise DataFolderError(
            f"data_dir: {moved[0]} was taken away from a maild that runs and still has it, or another put in its"
            " place: put it back, or do as docs/operating.md has it below 'A store that was taken away',"
            " before you end that process"
        )

    def note_store(self) -> None:
        """Which files are open, by their numbers, which no other file is given meanwhile. Locked, once the store is
        open."""
        parts = [part for part in (self.database, *self._beside) if is_there(part)]
        noted = "".join(f"{_number(part)} {part.name}\n" for part in parts)
        os.pwrite(self._locks[-1], noted.encode(), 0)

    def forget_store(self) -> None:
        """Before it is closed, by which SQLite removes what is beside it. Also where nothing is locked."""
        if self._locks:
            os.ftruncate(self._locks[-1], 0)

    def _noted_files(self) -> dict[str, int]:
        """By name; nothing of a daemon that has yet to open its store, or is of an older version."""
        try:
            lines = self._lock_file.read_text(errors="replace").splitlines()
        except (FileNotFoundError, PermissionError):  # removed, or closed to this user, as the store is
            return {}
        found = (line.partition(" ") for line in lines)
        return {name: int(number) for number, _, name in found if number.isdecimal()}

    def _is_locked_by_another(self) -> bool:
        return not self._locks and (_is_locked(self.path) or _is_locked(self._lock_file))

    def lock(self) -> None:
        """Keep every other daemon out until this process ends, however it ends; DataFolderError when one runs."""
        try:
            with self.as_its_owner():
                self._locks.append(os.open(self.path, os.O_RDONLY | os.O_CLOEXEC))
                self._locks.append(os.open(self._lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            for one in self._locks:
                fcntl.flock(one, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.forget_store()  # the last one's
        except BlockingIOError as error:
            self.unlock()
            raise DataFolderError(f"data_dir: another maild is running on {self.path}") from error
        except OSError as error:
            self.unlock()
            raise DataFolderError(f"data_dir: can't lock {self._lock_file}: {error.strerror}") from error

    def remove_unfinished(self) -> int:
        """Remove what commands that were killed have left of files that they were building; how many. Nobody may be
        building any: the daemon has its lock, and a store and a key that are whole."""
        file = self.database.resolve()
        left = unfinished(self.path) | unfinished(file.parent, file.name)
        for one in left:
            one.unlink(missing_ok=True)
        return len(left)

    def unlock(self) -> None:
        """Let another daemon in; idempotent."""
        while self._locks:
            os.close(self._locks.pop())


def _number(path: Path) -> int:
    """0: there is no such file."""
    found = file_at(path)
    return found.inode if found else 0


def _is_locked(path: Path) -> bool:
    try:
        asking = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(asking, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(asking)
    return False


def _by_hand(uid: int, gid: int) -> str:
    try:
        user = pwd.getpwuid(uid)
    except KeyError:  # as in a container: there are no groups to be looked up
        return BY_HAND.format(user=uid, group=gid, groups="--clear-groups")
    return BY_HAND.format(user=user.pw_name, group=user.pw_gid, groups="--init-groups")


def _groups_of(uid: int, gid: int) -> list[int]:
    try:
        return os.getgrouplist(pwd.getpwuid(uid).pw_name, gid)
    except KeyError:
        return [gid]


def user_of(path: Path) -> str:
    """The name of whom the path belongs to, or the nearest folder above it that this user may look into."""
    try:
        return _name_of(path.stat().st_uid)
    except OSError:
        return user_of(path.parent) if path.parent != path else _name_of(ROOT)


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:  # as in a container
        return f"#{uid}"
