"""What is generated of the clients is what a fresh run would write, and the daemon is shipped without them."""

import ast
import filecmp
import shutil
from pathlib import Path

from hatchling.builders.wheel import WheelBuilder

from scripts import clients

AWAITING = (ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith)
WRITTEN_BY_OTHERS = ("__pycache__", "node_modules", ".mypy_cache", ".ruff_cache", "dist")


def test_a_fresh_run_changes_nothing(tmp_path: Path) -> None:
    fresh = tmp_path / "clients"
    shutil.copytree(clients.CLIENTS, fresh, ignore=shutil.ignore_patterns(*WRITTEN_BY_OTHERS))
    python = ("types.py", "_async/resources.py", "_sync/resources.py", "_sync/client.py")
    for generated in (*python, "cli/_commands.json", "cli/_schemas.json"):
        (fresh / "python" / "maild_client" / generated).unlink()
    clients.generate(fresh)
    assert different(clients.CLIENTS, fresh) == [], "run scripts/clients, and commit what it writes"


def test_plain_functions_know_no_loop() -> None:
    files = list((clients.CLIENTS / "python" / "maild_client" / "_sync").glob("*.py"))
    assert len(files) > 5
    for file in files:
        tree = list(ast.walk(ast.parse(file.read_text("utf-8"))))
        assert [node.lineno for node in tree if isinstance(node, AWAITING)] == [], file
        names = {node.id for node in tree if isinstance(node, ast.Name)}
        assert [name for name in names if name == "asyncio" or name.startswith("Async")] == [], file


def test_the_daemon_is_shipped_without_them() -> None:
    builder = WheelBuilder(str(clients.CLIENTS.parents[1]))
    shipped = [file.distribution_path for file in builder.recurse_included_files()]
    assert "controlplane/operations/table.py" in shipped
    assert [path for path in shipped if path.startswith("controlplane/clients")] == []


def different(here: Path, fresh: Path) -> list[str]:
    """Files that one has and the other has not, or in other words."""
    names = {
        str(file.relative_to(folder))
        for folder in (here, fresh)
        for file in folder.rglob("*")
        if file.is_file() and not {*file.relative_to(folder).parts} & {*WRITTEN_BY_OTHERS}
    }
    _, changed, missing = filecmp.cmpfiles(here, fresh, sorted(names), shallow=False)
    return changed + missing
