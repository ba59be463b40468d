"""What a store says when it fails, in words that do not tell which store it is.

A unit of work raises what its own code raises, and a StoreFailure where a statement, BEGIN or COMMIT failed; either way
nothing of it was kept. `is_outage` tells two kinds of failure apart: a store that refuses every unit for now, and a
unit that would fail again (a broken constraint, a wrong statement). `is_refused` tells what peers and clients may come
again with: the machine has no room for it, or its disk takes nothing. `may_pass` tells which failures, of files and
sockets too, may be over without anybody's mending something. `storage.engine.writer.DatabaseClosed` is not a failure:
the process is ending.
"""

import errno
import socket
import sqlite3

from storage.exhaustion import Exhausted, is_exhaustion

StoreFailure = sqlite3.Error  # to be named behind `except`


class StoreStandsStill(Exhausted, sqlite3.OperationalError):
    """A unit waited in vain for those before it to be committed, since the disk takes nothing. It was not begun."""

    def __init__(self) -> None:
        super().__init__("the disk takes nothing")


# What SQLite says of the machine as it is now, ...
_PASSING = frozenset(
    {
        sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_INTERRUPT,
    }
)  # fmt: skip
# ... of pages that are not what they were, or that the disk can't read (EIO) when a statement asks for them, ...
_DAMAGES = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
# ... and, with that, when it can't write now. Every other code is about the statement, and would come again.
_OUTAGES = _PASSING | _DAMAGES | {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM}
# Of these, what is said where the disk is full, fails or was made read-only (as ext4 does of itself after an error), or
# another process holds the store; and what the kernel says of a file then.
_REFUSALS = _OUTAGES - {sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_PERM}
_REFUSAL_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.ESTALE})
# What the kernel says of the machine as it is now; an address, and the resolver, may come up after us.
_PASSING_ERRNOS = frozenset(
    {
        errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EADDRNOTAVAIL, socket.EAI_AGAIN,
        errno.EAGAIN,  # a lock that another process has, which may be about to end
    }
)  # fmt: skip


def is_outage(error: Exception) -> bool:
    """Does the store (or the disk under it) refuse every unit now, so that the same unit may succeed later?"""
    return isinstance(error, OSError) or is_exhaustion(error) or _kind(error) in _OUTAGES


def is_refused_by_disk(error: BaseException) -> bool:
    """Does the disk, or another process, keep the store or a file from what was asked? Nothing of it was done."""
    if isinstance(error, OSError):
        return error.errno in _REFUSAL_ERRNOS
    return _kind(error) in _REFUSALS


def tells_of_damage(error: BaseException) -> bool:
    """Can pages of the store not be read, or are they not what they were?"""
    return _kind(error) in _DAMAGES


def is_refused(error: BaseException) -> bool:
    """Was there no room for it on the machine as it is now, or a disk that refuses? Nobody who asked is at fault."""
    return is_exhaustion(error) or is_refused_by_disk(error)


def may_pass(error: BaseException) -> bool:
    """Is it worth trying again later, though nobody mends what we read: the configuration, a store, its owner?"""
    is_errno = isinstance(error, OSError) and error.errno in _PASSING_ERRNOS
    return is_errno or is_exhaustion(error) or _kind(error) in _PASSING


def is_momentary(error: BaseException) -> bool:
    """Was the statement stopped, or was there no memory or no lock for it?"""
    return is_exhaustion(error) or _kind(error) in (
        sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED,
    )  # fmt: skip


def is_closed_to_us(error: BaseException) -> bool:
    """Can the file not even be opened, as where it, or its folder, belongs to another user?"""
    return _kind(error) in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)


def is_full(error: BaseException) -> bool:
    """Had the disk no room for it? SQLite calls that an I/O error where it makes the file that is shared."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return _kind(error) == sqlite3.SQLITE_FULL or _code(error) == sqlite3.SQLITE_IOERR_SHMSIZE


def in_words(error: Exception) -> str:
    """What happened, for the operator: to which file, where that is known."""
    told = str(error) or "out of memory"
    if isinstance(error, OSError) and error.strerror:
        told = error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    return f"the disk is full ({told}); make room on it" if is_full(error) else told


def _kind(error: BaseException) -> int | None:
    code = _code(error)
    return None if code is None else code & 0xFF


def _code(error: BaseException) -> int | None:
    """An extended one: the low byte is the kind."""
    return getattr(error, "sqlite_errorcode", None) if isinstance(error, StoreFailure) else None
