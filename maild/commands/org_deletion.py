"""Deleting an organization by command: it is closed here, in one transaction, and goes bit by bit.

A daemon that runs does the rest, beside its mail; the command watches. Where none runs, the command does it, with the
store locked as for a daemon. Whoever is killed, the rest is found by the next start of a daemon, or by the same
command.

A daemon that ends while a command watches is about to be started again, as a rule: a command that took its place would
refuse that start, and all mail until it is done. So who has seen one never locks the store but to look whether it is
there, seldom, and gives up when it was not there twice.
"""

import asyncio
from collections.abc import Callable
from time import sleep as rest
from typing import Any, NamedTuple

from maild.commands.store_commands import CommandGround, StoreCommands
from storage.audit import trail
from storage.audit.acts import Act
from storage.data_folder import DataFolder, DataFolderError
from storage.engine import migrate
from storage.engine.database import Database
from storage.engine.failures import StoreFailure, in_words
from storage.engine.migrate import StoreError
from storage.engine.tx import Tx
from storage.mail import blobs
from storage.mail.blobs import Blobs
from storage.searching import search_tail
from storage.searching.indexer import SearchIndexer
from storage.searching.search_index import SearchIndex
from storage.tenants import erasure, organizations
from storage.tenants.erasure import OperatorsOwn, Standing
from storage.upkeep.erasing import Eraser, ErasingPace, nothing_leaves

Progress = Callable[[dict[str, int]], None]  # how much has gone so far, by kind

LOOK_S = 0.2
# A daemon that starts in the moment of such a look is refused. Starts take less than two of them.
DAEMON_LOOK_S = 30.0
ALONE = ErasingPace(rest=0, quiet_rest=0)
_LEFT = (
    "the daemon that was deleting {0} has ended; it goes on when it starts, and without one this command does,"
    " if you run it again"
)


class DeletionRefused(Exception):
    """The organization can't be deleted, or not by this command; the text says why."""


class _Daemon(NamedTuple):
    """One that was seen. `look_again_at`: monotonic seconds; `was_missed`: it was not there at the last look."""

    look_again_at: float
    was_missed: bool = False


class OrganizationDeletion(StoreCommands):
    """KeyError names an organization that does not exist; DeletionRefused, StoreError."""

    def __init__(self, ground: CommandGround, folder: DataFolder) -> None:
        super().__init__(ground)
        self._folder = folder
        self._daemon: _Daemon | None = None  # whom this command watches

    def look(self, organization_id: str) -> dict[str, Any]:
        """What would go: `{"organizationId", "name", "isClosed", "content"}`, the last by kind, with `bytes` of raw
        messages."""

        def unit(tx: Tx) -> dict[str, Any]:
            found = _require(tx, organization_id)
            return {
                "organizationId": organization_id,
                "name": found.name,
                "isClosed": found.deleted_at is not None,
                "content": erasure.content(tx, organization_id),
            }

        return self._look(unit)

    def delete(self, organization_id: str, progress: Progress) -> dict[str, Any]:
        """Close it, and return when it is gone: `{"organizationId", "deleted", "erased"}`, the last by kind. `progress`
        hears now and then how much has gone so far."""

        def close(tx: Tx) -> None:
            _require(tx, organization_id)
            erasure.begin(tx, organization_id, self._clock.now_ms(), self._audit)

        self._run(close)
        while (found := self._look(lambda tx: erasure.standing(tx, organization_id))) is not None:
            progress(found.erased)
            self._go_on(organization_id, progress)
        while not self._look(lambda tx: search_tail.is_gone(tx, organization_id)):
            self._go_on(organization_id, progress)
        return {
            "organizationId": organization_id,
            "deleted": True,
            "erased": self._look(lambda tx: _erased(tx, organization_id)),
        }

    def _go_on(self, organization_id: str, progress: Progress) -> None:
        """Do what is to be done, or wait a moment for the daemon, which does."""
        now_s = self._clock.monotonic()
        if self._daemon is not None and now_s < self._daemon.look_again_at:
            rest(LOOK_S)
            return
        try:
            self._folder.lock()
        except DataFolderError:
            self._daemon = _Daemon(now_s + DAEMON_LOOK_S)
            rest(LOOK_S)
            return
        if self._daemon is not None:
            self._folder.unlock()
            if self._daemon.was_missed:
                raise DeletionRefused(_LEFT.format(organization_id))
            self._daemon = _Daemon(now_s + DAEMON_LOOK_S, was_missed=True)
            return
        try:
            with self._folder.as_its_owner():
                migrate.prepare(self._folder.database)  # one that was restored has no log of changes yet
                asyncio.run(self._erase_here(organization_id, progress))
        except StoreFailure as error:
            raise StoreError(f"{self._folder.database}: {in_words(error)}") from error
        finally:
            self._folder.unlock()

    async def _erase_here(self, organization_id: str, progress: Progress) -> None:
        """In the place of a daemon: what that removed from memory or swept at its start is done here."""
        db = await Database.open(self._folder.database)
        indexer = SearchIndexer(db, SearchIndex(self._folder.search_index), self._clock)
        files = Blobs(self._folder.blobs, self._ids, self._settings.storage.inline_blob_bytes)
        own = (db, files, self._clock, self._ids, self._audit)
        eraser = Eraser(*own, nothing_leaves, self._settings.server.shared_domains, ALONE)
        erasing = asyncio.ensure_future(eraser.erase(organization_id))
        try:
            await indexer.start()
            while not erasing.done():
                await asyncio.wait([erasing], timeout=LOOK_S)
                found = await db.read(erasure.standing, organization_id)
                progress(found.erased if found else {})
            await erasing
            files.sweep(await db.read(blobs.known_files))
            while not await db.read(search_tail.is_gone, organization_id):  # noqa: ASYNC110 (nobody is called)
                await asyncio.sleep(LOOK_S)
        finally:
            erasing.cancel()
            await asyncio.gather(erasing, return_exceptions=True)  # what it raised was raised above
            await indexer.stop()
            await db.close()


def _erased(tx: Tx, organization_id: str) -> dict[str, int]:
    told = trail.told_of(tx, organizations.own(tx) or "", Act.ORGANIZATION_DELETED, organization_id) or {}
    return {kind: count for kind, count in told.items() if kind != "wasUnsealed"}


def _require(tx: Tx, organization_id: str) -> Standing:
    found = erasure.standing(tx, organization_id)
    if found is None:
        raise KeyError(f"organization {organization_id}")
    try:
        erasure.refuse_own(tx, organization_id)
    except OperatorsOwn as error:
        raise DeletionRefused(
            f"{organization_id} is the operator's own: mail to postmaster@ and abuse@ of every domain arrives there,"
            " and what is done to the host stands in its log; it can't be deleted"
        ) from error
    return found
