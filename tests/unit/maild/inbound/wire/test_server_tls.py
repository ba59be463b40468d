"""What TLS is offered to clients, whatever the defaults of the Python that is installed (maild/inbound/wire/tls.py)."""

import ssl
from pathlib import Path

import pytest

from maild.inbound.wire import tls


@pytest.fixture
def offered(tmp_path: Path) -> ssl.SSLContext:
    return tls.context(*tls.self_signed(tmp_path, "mx.test"))


def test_who_gets_the_key_later_can_open_nothing(offered: ssl.SSLContext) -> None:
    """RFC 9325 §4.1. Debian's Python offers keys that are encrypted to the certificate's, too."""
    exchanges = {cipher["kea"] for cipher in offered.get_ciphers() if cipher["protocol"] != "TLSv1.3"}
    assert exchanges == {"kx-ecdhe"}


def test_clients_of_many_years_find_something(offered: ssl.SSLContext) -> None:
    """Windows up to 8.1 and Server 2012 R2 know no other with a certificate of RSA."""
    names = {cipher["name"] for cipher in offered.get_ciphers()}
    assert {"ECDHE-RSA-AES256-SHA384", "ECDHE-RSA-AES128-SHA256", "ECDHE-RSA-AES256-GCM-SHA384"} <= names


def test_nothing_weak_is_among_them(offered: ssl.SSLContext) -> None:
    assert offered.minimum_version is ssl.TLSVersion.TLSv1_2
    assert offered.options & ssl.OP_CIPHER_SERVER_PREFERENCE and offered.options & ssl.OP_NO_COMPRESSION
    ciphers = offered.get_ciphers()
    assert all(cipher["strength_bits"] >= 128 for cipher in ciphers)
    assert {cipher["auth"] for cipher in ciphers} <= {"auth-rsa", "auth-ecdsa", "auth-any"}
    assert not [cipher["name"] for cipher in ciphers if "CCM" in cipher["name"]]


def test_of_what_openssl_alone_can_read_no_end_is_told(tmp_path: Path) -> None:
    """A certificate of version 9. It is shown all the same, and ends no part of the daemon."""
    cert, key = tls.self_signed(tmp_path, "mx.test")
    octets = ssl.PEM_cert_to_DER_cert(Path(cert).read_text())
    odd = octets.replace(b"\xa0\x03\x02\x01\x02", b"\xa0\x03\x02\x01\x09", 1)
    Path(cert).write_text(ssl.DER_cert_to_PEM_cert(odd))
    tls.context(cert, key)
    assert tls.end_of(cert) == 0
