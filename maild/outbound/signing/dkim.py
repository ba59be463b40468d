"""DKIM signatures (RFC 6376) on what leaves the host: rsa-sha256, relaxed/relaxed, never `l=`; and where the domain has
a second key that DNS shows, ed25519-sha256 (RFC 8463) as well, in a field of its own below the first.

Every header field that may stand once in a message is signed once more than it is present, so that
none can be added after signing (RFC 6376 §8.15). A signature says when it ends (`x=`), so that a mail which
somebody got can't be sent on for ever in its author's name (§8.6). The canonical forms are
`maild/message/canonical.py`'s; the RSA operation is `cryptography`'s, twenty times faster than dkimpy's.

Private keys are opened once and kept with their domain for KEY_CACHE_S, so a rotated key signs within
that time. But for `DkimKeys`, all of this is pure computation, fit for any thread.
"""

import base64
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Final, NamedTuple

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, padding, rsa

from maild.message.canonical import RELAXED, body_hash, header_line, read_fields
from storage.clock import Clock
from storage.domains import dkim_keys
from storage.domains.dkim_keys import Algorithm, DkimKey
from storage.engine.database import Database
from storage.sealing import Sealer

KEY_BITS = 2048  # RFC 8301 §3.2
KEY_CACHE_S = 60
KEYS_MAX = 10_000
HEADER_FORMS_KEPT = 1_000

# RFC 5322 §3.6: at most one of each; signed even when absent, but for those a mailing list may add.
_ALWAYS = b"from sender reply-to to cc subject date message-id in-reply-to references".split()
# The last two: RFC 8058 §4.
_WHEN_PRESENT = (
    b"mime-version content-type content-transfer-encoding auto-submitted"
    b" list-unsubscribe list-unsubscribe-post"
).split()

_SIGNED = (*_ALWAYS, *_WHEN_PRESENT)

_LINE_CHARACTERS = 76
_ALGORITHMS = {True: "rsa-sha256", False: "ed25519-sha256"}


PrivateKey = rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey


class NoKey(Exception):
    """No key signs for the domain: a fault of this server, which its operator can mend."""


class SignatureForm(NamedTuple):
    """What the way that mail takes wants of its signatures. `unsigned`: header fields that they leave out;
    `is_alone`: of the first key only."""

    unsigned: frozenset[str] = frozenset()
    is_alone: bool = False


PLAIN_FORM: Final = SignatureForm()


class SigningKey(NamedTuple):
    """`domain` and `selector`: the d= and s= of signatures. `lasts_s`: how long they are good, 0: for ever. `second`:
    the key of another signature on the same mail; `unsigned`: header fields that neither covers."""

    domain: str
    selector: str
    private: PrivateKey
    lasts_s: int = 0
    second: "SigningKey | None" = None
    unsigned: frozenset[str] = frozenset()

    @property
    def selectors(self) -> list[str]:
        """Of all signatures."""
        return [self.selector, *(self.second.selectors if self.second else ())]

    def in_form(self, form: SignatureForm) -> "SigningKey":
        """The same key, whose signatures have this form."""
        if form == PLAIN_FORM:
            return self
        second = None if form.is_alone or self.second is None else self.second.in_form(form)
        return self._replace(second=second, unsigned=form.unsigned)


class DkimKeys:
    """The keys that sign, by domain. `lasts_s`: how long signatures are good, 0: for ever."""

    def __init__(
        self, db: Database, sealer: Sealer, clock: Clock, has_second: bool = False, lasts_s: int = 0
    ) -> None:
        self._has_second = has_second
        self._lasts_s = lasts_s
        self._db = db
        self._sealer = sealer
        self._clock = clock
        self._keys: OrderedDict[str, tuple[float, SigningKey]] = OrderedDict()

    async def active(self, domain: str) -> SigningKey:
        """The key that signs mail from the domain; NoKey."""
        key = self.cached(domain)
        if key is not None:
            return key
        cached = self._keys.get(domain)
        rows = self._used(await self._db.read(dkim_keys.signing, domain))
        if not rows:
            raise NoKey(domain)
        if cached is not None and cached[1].selectors == [row.selector for row in rows]:
            key = cached[1]
        else:
            loaded = [opened(row, self._sealer)._replace(lasts_s=self._lasts_s) for row in rows]
            key = loaded[0]._replace(second=loaded[1] if len(loaded) > 1 else None)
        self._keys[domain] = (self._clock.monotonic() + KEY_CACHE_S, key)
        while len(self._keys) > KEYS_MAX:
            self._keys.popitem(last=False)
        return key

    def cached(self, domain: str) -> SigningKey | None:
        """The key that signs mail from the domain, where that was found out a moment ago."""
        found = self._keys.get(domain)
        return found[1] if found is not None and found[0] > self._clock.monotonic() else None

    def _used(self, rows: Sequence[DkimKey]) -> list[DkimKey]:
        """RSA first, which every receiver knows; none without it."""
        by_algorithm = {row.algorithm: row for row in rows}
        if "rsa" not in by_algorithm:
            return []
        others = [by_algorithm["ed25519"]] if self._has_second and "ed25519" in by_algorithm else []
        return [by_algorithm["rsa"], *others]


def opened(row: DkimKey, sealer: Sealer) -> SigningKey:
    """The key of the row, without a second one; SealError."""
    private = sealer.open(row.private_key, dkim_keys.context(row.domain_name, row.selector))
    return SigningKey(row.domain_name, row.selector, load_key(private))


def sign(raw: bytes, key: SigningKey, at_s: int, digest: bytes | None = None) -> tuple[bytes, bytes]:
    """The DKIM-Signature field to put before `raw` (CRLF line ends throughout), and the body's hash.

    `digest`: that hash, where it is known from an earlier signature of the same body.
    """
    header_end = raw.find(b"\r\n\r\n")
    header, body_at = (raw, len(raw)) if header_end < 0 else (raw[: header_end + 2], header_end + 4)
    digest = digest or body_hash(raw, body_at)
    fields = signature(header, digest, key, at_s)
    if key.second is not None:
        fields += signature(header, digest, key.second, at_s)
    return fields, digest


def makers(has_second: bool) -> Mapping[Algorithm, Callable[[], tuple[bytes, str]]]:
    """What makes a fresh key, by algorithm; `has_second`: also of the one that signs beside RSA."""
    others: Mapping[Algorithm, Callable[[], tuple[bytes, str]]] = {"ed25519": generate_ed25519_key}
    return {"rsa": generate_key, **(others if has_second else {})}


def generate_key() -> tuple[bytes, str]:
    """A fresh key: the private half as PKCS#8 DER, the public half as a record's p= wants it."""
    private = rsa.generate_private_key(public_exponent=65537, key_size=KEY_BITS)
    der = private.private_bytes(
        serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = private.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return der, base64.b64encode(public).decode()


def generate_ed25519_key() -> tuple[bytes, str]:
    """The same of Ed25519; RFC 8463 §4.2: the record has the key's 32 octets, without a form around them."""
    private = ed25519.Ed25519PrivateKey.generate()
    der = private.private_bytes(
        serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return der, base64.b64encode(private.public_key().public_bytes_raw()).decode()


def load_key(der: bytes) -> PrivateKey:
    """`der`: PKCS#8. ValueError for a key that is neither RSA nor Ed25519."""
    # Whether the numbers are primes takes 30 ms to check. We made them, and the seal shows that they are unchanged.
    key = serialization.load_der_private_key(der, password=None, unsafe_skip_rsa_key_validation=True)
    if not isinstance(key, PrivateKey):
        raise ValueError("a DKIM key must be an RSA or an Ed25519 key")
    return key


def signature(header: bytes, digest: bytes, key: SigningKey, at_s: int) -> bytes:
    """The folded DKIM-Signature field over these header fields and this body hash."""
    fields: dict[bytes, list[bytes]] = {}
    for name, value in read_fields(header):
        fields.setdefault(name.rstrip().lower(), []).append(value)
    names = _names(tuple([len(fields.get(name, ())) for name in _SIGNED]), key.unsigned)
    unsigned = _unsigned(names.listed, digest, key, at_s)
    # RFC 6376 §5.4.2: several fields of one name are taken from the bottom up.
    signed = [(name, fields[name].pop()) for name in names.present]
    lines = [header_line(field, RELAXED) for field in [*signed, (b"dkim-signature", unsigned)]]
    covered = b"".join(lines).removesuffix(b"\r\n")
    value = _signed(covered, key.private)
    return b"DKIM-Signature:" + unsigned + _folded_base64(value) + b"\r\n"


class _SignedNames(NamedTuple):
    """`listed`: the folded h= tag. `present`: each name in its order, as often as there is a field for it."""

    listed: bytes
    present: Sequence[bytes]


@lru_cache(HEADER_FORMS_KEPT)
def _names(counts: tuple[int, ...], unsigned: frozenset[str]) -> _SignedNames:
    """What is signed of a message that has so many fields of each of _SIGNED. Most messages are of a few forms."""
    every = zip(_SIGNED, counts, strict=True)
    times = {name: count for name, count in every if name.decode() not in unsigned}
    names = [name for name, count in times.items() if count or name in _ALWAYS for _ in range(count + 1)]
    lines: list[bytes] = []
    line = b" h="
    for name in names:
        if len(line) + len(name) > _LINE_CHARACTERS:
            lines.append(line)
            line = b"  "
        line += name + b":"
    lines.append(line[:-1] + b";")
    # A name without a field (left) adds nothing to what is signed.
    present = [name for name, count in times.items() for _ in range(count)]
    return _SignedNames(b"\r\n".join(lines), present)


def _signed(covered: bytes, key: PrivateKey) -> bytes:
    if isinstance(key, rsa.RSAPrivateKey):
        return key.sign(covered, padding.PKCS1v15(), hashes.SHA256())
    return key.sign(sha256(covered).digest())  # RFC 8463 §3: the hash is what is signed


def _unsigned(listed: bytes, digest: bytes, key: SigningKey, at_s: int) -> bytes:
    """The field's value up to `b=`."""
    expiry = f" x={at_s + key.lasts_s};" if key.lasts_s else ""
    lines = [
        f" v=1; a={_ALGORITHMS[isinstance(key.private, rsa.RSAPrivateKey)]}; c=relaxed/relaxed;".encode()
        + f" d={key.domain};".encode(),
        f" s={key.selector}; t={at_s};{expiry}".encode(),
        listed,
        b" bh=" + base64.b64encode(digest) + b";",
        b" b=",
    ]
    return b"\r\n".join(lines)


def _folded_base64(value: bytes) -> bytes:
    text, width = base64.b64encode(value), _LINE_CHARACTERS - 4
    return b"\r\n  ".join([text[start : start + width] for start in range(0, len(text), width)])
