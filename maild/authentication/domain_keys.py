"""The public keys that domains sign with, from DNS (RFC 6376 §3.6): asked for once, opened once.

A domain can publish what it likes. Keys are bounded: verifying costs no more than RSA-4096 with a small exponent, and
no more than MAX_RECORDS of those.
"""

from collections import OrderedDict
from typing import NamedTuple, Protocol

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from cryptography.hazmat.primitives.serialization import load_der_public_key

from maild.authentication.signatures import PublicKey, PublicKeys, Signature, Unacceptable, octets_of
from maild.message.tags import read_tags
from maild.resolver import DnsError

KEYS_MAX = 2000  # opened ones in memory, a few KiB each
MIN_RSA_BITS, MAX_RSA_BITS = 1024, 4096  # RFC 8301 §3.2
MAX_EXPONENT_BITS = 17  # 65,537, as everybody has it: a longer one makes a verification dearer
MAX_RECORD_OCTETS = 4096
MAX_RECORDS = 3  # of one name that are read


class TxtRecords(Protocol):
    """DNS as keys need it (maild.resolver.Resolver)."""

    async def txt(self, name: str) -> list[bytes]:
        """Each record as one string; DnsError."""
        ...


class DomainKey(NamedTuple):
    """A key record. `is_strict`: signatures may not speak for names below the domain (t=s)."""

    key_type: str
    key: PublicKey
    is_strict: bool


class DomainKeys:
    """What `find` opened is kept by the record's octets: a key that changes in DNS changes here."""

    def __init__(self) -> None:
        self._opened: OrderedDict[bytes, DomainKey] = OrderedDict()

    async def find(self, dns: TxtRecords, signature: Signature) -> PublicKeys:
        """The keys that the signature names; Unacceptable, `temperror` where DNS can't say now."""
        name = f"{signature.selector}._domainkey.{signature.domain}"
        try:
            records = await dns.txt(name)
        except DnsError as error:
            if error.temporary:
                raise Unacceptable("temperror", "DNS does not answer for the key") from error
            raise Unacceptable("permerror", "no key for the signature") from error
        found: list[PublicKey] = []
        fault = "no key for the signature"
        for record in _likely(records):
            try:
                found.append(self._fitting(record, signature))
            except Unacceptable as refusal:
                fault = refusal.reason
        if not found:
            raise Unacceptable("permerror", fault)
        return tuple(found)

    def _fitting(self, record: bytes, signature: Signature) -> PublicKey:
        key = self._open(record)
        if key.key_type != signature.key_type:
            raise Unacceptable("permerror", "the key is of another type")
        if key.is_strict and signature.identity and not signature.identity.endswith("@" + signature.domain):
            raise Unacceptable("permerror", "the key is not for names below its domain")
        return key.key

    def _open(self, record: bytes) -> DomainKey:
        found = self._opened.get(record)
        if found is None:
            found = self._opened[record] = read_key(record)
            while len(self._opened) > KEYS_MAX:
                self._opened.popitem(last=False)
        else:
            self._opened.move_to_end(record)
        return found


def read_key(record: bytes) -> DomainKey:
    """The key in a TXT record; Unacceptable."""
    # §3.6.1: no program interprets n=, so what is not ASCII does no harm there, and is wrong in all that is read.
    tags = read_tags(record.decode("ascii", "replace")) if len(record) <= MAX_RECORD_OCTETS else None
    if tags is None or tags.get("v", "DKIM1") != "DKIM1" or "p" not in tags:
        raise Unacceptable("permerror", "malformed key record")
    if "h" in tags and "sha256" not in _words(tags["h"]):
        raise Unacceptable("permerror", "the key is not for sha256")
    if not {"*", "email"} & set(_words(tags.get("s", "*"))):
        raise Unacceptable("permerror", "the key is not for mail")
    encoded = "".join(tags["p"].split())
    if not encoded:  # §3.6.1
        raise Unacceptable("permerror", "the key was revoked")
    key_type = tags.get("k", "rsa").lower()
    return DomainKey(key_type, _public_key(key_type, encoded), "s" in _words(tags.get("t", "")))


def _likely(records: list[bytes]) -> list[bytes]:
    """§6.1.2: of several each may be tried, in any order; what is plainly no key is passed over."""
    return [record for record in records if b"p=" in record][:MAX_RECORDS] or records[:1]


def _words(value: str) -> list[str]:
    return [word.strip().lower() for word in value.split(":")]


def _public_key(key_type: str, encoded: str) -> PublicKey:
    try:
        octets = octets_of(encoded)
        if key_type == "ed25519":  # RFC 8463 §4: the bare key
            return ed25519.Ed25519PublicKey.from_public_bytes(octets)
        key = load_der_public_key(octets) if key_type == "rsa" else None
    except (ValueError, UnsupportedAlgorithm) as error:
        raise Unacceptable("permerror", "malformed key") from error
    if not isinstance(key, rsa.RSAPublicKey):
        raise Unacceptable("permerror", "unknown key type")
    if not MIN_RSA_BITS <= key.key_size <= MAX_RSA_BITS:
        raise Unacceptable("permerror", f"the key has {key.key_size} bits")
    if key.public_numbers().e.bit_length() > MAX_EXPONENT_BITS:
        raise Unacceptable("permerror", "the key has a huge exponent")
    return key
