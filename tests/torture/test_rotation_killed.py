"""Rotating the master key is killed at every line of its code: store and key file agree at the next start.

One process forks a rotation for each line that there is to die at; the parent starts after it, as the daemon does.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from storage.data_folder import DataFolder
from tests.support.daemon import ROOT
from tests.support.running import Template

pytestmark = pytest.mark.torture

LINES_MIN = 60  # fewer would mean that hardly anything was traced
PROGRAM = """
import json, os, shutil, sys
from pathlib import Path
from storage.engine import migrate
from storage.upkeep import rotation
from storage.data_folder import DataFolder
from storage.engine.tx import Tx
from storage.sealing import Sealer, read_master_key
from tests.support.dying import dying_at

template, work = Path(sys.argv[1]), Path(sys.argv[2])
TRACED = ("storage/upkeep/rotation.py", "storage/sealing.py", "storage/engine/migrate.py")

def opened(folder, key):
    conn = migrate.connect(folder.database)
    values = [Sealer(key).open(value, context) for _, value, context in rotation._values(Tx(conn))]
    conn.close()
    return values

plain = opened(DataFolder(template), read_master_key(DataFolder(template).master_key))
old = read_master_key(DataFolder(template).master_key)
ends = {"old": 0, "new": 0}
number = 0
while True:
    number += 1
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(template, work)
    folder = DataFolder(work)
    child = os.fork()
    if child == 0:
        sys.settrace(dying_at(number, TRACED))
        rotation.rotate(folder.database, folder.master_key)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    key = rotation.valid_key(folder.database, folder.master_key)
    assert opened(folder, key) == plain, number
    assert read_master_key(folder.master_key) == key, number
    assert not list(work.glob("*.next")), number
    ends["old" if key == old else "new"] += 1
    if os.WIFEXITED(status):
        assert os.WEXITSTATUS(status) == 0
        break
print(json.dumps({"lines": number, **ends}))
"""


def test_a_rotation_that_is_killed_anywhere_leaves_one_valid_key(template: Template, tmp_path: Path) -> None:
    source = tmp_path / "template"
    shutil.copytree(template.folder, source)
    assert DataFolder(source).database.exists()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(source), str(tmp_path / "work")],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    print(told)
    assert told["lines"] >= LINES_MIN
    assert told["old"] > 10 and told["new"] > 5  # killed on both sides of the commit
