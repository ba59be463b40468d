"""The certificate that maild makes for itself (maild/inbound/wire/tls.py)."""

import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from maild.inbound.wire import tls


def test_it_is_made_once_and_its_owners_alone(tmp_path: Path) -> None:
    cert, key = tls.self_signed(tmp_path, "mx.test")
    tls.context(cert, key)
    before = Path(cert).read_bytes(), Path(key).read_bytes()
    with capture_logs() as lines:
        assert tls.self_signed(tmp_path, "mx.test") == (cert, key)
    assert (Path(cert).read_bytes(), Path(key).read_bytes()) == before and lines == []
    assert stat.S_IMODE(Path(key).stat().st_mode) == 0o600


def half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def of_another_pair(path: Path) -> None:
    for other in tls.self_signed(path.parent / "other", "mx.test"):
        if Path(other).name == path.name:
            path.write_bytes(Path(other).read_bytes())


@pytest.mark.parametrize("harm", [half, emptied, of_another_pair, Path.unlink])
@pytest.mark.parametrize("which", [0, 1], ids=["certificate", "key"])
def test_a_pair_that_a_loss_of_power_left_in_pieces_is_made_anew(
    tmp_path: Path, harm: Callable[[Path], None], which: int
) -> None:
    """D2: else the daemon would never start again."""
    (tmp_path / "other").mkdir()
    harm(Path(tls.self_signed(tmp_path, "mx.test")[which]))
    with capture_logs() as lines:
        tls.context(*tls.self_signed(tmp_path, "mx.test"))
    told = [line["event"] for line in lines]
    assert told == ([] if harm is Path.unlink else ["self_signed_pair_damaged"])
