"""TLSA records of certificates (RFC 6698 §2.1), as DNS servers have them in text."""

import hashlib
from collections.abc import Callable

from maild.outbound.tls.dane import public_key_of


def tlsa_record(usage: int, selector: int, matching: int, certificate: bytes) -> str:
    """`certificate`: as DER."""
    chosen = public_key_of(certificate) if selector else certificate
    assert chosen is not None
    digests: list[Callable[[bytes], bytes]] = [
        bytes,
        lambda octets: hashlib.sha256(octets).digest(),
        lambda octets: hashlib.sha512(octets).digest(),
    ]
    return f"{usage} {selector} {matching} {digests[matching](chosen).hex()}"
