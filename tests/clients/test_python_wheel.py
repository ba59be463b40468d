"""The Python client as others get it: its wheel, in an environment that has nothing else, goes the whole way."""

import asyncio
import json
import re
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.clients.journeys import PDF, travelled
from tests.support.daemon import Daemon
from tests.support.machine import tools
from tests.support.machine.other_python import NO_NETWORK
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.waiting import GIVES_UP_S

pytestmark = pytest.mark.interop

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "controlplane" / "clients" / "python"
NEEDED = ("anyio", "click", "h11", "httpcore2", "httpx2", "idna", "truststore", "typing-extensions")


async def test_the_wheel_goes_the_whole_way(tmp_path: Path) -> None:
    wheel = await built(tmp_path)
    python = await installed(tmp_path, wheel)
    async with (
        asyncio.timeout(GIVES_UP_S),
        DnsServer() as dns,
        Mx() as mx,
        Daemon(tmp_path, dns_port=dns.port, outbound_port=mx.port) as daemon,
    ):
        dns.add_mx("there.test", "127.0.0.1")
        told = await gone_all_the_way(python, tmp_path, daemon)
        assert {one["username"] for one in await listed(python, tmp_path, daemon)} >= {"postmaster"}
    newer, sent = told["newer"]
    assert newer == sent
    assert told["text"].strip() == "Please pay." and told["words"] and told["bytes"] == len(PDF)
    assert told["worked"] == ["Re: Invoice"]
    assert told["directions"] == ["outbound", "outbound", "inbound"]
    assert {"email.received", "message.updated"} <= set(told["types"])


async def built(folder: Path) -> Path:
    """The wheel, of a copy: what is built leaves nothing in the sources."""
    source = folder / "source"
    shutil.copytree(CLIENT, source, ignore=shutil.ignore_patterns("__pycache__"))
    await tools.run(
        sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist"), folder=source
    )
    (wheel,) = (folder / "dist").glob("maild_client-*.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
    assert {"maild_client/py.typed", "maild_client/types.py", "maild_client/_sync/resources.py"} <= set(names)
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"maild_client", "maildc.py"}
    return wheel


async def installed(folder: Path, wheel: Path) -> Path:
    """The interpreter of a fresh environment with the wheel and what it needs, of the versions that we pin."""
    await tools.run(sys.executable, "-m", "venv", "env", folder=folder)
    python = folder / "env" / "bin" / "python"
    pip = (str(python), "-m", "pip", "--disable-pip-version-check")
    pins = (ROOT / "scripts" / "requirements" / "dev.lock").read_text("utf-8")
    found = [re.search(rf"^{name}==.*(?:\n    --hash.*)+", pins, re.MULTILINE) for name in NEEDED]
    (folder / "needed.lock").write_text("\n".join(one[0] for one in found if one), "utf-8")
    code, said = await tools.ended(
        *pip, "install", "-q", "--require-hashes", "-r", "needed.lock", folder=folder
    )
    if code and any(one in said for one in NO_NETWORK):
        pytest.skip(f"pip reaches no index: {said[-300:]}")
    assert code == 0, said
    await tools.run(*pip, "install", "-q", "--no-deps", str(wheel), folder=folder)
    assert "No broken requirements" in await tools.run(*pip, "check", folder=folder)
    return python


async def listed(python: Path, folder: Path, daemon: Daemon) -> Any:
    """The inboxes, as the command tells them that came with the wheel."""
    process = await asyncio.create_subprocess_exec(
        str(python.with_name("maildc")), "inboxes", "list", cwd=folder,
        env={"MAILD_URL": daemon.api.url, "MAILD_API_KEY": daemon.api_key}, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, _ = await process.communicate()
    assert process.returncode == 0
    return json.loads(out)


async def gone_all_the_way(python: Path, folder: Path, daemon: Daemon) -> Any:
    """What tests/clients/journey.py saw, run where nothing of ours can be imported."""
    shutil.copy(Path(__file__).with_name("journey.py"), folder)
    return await travelled(
        str(python), "-W", "error", "journey.py", folder=folder, daemon=daemon,
        variables={"MAILD_URL": daemon.api.url, "MAILD_API_KEY": daemon.api_key},
    )  # fmt: skip
