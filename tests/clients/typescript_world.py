"""The TypeScript client as others get it: its tarball, installed where nothing of ours is, and a node beside it.

message = await driver.ask(url, "return client.messages.get('msg_1')")     Refused is what it throws
"""

import asyncio
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from scripts.client_typescript import CLIENT
from tests.clients.worlds import KEY
from tests.support.daemon import environment
from tests.support.machine import node, tools
from tests.support.waiting import GIVES_UP_S

PROGRAMS = Path(__file__).parent / "typescript"
LEFT = ("node_modules", "dist")


class Refused(Exception):
    """What the client threw. `told`: its members; `families`: its classes, itself first."""

    def __init__(self, told: dict[str, Any]) -> None:
        super().__init__(f"{told['name']}: {told['message']}")
        self.told = told
        self.families: list[str] = told["families"]


async def installed(folder: Path) -> Path:
    """Build a copy of the client, pack it, install the tarball into an empty folder with the programs of tests."""
    modules = await node.modules(CLIENT)
    source = folder / "source"
    shutil.copytree(CLIENT, source, ignore=shutil.ignore_patterns(*LEFT))
    (source / "node_modules").symlink_to(modules)
    npm = tools.path_of("npm")
    await tools.run(npm, "pack", "--silent", "--pack-destination", str(folder), folder=source)
    (tarball,) = folder.glob("maild-client-*.tgz")
    home = folder / "installed"
    home.mkdir()
    (home / "package.json").write_text('{"private": true, "type": "module"}')
    quiet = ("--offline", "--ignore-scripts", "--no-audit", "--no-fund")
    await tools.run(npm, "install", *quiet, str(tarball), folder=home)
    for file in PROGRAMS.iterdir():
        shutil.copy(file, home)
    return home


class Driver:
    """driver.mjs, one for many tests. `pauses`: seconds that the client would have waited; `asked`: methods and paths
    of its requests."""

    def __init__(self, package: Path) -> None:
        self._package = package
        self._process: subprocess.Popen[bytes] | None = None
        self.pauses: list[float] = []
        self.asked: list[tuple[str, str]] = []

    def close(self) -> None:
        """End it; the next question begins another."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    async def ask(
        self,
        url: str,
        body: str,
        given: Any = None,
        key: str | None = KEY,
        *,
        is_slow: bool = False,
        **options: Any,
    ) -> Any:
        """What the function of this body answers, asked of a fresh client; Refused. `is_slow`: pauses are made."""
        options |= {"url": url} | ({} if key is None else {"apiKey": key})
        question = {"options": options, "body": body, "given": given, "isSlow": is_slow}
        try:
            async with asyncio.timeout(GIVES_UP_S):
                line = await asyncio.to_thread(self._answer, json.dumps(question).encode() + b"\n")
        except BaseException:
            self.close()  # which ends the thread, too
            raise
        assert line, "the driver ended"
        answer = json.loads(line)
        self.pauses, self.asked = answer["pauses"], [tuple(one) for one in answer["asked"]]
        if "error" in answer:
            raise Refused(answer["error"])
        return answer.get("value")

    def _answer(self, question: bytes) -> bytes:
        if self._process is None:
            self._process = subprocess.Popen(
                [tools.path_of("node"), "--unhandled-rejections=strict", "driver.mjs"],
                cwd=self._package, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            )  # fmt: skip
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(question)
        process.stdin.flush()
        return process.stdout.readline()
