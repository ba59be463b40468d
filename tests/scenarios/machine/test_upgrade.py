"""The first start of a version over the store of an older one: what the log tells meanwhile."""

import json
from pathlib import Path

from storage.engine import migrate
from tests.support.daemon import Daemon
from tests.support.worlds.older_stores import make_older


async def test_each_step_is_told_before_it_is_taken(tmp_path: Path) -> None:
    """Of a large store one takes minutes, and nothing else says that the daemon is at work."""
    daemon = Daemon(tmp_path, dns_port=9)
    await daemon.init()
    make_older(daemon.data_dir / "maild.sqlite3", 20)
    try:
        await daemon.start()
    finally:
        await daemon.kill()
    lines = [json.loads(line) for line in daemon.log_lines()]
    newest = len(migrate.steps())
    told = [(line["step"], line["steps"]) for line in lines if line["event"] == "migrating"]
    assert told == [(step, newest) for step in range(21, newest + 1)]
    assert [line["event"] for line in lines][len(told)] == "built"
