"""Secrets at rest (storage/sealing.py; A6)."""

import os
import stat
from pathlib import Path

import pytest

from storage import sealing
from storage.sealing import Sealer, SealError, make_master_key, read_master_key

KEY = bytes(range(32))


def test_what_was_sealed_opens_under_its_key_and_context_alone() -> None:
    sealed = Sealer(KEY).seal(b"secret", "webhook:whk_1")
    assert Sealer(KEY).open(sealed, "webhook:whk_1") == b"secret"
    for sealer, context in ((Sealer(KEY), "webhook:whk_2"), (Sealer(bytes(32)), "webhook:whk_1")):
        with pytest.raises(SealError) as told:
            sealer.open(sealed, context)
        assert "secret" not in str(told.value)


def test_any_damage_is_seen() -> None:
    sealer = Sealer(KEY)
    sealed = sealer.seal(b"secret", "x")
    for position in range(len(sealed)):
        damaged = bytearray(sealed)
        damaged[position] ^= 1
        with pytest.raises(SealError):
            sealer.open(bytes(damaged), "x")


def test_of_two_that_make_a_master_key_at_one_moment_both_have_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "master.key"
    make_master_key(path)
    made = read_master_key(path)
    monkeypatch.setattr(sealing, "is_there", lambda _: False)
    make_master_key(path)
    assert read_master_key(path) == made


@pytest.mark.parametrize("sealed", [b"", b"short", bytes(12), bytes(27)])
def test_what_is_too_short_does_not_open_either(sealed: bytes) -> None:
    with pytest.raises(SealError):
        Sealer(KEY).open(sealed, "x")


def test_the_same_secret_never_looks_the_same() -> None:
    sealer = Sealer(KEY)
    assert len({sealer.seal(b"secret", "x") for _ in range(100)}) == 100
    assert b"secret" not in sealer.seal(b"secret", "x")


def test_the_master_key_is_its_owners_alone_and_made_once(tmp_path: Path) -> None:
    path = tmp_path / "master.key"
    before = os.umask(0)
    try:
        make_master_key(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    key = read_master_key(path)
    assert len(key) == 32
    make_master_key(path)
    assert read_master_key(path) == key


def test_a_master_key_that_could_not_be_written_is_made_by_the_next_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D2: what lost power, or was killed, before all of it was written has left nothing in its place."""

    path = tmp_path / "master.key"

    def fails(_descriptor: int) -> None:
        assert not path.exists()
        raise OSError("no disk")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fails)
        with pytest.raises(OSError, match="no disk"):
            make_master_key(path)
    make_master_key(path)
    assert len(read_master_key(path)) == 32 and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("text", ["", "zz", "00" * 31, "00" * 33, "caf\u00e9" * 16])
def test_what_is_no_master_key_is_refused_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "master.key"
    path.write_text(text, "utf-8")
    with pytest.raises(SealError, match=r"master\.key"):
        read_master_key(path)
    with pytest.raises(SealError, match="nowhere"):
        read_master_key(tmp_path / "nowhere")
