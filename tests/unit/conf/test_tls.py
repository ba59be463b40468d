"""Whom the daemon believes is what the system has for it to believe."""

import shutil
from pathlib import Path

import pytest

from conf.tls import knows_authorities
from tests.support.peers.throwaway_ca import ThrowawayCa


def test_a_system_without_authorities_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the package ca-certificates is missing: nobody's certificate verifies."""
    folder, file = tmp_path / "certs", tmp_path / "bundle.pem"
    monkeypatch.setenv("SSL_CERT_DIR", str(folder))
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    assert not knows_authorities()
    folder.mkdir()
    (folder / "README").touch()
    file.touch()
    assert not knows_authorities()
    file.write_bytes(ThrowawayCa(tmp_path).ca_file.read_bytes())
    assert knows_authorities()
    file.unlink()
    # A name by which OpenSSL finds it when it needs it.
    shutil.copy(tmp_path / "ca.pem", folder / "0a1b2c3d.0")
    assert knows_authorities()
