"""Power is lost at any moment, on a disk that keeps what was synced and no more: all that was acknowledged before is
there, octet for octet, nothing is half there, and the daemon serves again.

A real daemon works under strace, from `maild init` on: mail in, sends, deletions, a checkpoint, a stop and a start.
`tests/support/machine/lossy_disk.py` says what a disk may hold afterwards; that is written down again and again, for
moments and lots that a seed draws. Each time the store opens and is looked at, and often the daemon starts on it.
POWER_LOSSES sets how many times (`-o faulthandler_timeout=0` for some thousand), TORTURE_SEED repeats a run as far as
the daemon does the same again; the folder that failed stays, as `left`.
"""

import asyncio
import hashlib
import os
import random
import shutil
import sqlite3
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import aiosmtplib
import pytest

from conf.loading import parse
from conf.settings import Settings
from maild.commands.checking import check
from maild.commands.operator_commands import OperatorCommands
from maild.daemon import Daemon as DaemonHere
from storage.clock import Clock
from storage.data_folder import DataFolder
from tests.support.daemon import DOMAIN, POLL_S, Api, Daemon
from tests.support.machine.disk_calls import DiskCall, read, recording, replay, require_recording
from tests.support.machine.lossy_disk import WHOLE, Change, LossyDisk, Lot, Name, Octets
from tests.support.waiting import GIVES_UP_S

pytestmark = pytest.mark.torture

LOSSES = int(os.environ.get("POWER_LOSSES", "120"))
SEED = int(os.environ.get("TORTURE_SEED", "0")) or random.SystemRandom().randrange(1, 10**9)
SMALL, LARGE = 2_000, 200_000  # octets, on both sides of storage.inline_blob_bytes
WORD = "electricity"
CALLS_TOLD = 12
# What must have happened: large messages got their names and went, the WAL was written back, the index was filled.
DONE = {
    ("rename", "blobs"), ("unlink", "blobs"), ("pwrite", "maild.sqlite3"), ("pwrite", "maild.sqlite3-wal"),
    ("unlink", "maild.sqlite3-wal"), ("pwrite", "search.sqlite3-wal"),
}  # fmt: skip
PAGE = 100
SERVED = 5  # of so many folders a daemon serves one, besides those of moments at which something was told


class Fact(NamedTuple):
    """A client was told that an inbox or a message is there, or gone. `told`: what the answer alone holds. `known`: how
    many facts were when it was asked for."""

    what: str
    id: str
    told: bytes
    known: int


class Clients:
    """They note what they were told, and the octets of the mail that they sent."""

    def __init__(self, daemon: Daemon, randomness: random.Random) -> None:
        self._daemon = daemon
        self._randomness = randomness
        self.facts: list[Fact] = []
        self.sha256: dict[str, bytes] = {}

    async def work(self) -> None:
        """All at once, so that they share commits; deletions once the store has been written back."""
        bot = await self.inbox("bot")
        small, large, sent, *_ = await asyncio.gather(
            self.deliver("bot", SMALL),
            self.deliver("bot", LARGE),
            self.send(bot, "eve@there.test", LARGE),
            self.send(bot, "eve@there.test", SMALL),
            self.send(bot, f"bot@{DOMAIN}", SMALL),
            *(self.deliver("bot", size) for size in (SMALL, LARGE, LARGE)),
            *(self.inbox(name) for name in ("ann", "ben")),
        )
        await self._written_back()
        self._note_octets()
        await asyncio.gather(
            *(self.delete(one) for one in (small, large, sent)),
            *(self.deliver(name, size) for name in ("ann", "ben") for size in (SMALL, LARGE)),
        )
        self._note_octets()

    async def work_again(self) -> None:
        large, *_ = await asyncio.gather(
            self.deliver("ann", LARGE), self.deliver("bot", SMALL), self.inbox("cat")
        )
        self._note_octets()
        await self.delete(large)

    async def inbox(self, username: str) -> str:
        return await self._ask("inbox", "POST", "/v1/inboxes", username=username)

    async def send(self, inbox_id: str, to: str, size_bytes: int) -> str:
        text = self._randomness.randbytes(size_bytes // 2).hex()
        message = {"inboxId": inbox_id, "to": [to], "subject": WORD, "text": text}
        return await self._ask("message", "POST", "/v1/messages/send", **message)

    async def delete(self, message_id: str) -> None:
        await self._ask("gone", "DELETE", f"/v1/messages/{message_id}")

    async def deliver(self, username: str, size_bytes: int) -> str:
        """By SMTP; the message's id."""
        name, known = self._randomness.randbytes(8).hex(), len(self.facts)
        lines = [
            "From: ada@there.test", f"Subject: {WORD}", f"Message-ID: <{name}@there.test>", "",
            *(self._randomness.randbytes(35).hex() for _ in range(size_bytes // 72)),
        ]  # fmt: skip
        raw = "".join(f"{line}\r\n" for line in lines).encode()
        _, reply = await aiosmtplib.send(
            raw, sender="ada@there.test", recipients=[f"{username}@{DOMAIN}"],
            hostname="127.0.0.1", port=self._daemon.smtp_port, start_tls=False,
        )  # fmt: skip
        message_id = reply.rpartition(" ")[2]
        self.sha256[message_id] = hashlib.sha256(raw).digest()
        self.facts.append(Fact("message", message_id, reply.encode(), known))
        return message_id

    async def _ask(self, what: str, method: str, path: str, **body: Any) -> str:
        known = len(self.facts)
        async with (
            self._daemon.session() as session,
            session.request(method, path, json=body or None) as answer,
        ):
            assert answer.ok, await answer.text()
            named: str = (await answer.json())["data"]["id"]
            self.facts.append(Fact(what, named, answer.headers["X-Request-Id"].encode(), known))
        return named

    def _note_octets(self) -> None:
        """Also those that the daemon composed."""
        there = messages_of(DataFolder(self._daemon.data_dir))
        assert {
            name: there[name] for name in there.keys() & self.sha256.keys()
        }.items() <= self.sha256.items()
        self.sha256 |= there

    async def _written_back(self) -> None:
        """The WAL is written into the store in the next pause."""
        database = DataFolder(self._daemon.data_dir).database
        before = database.stat().st_mtime_ns
        async with asyncio.timeout(GIVES_UP_S):
            while database.stat().st_mtime_ns == before:
                await asyncio.sleep(POLL_S)


class Recorded(NamedTuple):
    """What became of a data folder, and what clients know of it. `served`: when the store had been made. `told`: when
    each fact went out. `sha256`: of every message that was ever there."""

    calls: list[DiskCall]
    served: int
    facts: list[Fact]
    told: list[int]
    sha256: dict[str, bytes]
    config: Path
    api_key: str

    def stands(self, what: str, moment: int) -> set[str]:
        """What clients had been told until then."""
        pairs = zip(self.facts, self.told, strict=True)
        return {fact.id for fact, told in pairs if fact.what == what and told <= moment}

    def may_be_gone(self, moment: int) -> set[str]:
        """The messages whose deletion may have been asked for."""
        gone = [fact for fact in self.facts if fact.what == "gone"]
        return {fact.id for fact in gone if max(self.told[: fact.known]) <= moment}

    def settings(self, data_dir: Path) -> Settings:
        return parse({**tomllib.loads(self.config.read_text("utf-8")), "data_dir": str(data_dir)})


async def record(folder: Path, randomness: random.Random) -> Recorded:
    """The life of a store on the folder `disk`."""
    disk = folder / "disk"
    disk.mkdir()
    daemon = Daemon(folder, dns_port=9, outbound_port=9, more={"storage": {"reserve_percent": 0}})
    daemon.data_dir = disk / "data"
    clients = Clients(daemon, randomness)
    daemon.under = recording(folder / "init")
    await daemon.init()
    calls = read(folder / "init", disk)
    served = after(calls)
    for name, work in (("first", clients.work), ("second", clients.work_again)):
        daemon.under = recording(folder / name)
        try:
            await daemon.start()
            await work()
            await daemon.stop()
            await daemon.fell_silent()
        finally:
            await daemon.kill()
        calls += read(folder / name, disk, after(calls))
    sent = [(call.began, call.data) for call in calls if call.what == "send"]
    told = [next(began for began, data in sent if fact.told in data) for fact in clients.facts]
    return Recorded(calls, served, clients.facts, told, clients.sha256, daemon.config, daemon.api_key)


def after(calls: list[DiskCall]) -> int:
    """A moment after all of them."""
    return max(call.returned for call in calls) + 1


def messages_of(folder: DataFolder) -> dict[str, bytes]:
    """The SHA-256 of each message that has its octets, as the store has it."""
    with closing(sqlite3.connect(folder.database)) as conn:
        return dict(conn.execute("SELECT m.id, b.sha256 FROM messages m JOIN blobs b ON b.id = m.blob_id"))


# Lots ---------------------------------------------------------------------------------------------


def lot(unsynced: list[Change], randomness: random.Random) -> tuple[str, Lot]:
    """Everything; all but one change; one alone; the last write torn; or what chance leaves of each."""
    one = randomness.choice(unsynced) if unsynced else None
    writes = [change for change in unsynced if isinstance(change, Octets)]
    last = writes[-1] if writes else None
    shares: dict[str, Callable[[Change], float]] = {
        "everything is left": lambda change: 1,
        f"all is left but {one}": lambda change: change is not one,
        f"nothing is left but {one}": lambda change: change is one,
        "the last write is torn": lambda change: 0.5 if change is last else 1,
        "chance decides": lambda change: randomness.choice((0, 0.5, 1)),
    }
    text, share = randomness.choice([*shares.items()])
    return text, Lot(share, randomness)


NOTHING = "nothing is left", Lot(lambda change: 0, random.Random(0))
# What file systems that put off where octets go are known for.
NAMES = "names are left without their octets", Lot(lambda change: isinstance(change, Name), random.Random(0))


# What is there afterwards ------------------------------------------------------------------------


async def test_what_was_acknowledged_survives_the_loss_of_power(tmp_path: Path) -> None:
    require_recording(tmp_path)
    print(f"TORTURE_SEED={SEED} POWER_LOSSES={LOSSES}")  # shown when it fails
    randomness = random.Random(SEED)
    recorded = await record(tmp_path, randomness)
    moments = replayed(recorded, tmp_path)
    fixed = {
        *((moment, NOTHING) for moment in recorded.told),
        *((moment, NAMES) for moment in one_of_each_kind(recorded.calls, randomness)),
    }
    drawn = Counter(randomness.choices(moments, k=max(0, LOSSES - len(fixed))))
    disk, losses = LossyDisk(), 0
    for moment in replay(recorded.calls, disk):
        lots = [lot(disk.unsynced(), randomness) for _ in range(drawn[moment])]
        lots += [one for one in (NOTHING, NAMES) if (moment, one) in fixed]
        for text, one in lots:
            losses += 1
            left = tmp_path / "left"
            disk.rebuild(left, one)
            put_stale_index(left / "data", randomness)
            try:
                await examine(left / "data", recorded, moment, one is NOTHING[1] or losses % SERVED == 0)
            except BaseException as error:
                error.add_note(
                    f"power was lost at {moment}, {text}; before\n{told_of(recorded.calls, moment)}"
                )
                raise
            shutil.rmtree(left)
    assert losses >= LOSSES


def one_of_each_kind(calls: list[DiskCall], randomness: random.Random) -> list[int]:
    """For all that is done to each file of the data folder, and below each of its folders, a moment at which it had
    been asked for: some happens once."""
    kinds: dict[Any, list[int]] = defaultdict(list)
    for call in calls:
        if call.what not in ("send", "sync"):
            kinds[call.what, call.path.parts[:2]].append(call.began)
    return [randomness.choice(began) for began in kinds.values()]


def replayed(recorded: Recorded, folder: Path) -> list[int]:
    """The moments; the replay ends with what is really there, so no call was missed."""
    done = {
        (call.what, path.parts[1]) for call in recorded.calls for path in call.paths if len(path.parts) > 1
    }
    assert done >= DONE, "what it is about did not happen: this proves nothing"
    disk = LossyDisk()
    moments = list(replay(recorded.calls, disk))
    disk.rebuild(folder / "end", WHOLE)
    assert octets_of(folder / "end") == octets_of(folder / "disk")
    shutil.rmtree(folder / "end")
    return moments


def put_stale_index(data_dir: Path, randomness: random.Random) -> None:
    """SQLite's index of the WAL is memory that is never synced: of its file anything may be left."""
    if data_dir.exists() and randomness.random() < 0.5:
        DataFolder(data_dir).database.with_suffix(".sqlite3-shm").write_bytes(randomness.randbytes(32 * 1024))


def octets_of(folder: Path) -> dict[str, bytes | None]:
    """None: a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def told_of(calls: list[DiskCall], moment: int) -> str:
    last = [call for call in calls if call.began <= moment][-CALLS_TOLD:]
    return "\n".join(
        f"{call.began}–{call.returned} {call.what} {[*map(str, call.paths)]} {len(call.data)}"
        for call in last
    )


async def examine(data_dir: Path, recorded: Recorded, moment: int, is_served: bool) -> None:
    settings, folder = recorded.settings(data_dir), DataFolder(data_dir)
    if moment < recorded.served:  # nobody was told that there is a store
        OperatorCommands(settings).init()
    look(folder, recorded, moment)
    if is_served:
        await serve(settings, recorded, moment)
        look(folder, recorded, moment)
        with closing(sqlite3.connect(folder.database)) as conn:
            in_files = {row[0] for row in conn.execute("SELECT id FROM blobs WHERE data IS NULL")}
        assert {file.name for file in folder.blobs.glob("*/*")} == in_files


def look(folder: DataFolder, recorded: Recorded, moment: int) -> None:
    """Below the API: no damage, the octets of each message, all that was told."""
    assert check(folder, Clock())["damage"] == []
    there = messages_of(folder)
    # Mail to an inbox of ours that had not been delivered yet is delivered by the next daemon, under an id of its own.
    assert {*there.values()} <= {*recorded.sha256.values()}, "octets that nobody sent"
    assert all(there[name] == octets for name, octets in recorded.sha256.items() if name in there), "others"
    assert recorded.stands("message", moment) - recorded.may_be_gone(moment) <= set(there), "lost"
    assert not recorded.stands("gone", moment) & set(there), "back again"
    with closing(sqlite3.connect(folder.database)) as conn:
        inboxes = {row[0] for row in conn.execute("SELECT id FROM inboxes")}
    assert recorded.stands("inbox", moment) <= inboxes


async def serve(settings: Settings, recorded: Recorded, moment: int) -> None:
    """The daemon starts on it, and answers under the key that was made."""
    daemon = DaemonHere(settings)
    await daemon.start()
    try:
        if moment >= recorded.served:
            api = Api(daemon.http.url, recorded.api_key)
            try:
                await search(api, recorded.stands("message", moment) - recorded.may_be_gone(moment))
            finally:
                await api.close()
    finally:
        await daemon.stop()


async def search(api: Api, expected: set[str]) -> None:
    """It finds what lists show; a message may be delivered meanwhile."""
    listed, found, listed_then = [
        {one["id"] for one in await api.get("/v1/messages", limit=PAGE, **asked)}
        for asked in ({}, {"q": WORD}, {})
    ]
    assert expected <= listed <= found <= listed_then
