"""Clients that nobody wrote: generated from `/openapi.json` by openapi-python-client and by openapi-typescript.

Each compiles, and goes the main journey: makes an inbox, lists and reads a mail that came by SMTP, downloads its
file, answers it, reads the thread, and understands an error. The programs are in tests/interop/generated.
"""

import asyncio
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.support.clients.journeys import ADA, PDF, THERE, travelled
from tests.support.daemon import Daemon
from tests.support.machine import node, tools
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.waiting import GIVES_UP_S

pytestmark = pytest.mark.interop

HERE = Path(__file__).parent / "generated"
PYTHON_CONFIG = {"post_hooks": [], "content_type_overrides": {"message/rfc822": "application/octet-stream"}}


async def test_a_python_client_goes_the_main_journey(tmp_path: Path) -> None:
    folder = tmp_path / "python"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(PYTHON_CONFIG))
    shutil.copy(HERE / "journey.py", folder)

    async def build() -> list[str]:
        generator = str(Path(sys.executable).with_name("openapi-python-client"))
        await tools.run(
            generator, "generate", "--path", "openapi.json", "--meta", "none", "--output-path", "client",
            "--config", "config.json", "--fail-on-warning", folder=folder,
        )  # fmt: skip
        await tools.run(sys.executable, "-m", "compileall", "-q", "client", folder=folder)
        return [sys.executable, "journey.py"]

    await journey(tmp_path, folder, build)


@tools.needs("node", "npm")
async def test_a_typescript_client_compiles_and_goes_the_main_journey(tmp_path: Path) -> None:
    modules = await node.modules(HERE)
    folder = tmp_path / "typescript"
    folder.mkdir()
    for name in ("package.json", "tsconfig.json", "journey.ts"):
        shutil.copy(HERE / name, folder)
    (folder / "node_modules").symlink_to(modules)

    async def build() -> list[str]:
        program, programs = tools.path_of("node"), modules / ".bin"
        await tools.run(
            program, str(programs / "openapi-typescript"), "openapi.json", "-o", "api.ts", folder=folder
        )
        await tools.run(program, str(programs / "tsc"), "--project", "tsconfig.json", folder=folder)
        return [program, "out/journey.js"]

    await journey(tmp_path, folder, build)


async def journey(tmp_path: Path, folder: Path, build: Any) -> None:
    """Build a client from the document that the daemon serves, and go the way with it."""
    async with (
        asyncio.timeout(GIVES_UP_S),
        DnsServer() as dns,
        Mx() as mx,
        Daemon(tmp_path, dns_port=dns.port, outbound_port=mx.port) as daemon,
    ):
        dns.add_mx(THERE, "127.0.0.1")
        (folder / "openapi.json").write_bytes(await served(daemon.api.url))
        command = await build()
        told = await travelled(
            *command, folder=folder, daemon=daemon,
            variables={"BASE_URL": daemon.api.url, "API_KEY": daemon.api_key},
        )  # fmt: skip

        assert told["text"].strip() == "Please pay."
        assert told["bytes"] == len(PDF)
        assert told["code"] == "inbox_not_found"
        assert told["directions"] == ["inbound", "outbound"]
        answer = await daemon.api.until(
            f"/v1/messages/{told['replyId']}", lambda one: one["status"] == "delivered"
        )
        assert (answer["threadId"], answer["toAddresses"]) == (told["threadId"], [ADA])
        assert b"It is paid." in mx.received[0].raw


async def served(url: str) -> bytes:
    async with aiohttp.ClientSession() as session, session.get(f"{url}/openapi.json") as answer:
        assert answer.status == 200
        return await answer.read()
