"""The certificate for STARTTLS: the configured pair, or one that we make and sign ourselves.

Between mail servers TLS is opportunistic (RFC 7435): senders that check certificates ask for a policy
(MTA-STS, DANE) first, so a self-signed one protects as much as a bought one until such a policy exists.
"""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from storage.durable_files import is_there, write_new_file

log = structlog.get_logger("maild.smtp")

VALID_DAYS = 3650
# Of TLS 1.2, keys for this session alone (RFC 9325 §4.1), for mail between servers as well: the certificate's key is
# the same on all ports. CBC is for Windows up to 8.1 and Server 2012 R2, which know no other with RSA.
_CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES:!AESCCM"


def context(cert: str, key: str) -> ssl.SSLContext:
    """A server context for this pair of PEM files; ssl.SSLError or OSError when they don't fit.

    Always a fresh one: a pair that does not match breaks the context that it is loaded into."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.set_ciphers(_CIPHERS)
    # An encrypted key is a fault; without a password OpenSSL would ask for one on the terminal.
    made.load_cert_chain(cert, key, password="")
    return made


def end_of(cert: str) -> float:
    """When the first certificate in a file ends, Unix time; 0 where it does not say."""
    try:
        return x509.load_pem_x509_certificate(Path(cert).read_bytes()).not_valid_after_utc.timestamp()
    except (ValueError, x509.InvalidVersion):
        return 0.0


def self_signed(folder: Path, hostname: str) -> tuple[str, str]:
    """The pair in `folder`, made when there is none that is whole; the paths of certificate and key."""
    cert, key = folder / "smtp-self-signed.pem", folder / "smtp-self-signed.key"
    if not (is_there(cert) and is_there(key) and _is_whole(cert, key)):
        private = ec.generate_private_key(ec.SECP256R1())
        _replace(key, _pem_key(private))
        _replace(cert, _certificate(private, hostname).public_bytes(serialization.Encoding.PEM))
    return str(cert), str(key)


def _is_whole(cert: Path, key: Path) -> bool:
    """Not where power was lost between the two, or this was done by a version that did not fsync them."""
    try:
        context(str(cert), str(key))
    except ssl.SSLError as error:
        log.warning(
            "self_signed_pair_damaged",
            error=str(error),
            advice="another one is made; who pinned this one must be told",
        )
        return False
    return True


def _pem_key(private: ec.EllipticCurvePrivateKey) -> bytes:
    return private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _certificate(private: ec.EllipticCurvePrivateKey, hostname: str) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hostname[:64])])
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=VALID_DAYS))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(hostname)]), critical=False)
        .sign(private, hashes.SHA256())
    )


def _replace(path: Path, data: bytes) -> None:
    path.unlink(missing_ok=True)
    write_new_file(path, data)
