"""Signing domains that we did not write: dkimpy signs for them, and a zone has their keys."""

import base64
from collections.abc import Sequence
from functools import cache
from typing import Protocol

import dkim
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa

FIELDS = [b"From", b"To", b"Subject", b"Date", b"Message-ID"]


@cache
def rsa_key(bits: int = 2048, exponent: int = 65537) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=exponent, key_size=bits)


def rsa_record(key: rsa.RSAPrivateKey) -> str:
    der = key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return f"v=DKIM1; k=rsa; p={base64.b64encode(der).decode()}"


def ed25519_record(key: ed25519.Ed25519PrivateKey) -> str:
    return f"v=DKIM1; k=ed25519; p={base64.b64encode(key.public_key().public_bytes_raw()).decode()}"


class Records(Protocol):
    """Where keys are published."""

    def add(self, name: str, *texts: str) -> None: ...


class Signer:
    """A domain with one RSA key and one Ed25519 key, published in `zone` under the selectors `rsa` and `ed`."""

    def __init__(self, zone: Records, domain: str, bits: int = 2048) -> None:
        self.domain = domain
        self._rsa = rsa_key(bits)
        self._ed25519 = ed25519.Ed25519PrivateKey.generate()
        zone.add(f"rsa._domainkey.{domain}", rsa_record(self._rsa))
        zone.add(f"ed._domainkey.{domain}", ed25519_record(self._ed25519))

    def sign(
        self,
        message: bytes,
        selector: str = "rsa",
        forms: tuple[bytes, bytes] = (b"relaxed", b"relaxed"),
        fields: Sequence[bytes] = FIELDS,
        *,
        length: bool = False,
        identity: bytes | None = None,
    ) -> bytes:
        """The message with the signature in front of it."""
        signer = dkim.DKIM(
            message, signature_algorithm=b"rsa-sha256" if selector == "rsa" else b"ed25519-sha256"
        )
        signer.should_not_sign = set()
        field: bytes = signer.sign(
            selector.encode(),
            self.domain.encode(),
            self._rsa_pem() if selector == "rsa" else base64.b64encode(self._ed25519.private_bytes_raw()),
            canonicalize=forms,
            include_headers=list(fields),
            length=length,
            identity=identity,
        )
        return field + message

    def seal(self, message: bytes, seen: str) -> bytes:
        """The message with one more set of ARC; `seen`: what the sealer says it saw (its own results)."""
        results = f"Authentication-Results: {self.domain}; {seen}\r\n".encode()
        added: list[bytes] = dkim.arc_sign(
            results + message,
            b"rsa",
            self.domain.encode(),
            self._rsa_pem(),
            self.domain.encode(),
            include_headers=FIELDS,
        )
        return b"".join(added) + message

    def _rsa_pem(self) -> bytes:
        return self._rsa.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
