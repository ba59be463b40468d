"""SMTP errors that carry the decision they imply.

    SmtpError          code, enhanced status code, text for the peer
    ├─ code 4xx        temporary: the peer keeps the message and comes again
    └─ code 5xx        permanent: the peer gives up, and the sender is told

What we don't know to be permanent is temporary. The text goes to strangers: it never carries a cause.
"""


class SmtpError(Exception):
    def __init__(self, code: int, enhanced: str, text: str, *, closes: bool = False) -> None:
        super().__init__(f"{code} {enhanced} {text}")
        self.code = code
        self.enhanced = enhanced  # RFC 3463
        self.text = text
        self.closes = closes  # the session ends after this reply

    @property
    def temporary(self) -> bool:
        return self.code < 500


def unavailable(text: str = "local error, try again later") -> SmtpError:
    """Something of ours failed; nothing is lost as long as the peer keeps the message."""
    return SmtpError(451, "4.3.0", text)
