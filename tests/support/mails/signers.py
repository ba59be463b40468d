"""Signing domains that we did not write: dkimpy signs for them, and a zone has their keys."""

import base64
import re
from collections.abc import Sequence
from functools import cache
from typing import Protocol

import dkim
import dkim.canonicalization as canonical
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, padding, rsa

FIELDS = [b"From", b"To", b"Subject", b"Date", b"Message-ID"]


# Primes of a key that is too small to be made by the library.
SMALL_P = 108934958951438953451234762246919362386802804409483782294575427776343504575543
SMALL_Q = 92303934948442006128175295323249293006881294489097819930684248916600340494391


@cache
def rsa_key(bits: int = 2048, exponent: int = 65537) -> rsa.RSAPrivateKey:
    """`bits`: 512, or 1024 and more."""
    if bits == 512:
        return _small_key(exponent)
    return rsa.generate_private_key(public_exponent=exponent, key_size=bits)


def _small_key(exponent: int) -> rsa.RSAPrivateKey:
    p, q = SMALL_P, SMALL_Q
    d = pow(exponent, -1, (p - 1) * (q - 1))
    parts = rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q)
    return rsa.RSAPrivateNumbers(p, q, d, *parts, rsa.RSAPublicNumbers(exponent, p * q)).private_key()


def rsa_record(key: rsa.RSAPrivateKey) -> str:
    numbers = key.public_key().public_numbers()
    return rsa_public_record(numbers.e, numbers.n)


def rsa_public_record(exponent: int, modulus: int) -> str:
    der = (
        rsa.RSAPublicNumbers(exponent, modulus)
        .public_key()
        .public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
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

    def resign(self, signed: bytes, old: bytes, new: bytes) -> bytes:
        """The same message, whose first field, a signature by RSA and relaxed, says `new` instead of `old` (a
        pattern), and is right all the same."""
        fields, body = dkim.rfc822_parse(signed)
        (name, value), *others = fields
        changed, count = re.subn(old, new, value, count=1)
        assert count
        head = [self._signed_anew((name, changed), others), *others]
        return b"".join(one + b":" + text for one, text in head) + b"\r\n" + body

    def reseal(self, sealed: bytes, old: bytes, new: bytes) -> bytes:
        """The same message, sealed once, whose message signature says `new` instead of `old` (a pattern), and is right
        all the same, as is the seal in front of it."""
        seal, rest = dkim.rfc822_parse(sealed)[0][0], sealed.partition(b"\r\nARC-Message-Signature")
        resigned = self.resign(rest[1].strip() + rest[2], old, new)
        signature, results = dkim.rfc822_parse(resigned)[0][:2]
        name, value = self._signed_anew(
            seal, [results, signature], b"arc-authentication-results:arc-message-signature"
        )
        return name + b":" + value + resigned

    def _signed_anew(
        self, field: tuple[bytes, bytes], others: list[tuple[bytes, bytes]], listed: bytes = b""
    ) -> tuple[bytes, bytes]:
        """The field with another signature, over the fields that its h= has, or `listed`."""
        name, value = field
        unsigned = re.sub(rb"b=[^;=]+=*\s*\Z", b"b=", value)
        assert unsigned.endswith(b"b=")
        octets = _covered((name, unsigned), others, listed)
        made = base64.b64encode(self._rsa.sign(octets, padding.PKCS1v15(), hashes.SHA256()))
        return name, unsigned.rstrip() + made + b"\r\n"


def _covered(signature: tuple[bytes, bytes], fields: list[tuple[bytes, bytes]], listed: bytes = b"") -> bytes:
    """RFC 6376 §3.7, in the relaxed form."""
    listed = listed or re.findall(rb"[^b]h=([^;]*)", signature[1])[0]
    left = list(reversed(fields))
    chosen = []
    for name in re.sub(rb"\s", b"", listed).lower().split(b":"):
        found = next((one for one in left if one[0].lower() == name), None)
        if found is not None:
            left.remove(found)
            chosen.append(found)
    lines = canonical.Relaxed.canonicalize_headers([*chosen, signature])
    return b"".join(name + b":" + value for name, value in lines).removesuffix(b"\r\n")
