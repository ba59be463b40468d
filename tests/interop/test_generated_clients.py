"""Clients that nobody wrote: generated from `/openapi.json` by openapi-python-client and by openapi-typescript.

Each compiles, and goes the main journey: makes an inbox, lists and reads a mail that came by SMTP, downloads its
file, answers it, reads the thread, and understands an error. The programs are in tests/interop/generated.
"""

import asyncio
import hashlib
import json
import os
import shutil
import sys
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import aiohttp
import aiosmtplib
import pytest

from tests.support import tools
from tests.support.daemon import Daemon, environment
from tests.support.dns_server import DnsServer
from tests.support.mx import Mx

pytestmark = pytest.mark.interop

HERE = Path(__file__).parent / "generated"
THERE = "there.test"
ADA = f"ada@{THERE}"
PDF = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n%%EOF\n"
TEST_S = 110
# What npm says when it reaches no registry; anything else that stops it is a fault of ours.
NO_NETWORK = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "ENETUNREACH")
PYTHON_CONFIG = {"post_hooks": [], "content_type_overrides": {"message/rfc822": "application/octet-stream"}}


async def test_a_python_client_goes_the_main_journey(tmp_path: Path) -> None:
    folder = tmp_path / "python"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(PYTHON_CONFIG))
    shutil.copy(HERE / "journey.py", folder)

    async def build() -> list[str]:
        generator = str(Path(sys.executable).with_name("openapi-python-client"))
        await run(
            generator, "generate", "--path", "openapi.json", "--meta", "none", "--output-path", "client",
            "--config", "config.json", "--fail-on-warning", folder=folder,
        )  # fmt: skip
        await run(sys.executable, "-m", "compileall", "-q", "client", folder=folder)
        return [sys.executable, "journey.py"]

    await journey(tmp_path, folder, build)


@tools.needs("node", "npm")
async def test_a_typescript_client_compiles_and_goes_the_main_journey(tmp_path: Path) -> None:
    modules = await node_modules()
    folder = tmp_path / "typescript"
    folder.mkdir()
    for name in ("package.json", "tsconfig.json", "journey.ts"):
        shutil.copy(HERE / name, folder)
    (folder / "node_modules").symlink_to(modules)

    async def build() -> list[str]:
        node, programs = tools.path_of("node"), modules / ".bin"
        await run(node, str(programs / "openapi-typescript"), "openapi.json", "-o", "api.ts", folder=folder)
        await run(node, str(programs / "tsc"), "--project", "tsconfig.json", folder=folder)
        return [node, "out/journey.js"]

    await journey(tmp_path, folder, build)


async def journey(tmp_path: Path, folder: Path, build: Any) -> None:
    """Build a client from the document that the daemon serves, and go the way with it."""
    async with (
        asyncio.timeout(TEST_S),
        DnsServer() as dns,
        Mx() as mx,
        Daemon(tmp_path, dns_port=dns.port, outbound_port=mx.port) as daemon,
    ):
        dns.add_mx(THERE, "127.0.0.1")
        (folder / "openapi.json").write_bytes(await served(daemon.api.url))
        command = await build()
        told = await travelled(command, folder, daemon)

        assert told["text"].strip() == "Please pay."
        assert told["bytes"] == len(PDF)
        assert told["code"] == "inbox_not_found"
        assert told["directions"] == ["inbound", "outbound"]
        answer = await daemon.api.until(
            f"/v1/messages/{told['replyId']}", lambda one: one["status"] == "delivered"
        )
        assert (answer["threadId"], answer["toAddresses"]) == (told["threadId"], [ADA])
        assert b"It is paid." in mx.received[0].raw


async def travelled(command: list[str], folder: Path, daemon: Daemon) -> Any:
    """Run the program; its last line. The mail comes when its inbox is there."""
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder,
        env={**environment(), "BASE_URL": daemon.api.url, "API_KEY": daemon.api_key},
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    try:
        first = await process.stdout.readline()
        if first:
            await deliver(daemon.smtp_port, json.loads(first)["address"])
        out, error = await process.communicate(b"it is there\n" if first else b"")
        assert process.returncode == 0, error.decode("utf-8", "replace")
        return json.loads(out)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def deliver(port: int, address: str) -> None:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = ADA, address, "Invoice 4711"
    mail["Message-ID"] = f"<4711@{THERE}>"
    mail.set_content("Please pay.")
    mail.add_attachment(PDF, maintype="application", subtype="pdf", filename="invoice.pdf")
    await aiosmtplib.send(mail, hostname="127.0.0.1", port=port, start_tls=False)


async def served(url: str) -> bytes:
    async with aiohttp.ClientSession() as session, session.get(f"{url}/openapi.json") as answer:
        assert answer.status == 200
        return await answer.read()


async def node_modules() -> Path:
    """What package.json pins, installed once for this user into a folder named after it."""
    wanted = (HERE / "package.json").read_bytes()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "maild-tests"
    folder = cache / f"node-{hashlib.sha256(wanted).hexdigest()[:16]}"
    if not folder.exists():
        making = cache / f"making-{os.getpid()}"
        shutil.rmtree(making, ignore_errors=True)
        making.mkdir(parents=True)
        (making / "package.json").write_bytes(wanted)
        code, said = await ended(
            tools.path_of("npm"), "install", "--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund",
            folder=making,
        )  # fmt: skip
        if code and any(one in said for one in NO_NETWORK):
            pytest.skip(f"npm reaches no registry: {said[-300:]}")
        assert code == 0, said
        making.rename(folder)
    return folder / "node_modules"


async def run(*command: str, folder: Path) -> None:
    code, said = await ended(*command, folder=folder)
    assert code == 0, f"{' '.join(command)}\n{said}"


async def ended(*command: str, folder: Path) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, env=environment(),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    out, _ = await process.communicate()
    return process.returncode or 0, out.decode("utf-8", "replace")
