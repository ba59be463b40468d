"""Are the files that are open still those that their names lead to?

Who takes the store's file away while it is open, or puts another in its place (a clean-up, a restore over it), takes
nothing from SQLite, which goes on in a file without a name: what it keeps there is gone when the process ends. So
nothing is promised from then on, until the file is back. Without the file that is shared (`-shm`) two processes know
nothing of each other, and each writes over what the other has committed.
"""

import sqlite3
import time
from pathlib import Path
from typing import NamedTuple

MISPLACED = "its file was taken away, or another put in its place"
LOOK_S = 1.0


class FileIdentity(NamedTuple):
    """Tells a file from all others, whatever its name."""

    device: int
    inode: int


def file_at(path: Path) -> FileIdentity | None:
    """Which file has this name now; None: there is none."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return FileIdentity(found.st_dev, found.st_ino)


def beside(database: Path, suffix: str) -> Path:
    """A file that SQLite keeps beside the database: where that is a link, beside what it leads to."""
    file = database.resolve()
    return file.with_name(f"{file.name}{suffix}")


class StoreMisplaced(sqlite3.OperationalError):
    """The store's file, or one of those beside it, is not where it was opened; nothing was committed. What SQLite says
    of a rollback journal's database, it does not look for with a WAL."""

    sqlite_errorcode = sqlite3.SQLITE_READONLY_DBMOVED


class StoreFiles:
    """Of one store, as they are when it is opened; those beside it may come a little later."""

    def __init__(self, path: Path, look_s: float = LOOK_S) -> None:
        self._look_s = look_s
        self._looked_at = float("-inf")
        self._known: dict[Path, FileIdentity | None] = dict.fromkeys(
            (path, beside(path, "-wal"), beside(path, "-shm"))
        )
        self._look()

    def check(self) -> None:
        """StoreMisplaced where one is not in its place. Looks once in `look_s`, and each time while one is not."""
        now = time.monotonic()
        if now - self._looked_at >= self._look_s:
            self._look()
            self._looked_at = now

    def _look(self) -> None:
        for path, known in self._known.items():
            try:
                found = file_at(path)
            except OSError:  # of what is in a folder that may not be searched any more, nothing is known
                continue
            if known is None:
                self._known[path] = found
            elif found != known:
                raise StoreMisplaced(f"{path.name}: {MISPLACED}")
