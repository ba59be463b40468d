"""Python programs that need packages which the project does not have, in an environment of their own.

answer = await other_python.run_json(HERE / "mcp_clients", "mcp_2", {"…": "…"})     with what mcp_2.lock pins
"""

import asyncio
import hashlib
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemon import environment
from tests.support.machine import tools

# What pip says when it reaches no index; anything else that stops it is a fault of ours.
NO_NETWORK = (
    "Name or service not known",
    "Temporary failure in name resolution",
    "Connection refused",
    "timed out",
)


async def python(lock: Path) -> Path:
    """The interpreter of an environment with what the lock file pins, made once for this user."""
    name = f"python-{hashlib.sha256(lock.read_bytes()).hexdigest()[:16]}"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "maild-tests"
    made = cache / name
    if not made.exists():
        making = cache / f"making-{name}-{os.getpid()}"
        shutil.rmtree(making, ignore_errors=True)
        code, said = await tools.ended(sys.executable, "-m", "venv", str(making), folder=lock.parent)
        assert code == 0, said
        code, said = await tools.ended(
            str(making / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check",
            "--require-hashes", "-r", str(lock), folder=lock.parent,
        )  # fmt: skip
        if code and any(one in said for one in NO_NETWORK):
            shutil.rmtree(making)
            pytest.skip(f"pip reaches no index: {said[-300:]}")
        assert code == 0, said
        try:
            making.rename(made)
        except OSError:  # another worker was first
            assert made.exists()
            shutil.rmtree(making)
    return made / "bin" / "python"


async def run_json(folder: Path, name: str, question: Any) -> Any:
    """Run `name`.py of the folder with the packages of its `name`.lock: one JSON document in, one out."""
    process = await asyncio.create_subprocess_exec(
        str(await python(folder / f"{name}.lock")), str(folder / f"{name}.py"), env=environment(),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, error = await process.communicate(json.dumps(question).encode())
    assert process.returncode == 0, error.decode("utf-8", "replace")
    return json.loads(out)
