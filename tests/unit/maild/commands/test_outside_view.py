"""Who is asked what others hear of this host: not systemd-resolved, which invents records for its own names."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from conf.settings import Dns
from maild.commands.doctor.outside_view import seen_from_outside
from maild.dns_client import Nameserver

UNBOUND, STUB, PROXY = ("127.0.0.1", 53), ("127.0.0.53", 53), ("127.0.0.54", 53)


def seen(asked: Sequence[Nameserver], uplinks: Path) -> tuple[str, ...] | None:
    found = seen_from_outside(Dns(timeout_s=3), asked, str(uplinks))
    assert found is None or found.timeout_s == 3
    return found.nameservers if found is not None else None


@pytest.fixture
def uplinks(tmp_path: Path) -> Path:
    file = tmp_path / "resolv.conf"
    file.write_text("nameserver 192.0.2.1\nnameserver 2001:db8::1\nsearch .\n")
    return file


def test_others_are_asked_as_they_are(uplinks: Path) -> None:
    assert seen([UNBOUND, ("::1", 5353)], uplinks) == ("127.0.0.1:53", "[::1]:5353")


@pytest.mark.parametrize("stub", [STUB, PROXY])
def test_those_behind_the_stub_are_asked_in_its_place(uplinks: Path, stub: Nameserver) -> None:
    assert seen([stub], uplinks) == ("192.0.2.1:53", "[2001:db8::1]:53")


def test_one_beside_the_stub_tells_enough(uplinks: Path) -> None:
    assert seen([STUB, UNBOUND], uplinks) == ("127.0.0.1:53",)


def test_nobody_is_known_where_the_stub_does_not_say_whom_it_asks(tmp_path: Path) -> None:
    assert seen([STUB], tmp_path / "none") is None
    (tmp_path / "empty").write_text("search .\n")
    assert seen([STUB], tmp_path / "empty") is None
