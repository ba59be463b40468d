"""Software of others that some tests need: where it is, or a skip whose reason names what is missing."""

import asyncio
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

# A plain user's PATH often lacks the folders where mail servers live.
SEARCH_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin", "/sbin"])
NODE_MAJOR = 20  # what the TypeScript client asks for


def find(name: str) -> str | None:
    return shutil.which(name, path=SEARCH_PATH)


def path_of(name: str) -> str:
    found = find(name)
    if found is None:
        raise FileNotFoundError(f"{name} is not installed")
    return found


def lacking(*names: str, root: bool = False) -> list[str]:
    """What stands in the way, in words; empty when all is there."""
    problems = [f"{name} is not installed" for name in names if find(name) is None]
    if "swaks" in names and not problems and not _swaks_speaks_tls():
        problems.append("swaks has no TLS (libnet-ssleay-perl is not installed)")
    if "node" in names and find("node") is not None and _node_major() < NODE_MAJOR:
        problems.append(f"node is older than {NODE_MAJOR}")
    if root and os.geteuid() != 0:
        problems.append("not root")
    return problems


def needs(*names: str, root: bool = False) -> pytest.MarkDecorator:
    problems = lacking(*names, root=root)
    return pytest.mark.skipif(bool(problems), reason="; ".join(problems))


async def run(*command: str, folder: Path) -> str:
    """Run it in the folder; what it said. Anything but success fails the test."""
    code, said = await ended(*command, folder=folder)
    assert code == 0, f"{' '.join(command)}\n{said}"
    return said


async def ended(*command: str, folder: Path) -> tuple[int, str]:
    """Its exit code and all that it said. MAILD_… of our environment would be settings to a daemon."""
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, env={name: value for name, value in os.environ.items() if name[:6] != "MAILD_"},
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    out, _ = await process.communicate()
    return process.returncode or 0, out.decode("utf-8", "replace")


@cache
def _node_major() -> int:
    done = subprocess.run([path_of("node"), "--version"], capture_output=True, text=True, check=False)
    return int(done.stdout.lstrip("v").partition(".")[0] or 0)


def _swaks_speaks_tls() -> bool:
    done = subprocess.run([path_of("swaks"), "--support"], capture_output=True, text=True, check=False)
    return "TLS supported" in done.stdout
