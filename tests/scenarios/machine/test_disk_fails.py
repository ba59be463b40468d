"""The disk refuses what is written, as an ext4 that made itself read-only after an error does: who writes is told to
come again, who reads is served, and whoever looks after the host sees it."""

import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from storage.engine import writer
from tests.support.running import Running

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
