"""A certificate authority that lives as long as a test, for TLS servers on loopback."""

import ipaddress
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_SIGNS_CERTIFICATES = x509.KeyUsage(
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


class ThrowawayCa:
    """`ca_file` is what a client should trust; `server_context` is what a server needs."""

    def __init__(self, folder: Path, name: str = "throw-away CA") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        certificate = self._sign(
            self._name, self._key.public_key(), x509.BasicConstraints(ca=True, path_length=None), None
        )
        self.ca_file = folder / "ca.pem"
        self.ca_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def server_context(
        self,
        names: Sequence[str],
        shows_ca: int = 0,
        is_expired: bool = False,
        is_by_common_name: bool = False,
        lasts: timedelta = timedelta(days=1),
    ) -> ssl.SSLContext:
        """For a server whose certificate carries these host names and addresses; `shows_ca`: and who shows the
        authority's so often, too; `is_expired`: a minute ago; `is_by_common_name`: only the first, and as before RFC
        2818."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
        alternatives = (
            None
            if is_by_common_name
            else x509.SubjectAlternativeName([_general_name(name) for name in names])
        )
        constraints = x509.BasicConstraints(ca=False, path_length=None)
        life = timedelta(minutes=-1) if is_expired else lasts
        certificate = self._sign(subject, key.public_key(), constraints, alternatives, life)
        chain = self._folder / f"{names[0]}.pem"
        chain.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
            + self.ca_file.read_bytes() * shows_ca
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain)
        return context

    def certificate(self, name: str) -> bytes:
        """The last certificate whose first name is this one, as DER; the authority's own is that of "ca"."""
        return x509.load_pem_x509_certificate((self._folder / f"{name}.pem").read_bytes()).public_bytes(
            serialization.Encoding.DER
        )

    def _sign(
        self,
        subject: x509.Name,
        public_key: ec.EllipticCurvePublicKey,
        constraints: x509.BasicConstraints,
        alternatives: x509.SubjectAlternativeName | None,
        lasts: timedelta = timedelta(days=1),
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + lasts)
            .add_extension(constraints, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False
            )
        )
        if constraints.ca:
            builder = builder.add_extension(_SIGNS_CERTIFICATES, critical=True)
        if alternatives is not None:
            builder = builder.add_extension(alternatives, critical=False)
        return builder.sign(self._key, hashes.SHA256())


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
