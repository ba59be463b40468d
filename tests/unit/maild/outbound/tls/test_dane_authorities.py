"""Which chains an authority that a TLSA record names (DANE-TA) vouches for: such authorities are their owners' own,
made as the manuals of OpenSSL and Easy-RSA have it, and seldom as browsers want them."""

import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from maild.outbound.tls.dane import DANE_TA, SPKI, Tlsa, is_matched, public_key_of
from tests.support.machine.tools import needs
from tests.support.peers.throwaway_ca import ThrowawayCa

HOST = "mx.there.test"
AUTHORITY = "basicConstraints=critical,CA:TRUE\nsubjectKeyIdentifier=hash\nkeyUsage=critical,keyCertSign\n"
NAMED = f"subjectAltName=DNS:{HOST}\n"

pytestmark = needs("openssl")

Issue = Callable[..., bool]


@pytest.fixture
def is_vouched_for(tmp_path: Path) -> Issue:
    """Makes an authority and a host's certificate with these extensions, and asks whether a record of the authority
    vouches for the two."""

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=tmp_path, check=True, capture_output=True)

    def request(name: str, subject: str) -> None:
        curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
        openssl("req", "-new", *curve, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", subject)

    def der(name: str) -> bytes:
        found = x509.load_pem_x509_certificate((tmp_path / f"{name}.crt").read_bytes())
        return found.public_bytes(Encoding.DER)

    def issue(authority: str, host: str, subject: str = f"/CN={HOST}") -> bool:
        (tmp_path / "ca.ext").write_text(authority)
        (tmp_path / "host.ext").write_text(host)
        request("ca", "/CN=our own CA")
        request("host", subject)
        by_itself = ("-in", "ca.csr", "-signkey", "ca.key", "-days", "9999", "-extfile", "ca.ext")
        by_ca = (
            "-in",
            "host.csr",
            "-CA",
            "ca.crt",
            "-CAkey",
            "ca.key",
            "-CAcreateserial",
            "-extfile",
            "host.ext",
        )
        openssl("x509", "-req", *by_itself, "-out", "ca.crt")
        openssl("x509", "-req", *by_ca, "-days", "30", "-out", "host.crt")
        return does_vouch(der("ca"), der("host"))

    return issue


def does_vouch(authority: bytes, host: bytes) -> bool:
    """Is it so by a record of the authority? Both as DER."""
    key = public_key_of(authority)
    assert key is not None
    record = Tlsa(DANE_TA, SPKI, 1, hashlib.sha256(key).digest())
    return is_matched([record], [host, authority], [HOST, "there.test"])


@pytest.mark.parametrize(
    ("authority", "host"),
    [
        (AUTHORITY, NAMED),
        # As `openssl req -x509` makes it: nothing is said of what its key is for.
        (
            "basicConstraints=critical,CA:TRUE\nsubjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n",
            NAMED,
        ),
        # As Easy-RSA does.
        (
            "basicConstraints=CA:TRUE\nsubjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid,issuer:always\n"
            "keyUsage=cRLSign,keyCertSign\n",
            "basicConstraints=CA:FALSE\nsubjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid,issuer:always\n"
            "extendedKeyUsage=serverAuth\nkeyUsage=digitalSignature,keyEncipherment\n" + NAMED,
        ),
        (AUTHORITY, "subjectAltName=DNS:*.there.test\n"),
        (AUTHORITY, "subjectAltName=DNS:MX.There.test\n"),
        (AUTHORITY, "subjectAltName=DNS:there.test\n"),
        (AUTHORITY, "basicConstraints=CA:TRUE\n" + NAMED),
        (AUTHORITY, "extendedKeyUsage=anyExtendedKeyUsage\n" + NAMED),
        # RFC 7672 §3.2.3: the common name counts where there is no DNS-ID.
        (AUTHORITY, "basicConstraints=CA:FALSE\n"),
        (AUTHORITY, "subjectAltName=email:postmaster@there.test\n"),
        (AUTHORITY + "nameConstraints=critical,permitted;DNS:there.test\n", NAMED),
    ],
)
def test_authorities_as_people_make_them_count(is_vouched_for: Issue, authority: str, host: str) -> None:
    assert is_vouched_for(authority, host)


@pytest.mark.parametrize(
    ("authority", "host", "subject"),
    [
        (AUTHORITY, "subjectAltName=DNS:mx.other.test\n", f"/CN={HOST}"),
        (AUTHORITY, "subjectAltName=DNS:*.mx.there.test\n", f"/CN={HOST}"),
        (AUTHORITY, "basicConstraints=CA:FALSE\n", "/CN=mx.other.test"),
        (AUTHORITY, "basicConstraints=CA:FALSE\n", "/CN=*"),
        (AUTHORITY, "basicConstraints=CA:FALSE\n", "/O=there"),
        (AUTHORITY, "extendedKeyUsage=clientAuth\n" + NAMED, f"/CN={HOST}"),
        ("basicConstraints=critical,CA:FALSE\n", NAMED, f"/CN={HOST}"),
        (
            AUTHORITY,
            "subjectAltName=DER:3004a5023000\n",
            f"/CN={HOST}",
        ),  # an ediPartyName, which nobody reads
        ("subjectKeyIdentifier=hash\n", NAMED, f"/CN={HOST}"),
        ("basicConstraints=critical,CA:TRUE\nkeyUsage=digitalSignature\n", NAMED, f"/CN={HOST}"),
        (AUTHORITY + "nameConstraints=permitted;DNS:other.test\n", NAMED, f"/CN={HOST}"),
    ],
)
def test_what_an_authority_does_not_vouch_for(
    is_vouched_for: Issue, authority: str, host: str, subject: str
) -> None:
    assert not is_vouched_for(authority, host, subject)


@pytest.mark.parametrize("is_expired", [False, True])
def test_a_certificate_counts_until_it_ends(tmp_path: Path, is_expired: bool) -> None:
    ca = ThrowawayCa(tmp_path)
    ca.server_context([HOST], is_expired=is_expired)
    assert does_vouch(ca.certificate("ca"), ca.certificate(HOST)) is not is_expired
