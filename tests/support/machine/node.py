"""Node's programs for the interop tests: packages installed once for this user, and how a script is run.

modules = await node.modules(HERE / "strangers")     as package-lock.json there pins them
answer = await node.run_json(HERE / "strangers", "read_mail.js", {"…": "…"})
"""

import asyncio
import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemon import environment
from tests.support.machine import tools

# What npm says when it reaches no registry; anything else that stops it is a fault of ours.
NO_NETWORK = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "ENETUNREACH")
PINS = ("package.json", "package-lock.json")


async def modules(folder: Path) -> Path:
    """`node_modules` with what the lock file in `folder` pins, in a cache that is named after it."""
    pins = {name: (folder / name).read_bytes() for name in PINS}
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "maild-tests"
    made = cache / f"node-{hashlib.sha256(b''.join(pins.values())).hexdigest()[:16]}"
    if not made.exists():
        making = cache / f"making-{made.name}-{os.getpid()}"
        shutil.rmtree(making, ignore_errors=True)
        making.mkdir(parents=True)
        for name, octets in pins.items():
            (making / name).write_bytes(octets)
        code, said = await tools.ended(
            tools.path_of("npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund", folder=making
        )
        if code and any(one in said for one in NO_NETWORK):
            pytest.skip(f"npm reaches no registry: {said[-300:]}")
        assert code == 0, said
        try:
            making.rename(made)
        except OSError:  # another worker was first
            assert made.exists()
            shutil.rmtree(making)
    return made / "node_modules"


async def run_json(folder: Path, script: str, question: Any, work: Path) -> Any:
    """Run `folder`/script in `work` with the folder's packages: one JSON document in, one out."""
    packages = await modules(folder)
    for name in (script, "package.json"):
        shutil.copy(folder / name, work)
    if not (work / "node_modules").exists():
        (work / "node_modules").symlink_to(packages)
    process = await asyncio.create_subprocess_exec(
        tools.path_of("node"), script, cwd=work, env=environment(),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, error = await process.communicate(json.dumps(question).encode())
    assert process.returncode == 0, error.decode("utf-8", "replace")
    return json.loads(out)
