"""One JSON object a line, whoever speaks; raw keys never stand in one."""

import json
import subprocess
import sys

SPEAKERS = """
import asyncio, logging, warnings
from maild import logs
logs.configure()
import structlog
KEY = "svc_live_" + "5ec4e7" * 8
structlog.get_logger("ours").error("said", value=KEY)
logging.getLogger("aiohttp.server").error("Error handling %s", KEY)
logging.getLogger("aiohttp.access").info("never shown")
warnings.warn("odd " + KEY)
try:
    raise ValueError(KEY)
except ValueError:
    logging.getLogger("asyncio").exception("failed")
    structlog.get_logger("ours").exception("failed_too")

async def main():
    async def forgotten():
        raise ValueError(KEY)
    task = asyncio.ensure_future(forgotten())
    await asyncio.wait([task])
    del task
asyncio.run(main())
"""


def test_every_speaker_of_the_process_goes_one_way_and_tells_no_key() -> None:
    done = subprocess.run([sys.executable, "-c", SPEAKERS], capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert "5ec4e7" not in done.stderr
    assert len(lines) == 6
    assert all({"event", "level", "timestamp"} <= set(one) for one in lines)
    assert [one["level"] for one in lines] == ["error", "error", "warning", "error", "error", "error"]
    assert "Task exception was never retrieved" in lines[-1]["event"]
