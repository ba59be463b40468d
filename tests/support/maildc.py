"""The command `maildc` as a process of its own, from its source.

done = await maildc.run("messages", "list", url=maild.api.url, key=maild.api.key)
done.code, done.out, done.said, done.json
process = await maildc.begin("mcp", url=…, key=…)        asyncio's process, with pipes
"""

import asyncio
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[2] / "controlplane" / "clients" / "python"
DEADLINE_S = 20


@dataclass(frozen=True)
class Done:
    """How it ended: exit code, stdout, stderr."""

    code: int
    out: str
    said: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.said
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """Of a run with `--json`."""
        assert self.code, self.out
        told: dict[str, Any] = json.loads(self.said)["error"]
        return told


def command(*words: str) -> list[str]:
    return [sys.executable, "-W", "error", "-m", "maild_client.cli", *words]


def environment(**more: str | None) -> dict[str, str]:
    """One in which nothing of this user's is found: no key, no kept credentials, no proxy."""
    keeps = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")
    usual = {name: os.environ[name] for name in keeps if name in os.environ}
    alone = {"PYTHONPATH": str(SOURCE), "XDG_CONFIG_HOME": os.devnull, "HOME": os.devnull}
    return {**usual, **alone, **{name: value for name, value in more.items() if value is not None}}


async def begin(
    *words: str, url: str | None = None, key: str | None = None, **more: str
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *command(*words), env=environment(MAILD_URL=url, MAILD_API_KEY=key, **more),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip


async def run(
    *words: str, url: str | None = None, key: str | None = None, stdin: bytes = b"", **more: str
) -> Done:
    process = await begin(*words, url=url, key=key, **more)
    try:
        async with asyncio.timeout(DEADLINE_S):
            out, said = await process.communicate(stdin)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode is not None
    return Done(process.returncode, out.decode(), said.decode())
