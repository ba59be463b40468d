"""Logs: one line for each thing said, on stderr. Never a key, a secret, a body or a subject.

Everything that the process says goes this way: the libraries' loggers, asyncio's own, and Python's warnings. A line of
JSON is ASCII, so that no octet of a peer's acts on a terminal or ends a line. What is told is in `conf/log_events.py`.
"""

import atexit
import io
import json
import logging
import re
import sys
import time
from datetime import UTC, datetime
from typing import TextIO

import msgspec
import structlog
from structlog.typing import EventDict, ExcInfo, Processor

from conf.settings import Log
from maild import systemd
from maild.log_counts import LogCounts, counting_logger
from maild.log_lines import LogLines, not_waiting

# Libraries that log each command or request at INFO, addresses included.
_QUIET = ("mail.log", "mail.debug", "aiohttp.access", "aiosmtplib", "asyncio")
_RAW_KEY = re.compile(rb"svc_(live|test)_[0-9A-Za-z]+")


def configure(settings: Log | None = None) -> LogCounts:
    """Set up logging of the process, structlog's and the libraries', on stderr; None: the defaults. What is given back
    counts the lines."""
    settings, counts = settings or Log(), LogCounts()
    stamp = _Clock().stamp
    lines = LogLines(not_waiting(sys.stderr.buffer))
    atexit.register(lines.end)
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.stdlib.add_logger_name,
        stamp,
    ]
    last: list[Processor] = (
        [structlog.processors.format_exc_info, _json_line] if settings.format == "json" else _console()
    )
    if systemd.is_journal(sys.stderr):
        last[-1] = _prioritized(last[-1])
    level = logging.getLevelNamesMapping()[settings.level.upper()]
    structlog.configure(
        processors=[*shared, *last],
        wrapper_class=counting_logger(level, counts),
        logger_factory=lines.logger,
        cache_logger_on_first_use=True,
    )
    handler = _LibraryHandler(lines, counts)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last, _text],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.captureWarnings(True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    return counts


def configure_for_commands() -> None:
    """What the daemon's parts say in a command is shown from warnings on, and on stderr: the answer is on stdout."""
    structlog.configure(
        processors=[structlog.processors.add_log_level, _Clock().stamp, *_console()],
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=lambda *_: structlog.BytesLogger(sys.stderr.buffer),
    )


class _LibraryHandler(logging.Handler):
    """Writes the lines of libraries behind those that were said before them."""

    def __init__(self, lines: LogLines, counts: LogCounts) -> None:
        super().__init__()
        self._lines = lines
        self._counts = counts

    def emit(self, record: logging.LogRecord) -> None:
        self._counts.note_of_library(record.levelname.lower())
        try:
            line = self.format(record).encode("utf-8", "backslashreplace")
        except Exception:  # as handlers do
            self.handleError(record)
        else:
            self._lines.write(line)


class _Clock:
    """Stamps lines with the time; a second is written out once."""

    def __init__(self) -> None:
        self._second = 0
        self._written = ""

    def stamp(self, _logger: object, _method: str, line: EventDict) -> EventDict:
        now = time.time()
        second = int(now)
        if second != self._second:
            self._second = second
            self._written = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        line["timestamp"] = f"{self._written}.{int((now - second) * 1e6):06}Z"
        return line


def _json_line(_logger: object, _method: str, line: EventDict) -> bytes:
    try:
        octets = msgspec.json.encode(line, enc_hook=repr)
    except (UnicodeEncodeError, TypeError, ValueError):  # a lone surrogate, a key that is not text
        octets = b"\xff"
    if not octets.isascii():
        octets = json.dumps(line, default=repr, skipkeys=True).encode()
    return _without_keys(octets)


def _prioritized(render: Processor) -> Processor:
    prefixes = {level: prefix.encode() for level, prefix in systemd.PRIORITIES.items()}

    def show(logger: object, method: str, line: EventDict) -> bytes:
        prefix = prefixes[line["level"]]
        octets = render(logger, method, line)
        assert isinstance(octets, bytes)
        return prefix + octets.replace(b"\n", b"\n" + prefix)  # a traceback's lines, on a console

    return show


def _console() -> list[Processor]:
    is_terminal = sys.stderr is not None and sys.stderr.isatty()  # a parent may have closed it
    render = structlog.dev.ConsoleRenderer(colors=is_terminal, exception_formatter=_traceback)

    def show(logger: object, method: str, line: EventDict) -> bytes:
        # As Python writes them: no control character from outside reaches the terminal. What is not text is escaped
        # anyway.
        for key, value in line.items():
            if isinstance(value, str) and not value.isprintable():
                line[key] = repr(value)
        return _without_keys(str(render(logger, method, line)).encode("utf-8", "backslashreplace"))

    return [show]


def _traceback(out: TextIO, exc_info: ExcInfo) -> None:
    """Exceptions quote what they failed on."""
    text = io.StringIO()
    structlog.dev.plain_traceback(text, exc_info)
    out.write("".join(one if one.isprintable() or one == "\n" else "?" for one in text.getvalue()))


def _without_keys(octets: bytes) -> bytes:
    """The last net: whatever quotes a key by mistake, the log has none."""
    return _RAW_KEY.sub(rb"svc_\1_...", octets) if b"svc_" in octets else octets


def _text(_logger: object, _method: str, octets: EventDict | bytes) -> str:
    """For the standard library's handler, which writes text."""
    assert isinstance(octets, bytes)
    return octets.decode()
