"""The bytes of a large message go, or change, while a host takes it: the host never gets the end of it."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from maild.outbound.lines.destination_queues import DestinationKey, DestinationKind
from tests.scenarios.mail_hosts.test_mx_stops_reading import LARGE, host_of_ours, read_all, take_until_354
from tests.support.worlds.sending import Sending


def change(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.seek(len(LARGE) - 10)
        opened.write(b"z")


def shorten(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.truncate(len(LARGE) - 100)


@pytest.mark.parametrize(
    ("harm", "status", "words"),
    [
        (Path.unlink, "bounced", "the stored message is gone"),
        (change, "deferred", "the stored message is damaged"),
        (shorten, "deferred", "the stored message is damaged"),
    ],
)
async def test_the_connection_ends_without_the_final_dot(
    tmp_path: Path, harm: Callable[[Path], None], status: str, words: str
) -> None:
    async with Sending(tmp_path) as sending, host_of_ours(sending) as listener:
        message_id = await sending.send("you@there.test", raw=LARGE)
        conn = await take_until_354(listener)
        await asyncio.get_running_loop().sock_recv(conn, 1)  # it is on its way
        harm(next((tmp_path / "blobs").glob("??/blb_*")))
        with conn:
            assert await read_all(conn) < len(LARGE)
        await sending.until(message_id, status)
        (row,) = await sending.store.recipients(message_id)
        assert words in row.response
        # Nothing is held against the host.
        key = DestinationKey(DestinationKind.REMOTE, "there.test")
        assert not sending.queue._destinations.is_dead(sending.queue._destinations.queue(key))
