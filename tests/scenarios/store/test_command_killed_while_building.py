"""A command is killed while it builds a file, the store among them: what it leaves is gone after the next start."""

import shutil
from dataclasses import replace
from pathlib import Path

from structlog.testing import capture_logs

from storage.durable_files import building_beside, unfinished
from tests.support.running import Running, Template


async def test_what_a_killed_command_has_left_goes_at_the_next_start(
    template: Template, tmp_path: Path
) -> None:
    folder = tmp_path / "left"
    shutil.copytree(template.folder, folder)
    building_beside(folder / "maild.sqlite3").write_bytes(b"half")
    with capture_logs() as lines:
        maild = await Running.start(replace(template, folder=folder), tmp_path / "running")
        await maild.stop()
    assert [one["orphaned_files_removed"] for one in lines if one["event"] == "built"] == [1]
    assert not unfinished(maild.settings.data_path)
