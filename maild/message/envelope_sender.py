"""The envelope sender of what we send, one for each message and destination domain: `b+<token>.<tag>@domain`.

The token finds the message. It is not a secret from the recipients: the Message-ID carries it too. The tag is one
from all hosts but the destination: an HMAC over token and destination, so a host that knows one tag can make no other,
and what comes back to the address speaks for recipients of that domain alone.
"""

import base64
import hmac
import re
from typing import Final, NamedTuple

from maild.message.fields.address import BOUNCE_PREFIX, normalize, split

_AROUND_ADDRESSES: Final = re.compile(r"[\s<>()\[\]:;,\"'=]+")
_TAG_BYTES: Final = 10  # 80 bits, 16 characters: not to be guessed over SMTP


class Token(NamedTuple):
    """What an address or a Message-ID says. `tag`: "" where it names the message alone; `domain`: the sender's."""

    value: str
    tag: str
    domain: str


class EnvelopeSenders:
    """Makes envelope senders `b+<token>.<tag>@domain`, and checks their tags. `key`: a secret of this server."""

    def __init__(self, key: bytes) -> None:
        # Copied for each tag: a digest in one call would give up the interpreter, for two microseconds of work.
        self._keyed = hmac.new(key, digestmod="sha256")

    def of(self, token: str, domain: str, destination: str) -> str:
        """For recipients at the destination (lower-case A-label); `domain` is the sender's."""
        return f"{BOUNCE_PREFIX}{token}.{self._tag(token, destination)}@{domain}"

    def speaks_for(self, token: Token, destination: str) -> bool:
        """Was the token's tag made for this destination?"""
        return hmac.compare_digest(self._tag(token.value, destination).encode(), token.tag.encode())

    def _tag(self, token: str, destination: str) -> str:
        made = self._keyed.copy()
        made.update(f"{token} {destination}".encode())
        return base64.b32encode(made.digest()[:_TAG_BYTES]).decode().lower()


def read(address: str) -> Token | None:
    """The token of an envelope sender of ours; None for every other address."""
    local, domain = split(normalize(address))
    value, _, tag = local.removeprefix(BOUNCE_PREFIX).partition(".")
    return Token(value, tag, domain) if local.startswith(BOUNCE_PREFIX) and value else None


def message_id_of(address: str) -> str | None:
    """The Message-ID of the message whose envelope sender this is; None for every other address."""
    token = read(address)
    return None if token is None else f"<{token.value}@{token.domain}>"


def without_tag(sender: str) -> str:
    """What a text that was cleaned of tags has of it, in lower case."""
    token = read(sender)
    return sender.lower() if token is None else f"{BOUNCE_PREFIX}{token.value}"


def is_named_alone(token: Token, text: str) -> bool:
    """Does the text name an envelope sender with this token, with its tag or without, and no other address?"""
    named, said = f"{BOUNCE_PREFIX}{token.value}", text.lower()
    return named in said and all(one.startswith(named) for one in _AROUND_ADDRESSES.split(said) if "@" in one)


def untagged(token: str, domain: str) -> str:
    """For copies that no other host gets: it names the message, and proves nothing."""
    return f"{BOUNCE_PREFIX}{token}@{domain}"
