"""What takes mail in: maild, and the peers it is measured beside."""

import asyncio
import contextlib
import os
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Protocol

from scripts.bench import measure
from scripts.bench.peers.dovecot import dovecot, mailbox
from storage.data_folder import DataFolder
from tests.support.daemon import DOMAIN, Daemon
from tests.support.peers.postfix import Postfix

PEER_DOMAIN = "in.test"
LOOK_S = 0.05
WRITTEN_BACK_S = 1.0  # maild writes its WAL back in a pause of half a second


class Server(Protocol):
    name: str
    port: int
    recipient: str

    async def prepare(self) -> None:
        """Before a run: what `check` counts from."""

    async def settle(self, count: int) -> None:
        """Return when nothing of the work is left to do."""

    async def check(self, count: int) -> None:
        """SystemExit when other than so many messages came in this run."""

    async def newest(self) -> str:
        """The message that came last, as it is stored."""

    def cpu_s(self) -> float:
        """Used so far by its processes."""


class Maild:
    """Settled when all is indexed."""

    name = "maild"

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self.port = daemon.smtp_port
        self.recipient = f"bot@{DOMAIN}"
        store = DataFolder(daemon.data_dir).database
        self._store = sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True)

    def oldest_unindexed(self) -> str | None:
        found: str | None = self._store.execute("SELECT min(message_id) FROM search_tail").fetchone()[0]
        return found

    async def settle(self, count: int) -> None:
        async with asyncio.timeout(measure.ARRIVE_S):
            while self.oldest_unindexed() is not None:
                await asyncio.sleep(LOOK_S)

    def cpu_s(self) -> float:
        return measure.cpu_s(self._daemon.pid)

    async def prepare(self) -> None:
        self._before = await self._unread()

    async def check(self, count: int) -> None:
        shown = await self._unread() - self._before
        if shown != count:
            raise measure.BenchFailed(f"the API shows {shown} of {count} messages")

    async def newest(self) -> str:
        (message,) = await self._daemon.api.get("/v1/messages", limit=1)
        return (await self._daemon.api.get_bytes(f"/v1/messages/{message['id']}/raw")).decode(
            "utf-8", "replace"
        )

    async def _unread(self) -> int:
        inboxes = await self._daemon.api.get("/v1/inboxes")
        return sum(one["unreadCount"] for one in inboxes)


class Peer:
    """A Postfix, settled when all is in the mailbox. `others`: processes that do the work with it."""

    def __init__(self, name: str, postfix: Postfix, *others: int) -> None:
        self.name = name
        self._postfix = postfix
        self._others = others
        self.port = postfix.port
        self.recipient = f"user@{PEER_DOMAIN}"

    def cpu_s(self) -> float:
        return measure.cpu_s(self._postfix.master_pid, *self._others)

    async def prepare(self) -> None:
        self._postfix.empty_mailbox()

    async def settle(self, count: int) -> None:
        await self.check(count)

    async def check(self, count: int) -> None:
        await self._postfix.until_stored(count, deadline_s=measure.ARRIVE_S)

    async def newest(self) -> str:
        return (await self._postfix.mail(1))[-1].decode("utf-8", "replace")


@contextlib.asynccontextmanager
async def peers(names: Sequence[str]) -> AsyncIterator[list[Peer]]:
    """Started, those of these names: `Postfix` delivers by virtual(8), `Postfix + Dovecot` over LMTP."""
    async with contextlib.AsyncExitStack() as stack:
        started = []
        for name in names:
            if name == "Postfix":
                started.append(Peer(name, await stack.enter_async_context(Postfix(PEER_DOMAIN))))
            else:
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="maild-dovecot-")))
                folder.chmod(0o755)
                lmtp = await stack.enter_async_context(dovecot(folder))
                transport = f"virtual_transport = lmtp:unix:{lmtp.path}"
                postfix = Postfix(PEER_DOMAIN, extra=[transport], mailbox=mailbox(folder))
                started.append(Peer(name, await stack.enter_async_context(postfix), lmtp.pid))
        yield started


async def rest() -> None:
    """So that nobody is measured while what another wrote is written back."""
    await asyncio.sleep(WRITTEN_BACK_S)
    await asyncio.to_thread(os.sync)
