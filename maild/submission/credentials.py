"""What a client says of itself in AUTH (RFC 4954): PLAIN (RFC 4616) and LOGIN, as text. Pure.

Nothing here, and nothing that is raised here, quotes what the client said: it may be a password.
"""

import binascii
from typing import NamedTuple

from maild.errors import SmtpError


class Credentials(NamedTuple):
    """What is to be proven. `password` is a secret: it is in no text that Python makes of this."""

    username: str
    password: str

    def __repr__(self) -> str:
        return f"Credentials({self.username!r}, ...)"


def read_response(line: bytes) -> bytes:
    """The octets that a response stands for; SmtpError. `*` cancels (§4)."""
    if line == b"*":
        raise SmtpError(501, "5.7.0", "authentication cancelled")
    try:
        return binascii.a2b_base64(line, strict_mode=True)
    except binascii.Error:
        raise SmtpError(501, "5.5.2", "cannot decode what should be base64") from None


def read_initial_response(argument: bytes) -> bytes:
    """The same behind the mechanism's name, where `=` is an empty response (§4)."""
    return b"" if argument == b"=" else read_response(argument)


def read_plain(message: bytes) -> Credentials | None:
    """authzid NUL authcid NUL passwd (RFC 4616 §2); None where somebody wants to act for somebody else. SmtpError."""
    parts = message.split(b"\0")
    if len(parts) != 3:
        raise SmtpError(501, "5.5.2", "expected the three parts of PLAIN")
    acts_for, username, password = parts
    if acts_for not in (b"", username):
        return None
    return read_login(username, password)


def read_login(username: bytes, password: bytes) -> Credentials | None:
    """The two responses of LOGIN; None for what nobody's name or password can be."""
    try:
        return Credentials(username.decode(), password.decode())
    except UnicodeDecodeError:
        return None
