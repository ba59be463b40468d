"""Unsubscribe links: a token that names an address, an inbox and the end of its validity, and can't be forged.

A link must work for as long as its mail lies in a mailbox, also when the message was deleted here, so the
token carries all that is needed. base64url of: version, three ids, expiry, MAC, address. The MAC
is HMAC-SHA256 cut to 128 bits (RFC 2104 §5), over everything else.
"""

import base64
import binascii
import hmac
from typing import Final, NamedTuple

VALID_FOR_S: Final = 400 * 86_400  # docs/decisions.md, "Unsubscribe, suppressions"
_VERSION: Final = b"\x01"
_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_VALUES: Final = {character: value for value, character in enumerate(_ALPHABET)}
_ID_CHARS: Final = 26
_ID_BYTES: Final = 17
_MAC_BYTES: Final = 16
_PREFIXES: Final = ("org_", "inb_", "msg_")
_FIXED_BYTES: Final = len(_VERSION) + len(_PREFIXES) * _ID_BYTES + 4 + _MAC_BYTES


class TokenError(ValueError):
    """The text is not a token of ours: it is made up, cut off, or changed."""


class Grant(NamedTuple):
    """An address that wants no more mail, and the inbox that wrote to it. `expires_at_s` (Unix seconds) is for the
    caller to compare with the clock."""

    organization_id: str
    inbox_id: str
    message_id: str
    address: str
    expires_at_s: int


def make(key: bytes, grant: Grant) -> str:
    """The same grant gives the same token: a retried delivery repeats its link."""
    ids = b"".join(_pack(one) for one in (grant.organization_id, grant.inbox_id, grant.message_id))
    head = _VERSION + ids + grant.expires_at_s.to_bytes(4, "big")
    address = grant.address.encode()
    return _encode(head + _mac(key, head, address) + address)


def read(key: bytes, token: str) -> Grant:
    """TokenError for whatever `make` did not make with this key."""
    try:
        octets = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise TokenError from error
    if len(octets) <= _FIXED_BYTES or octets[:1] != _VERSION:
        raise TokenError
    head_length = _FIXED_BYTES - _MAC_BYTES
    head, mac, address = octets[:head_length], octets[head_length:_FIXED_BYTES], octets[_FIXED_BYTES:]
    if not hmac.compare_digest(mac, _mac(key, head, address)) or _encode(octets) != token:
        raise TokenError
    starts = range(len(_VERSION), head_length - 4, _ID_BYTES)
    organization_id, inbox_id, message_id = (
        prefix + _unpack(head[start : start + _ID_BYTES])
        for prefix, start in zip(_PREFIXES, starts, strict=True)
    )
    return Grant(organization_id, inbox_id, message_id, address.decode(), int.from_bytes(head[-4:], "big"))


def fields(url: str) -> bytes:
    """The two header fields of RFC 8058 §3.1; `url` carries the token, and must be short enough for a line."""
    return f"List-Unsubscribe: <{url}>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n".encode()


def _encode(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def _mac(key: bytes, head: bytes, address: bytes) -> bytes:
    return hmac.digest(key, b"unsubscribe" + head + address, "sha256")[:_MAC_BYTES]


def _pack(prefixed_id: str) -> bytes:
    number = 0
    for character in prefixed_id[-_ID_CHARS:]:
        number = number << 5 | _VALUES[character]
    return number.to_bytes(_ID_BYTES, "big")


def _unpack(octets: bytes) -> str:
    number = int.from_bytes(octets, "big")
    return "".join(_ALPHABET[number >> shift & 31] for shift in range((_ID_CHARS - 1) * 5, -1, -5))
