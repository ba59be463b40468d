"""What is generated of the TypeScript client is what a fresh run would write, by the generator that is pinned."""

import json
from pathlib import Path

import pytest

from scripts import client_typescript, clients
from scripts.client_names import NAMES
from tests.support.machine import tools

CLIENT = client_typescript.CLIENT
GENERATED = ("schema.ts", "operations.ts")

pytestmark = pytest.mark.interop


@tools.needs("node", "npm")
def test_a_fresh_run_changes_nothing(tmp_path: Path) -> None:
    client_typescript.write(clients.read(), tmp_path)
    for name in GENERATED:
        fresh, ours = (folder / "src" / name for folder in (tmp_path, CLIENT))
        assert fresh.read_text("utf-8") == ours.read_text("utf-8"), (
            "run scripts/clients, and commit what it writes"
        )


def test_types_are_told_by_their_names() -> None:
    """Editors and errors write out all members of one that is looked up in another."""
    told = (CLIENT / "src" / "schema.ts").read_text("utf-8")
    assert "components" not in told and "@description" not in told
    assert "\nexport type SendMessage = {\n" in told and "\nexport type Event = EmailReceivedEvent | " in told


def test_every_operation_has_a_method_or_is_written_by_hand() -> None:
    found = client_typescript.resources(clients.read())
    by_hand = {"streamEvents"}
    assert found.count("const request = ") == len(NAMES.keys() - by_hand)


def test_it_needs_nothing_at_run_time() -> None:
    """What it is built with is pinned: versions in one file, contents in the other."""
    told = json.loads((CLIENT / "package.json").read_text("utf-8"))
    kinds = {
        "dependencies",
        "peerDependencies",
        "optionalDependencies",
        "bundleDependencies",
        "bundledDependencies",
    }
    assert not kinds & told.keys()
    assert all(version[0].isdigit() for version in told["devDependencies"].values())
    locked = json.loads((CLIENT / "package-lock.json").read_text("utf-8"))["packages"]
    assert locked.pop("")["devDependencies"] == told["devDependencies"]
    assert all(one["integrity"].startswith("sha512-") and one["dev"] for one in locked.values())


def test_its_sources_import_nothing_but_themselves() -> None:
    for file in (CLIENT / "src").glob("*.ts"):
        imports = [
            line for line in file.read_text("utf-8").splitlines() if " from " in line and line.endswith('";')
        ]
        assert all(' from "./' in line for line in imports), file.name


def test_its_version_is_said_once() -> None:
    told = json.loads((CLIENT / "package.json").read_text("utf-8"))
    assert (CLIENT / "src" / "version.ts").read_text(
        "utf-8"
    ) == f'export const VERSION = "{told["version"]}";\n'


def test_its_license_is_ours() -> None:
    assert (CLIENT / "LICENSE").read_bytes() == (clients.CLIENTS.parents[1] / "LICENSE").read_bytes()
