"""The real daemon as a process of its own, and a client of its API.

    async with Daemon(tmp_path, dns_port=dns.port, outbound_port=mx.port) as daemon:
        inbox = await daemon.api.post("/v1/inboxes", username="bot")
        daemon.smtp_port, daemon.records

Entering makes the store (`maild init`) and serves it; leaving ends the process, whatever happened.
`kill()` and `start()` may follow each other on the one store; ports are new after each start.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import aiohttp
import aiosmtplib

from tests.support.waiting import GIVES_UP_S

ROOT = Path(__file__).resolve().parents[2]
DOMAIN = "ours.test"
HOSTNAME = "mx.ours.test"
POLL_S = 0.05
LOG_TAIL_LINES = 30

Sections = Mapping[str, Mapping[str, Any]]


class DaemonError(Exception):
    """It did not do what it was started for; the text ends with its last log lines."""


class AnswerError(DaemonError):
    """An answer that is no 2xx."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Api:
    """`/v1` with one key. An answer that is no 2xx raises AnswerError."""

    def __init__(self, url: str, key: str, connections: int = 20) -> None:
        self.url = url
        self._session = aiohttp.ClientSession(
            url,
            headers={"Authorization": f"Bearer {key}"},
            connector=aiohttp.TCPConnector(limit=connections),
            timeout=aiohttp.ClientTimeout(total=GIVES_UP_S),
        )

    async def get(self, path: str, **params: Any) -> Any:
        return json.loads(await self.get_bytes(path, **params))["data"]

    async def post(self, path: str, **body: Any) -> Any:
        async with self._session.post(path, json=body or None) as answer:
            return json.loads(await self._checked(answer))["data"]

    async def put(self, path: str, **body: Any) -> Any:
        async with self._session.put(path, json=body) as answer:
            return json.loads(await self._checked(answer))["data"]

    async def get_bytes(self, path: str, **params: Any) -> bytes:
        async with self._session.get(path, params=params) as answer:
            return await self._checked(answer)

    async def _checked(self, answer: aiohttp.ClientResponse) -> bytes:
        raw = await answer.read()
        if not answer.ok:
            text = f"{answer.method} {answer.url.path}: {answer.status} {raw[:500]!r}"
            raise AnswerError(answer.status, text)
        return raw

    async def until(self, path: str, check: Callable[[Any], bool], **params: Any) -> Any:
        """Ask again until the answer passes; TimeoutError shows the last one."""
        data = None
        try:
            async with asyncio.timeout(GIVES_UP_S):
                while not check(data := await self.get(path, **params)):
                    await asyncio.sleep(POLL_S)
        except TimeoutError:
            raise TimeoutError(f"{path}, last answer: {json.dumps(data)[:3000]}") from None
        return data

    async def close(self) -> None:
        await self._session.close()


class Daemon:
    def __init__(
        self, folder: Path, *, dns_port: int, outbound_port: int = 25, more: Sections | None = None
    ) -> None:
        self.folder = folder
        self.data_dir = folder / "data"
        self.config = folder / "maild.toml"
        self.log = folder / "maild.log"
        self._sections = merged(minimal(dns_port, outbound_port), more or {})
        self._process: asyncio.subprocess.Process | None = None
        self.api: Api
        self.ready: dict[str, Any] = {}  # where it listens, as it says when it is ready
        self.smtp_port = 0
        self.submission_ports: list[int] = []  # STARTTLS, TLS first; where they are configured
        self.api_key = ""
        self.test_key = ""
        self.records: list[dict[str, Any]] = []
        self.under: list[str] = []  # what stands before `maild`, such as a tracer that is its child

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def __aenter__(self) -> "Daemon":
        try:
            await self.init()
            await self.start()
        except BaseException:
            await self.kill()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                await self.stop()
        finally:
            await self.kill()

    async def init(self) -> None:
        """Write the configuration and make the store."""
        self.config.write_text(toml({"data_dir": str(self.data_dir)}, self._sections), "utf-8")
        made = json.loads(await self.command("init", "--json"))
        self.api_key, self.test_key, self.records = made["apiKey"], made["testKey"], made["records"]

    async def command(self, *words: str) -> str:
        """Run `maild WORDS --config …`; what it printed."""
        process = await asyncio.create_subprocess_exec(
            *self.under, sys.executable, "-m", "maild", *words, "--config", str(self.config),
            cwd=ROOT, env=environment(), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, error = await process.communicate()
        if process.returncode:
            raise DaemonError(f"maild {' '.join(words)}: {process.returncode} {error.decode()}")
        return out.decode()

    async def start(self) -> None:
        """Serve, and return when it says that it is ready."""
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self.under, sys.executable, "-m", "maild", "serve", "--config", str(self.config),
                cwd=ROOT, env=environment(), stdout=asyncio.subprocess.PIPE, stderr=log,
            )  # fmt: skip
        assert self._process.stdout is not None
        try:
            async with asyncio.timeout(GIVES_UP_S):
                line = await self._process.stdout.readline()
        except TimeoutError:
            raise DaemonError(f"not ready after {GIVES_UP_S} s\n{self.log_tail()}") from None
        if not line:
            code = await self._process.wait()
            raise DaemonError(f"ended with {code} instead of serving\n{self.log_tail()}")
        ready = self.ready = json.loads(line)
        self.smtp_port = int(ready["smtp"][0].rpartition(":")[2])
        self.submission_ports = [int(one.rpartition(":")[2]) for one in ready.get("submission", ())]
        self.api = Api(ready["http"], self.api_key)

    async def stop(self) -> None:
        """SIGTERM; it must drain and end in time, without complaint."""
        assert self._process is not None
        await self.api.close()
        self._process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(GIVES_UP_S):
                code = await self._process.wait()
        except TimeoutError:
            raise DaemonError(f"still there {GIVES_UP_S} s after SIGTERM\n{self.log_tail()}") from None
        if code:
            raise DaemonError(f"exit code {code}\n{self.log_tail()}")

    async def fell_silent(self) -> None:
        """Wait until nobody holds its stdout any more: neither it nor what it is `under`."""
        assert self._process is not None and self._process.stdout is not None
        async with asyncio.timeout(GIVES_UP_S):
            await self._process.stdout.read()

    async def ended(self) -> int:
        """Wait for the end that something else has brought about; the exit code."""
        assert self._process is not None
        async with asyncio.timeout(GIVES_UP_S):
            return await self._process.wait()

    async def kill(self) -> None:
        """SIGKILL; harmless when it is gone."""
        if hasattr(self, "api"):
            await self.api.close()
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    def session(self) -> aiohttp.ClientSession:
        """A client of its own, for answers that are no 2xx, or that never come."""
        return aiohttp.ClientSession(self.api.url, headers={"Authorization": f"Bearer {self.api_key}"})

    async def deliver(self, to: str, raw: str, sender: str = "ada@there.test") -> None:
        """By SMTP, from a stranger."""
        octets = raw.replace("\n", "\r\n").encode()
        await aiosmtplib.send(
            octets, sender=sender, recipients=[to], hostname="127.0.0.1", port=self.smtp_port, start_tls=False
        )

    def dkim_record(self, domain: str = DOMAIN) -> tuple[str, str]:
        """Name and text of the TXT record that `init` printed."""
        return next(
            (one["name"], one["value"])
            for one in self.records
            if one["purpose"] == "dkim" and one["domainName"] == domain
        )

    def log_lines(self) -> list[str]:
        """What it has logged; not the line that it may be at."""
        return self.log.read_text("utf-8").rpartition("\n")[0].splitlines()

    def logged(self, event: str) -> list[dict[str, Any]]:
        """The lines of this event so far; None are sure to be there because the API shows what they tell of."""
        lines = (json.loads(line) for line in self.log_lines() if line.startswith("{"))
        return [line for line in lines if line["event"] == event]

    async def until_logged(self, event: str, count: int = 1) -> list[dict[str, Any]]:
        """The lines of this event, once there are so many."""
        async with asyncio.timeout(GIVES_UP_S):
            while len(found := self.logged(event)) < count:
                await asyncio.sleep(POLL_S)  # the file has no signal to wait on
            return found

    def log_tail(self) -> str:
        is_written = self.log.is_file()  # /dev/full is read without end
        lines = self.log.read_text("utf-8", "replace").splitlines() if is_written else []
        return "\n".join(lines[-LOG_TAIL_LINES:])


def environment() -> dict[str, str]:
    """Ours without MAILD_…, which would be settings to the daemon, and with bytecode kept: fifty starts would
    compile everything fifty times."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("MAILD_") and name != "PYTHONDONTWRITEBYTECODE"
    }


def minimal(dns_port: int, outbound_port: int) -> dict[str, dict[str, Any]]:
    """What every test on loopback needs; ports 0 are chosen by the system."""
    return {
        "server": {"hostname": HOSTNAME, "shared_domains": [DOMAIN]},
        "smtp": {"listen": ["127.0.0.1:0"]},
        "http": {"listen": "127.0.0.1:0"},
        "dns": {"nameservers": [f"127.0.0.1:{dns_port}"]},
        "outbound": {"port": outbound_port, "allow_private_networks": True},
        "limits": {"requests_per_minute": 1_000_000, "bulk_recipients": 1_000_000},
    }


def merged(base: dict[str, dict[str, Any]], more: Sections) -> dict[str, dict[str, Any]]:
    return {name: {**base.get(name, {}), **more.get(name, {})} for name in [*base, *more]}


def toml(top: Mapping[str, Any], sections: Sections) -> str:
    """JSON's strings, numbers, booleans and arrays are TOML's too."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in top.items()]
    for name, values in sections.items():
        lines += [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
    return "\n".join([*lines, ""])
