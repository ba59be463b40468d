"""One signature over a message: a DKIM-Signature (RFC 6376, 8301, 8463), or what ARC makes of one (RFC 8617 §4.1).

Pure. `read_signature` gives what a field claims; `SignedMessage` knows what it is over; `verify` asks a public key.
Each raises `Unacceptable` with the result that RFC 8601 §2.7.1 has for it, and nothing else, whatever the octets are.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cryptography.exceptions import InternalError, InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ed25519, padding, rsa

from maild.message.canonical import RELAXED, SIMPLE, Field, body_hash, header_line, read_fields
from maild.message.fields.address import is_within
from maild.message.fields.idn import ascii_domain
from maild.message.octets import Buffer
from maild.message.tags import read_tags

PublicKey = rsa.RSAPublicKey | ed25519.Ed25519PublicKey
# Of one name in DNS, which should be one, and is several where owners forget.
PublicKeys = tuple[PublicKey, ...]

MAX_SIGNATURE_OCTETS = 1024  # of b=; RSA-4096 has 512
MAX_NAMES = 1000  # of h=
MAX_TIME_DIGITS = 100  # twelve are near enough to never (RFC 6376 §3.5), and some write milliseconds
_BLANKS = str.maketrans("", "", " \t\r\n")
_ALGORITHMS = {"rsa-sha256": "rsa", "ed25519-sha256": "ed25519"}
_FORMS = {"simple": SIMPLE, "relaxed": RELAXED}


class Unacceptable(Exception):
    """The signature does not count. `result`: fail, policy, neutral, temperror or permerror; `reason`: in words."""

    def __init__(self, result: str, reason: str) -> None:
        super().__init__(reason)
        self.result = result
        self.reason = reason

    def anew(self) -> "Unacceptable":
        """The same, to be raised where this one is kept: an exception keeps the frames that it went through."""
        return Unacceptable(self.result, self.reason)


class Signature(NamedTuple):
    """What a field claims. `names`: the fields that are signed, lower case; `position`: the field's own among all of
    the message; `key_type`: rsa or ed25519. A seal of ARC has no names and no body hash."""

    field: Field
    position: int
    domain: str
    selector: str
    key_type: str
    value: bytes
    identity: str = ""
    header_form: bytes = RELAXED
    body_form: bytes = RELAXED
    body_hash: bytes = b""
    names: tuple[bytes, ...] = ()


class SignedMessage:
    """A message as signers saw it. `header_length`: where its body begins, as `parse` tells it."""

    def __init__(self, raw: Buffer, header_length: int) -> None:
        self.fields = read_fields(bytes(raw[:header_length]))
        self._raw = raw
        self._body_at = header_length
        self._positions: dict[bytes, list[int]] = {}
        for position, (name, _) in enumerate(self.fields):
            self._positions.setdefault(name.rstrip().lower(), []).append(position)
        self._body_hashes: dict[bytes, bytes] = {}
        self._lines: dict[tuple[int, bytes], bytes] = {}

    def positions(self, name: bytes) -> Sequence[int]:
        """Where the fields of that name (lower case) are, from the top."""
        return self._positions.get(name, ())

    def has_several(self, name: bytes) -> bool:
        """Do the fields of that name differ?"""
        return len({self._line(position, RELAXED) for position in self.positions(name)}) > 1

    def body_hash(self, form: bytes) -> bytes:
        """SHA-256 of the body in a canonical form, computed once."""
        if form not in self._body_hashes:
            self._body_hashes[form] = body_hash(self._raw, self._body_at, form)
        return self._body_hashes[form]

    def covered(self, signature: Signature) -> bytes:
        """What the signature is over (RFC 6376 §3.7): its fields, from the bottom up, and itself without b=."""
        left = {name: list(self.positions(name)) for name in set(signature.names)}
        lines = []
        for name in signature.names:
            positions = left[name]
            if positions and positions[-1] == signature.position:  # §3.5: it does not sign itself by name
                positions.pop()
            if positions:
                lines.append(self._line(positions.pop(), signature.header_form))
        lines.append(self._unsigned(signature))
        return b"".join(lines)

    def covered_by_seal(self, sets: Sequence[Sequence[int]], seal: Signature) -> bytes:
        """What a seal of ARC is over (RFC 8617 §5.1.1): the fields of all sets up to its own, itself last."""
        positions = [position for one in sets for position in one if position != seal.position]
        return b"".join([self._line(position, RELAXED) for position in positions]) + self._unsigned(seal)

    def _line(self, position: int, form: bytes) -> bytes:
        key = position, form
        if key not in self._lines:
            self._lines[key] = header_line(self.fields[position], form)
        return self._lines[key]

    def _unsigned(self, signature: Signature) -> bytes:
        """The signature's own field, b= emptied, without its last line end."""
        name, value = signature.field
        tags = value.split(b";")
        for number, tag in enumerate(tags):
            before, equals, _ = tag.partition(b"=")
            if equals and before.strip() == b"b":
                tags[number] = before + equals
        return header_line((name, b";".join(tags)), signature.header_form).removesuffix(b"\r\n")


def tags_of(field: Field) -> dict[str, str]:
    """The tag list of a field; Unacceptable when it is none."""
    try:
        tags = read_tags(field[1].decode())
    except UnicodeDecodeError:
        tags = None
    if tags is None:
        raise Unacceptable("permerror", "malformed tags")
    return tags


def read_signature(
    fields: Sequence[Field], position: int, tags: Mapping[str, str], now_s: float
) -> Signature:
    """A DKIM-Signature, of which these are the tags; Unacceptable."""
    if tags.get("v") != "1":
        raise Unacceptable("permerror", "unknown version")
    signature = read_message_signature(fields, position, tags)
    if b"from" not in signature.names:  # RFC 6376 §6.1.1
        raise Unacceptable("permerror", "From is not signed")
    if "l" in tags:  # §8.2: anything could have been added to the body
        raise Unacceptable("policy", "part of the body is not signed (l=)")
    _check_times(tags, now_s)
    if "dns/txt" not in tags.get("q", "dns/txt").translate(_BLANKS).lower().split(":"):  # §3.5
        raise Unacceptable("permerror", "unknown query method")
    return signature._replace(identity=_identity(tags, signature.domain))


def read_message_signature(fields: Sequence[Field], position: int, tags: Mapping[str, str]) -> Signature:
    """What a DKIM-Signature and an ARC-Message-Signature have in common; Unacceptable."""
    header_form, _, body_form = tags.get("c", "simple/simple").translate(_BLANKS).lower().partition("/")
    names = tags.get("h", "").translate(_BLANKS).lower().split(":", MAX_NAMES)
    if header_form not in _FORMS or (body_form or "simple") not in _FORMS:
        raise Unacceptable("permerror", "unknown canonicalisation")
    if len(names) > MAX_NAMES or not all(name.isascii() for name in names):
        raise Unacceptable("permerror", "malformed list of fields")
    return read_seal(fields, position, tags)._replace(
        header_form=_FORMS[header_form],
        body_form=_FORMS[body_form or "simple"],
        body_hash=_octets(tags, "bh"),
        names=tuple(name.encode() for name in names),  # empty ones sign nothing, as absent ones do
    )


def read_seal(fields: Sequence[Field], position: int, tags: Mapping[str, str]) -> Signature:
    """What all signatures have, a seal of ARC as well; Unacceptable."""
    algorithm = tags.get("a", "").lower()
    if algorithm == "rsa-sha1":  # RFC 8301 §3.1
        raise Unacceptable("permerror", "rsa-sha1 is no longer accepted")
    if algorithm not in _ALGORITHMS:
        raise Unacceptable("permerror", "unknown algorithm")
    selector = tags.get("s", "").lower()
    return Signature(
        field=fields[position],
        position=position,
        domain=_domain(tags.get("d", "")),
        selector=_domain(selector),
        key_type=_ALGORITHMS[algorithm],
        value=_octets(tags, "b"),
    )


def verify(covered: bytes, signature: Signature, keys: PublicKeys) -> None:
    """Nothing, or Unacceptable when none of the keys signed, or other words."""
    if not any(_is_signed(covered, signature.value, key) for key in keys):
        raise Unacceptable("fail", "signature did not verify")


def _is_signed(covered: bytes, value: bytes, key: PublicKey) -> bool:
    try:
        if isinstance(key, ed25519.Ed25519PublicKey):  # RFC 8463 §3: the hash is what is signed
            key.verify(value, hashlib.sha256(covered).digest())
        else:
            key.verify(value, covered, padding.PKCS1v15(), hashes.SHA256())
    except (InvalidSignature, InternalError, ValueError):
        return False
    return True


def _domain(text: str) -> str:
    try:
        name = ascii_domain(text)
    except ValueError:
        name = ""
    if not name or not all(name.split(".")) or not set(name) <= _NAME_CHARACTERS:
        raise Unacceptable("permerror", "malformed domain or selector")
    return name


_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_.")


def _octets(tags: Mapping[str, str], name: str) -> bytes:
    text = tags.get(name, "").translate(_BLANKS)
    if not text or len(text) > MAX_SIGNATURE_OCTETS * 2:
        raise Unacceptable("permerror", f"malformed {name}=")
    try:
        return octets_of(text)
    except ValueError as error:
        raise Unacceptable("permerror", f"malformed {name}=") from error


def octets_of(encoded: str) -> bytes:
    """What base64 without blanks stands for; ValueError. RFC 6376 §2.10: the equals signs at its end may be missing."""
    return base64.b64decode(encoded if "=" in encoded else encoded + "=" * (-len(encoded) % 4), validate=True)


def _check_times(tags: Mapping[str, str], now_s: float) -> None:
    """RFC 6376 §3.5, t= and x=."""
    times = {name: tags[name] for name in ("t", "x") if name in tags}
    if not all(text.isascii() and text.isdigit() and len(text) <= MAX_TIME_DIGITS for text in times.values()):
        raise Unacceptable("permerror", "malformed time")
    if "x" in times and int(times["x"]) < now_s:
        raise Unacceptable("fail", "signature expired")
    if {"t", "x"} <= times.keys() and int(times["x"]) <= int(times["t"]):
        raise Unacceptable("permerror", "expired before it was signed")


def _identity(tags: Mapping[str, str], domain: str) -> str:
    """RFC 6376 §3.5, i=: at the domain or below it."""
    text = tags.get("i", "@" + domain)
    local, at, own = text.rpartition("@")
    try:
        own = ascii_domain(own)
    except ValueError:
        own = ""
    if not at or not is_within(own, domain):
        raise Unacceptable("permerror", "i= is not within d=")
    return f"{local}@{own}"
