"""The host has no clock of its own and begins in 1970: maild waits for the time, and takes no mail for 56 years old."""

from pathlib import Path

import pytest

from maild.daemon import Daemon, StartError
from storage.clock import EARLIEST_MS
from tests.support.running import settings_for
from tests.support.worlds.store import ManualClock


async def test_it_does_not_start_and_is_started_again(tmp_path: Path) -> None:
    daemon = Daemon(settings_for(tmp_path), clock=ManualClock(12_345))
    with pytest.raises(StartError, match=r"the clock says 1970-01-01T00:00:12\.345Z") as refused:
        await daemon.start()
    assert refused.value.may_pass  # exit code 1, after which systemd starts it again


async def test_a_clock_that_has_been_set_does_not_stand_in_its_way(tmp_path: Path) -> None:
    daemon = Daemon(settings_for(tmp_path / "none"), clock=ManualClock(EARLIEST_MS))
    with pytest.raises(StartError, match="run 'maild init' first"):
        await daemon.start()
