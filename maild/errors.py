"""SMTP errors that carry the decision they imply.

    SmtpError          code, enhanced status code, text for the client
    ├─ code 4xx        transient: the client keeps the message and tries again
    └─ code 5xx        permanent: the client gives up, and reports it to the sender

What we don't know to be permanent is temporary. The text goes to the client: it never carries a cause.
"""

from collections.abc import Mapping
from typing import Any


class SmtpError(Exception):
    """A reply that refuses a command or a message. `enhanced`: RFC 3463; `closes`: the session ends after it.

    `told`: what the log says of it besides, fit to be shown."""

    def __init__(
        self,
        code: int,
        enhanced: str,
        text: str,
        *,
        closes: bool = False,
        told: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{code} {enhanced} {text}")
        self.code = code
        self.enhanced = enhanced  # RFC 3463
        self.text = text
        self.closes = closes  # the session ends after this reply
        self.told = told or {}

    @property
    def temporary(self) -> bool:
        """Does the client keep the message and try again (4xx)?"""
        return self.code < 500


def unavailable(text: str = "local error, try again later") -> SmtpError:
    """Something of ours failed; nothing is lost as long as the client keeps the message."""
    return SmtpError(451, "4.3.0", text)


def no_storage() -> SmtpError:
    """The disk has no room for the message."""
    return SmtpError(452, "4.3.1", "no storage left, try again later")


def out_of_resources() -> SmtpError:
    """No descriptor or memory is left, or the disk takes nothing. RFC 3463 §3.4: X.3.2 is for excessive load too, X.3.1
    for storage alone."""
    return SmtpError(451, "4.3.2", "insufficient system resources, try again later")


def shutting_down() -> SmtpError:
    """The process ends; the client comes to the next one."""
    return SmtpError(421, "4.3.2", "service is shutting down, try again later", closes=True)
