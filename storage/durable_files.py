"""Files and folders that a loss of power leaves whole and under their names: what was written is on the disk once its
file was fsynced, a name once its folder was. For what SQLite does not write itself.

Whether a file is there at all is asked here too.
"""

import errno
import glob
import os
from pathlib import Path
from secrets import token_hex


def is_there(path: Path) -> bool:
    """Whether there is anything under this name. OSError where the rights or the disk don't let that be said:
    `Path.exists` says no there since Python 3.14, and a store that can't be seen is not a store that is missing."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def fsync_folder(folder: Path) -> None:
    """Make the names in the folder durable: what was created, renamed or removed there."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(folder: Path, mode: int) -> None:
    """Make a folder, and those above it that are missing, durably. One that is there may have been made a moment ago,
    by a thread or a process that has not fsynced its name yet. OSError."""
    if not is_there(folder.parent):
        make_folder(folder.parent, 0o777)
    folder.mkdir(exist_ok=True, mode=mode)
    if os.access(folder.parent, os.R_OK):  # who may not read it has made nothing there
        fsync_folder(folder.parent)


_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS})  # link(2), and what FUSE says
_BUILDING = f".{'[0-9a-f]' * 8}.building*"  # with what SQLite keeps beside it


def building_beside(path: Path) -> Path:
    """Where the file is made before it has its name: nobody has made it there before, also none that was killed."""
    return path.with_name(f"{path.name}.{token_hex(4)}.building")


def unfinished(folder: Path, name: str = "") -> set[Path]:
    """What was, or is, being built in the folder, of the file with this name or of any."""
    return {one for one in folder.glob((glob.escape(name) or "*") + _BUILDING) if one.is_file()}


def give_name(building: Path, path: Path) -> None:
    """The name, unless another process was faster: FileExistsError, which a rename would not tell. OSError."""
    try:
        os.link(building, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        told = "its file system has no hard links; name a folder on a disk of this host (ext4, xfs, btrfs)"
        raise OSError(error.errno, told, str(path.parent)) from error


def write_new_file(path: Path, data: bytes, like: Path | None = None) -> None:
    """Write a new file: all of it durably, or nothing under this name; FileExistsError. From its first byte on its
    owner alone may read it (the owner of `like`, where root writes it)."""
    building = building_beside(path)
    try:
        descriptor = os.open(building, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            if like is not None and os.geteuid() == 0:  # what root writes the daemon must be able to read
                owner = like.stat()
                os.fchown(file.fileno(), owner.st_uid, owner.st_gid)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        give_name(building, path)
    finally:
        building.unlink(missing_ok=True)
    fsync_folder(path.parent)
