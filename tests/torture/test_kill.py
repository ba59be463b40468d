"""A 250 is a promise: the process is killed at random moments while mail pours in, and every message that
got its 250 is there afterwards, whole; nothing is there twice, torn, or half (a row without bytes, a file
without a row). What was under way is sent again to the next process, by a client that can't know whether it was
committed.

One store, one daemon after another on it. TORTURE_ROUNDS sets how many are killed, TORTURE_SEED
repeats the moments and the messages of a run that failed.
"""

import asyncio
import base64
import hashlib
import os
import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from storage.clock import Clock
from storage.data_folder import DataFolder
from storage.ids import Ids
from storage.mail.blobs import Blob, Blobs
from tests.support.daemon import DOMAIN, Daemon
from tests.support.peers.dns_server import DnsServer
from tests.support.waiting import GIVES_UP_S

pytestmark = pytest.mark.torture

ROUNDS = int(os.environ.get("TORTURE_ROUNDS", "25"))  # a start takes seconds where the machine is slow
SEED = int(os.environ.get("TORTURE_SEED", "0")) or random.SystemRandom().randrange(1, 10**9)
ROUND_MAX_S = 0.4  # a life ends at a random moment up to this after the first connection
CLIENTS = 6
# On both sides of storage.inline_blob_bytes (INLINE_BYTES), so that rows and files occur.
MIN_BYTES, MAX_BYTES = 1024, 300 * 1024
INLINE_BYTES = 128 * 1024
USERNAMES = ("ann", "ben", "eve")
PAGE = 100


@dataclass(frozen=True)
class Sent:
    """A message as it left the client; only its digests are kept."""

    message_id: str
    raw_sha256: bytes
    attachment_sha256: bytes


@dataclass
class Ledger:
    """Everything that the clients did: what was begun, and what got its 250."""

    randomness: random.Random
    begun: dict[str, Sent] = field(default_factory=dict)
    acknowledged: set[str] = field(default_factory=set)
    broken_off: list[tuple[Sent, bytes, str]] = field(
        default_factory=list
    )  # and to whom: nothing was heard of it
    sent_again: int = 0
    kept_a_file: asyncio.Event = field(default_factory=asyncio.Event)  # in this life of the daemon

    def next_message(self) -> tuple[Sent, bytes, str]:
        """The message, its octets, its recipient."""
        if self.broken_off:
            self.sent_again += 1
            return self.broken_off.pop()
        number = len(self.begun) + 1
        size_bytes = int(MIN_BYTES * (MAX_BYTES / MIN_BYTES) ** self.randomness.random())
        attachment = self.randomness.randbytes(size_bytes * 3 // 4)
        message_id = f"<{SEED}.{number}@there.test>"
        raw = render(number, message_id, attachment)
        sent = Sent(message_id, sha256(raw), sha256(attachment))
        self.begun[message_id] = sent
        return sent, raw, USERNAMES[number % len(USERNAMES)]


async def test_every_message_that_got_its_250_survives_kill_9(tmp_path: Path) -> None:
    print(f"TORTURE_SEED={SEED} TORTURE_ROUNDS={ROUNDS}")  # shown when it fails
    randomness = random.Random(SEED)
    ledger = Ledger(random.Random(SEED + 1))
    in_flight = 0
    async with (
        asyncio.timeout(GIVES_UP_S + 6 * ROUNDS),
        DnsServer() as dns,
        Daemon(tmp_path, dns_port=dns.port) as daemon,
    ):
        for username in USERNAMES:
            await daemon.api.post("/v1/inboxes", username=username)
        for number in range(ROUNDS):
            in_flight += await one_life(daemon, ledger, randomness.uniform(0, ROUND_MAX_S), number % 2 == 1)
        await check_by_the_api(daemon, ledger)
    await check_the_store(daemon.data_dir, ledger)
    received_again = daemon.log.read_text("utf-8").count("received_again")
    print(f"{len(ledger.acknowledged)} acknowledged, {in_flight} in flight when killed")
    print(f"{ledger.sent_again} sent again, of which {received_again} were in the store")
    assert in_flight >= ROUNDS // 2, "hardly anything was in flight: this proves nothing"
    assert len(ledger.acknowledged) >= ROUNDS, "hardly anything was acknowledged: this proves nothing"
    assert received_again or ROUNDS < 50, "no process was killed between COMMIT and 250: this proves little"
    shutil.rmtree(daemon.data_dir)  # some hundred megabytes


async def one_life(daemon: Daemon, ledger: Ledger, lasts_s: float, is_warm: bool) -> int:
    """Load until the daemon is killed, then a new one; how many messages were under way at the end.

    `is_warm`: its time begins with its first file. What reads large mail is a process that begins with the first one,
    and on a slow machine no file would be kept before the end."""
    ledger.kept_a_file.clear()
    clients = [asyncio.create_task(client(daemon.smtp_port, ledger)) for _ in range(CLIENTS)]
    if is_warm:
        await ledger.kept_a_file.wait()
    await asyncio.wait(clients, timeout=lasts_s)
    await daemon.kill()
    under_way = sum(await asyncio.gather(*clients))
    await daemon.start()
    return under_way


async def client(port: int, ledger: Ledger) -> bool:
    """Send until the connection breaks; True when that happened within a message."""
    is_sending = False
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with closing(writer):
            await expect(reader, b"220")
            await say(writer, reader, b"EHLO client.there.test", b"250")
            while True:
                sent, raw, recipient = ledger.next_message()
                is_sending = True
                await say(writer, reader, b"MAIL FROM:<alice@there.test>", b"250")
                await say(writer, reader, f"RCPT TO:<{recipient}@{DOMAIN}>".encode(), b"250")
                await say(writer, reader, b"DATA", b"354")
                await say(writer, reader, raw.replace(b"\r\n.", b"\r\n..") + b".", b"250")
                ledger.acknowledged.add(sent.message_id)
                if len(raw) > INLINE_BYTES:
                    ledger.kept_a_file.set()
                is_sending = False
    except (ConnectionError, asyncio.IncompleteReadError):
        if is_sending:
            ledger.broken_off.append((sent, raw, recipient))
        return is_sending


async def say(writer: asyncio.StreamWriter, reader: asyncio.StreamReader, line: bytes, code: bytes) -> None:
    writer.write(line + b"\r\n")
    await writer.drain()
    await expect(reader, code)


async def expect(reader: asyncio.StreamReader, code: bytes) -> None:
    while True:
        line = await reader.readuntil(b"\n")
        assert line.startswith(code), line
        if line[3:4] != b"-":
            return


def render(number: int, message_id: str, attachment: bytes) -> bytes:
    """A multipart mail; its text has a line that begins with a dot."""
    encoded = base64.encodebytes(attachment).decode().replace("\n", "\r\n")
    return (
        f"From: Alice <alice@there.test>\r\nTo: bot@{DOMAIN}\r\nSubject: number {number}\r\n"
        f"Message-ID: {message_id}\r\nDate: Sat, 21 Nov 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\n"
        'Content-Type: multipart/mixed; boundary="=_part"\r\n\r\n'
        f"--=_part\r\nContent-Type: text/plain\r\n\r\nnumber {number}\r\n.\r\n"
        "--=_part\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n"
        f'Content-Disposition: attachment; filename="{number}.bin"\r\n\r\n{encoded}--=_part--\r\n'
    ).encode()


# What is there afterwards ------------------------------------------------------------------------


async def check_by_the_api(daemon: Daemon, ledger: Ledger) -> None:
    """As a client sees it: each acknowledged message once, none that was never sent, attachments whole."""
    listed = await all_messages(daemon)
    times = Counter(one["messageIdHeader"] for one in listed)
    assert ledger.acknowledged - set(times) == set(), "lost"
    assert set(times) - set(ledger.begun) == set(), "invented"
    assert [one for one, count in times.items() if count > 1] == [], "twice"
    slots = asyncio.Semaphore(10)
    torn = await asyncio.gather(*(is_torn(daemon, one, ledger, slots) for one in listed))
    assert [one for one in torn if one] == [], "torn"
    inboxes = await daemon.api.get("/v1/inboxes")
    assert sum(one["unreadCount"] for one in inboxes) == len(listed)


async def all_messages(daemon: Daemon) -> list[Any]:
    listed: list[Any] = []
    more: dict[str, str] = {}
    while page := await daemon.api.get("/v1/messages", limit=PAGE, **more):
        listed += page
        more = {"before": page[-1]["id"]}
    return listed


async def is_torn(daemon: Daemon, message: Any, ledger: Ledger, slots: asyncio.Semaphore) -> str | None:
    """The Message-ID when the attachment isn't what was sent."""
    (attachment,) = message["attachments"]
    async with slots:
        data = await daemon.api.get_bytes(f"/v1/attachments/{attachment['id']}")
    message_id: str = message["messageIdHeader"]
    return message_id if sha256(data) != ledger.begun[message_id].attachment_sha256 else None


async def check_the_store(data_dir: Path, ledger: Ledger) -> None:
    """Byte for byte, below the API: sound database, every raw message as sent, no file without a row."""
    folder = DataFolder(data_dir)
    with closing(sqlite3.connect(folder.database)) as conn:
        assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert conn.execute("PRAGMA foreign_key_check").fetchall() == []
        torn = [
            message_id
            async for message_id, raw in raw_messages(conn, Blobs(folder.blobs, Ids(Clock()), inline_bytes=0))
            if sha256(raw) != ledger.begun[message_id].raw_sha256
        ]
        in_files = {row[0] for row in conn.execute("SELECT id FROM blobs WHERE data IS NULL")}
        in_rows = conn.execute("SELECT count(*) FROM blobs WHERE data IS NOT NULL").fetchone()[0]
    assert torn == [], "torn"
    assert in_files and in_rows, "both kinds of blobs must occur"
    assert {file.name for file in folder.blobs.glob("*/*")} == in_files


async def raw_messages(conn: sqlite3.Connection, blobs: Blobs) -> AsyncIterator[tuple[str, bytes]]:
    rows = conn.execute(
        """SELECT m.message_id_header, b.id, b.size_bytes, b.data, b.sha256
           FROM messages m JOIN blobs b ON b.id = m.blob_id"""
    )
    for message_id, *blob in rows:
        yield message_id, await blobs.load(Blob(*blob))


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
