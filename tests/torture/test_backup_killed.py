"""A backup is killed at every line of its code: what its folder holds is the last state or the new one, whole, and the
next backup goes on from there."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from maild.commands.backup import back_up
from storage.data_folder import DataFolder
from tests.conftest import Start
from tests.support.daemon import ROOT
from tests.support.waiting import GIVES_UP_S
from tests.unit.maild.commands.test_backup import LARGE

pytestmark = pytest.mark.torture

LINES_MIN = 60  # fewer would mean that hardly anything was traced
PROGRAM = """
import json, os, shutil, sys
from pathlib import Path
from maild.commands.backup import back_up
from maild.commands.checking import check
from storage.clock import Clock
from maild.commands.backup import back_up
from storage.data_folder import DataFolder
from tests.support.machine.dying import dying_at

store, last, work = (Path(one) for one in sys.argv[1:])
TRACED = ("maild/commands/backup.py", "storage/upkeep/snapshot.py")

def names(folder):
    return {path.name for path in folder.blobs.glob("??/blb_*") if not path.suffix}

old, new = names(DataFolder(last)), names(DataFolder(store))
ends = {"old": 0, "new": 0}
number = 0
while True:
    number += 1
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(last, work)
    child = os.fork()
    if child == 0:
        sys.settrace(dying_at(number, TRACED))
        back_up(DataFolder(store), work)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    found = check(DataFolder(work), Clock())
    assert found["ok"], (number, found)
    ends["old" if found["blobs"] == len(old) else "new"] += 1
    assert back_up(DataFolder(store), work)["ok"], number
    assert names(DataFolder(work)) == new and not list(work.glob("**/*.new*")), number
    if os.WIFEXITED(status):
        assert os.WEXITSTATUS(status) == 0
        break
print(json.dumps({"lines": number, **ends}))
"""


async def test_a_backup_that_is_killed_anywhere_is_the_last_one_or_the_new_one(
    start: Start, tmp_path: Path
) -> None:
    maild = await start()
    bot = await maild.inbox("bot")
    first = await maild.received(bot, LARGE.format(1))
    store, last = maild.settings.data_path, tmp_path / "last"
    await maild.operate(back_up, DataFolder(store), last)
    await maild.api.call("DELETE", f"/v1/messages/{first['id']}")
    for number in (2, 3):
        await maild.received(bot, LARGE.format(number))
    await maild.daemon.stop()
    source = tmp_path / "source"
    shutil.copytree(store, source)
    assert DataFolder(source).database.exists()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, source, last, tmp_path / "work"],
        cwd=ROOT, capture_output=True, text=True, timeout=GIVES_UP_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ends: dict[str, int] = json.loads(done.stdout)
    assert ends["lines"] > LINES_MIN and ends["old"] and ends["new"], ends
    await maild.daemon.start()
