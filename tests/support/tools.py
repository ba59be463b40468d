"""Software of others that some tests need: where it is, or a skip whose reason names what is missing."""

import os
import shutil
import subprocess

import pytest

# A plain user's PATH often lacks the folders where mail servers live.
SEARCH_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin", "/sbin"])


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
    if root and os.geteuid() != 0:
        problems.append("not root")
    return problems


def needs(*names: str, root: bool = False) -> pytest.MarkDecorator:
    problems = lacking(*names, root=root)
    return pytest.mark.skipif(bool(problems), reason="; ".join(problems))


def _swaks_speaks_tls() -> bool:
    done = subprocess.run([path_of("swaks"), "--support"], capture_output=True, text=True, check=False)
    return "TLS supported" in done.stdout
