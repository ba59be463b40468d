"""Rotating the master key, and replacing one that is lost, is killed at every line of its code: store and key file
agree at the next start, or the lost key is replaced by the next run.

One process forks a run for each line that there is to die at; the parent starts after it, as the daemon does.
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
from tests.support.waiting import GIVES_UP_S

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
from tests.support.machine.dying import dying_at

template, work = Path(sys.argv[1]), Path(sys.argv[2])
TRACED = tuple(f"storage/{name}.py" for name in ("upkeep/rotation", "sealing", "durable_files", "engine/migrate"))

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
    assert not list(work.glob("*.next*")), number
    ends["old" if key == old else "new"] += 1
    if os.WIFEXITED(status):
        assert os.WEXITSTATUS(status) == 0
        break
print(json.dumps({"lines": number, **ends}))
"""

LOST = """
import json, os, shutil, sys
from pathlib import Path
from storage import server_secrets
from storage.data_folder import DataFolder
from storage.domains import dkim_keys
from storage.sealing import SealError
from storage.upkeep import rotation
from tests.support.machine.dying import dying_at

template, work = Path(sys.argv[1]), Path(sys.argv[2])
TRACED = ("storage/upkeep/rotation.py", "storage/sealing.py", "storage/durable_files.py", "storage/engine/migrate.py")

def renew(tx, sealer):
    server_secrets.forget(tx)
    server_secrets.get_or_make(tx, sealer, "x", b"anew")
    for name in dkim_keys.names(tx):
        dkim_keys.retire(tx, name)

ends = {"lost": 0, "new": 0}
number = 0
while True:
    number += 1
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(template, work)
    folder = DataFolder(work)
    folder.master_key.unlink()
    child = os.fork()
    if child == 0:
        sys.settrace(dying_at(number, TRACED))
        rotation.replace_lost(folder.database, folder.master_key, renew)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    try:
        rotation.valid_key(folder.database, folder.master_key)
        ends["new"] += 1
    except SealError:
        rotation.replace_lost(folder.database, folder.master_key, renew)
        rotation.valid_key(folder.database, folder.master_key)
        ends["lost"] += 1
    assert not list(work.glob("*.next")), number
    if os.WIFEXITED(status):
        assert os.WEXITSTATUS(status) == 0
        break
print(json.dumps({"lines": number, **ends}))
"""


def test_a_rotation_that_is_killed_anywhere_leaves_one_valid_key(template: Template, tmp_path: Path) -> None:
    told = killed_everywhere(PROGRAM, template, tmp_path)
    assert told["old"] > 10 and told["new"] > 5  # killed on both sides of the commit


def test_a_lost_key_whose_replacement_is_killed_anywhere_is_replaced_by_the_next_run(
    template: Template, tmp_path: Path
) -> None:
    told = killed_everywhere(LOST, template, tmp_path)
    assert told["lost"] > 10 and told["new"] > 5


def killed_everywhere(program: str, template: Template, tmp_path: Path) -> dict[str, int]:
    source = tmp_path / "template"
    shutil.copytree(template.folder, source)
    assert DataFolder(source).database.exists()
    done = subprocess.run(
        [sys.executable, "-c", program, str(source), str(tmp_path / "work")],
        cwd=ROOT, capture_output=True, text=True, timeout=GIVES_UP_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told: dict[str, int] = json.loads(done.stdout)
    print(told)
    assert told["lines"] >= LINES_MIN
    return told
