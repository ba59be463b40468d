"""What the daemon counts and measures, at an address of its own; docs/metrics.md is its contract."""

import asyncio
import re
import shutil
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families
from structlog.testing import capture_logs

from maild.commands.backup import back_up
from maild.daemon import StartError
from storage.data_folder import DataFolder
from storage.engine.tx import Tx
from storage.upkeep.backlogs import backlogs
from tests.conftest import Start
from tests.support.laws.words import ROOT
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.running import Running, until_true

LISTEN = {"listen": "127.0.0.1:0"}
PAGE = (ROOT / "docs/metrics.md").read_text("utf-8")
LISTED = dict(re.findall(r"^\| `(maild_\w+)` \| *(.*?) *\|", PAGE, re.MULTILINE))  # name → labels

Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture
async def measured(start: Start) -> Running:
    return await start(metrics=LISTEN)


def url_of(running: Running) -> str:
    assert running.daemon.metrics is not None
    return f"{running.daemon.metrics.url}/metrics"


async def text_of(running: Running) -> str:
    async with aiohttp.ClientSession() as session, session.get(url_of(running)) as answer:
        assert (answer.status, answer.headers["Server"]) == (200, "maild")
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        return await answer.text()


async def series_of(running: Running) -> Series:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(await text_of(running))
        for sample in family.samples
    }


def value(series: Series, name: str, **labels: str) -> float:
    return series[f"maild_{name}", frozenset(labels.items())]


async def test_nothing_is_served_unless_it_is_asked_for(maild: Running) -> None:
    assert maild.daemon.metrics is None
    assert (await maild.api.call("GET", "/health")).status == 200
    async with aiohttp.ClientSession() as session, session.get(f"{maild.api.url}/metrics") as answer:
        assert answer.status == 404


async def test_the_page_lists_every_metric_with_its_labels(measured: Running) -> None:
    await measured.api.get("/v1/messages")
    DataFolder(measured.settings.data_path).note_backup()
    told: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(await text_of(measured)):
        if family.name.startswith("maild_"):
            name = f"{family.name}_total" if family.type == "counter" else family.name
            labels = {label for sample in family.samples for label in sample.labels} - {"le"}
            told[name] = labels
            assert family.documentation.endswith(".")
    told["maild_certificate_not_after_timestamp_seconds"] = {"key"}  # none is configured here
    assert {name: set(re.findall(r"`(\w+)`", labels)) for name, labels in LISTED.items()} == told


async def test_mail_and_requests_show(measured: Running) -> None:
    inbox = await measured.inbox("bot")
    before = await series_of(measured)
    assert (await measured.api.send(inbox, subject="x", text="y")).status == 201
    await measured.api.call("GET", "/v1/nowhere")
    series = await series_of(measured)
    assert value(series, "http_requests_total", method="POST", route="/v1/messages/send", status="201") == 1
    assert value(series, "http_requests_total", method="", route="", status="404") == 1
    took = {"method": "POST", "route": "/v1/messages/send"}
    assert value(series, "http_request_duration_seconds_bucket", **took, le="+Inf") == 1
    assert value(series, "http_request_duration_seconds_count", **took) == 1
    waiting = [value(series, "queue_recipients", state=one) for one in ("due", "later", "held", "delivering")]
    assert sum(waiting) == 1
    for grown in ("store_units_total", "store_commits_total", "store_commit_seconds_total"):
        assert value(series, grown) > value(before, grown)
    assert value(series, "store_file_bytes", file="maild.sqlite3") > 0
    assert (value(series, "store_up"), value(series, "disk_short"), value(series, "store_damaged")) == (
        1,
        0,
        0,
    )
    assert value(series, "disk_free_bytes") > 0
    assert value(series, "http_connections_max") == 1000


async def test_the_end_is_that_of_the_certificate_which_is_shown(tmp_path: Path, start: Start) -> None:
    """A renewal that can't be used leaves the old one, which ends when it ends."""
    ca, cert, key = ThrowawayCa(tmp_path), tmp_path / "live.pem", tmp_path / "live.key"

    def renew(days: int) -> None:
        ca.server_context(["mx.test"], lasts=timedelta(days=days))
        shutil.copy(tmp_path / "mx.test.pem", cert)

    async def days_left() -> int:
        end = value(await series_of(maild), "certificate_not_after_timestamp_seconds", key="smtp.tls_cert")
        return round((end - time.time()) / 86400)

    renew(10)
    shutil.copy(cert, key)
    maild = await start(metrics=LISTEN, smtp={"tls_cert": str(cert), "tls_key": str(key)})
    assert await days_left() == 10
    renew(90)  # its key is not there yet
    with capture_logs() as lines:
        maild.daemon.reload()
        await until_true(lambda: any(line["event"] == "certificate_not_reloaded" for line in lines))
    assert await days_left() == 10
    shutil.copy(cert, key)
    with capture_logs() as lines:
        maild.daemon.reload()
        await until_true(lambda: any(line["event"] == "certificate_reloaded" for line in lines))
    assert await days_left() == 90


async def test_the_last_backup_shows_once_there_was_one(measured: Running, tmp_path: Path) -> None:
    name = ("maild_backup_timestamp_seconds", frozenset[tuple[str, str]]())
    assert name not in await series_of(measured)
    before = time.time()
    back_up(DataFolder(measured.settings.data_path), tmp_path / "backup")
    assert (
        before - 1 < (await series_of(measured))[name] < time.time() + 1
    )  # the kernel's clock ticks less often


async def test_connections_and_sessions_that_are_open_show(measured: Running) -> None:
    talk = await measured.smtp()
    await measured.api.get("/v1/messages")  # over a connection that is kept open
    series = await series_of(measured)
    assert (value(series, "smtp_sessions", door="mail"), value(series, "http_connections")) == (1, 1)
    talk.hang_up()


async def test_no_name_of_anybody_is_told(measured: Running) -> None:
    """It is read without a key; and a series for each name would grow for ever."""
    inbox = await measured.inbox("secretive")
    sent = await measured.api.send(inbox, to=["someone@private.example"], subject="hush", text="y")
    await measured.api.get(f"/v1/messages/{sent.data['id']}")
    await measured.api.call("GET", "/v1/messages/msg_x?q=private")
    text = await text_of(measured)
    for word in ("secretive", "someone", "private", "hush", "agents.test", "org_", "inb_", "msg_", "key_"):
        assert word not in text


async def test_a_store_that_does_not_answer_leaves_the_rest(
    measured: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_tx: Tx, _now_ms: int) -> Any:
        raise OSError("gone")

    monkeypatch.setattr("maild.metrics.backlogs", fails)
    with capture_logs() as lines:
        series = await series_of(measured)
    assert value(series, "store_up") == 0
    assert value(series, "http_connections_max") == 1000
    assert not any(name == "maild_queue_recipients" for name, _ in series)
    assert "metrics_incomplete" in [one["event"] for one in lines]


async def test_many_who_ask_at_once_are_one_question(
    measured: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    real: Callable[[Tx, int], Any] = backlogs

    def counted(tx: Tx, now_ms: int) -> Any:
        asked.append(now_ms)
        return real(tx, now_ms)

    monkeypatch.setattr("maild.metrics.backlogs", counted)
    texts = await asyncio.gather(*(text_of(measured) for _ in range(10)))
    assert len(asked) < len(texts)


async def test_it_has_nothing_but_its_page(measured: Running) -> None:
    at = url_of(measured)
    async with aiohttp.ClientSession() as session:
        for method, url, status in (
            ("GET", at.removesuffix("metrics"), 404),
            ("GET", at.replace("/metrics", "/v1/messages"), 404),
            ("GET", at.replace("/metrics", "/console"), 404),
            ("POST", at, 405),
        ):
            async with session.request(method, url) as answer:
                assert (answer.status, answer.headers["Server"]) == (status, "maild")


async def test_an_address_that_is_taken_names_its_key(start: Start, measured: Running) -> None:
    taken = url_of(measured).removeprefix("http://").removesuffix("/metrics")
    with pytest.raises(StartError, match=rf"metrics\.listen: can't listen on {taken}"):
        await start(metrics={"listen": taken})
