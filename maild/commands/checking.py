"""`maild check`: is the store whole? It changes nothing and may run beside a daemon."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from storage.clock import Clock
from storage.data_folder import DataFolder, user_of
from storage.engine.failures import StoreFailure
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import blobs
from storage.mail.blobs import BlobMissing, Blobs
from storage.upkeep import integrity
from storage.upkeep.integrity import Damage

SLICE_BLOBS = 50
ARRIVING_S = 3600  # a file without a row may be of mail that is just coming in


def check(folder: DataFolder, clock: Clock) -> dict[str, Any]:
    """`{"ok", "blobs", "damage": [{"kind", "id", "fault"}], "strayFiles"}`. DataFolderError, StoreError."""
    folder.check_readable()  # a snapshot, say, or a backup that is mounted
    folder.check_store()
    files = _old_files(folder, clock.now_ms() / 1000 - ARRIVING_S)  # before their rows are read
    with integrity.opened(folder.database) as store:
        damage = store.pages()
        count = 0
        try:
            damage += store.rows()
            for found in _blobs(store.tx, Blobs(folder.blobs, Ids(clock), 0)):
                count += 1
                damage += found
            known = blobs.known_files(store.tx)
        except StoreFailure as error:
            damage.append(Damage("page", None, f"what could be read ended here: {error}"))
            known = frozenset(files)
    return {
        "ok": not damage,
        "blobs": count,
        "damage": [one._asdict() for one in damage],
        "strayFiles": sorted(str(path) for name, path in files.items() if name not in known),
    }


def _blobs(tx: Tx, store: Blobs) -> Iterator[list[Damage]]:
    """For each blob what is wrong with it."""
    after = ""
    while some := integrity.blobs_after(tx, after, SLICE_BLOBS):
        after = some[-1].id
        for blob in some:
            try:
                store.check(blob)
                yield []
            except BlobMissing as error:
                is_there = blobs.get(tx, blob.id) is not None  # else it was removed meanwhile
                yield [Damage("blob", blob.id, str(error))] if is_there else []
            except PermissionError as error:  # brought back by root: to the daemon it is as good as gone
                owner = user_of(Path(error.filename))
                fault = f"its file is closed to this user: it belongs to the user {owner}"
                yield [Damage("blob", blob.id, fault)]


def _old_files(folder: DataFolder, before_s: float) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in folder.blobs.glob("??/*"):
        try:
            if os.stat(path).st_mtime < before_s:
                found[path.name] = path
        except FileNotFoundError:
            continue
    return found
