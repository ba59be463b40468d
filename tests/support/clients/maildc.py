"""The command `maildc`, from its source: as a process of its own, on a terminal, or within this process.

done = await maildc.run("messages", "list", url=maild.api.url, key=maild.api.key)
done.code, done.out, done.said, done.json
process = await maildc.begin("mcp", url=…, key=…)        asyncio's process, with pipes
seen = await maildc.on_terminal("messages", "list", url=…, key=…)
done = await maildc.within("messages", "list")           with MAILD_URL and MAILD_API_KEY of this process
"""

import asyncio
import fcntl
import io
import json
import os
import pty
import struct
import sys
import termios
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maild_client.cli.common import run as run_program
from maild_client.cli.program import program
from tests.support.waiting import GIVES_UP_S

SOURCE = Path(__file__).resolve().parents[3] / "controlplane" / "clients" / "python"


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
        async with asyncio.timeout(GIVES_UP_S):
            out, said = await process.communicate(stdin)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode is not None
    return Done(process.returncode, out.decode(), said.decode())


@dataclass(frozen=True)
class Seen:
    """What a terminal was sent, and the exit code."""

    code: int
    octets: bytes

    @property
    def text(self) -> str:
        """As it stands on the screen: notes about progress are wiped away again."""
        shown = self.octets.decode().replace("\r\n", "\n")
        return "".join(part for part in shown.split("\r\x1b[K") if not part.startswith("Waiting for"))


async def on_terminal(
    *words: str,
    url: str | None = None,
    key: str | None = None,
    prompt: bytes = b"",
    typed: bytes = b"",
    columns: int = 100,
    **more: str,
) -> Seen:
    """The command with a terminal of its own as stdin, stdout and stderr. `typed` once it has shown `prompt`."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _IN_A_SESSION, *command(*words),
        env=environment(MAILD_URL=url, MAILD_API_KEY=key, TERM="xterm", **more),
        stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    try:
        async with asyncio.timeout(GIVES_UP_S):
            octets = b""
            if typed:
                octets = await asyncio.to_thread(_read_until, master, prompt)
                os.write(master, typed)
            octets += await asyncio.to_thread(_read_until, master, None)
            return Seen(await process.wait(), octets)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        os.close(master)


_IN_A_SESSION = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


def _read_until(number: int, wanted: bytes | None) -> bytes:
    """What is written until then, or (None) until nobody has the terminal any more."""
    read = b""
    try:
        while (wanted is None or wanted not in read) and (part := os.read(number, 65_536)):
            read += part
    except OSError:  # EIO: nobody has it
        pass
    return read


async def within(*words: str, stdin: bytes = b"") -> Done:
    """The command in this process, with its environment: quick, where no daemon is in it that writes a log, too."""
    return await asyncio.to_thread(_within, words, stdin)


def _within(words: tuple[str, ...], stdin: bytes) -> Done:
    streams = [
        io.TextIOWrapper(io.BytesIO(octets), "utf-8", write_through=True) for octets in (stdin, b"", b"")
    ]
    real = sys.stdin, sys.stdout, sys.stderr
    sys.stdin, sys.stdout, sys.stderr = streams
    try:
        code = run_program(program(), list(words))
    finally:
        sys.stdin, sys.stdout, sys.stderr = real
    out, said = (one.buffer.getvalue() for one in streams[1:])
    return Done(code, out.decode("utf-8", "surrogateescape"), said.decode())
