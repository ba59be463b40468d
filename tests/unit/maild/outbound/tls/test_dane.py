"""TLSA records as octets, and the public key of a certificate as it stands there."""

from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from maild.outbound.tls.dane import (
    RECORDS_MAX,
    Tlsa,
    is_matched,
    one_of_each_name,
    public_key_of,
    read_usable,
)
from tests.support.peers.throwaway_ca import ThrowawayCa

SHA256 = bytes(range(32))


@pytest.mark.parametrize(
    "record",
    [
        b"",
        b"\x03\x01\x01",
        b"\x03\x01\x00",
        b"\x03\x01\x01\x00",
        b"\x03\x01\x01" + SHA256 + b"\x00",
        b"\x03\x01\x02" + SHA256,
        b"\x03\x01\x03" + SHA256,
        b"\x03\x02\x01" + SHA256,
        b"\x00\x01\x01" + SHA256,
        b"\x01\x01\x01" + SHA256,
        b"\xff\x01\x01" + SHA256,
    ],
)
def test_what_can_not_be_used_is_left_out(record: bytes) -> None:
    assert read_usable([record]) == ()
    assert read_usable([record, b"\x03\x01\x01" + SHA256]) == (Tlsa(3, 1, 1, SHA256),)


def test_there_is_one_order_and_an_end() -> None:
    records = [b"\x03\x01\x01" + bytes([number]) * 32 for number in range(RECORDS_MAX + 5)]
    assert len(read_usable(records)) == RECORDS_MAX
    assert read_usable(records) == read_usable(records[::-1])


def test_the_public_key_is_what_the_certificate_says(tmp_path: Path) -> None:
    ca = ThrowawayCa(tmp_path)
    ca.server_context(["mx.there.test"])
    for name in ("ca", "mx.there.test"):
        octets = ca.certificate(name)
        key = x509.load_der_x509_certificate(octets).public_key()
        assert public_key_of(octets) == key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def test_authorities_of_one_name_are_no_maze(tmp_path: Path) -> None:
    shown = []
    for number in range(5):
        (tmp_path / str(number)).mkdir()
        ca = ThrowawayCa(tmp_path / str(number), name="one" if number < 4 else "another")
        shown.append(x509.load_der_x509_certificate(ca.certificate("ca")))
    assert {one.serial_number for one in one_of_each_name(shown)} == {
        shown[0].serial_number,
        shown[4].serial_number,
    }


def test_without_a_certificate_nothing_matches() -> None:
    assert not is_matched([Tlsa(3, 0, 0, b"")], [], ["mx.there.test"])
    assert public_key_of(b"") is None
