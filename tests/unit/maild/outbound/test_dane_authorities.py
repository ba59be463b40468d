"""Which chains an authority that a TLSA record names (DANE-TA) vouches for: such authorities are their owners' own,
made as the manuals of OpenSSL and Easy-RSA have it, and seldom as browsers want them."""

import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from maild.outbound.dane import DANE_TA, SPKI, Tlsa, is_matched, public_key_of
from tests.support.tools import needs

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

    def issue(authority: str, host: str, subject: str = f"/CN={HOST}", days: int = 30) -> bool:
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
        openssl("x509", "-req", *by_ca, "-days", str(days), "-out", "host.crt")
        key = public_key_of(der("ca"))
        assert key is not None
        record = Tlsa(DANE_TA, SPKI, 1, hashlib.sha256(key).digest())
        return is_matched([record], [der("host"), der("ca")], [HOST, "there.test"])

    return issue


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
    ("authority", "host", "subject", "days"),
    [
        (AUTHORITY, "subjectAltName=DNS:mx.other.test\n", f"/CN={HOST}", 30),
        (AUTHORITY, "subjectAltName=DNS:*.mx.there.test\n", f"/CN={HOST}", 30),
        (AUTHORITY, "basicConstraints=CA:FALSE\n", "/CN=mx.other.test", 30),
        (AUTHORITY, "basicConstraints=CA:FALSE\n", "/CN=*", 30),
        (AUTHORITY, "basicConstraints=CA:FALSE\n", "/O=there", 30),
        (AUTHORITY, NAMED, f"/CN={HOST}", -1),
        (AUTHORITY, "extendedKeyUsage=clientAuth\n" + NAMED, f"/CN={HOST}", 30),
        ("basicConstraints=critical,CA:FALSE\n", NAMED, f"/CN={HOST}", 30),
        (
            AUTHORITY,
            "subjectAltName=DER:3004a5023000\n",
            f"/CN={HOST}",
            30,
        ),  # an ediPartyName, which nobody reads
        ("subjectKeyIdentifier=hash\n", NAMED, f"/CN={HOST}", 30),
        ("basicConstraints=critical,CA:TRUE\nkeyUsage=digitalSignature\n", NAMED, f"/CN={HOST}", 30),
        (AUTHORITY + "nameConstraints=permitted;DNS:other.test\n", NAMED, f"/CN={HOST}", 30),
    ],
)
def test_what_an_authority_does_not_vouch_for(
    is_vouched_for: Issue, authority: str, host: str, subject: str, days: int
) -> None:
    assert not is_vouched_for(authority, host, subject, days)
