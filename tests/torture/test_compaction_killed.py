"""`maild compact` is killed at every line of its code: the store is the old file or the new one, whole, and the
next run goes on from there."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.daemon import ROOT
from tests.support.waiting import GIVES_UP_S
from tests.unit.storage.upkeep.test_compaction import database

pytestmark = pytest.mark.torture
__all__ = ["database"]

LINES_MIN = 30  # fewer would mean that hardly anything was traced
PROGRAM = """
import json, os, shutil, sys
from pathlib import Path
from storage.engine import migrate
from storage.engine.free_pages import free_pages
from storage.upkeep.compaction import compact
from tests.support.machine.dying import dying_at

original = Path(sys.argv[1])
work = original.parent / "work" / original.name

def rows():
    with migrate.look(work) as tx:
        assert tx.value("PRAGMA integrity_check") == "ok"
        return tx.all("SELECT rowid, id, octets FROM filler"), free_pages(tx).free == 0

ends = {"old": 0, "new": 0}
number, wanted = 0, None
while True:
    number += 1
    shutil.rmtree(work.parent, ignore_errors=True)
    work.parent.mkdir()
    shutil.copy(original, work)
    migrate.prepare(work)
    wanted = wanted or rows()[0]
    child = os.fork()
    if child == 0:
        sys.settrace(dying_at(number, ("storage/upkeep/compaction.py",)))
        compact(work)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    migrate.prepare(work)
    found, is_new = rows()
    assert found == wanted, number
    ends["new" if is_new else "old"] += 1
    compact(work)
    assert rows() == (wanted, True), number
    assert [path.name for path in work.parent.iterdir()] == [work.name], number
    if os.WIFEXITED(status):
        assert os.WEXITSTATUS(status) == 0
        break
print(json.dumps({"lines": number, **ends}))
"""


def test_a_compaction_that_is_killed_anywhere_leaves_one_of_the_two_files(database: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, database],
        cwd=ROOT, capture_output=True, text=True, timeout=GIVES_UP_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ends: dict[str, int] = json.loads(done.stdout)
    assert ends["lines"] > LINES_MIN and ends["old"] and ends["new"], ends
