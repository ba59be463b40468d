"""The files that the configuration names are looked into before a daemon needs them (conf/named_files.py)."""

import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from conf import named_files
from conf.loading import parse
from maild.inbound.wire import tls

BROKEN = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    return made(tmp_path / "one")


def made(folder: Path) -> tuple[str, str]:
    folder.mkdir()
    return tls.self_signed(folder, "mx.test")


def _pem(private: rsa.RSAPrivateKey) -> bytes:
    return private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def faults(document: Mapping[str, Any]) -> list[str]:
    return named_files.faults(parse(document))


def test_a_pair_and_authorities_that_can_be_used(pair: tuple[str, str]) -> None:
    cert, key = pair
    named = {"tls_cert": cert, "tls_key": key}
    relays = {"a": {"host": "relay.test:25", "ca_file": cert}}
    document = {"smtp": named, "outbound": {**named, "ca_file": cert, "relays": relays}}
    assert faults({**document, "dns": {"doh_ca_file": cert}, "webhooks": {"ca_file": cert}}) == []
    assert faults({}) == []


def test_every_file_that_can_not_be_read_is_told_at_once(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone.pem")
    pair = {"tls_cert": gone, "tls_key": gone}
    document = {
        "smtp": pair,
        "outbound": {**pair, "ca_file": gone, "relays": {"a": {"host": "relay.test:25", "ca_file": gone}}},
        "dns": {"doh_ca_file": gone},
        "webhooks": {"ca_file": gone},
    }
    keys = ["smtp.tls_cert", "smtp.tls_key", "outbound.tls_cert", "outbound.tls_key",
            "outbound.ca_file", "outbound.relays.a.ca_file", "dns.doh_ca_file", "webhooks.ca_file"]  # fmt: skip
    assert faults(document) == [f"{key}: {gone} is not readable: No such file or directory" for key in keys]
    assert faults({"webhooks": {"ca_file": str(tmp_path)}}) == [
        f"webhooks.ca_file: {tmp_path} is not readable: Is a directory"
    ]


def test_nobody_waits_for_a_pipe(tmp_path: Path) -> None:
    """Neither one that nobody has open, nor one into which somebody writes later, or once."""
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    told = [f"webhooks.ca_file: {pipe} is a pipe or a device; name a file"]
    assert faults({"webhooks": {"ca_file": pipe}}) == told
    with open(pipe, "r+b", buffering=0) as writer:
        assert faults({"webhooks": {"ca_file": pipe}}) == told
        writer.write(b"-----BEGIN CERTIFICATE-----\n")
        assert faults({"webhooks": {"ca_file": pipe}}) == told


@pytest.mark.parametrize("section", ["smtp", "outbound"])
def test_a_pair_that_does_not_fit(section: str, pair: tuple[str, str], tmp_path: Path) -> None:
    cert, key = pair
    _, another = made(tmp_path / "two")
    keys = f"{section}.tls_cert, {section}.tls_key"
    assert faults({section: {"tls_cert": cert, "tls_key": another}}) == [
        f"{keys}: {another} is not the key of the certificate that stands first in {cert}"
    ]
    assert faults({section: {"tls_cert": key, "tls_key": cert}}) == [
        f"{section}.tls_cert: there is no certificate in {key}, as PEM has it",
        f"{section}.tls_key: there is no private key in {cert}, as PEM has it",
    ]
    locked = tmp_path / "locked.key"
    private = serialization.load_pem_private_key(Path(key).read_bytes(), None)
    locked.write_bytes(
        private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    assert faults({section: {"tls_cert": cert, "tls_key": str(locked)}}) == [
        f"{keys}: {locked} is encrypted, and nobody is asked for a password; name one that is not"
    ]
    broken = tmp_path / "broken.pem"
    broken.write_text(BROKEN)
    (told,) = faults({section: {"tls_cert": str(broken), "tls_key": key}})
    assert told.startswith(f"{section}.tls_cert: a certificate in {broken} can't be read: ")
    torn = tmp_path / "torn.key"
    torn.write_bytes(Path(key).read_bytes()[:100])
    (told,) = faults({section: {"tls_cert": cert, "tls_key": str(torn)}})
    assert told.startswith(f"{section}.tls_key: the private key in {torn} can't be read: ")
    another_kind = tmp_path / "rsa.key"
    another_kind.write_bytes(_pem(rsa.generate_private_key(65537, 2048)))
    assert faults({section: {"tls_cert": cert, "tls_key": str(another_kind)}}) == [
        f"{keys}: {another_kind} is not the key of the certificate that stands first in {cert}"
    ]


def test_authorities_that_are_none(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.write_text("hello")
    document = {"outbound": {"ca_file": str(file)}, "webhooks": {"ca_file": str(file)}}
    assert faults(document) == [
        f"{key}.ca_file: there is no certificate in {file}, as PEM has it" for key in ("outbound", "webhooks")
    ]
    file.write_text(BROKEN)
    told = faults(document)
    assert [one.partition(" can't")[0] for one in told] == [
        f"{key}.ca_file: a certificate in {file}" for key in ("outbound", "webhooks")
    ]
    with pytest.raises(ssl.SSLError):  # as the daemon finds it
        ssl.create_default_context(cafile=str(file))
