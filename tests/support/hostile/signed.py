"""Mail of hostile signers: many signatures, large keys, long lists of fields.

Signatures are made for nothing: one that is not right costs a verifier as much as one that is.
"""

import base64
import hashlib
from collections.abc import Iterator

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

BODY = b"Hello\r\n"
BODY_HASH = base64.b64encode(hashlib.sha256(BODY).digest())
AUTHOR = b"From: m@evil.test\r\nTo: bot@agents.test\r\n"
DOMAIN = "d%d.evil.test"
BITS, EXPONENT = 4096, 2**17 - 1  # the largest that are taken


def key_record(number: int) -> tuple[str, str]:
    """Name and text of a record, a key for each number. Nobody has its private key."""
    key = rsa.RSAPublicNumbers(EXPONENT, (1 << BITS) - 1 - 2 * number).public_key()
    der = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    name = f"s._domainkey.{DOMAIN % number}"
    return name, f"v=DKIM1; k=rsa; p={base64.b64encode(der).decode()}"


def signatures(count: int, names: bytes = b"from") -> Iterator[bytes]:
    """Fields of so many domains over BODY, that look right until their keys have been used."""
    value = base64.b64encode(b"\x01" * (BITS // 8))
    for number in range(count):
        yield (
            b"DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=%s; s=s; h=%s;\r\n bh=%s; b=%s\r\n"
            % ((DOMAIN % number).encode(), names, BODY_HASH, value)
        )


def message(*fields: bytes) -> bytes:
    """These fields, an author at evil.test, and BODY."""
    return b"".join(fields) + AUTHOR + b"\r\n" + BODY
