"""Prometheus itself reads the metrics, and its rules fire on what conf/alerts.yml is for."""

import asyncio
import json
import re
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.support.daemon import POLL_S, ROOT, Daemon
from tests.support.machine import tools
from tests.support.machine.ports import free_port
from tests.support.waiting import GIVES_UP_S

pytestmark = [pytest.mark.interop, tools.needs("prometheus", "promtool")]

ALERTS = ROOT / "conf/alerts.yml"
FIRING = ROOT / "tests/data/alerts_firing.yml"


def promtool(*words: str, stdin: bytes = b"") -> str:
    done = subprocess.run([tools.path_of("promtool"), *words], input=stdin, capture_output=True, check=False)
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 0, said
    return said


def test_each_alert_fires_on_what_it_is_for_and_on_nothing_else() -> None:
    promtool("check", "rules", str(ALERTS))
    promtool("test", "rules", str(FIRING))
    firing = FIRING.read_text("utf-8")
    for name in re.findall(r"- alert: (\w+)", ALERTS.read_text("utf-8")):
        assert f"name: {name} fires\n" in firing and f"name: {name} does not fire\n" in firing


@asynccontextmanager
async def prometheus(folder: Path, target: str) -> AsyncIterator[Callable[..., Any]]:
    """Prometheus with our alerts, asked by its API: `await ask("query", query="up")`."""
    listen = f"127.0.0.1:{free_port()}"
    config = {
        "global": {"scrape_interval": "200ms", "scrape_timeout": "200ms", "evaluation_interval": "200ms"},
        "rule_files": [str(ALERTS)],
        "scrape_configs": [{"job_name": "maild", "static_configs": [{"targets": [target]}]}],
    }
    (folder / "prometheus.yml").write_text(json.dumps(config), "utf-8")  # JSON is YAML
    with (folder / "prometheus.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            tools.path_of("prometheus"), f"--config.file={folder}/prometheus.yml",
            f"--storage.tsdb.path={folder}/tsdb", f"--web.listen-address={listen}", stdout=log, stderr=log,
        )  # fmt: skip
    try:
        async with aiohttp.ClientSession(f"http://{listen}") as session:

            async def ask(what: str, **params: str) -> Any:
                async with session.get(f"/api/v1/{what}", params=params) as answer:
                    return (await answer.json())["data"]

            yield ask
    finally:
        process.kill()
        await process.wait()


async def until(ask: Callable[..., Any], query: str, wanted: str) -> None:
    """The only series of the query has this value."""
    found = None
    while found != [wanted]:
        await asyncio.sleep(POLL_S)
        try:
            found = [one["value"][1] for one in (await ask("query", query=query))["result"]]
        except (aiohttp.ClientConnectionError, aiohttp.ContentTypeError):  # it does not serve yet
            continue


async def test_prometheus_reads_a_running_daemon(tmp_path: Path) -> None:
    more = {"metrics": {"listen": "127.0.0.1:0"}}
    async with asyncio.timeout(GIVES_UP_S), Daemon(tmp_path, dns_port=9, more=more) as daemon:
        url = daemon.ready["metrics"]
        inbox = await daemon.api.post("/v1/inboxes", username="bot")
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            promtool("check", "metrics", stdin=await answer.read())
        target = url.removeprefix("http://").removesuffix("/metrics")
        async with prometheus(tmp_path, target) as ask:
            await until(ask, "up", "1")
            await daemon.deliver(inbox["address"], "Subject: x\n\ny\n")
            await until(ask, 'maild_log_lines_total{event="accepted"}', "1")
            await until(ask, 'maild_http_requests_total{route="/v1/inboxes",method="POST"}', "1")
            rules = (await ask("rules"))["groups"][0]["rules"]
            assert {one["health"] for one in rules} <= {"ok", "unknown"}
            assert [one["name"] for one in rules if one["state"] == "firing"] == []
