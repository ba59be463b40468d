"""Which master key is the right one, and how another key takes its place.

The store names the key that it is sealed under by a fingerprint (`master_key`), which changes in the transaction that
seals everything anew. The key itself is a file, so for a moment there are two:

1. the new key is written beside the old one, as `<name>.next`, fsynced;
2. one transaction seals every value of `SEALED` anew and names the new key;
3. `<name>.next` is renamed to `<name>`.

What a crash leaves: before 2 commits the store names the old key, which is in its place, and the new file means
nothing. After it the store names the new one, which is on disk under its other name. `valid_key` puts either right.

`valid_key` and `rotate` are called by the process that holds the lock of the data folder (storage.data_folder). A
command that seals beside a daemon calls `require` in its transaction: the key that it read may have been replaced
meanwhile.
"""

import os
from collections.abc import Callable
from glob import escape
from pathlib import Path
from typing import NamedTuple, TypeVar

from storage.durable_files import fsync_folder, is_there
from storage.engine import migrate
from storage.engine.tx import Tx
from storage.sealing import (
    Sealer,
    SealError,
    fingerprint,
    new_master_key,
    read_master_key,
    write_master_key,
)

T = TypeVar("T")


class Sealed(NamedTuple):
    """A column of sealed values, and the SQL expression of the context that each value is bound to."""

    table: str
    column: str
    context: str


SEALED = (
    Sealed("dkim_keys", "private_key", "'dkim:' || domain_name || ':' || selector"),  # dkim_keys.context
    Sealed("webhooks", "secret", "'webhook:' || id"),  # controlplane.webhooks.secrets
    Sealed("webhooks", "previous_secret", "'webhook:' || id"),
    Sealed("server_secrets", "secret", "'server:' || name"),  # server_secrets.context
)


def valid_key(database: Path, key_file: Path) -> bytes:
    """The key that the store is sealed under; finishes or undoes a rotation that was interrupted. SealError."""
    with migrate.transaction(database) as tx:
        wanted = _named(tx)
        key = _settled(key_file, wanted)
        if wanted is None:
            adopt(tx, key)
    return key


def rotate(database: Path, key_file: Path, also: Callable[[Tx, Sealer], None] | None = None) -> int:
    """Seal every value of SEALED under a new key; how many. When it returns, that is durable, and the old key opens
    nothing. SealError. `also`: done in the same transaction, with what seals under the new key."""
    old = Sealer(valid_key(database, key_file))

    def reseal(tx: Tx, new: Sealer) -> int:
        count = _seal_anew(tx, old, new)
        if also is not None:
            also(tx, new)
        return count

    return _under_another(database, key_file, key_file, reseal)


def replace_lost(database: Path, key_file: Path, renew: Callable[[Tx, Sealer], T]) -> T:
    """Name a new key in a store whose key is lost; what `renew` answers, which puts something else in the place of all
    that is sealed, in the same transaction. When it returns, that is durable. SealError while there is a key file:
    where it is the right one nothing is lost, and else it may be another store's.

    A crash leaves what one leaves of a rotation.
    """
    if not is_there(key_file):
        _finish(database, key_file)
    if is_there(key_file):
        raise SealError(
            f"{key_file} is there: if the store's key is lost for good, move this file away first, for it may be"
            " another store's; if it is the store's own, nothing is lost"
        )
    _next(key_file).unlink(missing_ok=True)  # of a run that came to no end

    def renewed(tx: Tx, new: Sealer) -> T:
        answer = renew(tx, new)
        for _, value, context in _values(tx):  # what did not get anything else in its place
            new.open(value, context)
        return answer

    return _under_another(database, key_file, database, renewed)


def _under_another(database: Path, key_file: Path, like: Path, work: Callable[[Tx, Sealer], T]) -> T:
    """The three steps above. `like`: whose owner the key file gets; `work`: seals under the new key, in step 2."""
    key = new_master_key()
    write_master_key(_next(key_file), key, like=like)
    with migrate.transaction(database, overwrites=True) as tx:  # what another key opens is not just freed
        _name(tx, key)
        answer = work(tx, Sealer(key))
    _replace(key_file)
    migrate.write_back(database)
    return answer


def _finish(database: Path, key_file: Path) -> None:
    """Put the key in its place, where the store names the one that is written beside it."""
    try:
        valid_key(database, key_file)
    except SealError:  # it is lost
        return


def is_sealed(tx: Tx) -> bool:
    """Does the store name a key? If so, a key must not be made for it."""
    return _named(tx) is not None


def adopt(tx: Tx, key: bytes) -> None:
    """Name the key in a store that does not name one: a new one, or one from before keys were named. SealError when a
    value does not open under it, or the store names another key."""
    if _named(tx) is not None:
        require(tx, key)
        return
    for _, value, context in _values(tx):
        Sealer(key).open(value, context)
    _name(tx, key)


def require(tx: Tx, key: bytes) -> None:
    """SealError unless the store is sealed under this key."""
    if _named(tx) != fingerprint(key):
        raise SealError(
            "the store is sealed under another master key than this one; put the right key in its place, or start"
            " the daemon if a rotation was interrupted: it finishes it"
        )


def _settled(key_file: Path, wanted: bytes | None) -> bytes:
    following = _next(key_file)
    if wanted is not None and is_there(following):
        try:
            key = read_master_key(following)
        except SealError:  # a crash came before all of it was written
            key = b""
        if fingerprint(key) == wanted:
            _replace(key_file)
    key = read_master_key(key_file)
    if wanted is not None and fingerprint(key) != wanted:
        raise SealError(
            f"{key_file} is not the master key that the store is sealed under; put the right one in its place"
            f" (after a rotation that was interrupted it may be {following.name} beside it)"
        )
    for left in key_file.parent.glob(
        f"{escape(following.name)}*"
    ):  # also what was being written when a crash came
        left.unlink()
    return key


def _seal_anew(tx: Tx, old: Sealer, new: Sealer) -> int:
    values = _values(tx)
    for sealed, value, context in values:
        # A context is a row's own: it holds the primary key.
        tx.run(
            f"UPDATE {sealed.table} SET {sealed.column} = ? WHERE {sealed.context} = ?",
            (new.seal(old.open(value, context), context), context),
        )
    return len(values)


def _values(tx: Tx) -> list[tuple[Sealed, bytes, str]]:
    """Every sealed value with its context. The private half of a retired DKIM key is empty, and not among them."""
    return [
        (sealed, row[0], row[1])
        for sealed in SEALED
        for row in tx.all(
            f"SELECT {sealed.column}, {sealed.context} FROM {sealed.table} WHERE length({sealed.column}) > 0"
        )
    ]


def _named(tx: Tx) -> bytes | None:
    found: bytes | None = tx.value("SELECT fingerprint FROM master_key")
    return found


def _name(tx: Tx, key: bytes) -> None:
    tx.run("DELETE FROM master_key")
    tx.run("INSERT INTO master_key (fingerprint) VALUES (?)", (fingerprint(key),))


def _next(key_file: Path) -> Path:
    return key_file.with_name(key_file.name + ".next")


def _replace(key_file: Path) -> None:
    os.replace(_next(key_file), key_file)
    fsync_folder(key_file.parent)
