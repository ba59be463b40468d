"""Mail for scripts/bench/inbound --judged: text of a given size, signed by its author's domain and by one that sends for it,
and what DNS has to say of them. Signers are dkimpy's; one key for all authors, one for all who send.
"""

import base64
from collections.abc import Iterator
from pathlib import Path

import dkim
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from scripts.bench.mails.shapes import Author
from scripts.bench.peers.judging_world import CLIENT

SELECTOR = "s1"
FIELDS = [b"From", b"Subject", b"MIME-Version", b"Content-Type"]
PLAIN = "plain.example"  # publishes nothing
FORGER = "forger.example"


def author_of(number: int) -> str:
    """A domain that writes."""
    return f"author{number}.example"


def sender_of(number: int) -> str:
    """The domain that sends for it."""
    return f"esp{number}.example"


class SigningAuthor:
    """Writes mails and the records of their domains. `is_cold`: each mail has domains of its own."""

    def __init__(self, size_bytes: int, folder: Path, is_cold: bool) -> None:
        self._size_bytes = size_bytes
        self._folder = folder
        self._is_cold = is_cold
        self._keys = [rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2)]
        self._domains = 1

    def signed(self, count: int) -> list[Path]:
        """So many files."""
        self._domains = count if self._is_cold else 1
        paths = Author(self._size_bytes).write("text", self._folder, count)
        for number, path in enumerate(paths):
            domain = number if self._is_cold else 0
            path.write_bytes(self._sign(_from(path.read_bytes(), author_of(domain)), domain))
        return [path.rename(path.with_name(f"signed-{number}")) for number, path in enumerate(paths)]

    def unsigned(self, count: int, like: Path) -> list[Path]:
        """As large as `like`, by a domain that publishes nothing."""
        size_bytes = like.stat().st_size
        paths = Author(size_bytes).write("text", self._folder, count)
        for path in paths:
            path.write_bytes(_from(path.read_bytes(), PLAIN))
        return paths

    def domains_of(self, mail: Path) -> tuple[str, str]:
        """Of a signed one: the author's, and that which sends for it."""
        number = int(mail.name.partition("-")[2]) if self._is_cold else 0
        return author_of(number), sender_of(number)

    def mail_from(self, mail: Path) -> str:
        """Its envelope sender."""
        is_signed = mail.name.startswith("signed-")
        return f"bounces@{self.domains_of(mail)[1] if is_signed else PLAIN}"

    def records(self) -> Iterator[tuple[str, str]]:
        """TXT records (name, text) of what `signed` has written."""
        yield FORGER, "v=spf1 -all"
        keys = [_record(key) for key in self._keys]
        for number in range(self._domains):
            author, sender = author_of(number), sender_of(number)
            yield f"_dmarc.{author}", "v=DMARC1; p=reject; adkim=s"
            yield sender, f"v=spf1 ip4:{CLIENT} -all"
            for domain, key in zip((author, sender), keys, strict=True):
                yield f"{SELECTOR}._domainkey.{domain}", f"{key}; n={number}"

    def _sign(self, mail: bytes, number: int) -> bytes:
        crlf = mail.replace(b"\n", b"\r\n")
        for domain, key in zip((author_of(number), sender_of(number)), self._keys, strict=True):
            field = dkim.sign(
                crlf,
                SELECTOR.encode(),
                domain.encode(),
                _pem(key),
                canonicalize=(b"relaxed", b"relaxed"),
                include_headers=FIELDS,
            )
            crlf = field + crlf
        return crlf.replace(b"\r\n", b"\n")


def _from(mail: bytes, domain: str) -> bytes:
    return mail.replace(b"@x.test>", f"@{domain}>".encode(), 1)


def _pem(key: rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )


def _record(key: rsa.RSAPrivateKey) -> str:
    der = key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return f"v=DKIM1; k=rsa; p={base64.b64encode(der).decode()}"
