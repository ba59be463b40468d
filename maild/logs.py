"""Logs: one JSON object a line on stderr. Never a key, a secret, a body or a subject.

Everything that the process says goes this way: the libraries' loggers, asyncio's own, and Python's warnings.
"""

import logging
import re
import sys

import structlog

# Libraries that log each command or request at INFO, addresses included.
_QUIET = ("mail.log", "mail.debug", "aiohttp.access", "aiosmtplib", "asyncio")
_RAW_KEY = re.compile(r"svc_(live|test)_[0-9A-Za-z]+")
_SHARED: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
]


def configure(level: str = "info") -> None:
    structlog.configure(
        processors=[*_SHARED, structlog.processors.JSONRenderer(), _without_keys],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.captureWarnings(True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


def _formatter() -> logging.Formatter:
    """Lines of the standard library's loggers in the shape of ours."""
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*_SHARED, structlog.stdlib.add_logger_name],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.JSONRenderer(),
            _without_keys,
        ],
    )


def _without_keys(_logger: object, _method: str, line: str | bytes | object) -> str:
    """The last net: whatever quotes a key by mistake, the log has none."""
    return _RAW_KEY.sub(r"svc_\1_…", str(line))
