"""Which addresses are tried last, for how long, and how many are remembered."""

import pytest

from maild.outbound.routing.route import Hop, Source
from maild.outbound.sessions import silent_addresses
from maild.outbound.sessions.silent_addresses import SILENT_FOR_S, SilentAddresses
from tests.support.worlds.store import ManualClock

HOP = Hop("mx.there.test", "192.0.2.1", 25)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def silent(clock: ManualClock) -> SilentAddresses:
    return SilentAddresses(clock)


def test_what_was_silent_comes_last_whatever_its_name(silent: SilentAddresses) -> None:
    silent.was_silent(HOP)
    assert silent.comes_last(HOP._replace(host="other.test"))
    assert not silent.comes_last(HOP._replace(address="192.0.2.2"))
    assert not silent.comes_last(HOP._replace(source=Source("192.0.2.9")))


def test_one_delivery_looks_whether_it_is_back(silent: SilentAddresses, clock: ManualClock) -> None:
    silent.was_silent(HOP)
    clock.forward(SILENT_FOR_S)
    assert [silent.comes_last(HOP) for _ in range(3)] == [False, True, True]


def test_what_speaks_again_is_as_good_as_any(silent: SilentAddresses) -> None:
    silent.was_silent(HOP)
    silent.spoke(HOP)
    assert not silent.comes_last(HOP)


def test_the_first_ones_are_forgotten(silent: SilentAddresses, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(silent_addresses, "ADDRESSES_MAX", 2)
    for number in range(3):
        silent.was_silent(HOP._replace(port=number))
    assert [silent.comes_last(HOP._replace(port=number)) for number in range(3)] == [False, True, True]
