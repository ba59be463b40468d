"""Logs: one JSON object a line on stderr. Never a key, a secret, a body or a subject."""

import logging
import sys

import structlog

# Libraries that log each command or request at INFO, addresses included.
_QUIET = ("mail.log", "mail.debug", "aiohttp.access", "aiosmtplib", "asyncio")


def configure(level: str = "info") -> None:
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(message)s")
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
