"""One JSON object a line, whoever speaks; raw keys never stand in one."""

import json
import os
import re
import subprocess
import sys

import pytest

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


FORMATS = r"""
import logging, sys
from conf.settings import Log
from maild import logs
logs.configure(Log(level=sys.argv[1], format=sys.argv[2]))
import structlog
log = structlog.get_logger("maild.ours")
log.debug("quiet")
with structlog.contextvars.bound_contextvars(session="ses_1"):
    log.info("said", words="a\x1b[2J\x9b\r\n\ud800é", inboxes={"inb_1": "msg_1"}, error=ValueError("odd"))
logging.getLogger("library").warning("a\x1b[2Jb")
try:
    raise ValueError("once\x1b[2J")
except ValueError:
    log.exception("failed")
"""


def said(level: str, form: str) -> bytes:
    command = [sys.executable, "-c", FORMATS, level, form]
    return subprocess.run(command, capture_output=True, check=True).stderr


@pytest.mark.parametrize("form", ["json", "console"])
def test_the_journal_is_told_how_urgent_a_line_is(form: str) -> None:
    """Else `journalctl -p warning` shows none of them."""
    reading, writing = os.pipe()
    stream = os.fstat(writing)
    command = [sys.executable, "-c", FORMATS, "info", form]
    environment = {**os.environ, "JOURNAL_STREAM": f"{stream.st_dev}:{stream.st_ino}"}
    subprocess.run(command, stderr=writing, env=environment, check=True)
    os.close(writing)
    with open(reading, "rb") as file:
        lines = file.read().splitlines()
    found = [re.match(rb"<(\d)>.*[\[\"](info|warning|error)", line) for line in lines]
    assert [one.groups()[0] for one in found if one] == [b"6", b"4", b"3"]
    # Those of a traceback, too: the journal takes each for itself.
    assert all(re.match(rb"<\d>", line) for line in lines)

    # What is not the journal gets lines of JSON, also where a shell within a service inherited the variable.
    elsewhere = subprocess.run(command, capture_output=True, env=environment, check=True).stderr
    assert not re.search(rb"(?m)^<\d>", elsewhere)


def test_a_line_names_its_logger_and_what_is_bound() -> None:
    quiet, line, library, failed = map(json.loads, said("debug", "json").splitlines())
    assert (quiet["event"], quiet["level"], quiet["logger"]) == ("quiet", "debug", "maild.ours")
    assert (line["event"], line["logger"], line["session"]) == ("said", "maild.ours", "ses_1")
    assert line["words"] == "a\x1b[2J\x9b\r\n\ud800é"
    assert (line["inboxes"], line["error"]) == ({"inb_1": "msg_1"}, "ValueError('odd')")
    assert (library["logger"], "session" in library) == ("library", False)
    assert failed["exception"].count("Traceback") == 1


def test_a_line_of_json_is_ascii_without_controls() -> None:
    octets = said("info", "json")
    assert len(octets.splitlines()) == octets.count(b"\n") == 3
    assert all(32 <= one < 127 or one == 10 for one in octets)


LAST_WORDS = """
import asyncio
from maild import logs
logs.configure()
import structlog
async def main():
    structlog.get_logger("maild.outbound").info("said")
    asyncio.get_running_loop().stop()
try:
    asyncio.run(main())
except RuntimeError:
    pass
"""


def test_what_is_said_last_is_written_when_the_process_ends() -> None:
    done = subprocess.run([sys.executable, "-c", LAST_WORDS], capture_output=True, text=True, check=True)
    assert json.loads(done.stderr)["event"] == "said"


def test_the_console_shows_no_control_of_a_peers() -> None:
    octets = said("info", "console")
    assert b"said" in octets and b"ses_1" in octets and b"msg_1" in octets and b"quiet" not in octets
    assert all(one >= 32 or one == 10 for one in octets)
    assert octets.count(b"Traceback") == 1


COMMAND = r"""
from maild import logs
logs.configure_for_commands()
import structlog
log = structlog.get_logger("maild.ours")
log.info("quiet")
key = "svc_live_" + "5ec4e7" * 8  # Python 3.13 shows the line that raises
try:
    local = "only in a frame"
    raise ValueError("once\x1b[2J " + key)
except ValueError:
    log.exception("failed", words="a\x1b[2J")
"""


def test_a_command_shows_what_is_urgent_as_the_console_does() -> None:
    """Without what a frame of a traceback holds: `rich`, where it is installed, shows the values of all variables."""
    done = subprocess.run([sys.executable, "-c", COMMAND], capture_output=True, check=True)
    assert done.stdout == b"" and b"quiet" not in done.stderr
    assert all(one >= 32 or one == 10 for one in done.stderr)
    assert done.stderr.count(b"Traceback") == done.stderr.count(b"svc_live_...") == 1
    assert b"5ec4e7" not in done.stderr and b"only in a frame" not in done.stderr


def test_a_level_leaves_out_what_is_below() -> None:
    assert [json.loads(one)["event"] for one in said("error", "json").splitlines()] == ["a\x1b[2Jb", "failed"]
