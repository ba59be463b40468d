"""The disk refuses what is written, as an ext4 that made itself read-only after an error does: who writes is told to
come again, who reads is served, and whoever looks after the host sees it."""

import errno
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from maild.inbound.sessions import intake
from storage.clock import iso
from storage.engine import writer
from storage.engine.tx import Tx
from storage.exhaustion import Spells
from storage.service import LoopService
from tests.conftest import Start
from tests.support.running import Running, until_true
from tests.support.worlds.store import ManualClock

RAW = b"From: a@elsewhere.test\r\nSubject: hello\r\nMessage-ID: <1@elsewhere.test>\r\n\r\nwords\r\n"


class FailingDisk:
    """From `fail` on no COMMIT succeeds that has something to write, until `mend`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._fails, self._commit = False, writer._commit
        monkeypatch.setattr(writer, "_commit", self._commit_or_fail)

    def _commit_or_fail(self, conn: sqlite3.Connection) -> None:
        if self._fails:
            conn.execute("ROLLBACK")
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR_WRITE
            raise error
        self._commit(conn)

    def fail(self) -> None:
        self._fails = True

    def mend(self) -> None:
        self._fails = False


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[FailingDisk]:
    made = FailingDisk(monkeypatch)
    yield made
    made.mend()


async def test_who_writes_is_told_to_come_again_and_the_operator_sees_it(
    maild: Running, bot: dict[str, Any], disk: FailingDisk
) -> None:
    disk.fail()
    with capture_logs() as lines:
        for _ in range(2):
            refused = await maild.api.post("/v1/inboxes", {"username": "other"})
            assert (refused.status, refused.code) == (503, "provider_unavailable")
            assert int(refused.headers["Retry-After"]) > 0
            assert (await maild.api.send(bot, subject="s", text="t")).status == 502
            assert (await maild.deliver(bot["address"], RAW)).startswith("451 4.3.2 ")
    assert [one["error"] for one in lines if one["event"] == "writes_fail"] == ["disk I/O error"]
    assert not any(one.get("exc_info") for one in lines), (
        "the disk's fault is told once, not with each request"
    )
    assert (await maild.api.get(f"/v1/inboxes/{bot['id']}")).status == 200
    health = await maild.api.get("/health")
    assert (health.status, health.json["status"], health.json["disk"]) == (200, "healthy", "failing")

    disk.mend()
    with capture_logs() as lines:
        assert (await maild.deliver(bot["address"], RAW)).startswith("250 ")
    assert [one["event"] for one in lines if one["event"] == "writes_succeed"] == ["writes_succeed"]
    assert (await maild.api.get("/health")).json["disk"] == "ok"
    assert [one["subject"] for one in await maild.api.messages()] == ["hello"]


TELL_OF_IT = {
    "lease_failed", "claim_failed", "reviews_not_expired", "review_digests_failed", "claims_not_settled",
    "dispatching_failed", "domain_checks_failed", "erasing_failed", "withdrawing_failed",
}  # fmt: skip


async def test_a_store_that_can_not_be_read_for_a_while_ends_no_part_of_the_daemon(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one on a network's disk that was away: what came meanwhile would wait for the next start."""

    def fail(*_: Any, **__: Any) -> Any:
        error = sqlite3.DatabaseError("database disk image is malformed")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error

    clock = ManualClock()
    maild = await start(clock=clock)
    bot = (await maild.api.post("/v1/inboxes", {"username": "bot"})).data
    sent = (await maild.api.send(bot, text="later", sendAt=iso(clock.at_ms + 3_600_000))).data
    parts = [one for one in maild.daemon._supervisor._started if isinstance(one, LoopService)]

    def ended() -> list[str]:
        return [one.name for one in parts if (life := one.died()) is not None and life.done()]

    with capture_logs() as lines, monkeypatch.context() as patch:
        for name in ("run", "one", "all", "value"):
            patch.setattr(Tx, name, fail)
        for part in parts:
            part.wake()
        await until_true(lambda: ended() or {one["event"] for one in lines} >= TELL_OF_IT)
    assert ended() == []
    assert not any(one.get("exc_info") for one in lines)
    assert (await maild.deliver(bot["address"], RAW)).startswith("250 ")
    clock.forward(3600)
    await until_true(
        lambda: maild.sql("SELECT status FROM messages WHERE id = ?", sent["id"]) == [("queued",)]
    )


@pytest.mark.parametrize("words", [200_000, 400_000], ids=["finished", "spooled"])
@pytest.mark.parametrize("is_full", [False, True])
async def test_a_folder_that_takes_no_file_is_told_once_and_not_with_each_mail(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch, words: int, is_full: bool
) -> None:
    """As where the data folder was moved away, or a quota is used up."""
    monkeypatch.setattr(intake.want, "_spells", Spells())  # whatever tests before have told
    large = RAW + b"x" * 76 + b"\r\n" + (b"y" * 76 + b"\r\n") * (words // 78)
    blobs = maild.settings.data_path / "blobs"
    if is_full:
        monkeypatch.setattr(os, "open", _refusing(blobs, os.open))
    else:
        blobs.rename(blobs.with_name("elsewhere"))
    with capture_logs() as lines:
        for _ in range(3):
            assert (await maild.deliver(bot["address"], large)).startswith(("451 4.3.2 ", "452 4.3.1 "))
    assert [one["what"] for one in lines if one["event"] == "exhausted"] == ["mail"]
    assert {one["event"] for one in lines if one["log_level"] == "error"} == {"exhausted"}


def _refusing(folder: Path, really: Callable[..., int]) -> Callable[..., int]:
    def fail(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if flags & os.O_CREAT and Path(os.fspath(path)).is_relative_to(folder):
            raise OSError(errno.EDQUOT, "Disk quota exceeded", os.fspath(path))
        return really(path, flags, *more, **named)

    return fail
