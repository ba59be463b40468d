"""Runs the recipes of docs/agents/cookbook as a reader would: block after block, in one shell, against a daemon.

A page is Markdown, and its fenced blocks are what happens:

    ```sh            typed into the page's one shell (bash, curl, jq), whose variables live on
    ```python        a whole program, which finds the shell's exported variables; one that works for ever is sent
                     SIGTERM once it has printed what the page shows, and must end well
    ```typescript    the same, in the words of JavaScript alone: node runs it as it stands
    ```json call     a tool of MCP, called with the shell's $AGENT_KEY: {"name": …, "arguments": …}
    ```json          what the block before it printed or the tool answered in structure
    ```text          what it printed or answered in words

What is shown must come, but for `…`, which stands for anything; numbers are shown by their kind alone. In arguments of
tools an id that is shown as `msg_…` is the last one of its kind that a tool has answered, and a time is one in three
days. What the world does beside
the reader stands in comments, which no page shows:

    <!-- mail            From, To (a name before the @), Subject, … and a text: comes from a domain that signs it;
                         with `While: PORT` during the next block, once something listens there
    <!-- answer          the same, to the message that the next block sends, as soon as it is sent
    <!-- later: 3 days   the clock goes on
"""

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from email.message import EmailMessage
from email.utils import parseaddr
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from controlplane.mcp.tool import NOTE
from storage.clock import DAY_MS, Clock, iso
from tests.support.clients.mcp import Mcp, Told
from tests.support.laws.words import ROOT
from tests.support.mails.signers import Signer
from tests.support.peers.dns_server import DnsServer
from tests.support.running import SHARED, Running
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.sender_world import PublishedRecords

T = TypeVar("T")

COOKBOOK = ROOT / "docs" / "agents" / "cookbook"
CLIENT = ROOT / "controlplane" / "clients" / "python"
PREAMBLE = """\
set -euo pipefail
curl() { command curl --fail-with-body "$@"; }  # a refusal ends the page, where none is shown
claude() { [ "$1 $2 $3 $4" = "mcp add --transport http" ]; }  # a host that is set up; the page's calls of tools are its
"""
_STEP = re.compile(
    r"^```(?P<info>[a-z]+(?: call)?)\n(?P<text>.*?)^```$|^<!-- (?P<kind>mail|answer|later):?(?P<told>.*?)-->$",
    re.DOTALL | re.MULTILINE,
)
_WHILE = re.compile(r"^While: (\d+)\n", re.MULTILINE)
_ID = re.compile(r"\b[a-z]{3}_[0-9a-z]{26}\b")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:]+Z")
ANYTHING = "…"
ANSWERS = ("json", "text")
FOR_EVER = (".work(", ".serve_forever(", ".listen(")


class Step(NamedTuple):
    """A block or a comment of a page. `kind`: the info of the block, or the comment's first word."""

    kind: str
    text: str
    line: int


class Differs(AssertionError):
    """What a page shows is not what came."""


class ShiftedClock(Clock):
    """The time of day, and what a page has let pass besides."""

    def __init__(self) -> None:
        self._shift_s = 0.0

    def now_ms(self) -> int:
        return super().now_ms() + int(self._shift_s * 1000)

    def monotonic(self) -> float:
        return super().monotonic() + self._shift_s

    def forward(self, seconds: float) -> None:
        self._shift_s += seconds


def steps(page: str) -> list[Step]:
    """What happens on a page, in its order."""
    found = []
    for one in _STEP.finditer(page):
        kind, text = (one["info"], one["text"]) if one["info"] else (one["kind"], one["told"])
        found.append(Step(kind, text, page.count("\n", 0, one.start()) + 1))
    return found


@dataclass
class Page:
    """A page being read. `folder`: where its shell works, an empty one."""

    maild: Running
    dns: DnsServer
    clock: ShiftedClock
    folder: Path
    node_modules: Path | None = None  # with what programs for node import
    printed: str = ""
    facts: Any = None
    ids: dict[str, str] = field(default_factory=dict)
    signers: dict[str, Signer] = field(default_factory=dict)
    _shell: asyncio.subprocess.Process | None = None
    _coming: asyncio.Task[None] | None = None
    _count: int = 0

    async def read(self, page: str) -> int:
        """Do all that stands there; how many blocks were run or compared."""
        todo = steps(page)
        if self.node_modules is not None:
            (self.folder / "node_modules").symlink_to(self.node_modules)
        self._shell = await self._start()
        try:
            for number, step in enumerate(todo):
                after = todo[number + 1] if number + 1 < len(todo) else None
                try:
                    await self._do(step, after.text if after and after.kind in ANSWERS else "")
                except AssertionError as error:
                    raise Differs(f"line {step.line}, {step.kind}:\n{step.text}\n{error}") from error
                await self._meanwhile(step)
        finally:
            if self._coming is not None:
                self._coming.cancel()
            if self._shell.returncode is None:
                self._shell.kill()
            await self._shell.wait()
        return len(todo)

    async def _do(self, step: Step, shown: str) -> None:
        """`shown`: what the page shows of it."""
        match step.kind:
            case "sh":
                await self._run("sh", step.text, ". ./{file}", is_refused='"error"' in shown)
            case "python":
                await self._program("py", step.text, f'PYTHONPATH="{CLIENT}" "{sys.executable}"', shown)
            case "typescript":
                await self._program("mjs", step.text, "node", shown)
            case "json call":
                await self._call(json.loads(step.text))
            case "json":
                compare(json.loads(step.text), self._answer())
            case "text":
                compare_words(step.text, self.printed)
            case "mail":
                await self._mail(step.text)
            case "answer":
                newest = await self._newest_sent()
                self._coming = asyncio.create_task(self._answer_once_sent(step.text, newest))
            case "later":
                count, unit = step.text.split()
                self.clock.forward(timedelta(**{unit: float(count)}).total_seconds())
                await patiently(self._nothing_is_due)
            case _:
                raise AssertionError(f"nobody runs {step.kind!r}")

    def _answer(self) -> Any:
        return json.loads(self.printed) if self.facts is None else self.facts

    # The shell -----------------------------------------------------------------------------------

    async def _start(self) -> asyncio.subprocess.Process:
        here = {name: value for name, value in os.environ.items() if not name.startswith("MAILD_")}
        told = {
            "MAILD_URL": self.maild.api.url,
            "MAILD_API_KEY": self.maild.api.key or "",
            "HOME": str(self.folder),
        }
        shell = await asyncio.create_subprocess_exec(
            shutil.which("bash") or "bash", "--noprofile", "--norc", cwd=self.folder, env=here | told,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        assert shell.stdin is not None
        shell.stdin.write(PREAMBLE.encode())
        return shell

    async def _run(self, suffix: str, text: str, command: str, is_refused: bool = False) -> None:
        self._count += 1
        name = f"{self._count}.{suffix}"
        (self.folder / name).write_text(text)
        mode = "set +e" if is_refused else ":"
        told = f"{mode}; {command.format(file=name)} >{name}.out 2>{name}.err </dev/null; set -e; echo done\n"
        assert self._shell is not None and self._shell.stdin is not None and self._shell.stdout is not None
        self._shell.stdin.write(told.encode())
        try:
            line = await asyncio.wait_for(self._shell.stdout.readline(), GIVES_UP_S)
        except TimeoutError:
            line = b"it waits for something that does not come"
        self.printed, self.facts = (self.folder / f"{name}.out").read_text(), None
        assert line == b"done\n", f"{self.printed}\n{(self.folder / f'{name}.err').read_text()}"

    async def _program(self, suffix: str, text: str, interpreter: str, shown: str) -> None:
        if not any(call in text for call in FOR_EVER):
            return await self._run(suffix, text, f"{interpreter} {{file}}")
        command = f"{{{{ {interpreter} {{file}} & echo $! >pid; wait $!; }}}}"
        working = asyncio.create_task(self._run(suffix, text, command))
        out = self.folder / f"{self._count + 1}.{suffix}.out"  # of the block that begins
        wanted = len(shown.strip().splitlines())

        async def has_printed() -> bool | None:
            is_enough = out.exists() and len(out.read_text().splitlines()) >= wanted
            return is_enough or working.done() or None

        await patiently(has_printed)
        if not working.done():
            os.kill(int((self.folder / "pid").read_text()), signal.SIGTERM)
        await working

    async def _variable(self, name: str) -> str:
        await self._run("sh", f'printf %s "${{{name}-}}"', ". ./{file}")
        return self.printed

    # Tools ---------------------------------------------------------------------------------------

    async def _call(self, asked: Mapping[str, Any]) -> None:
        mcp = Mcp(self.maild.api.with_key(await self._variable("AGENT_KEY")))
        arguments = self._filled(asked.get("arguments", {}))
        told = Told(await mcp.ask("tools/call", {"name": asked["name"], "arguments": arguments}))
        self.printed, self.facts = told.text, told.result.get("structuredContent")
        if self.facts is not None:  # a page shows the text, where the note stands above the facts
            self.facts = {name: value for name, value in self.facts.items() if name != NOTE}
        for id in _ID.findall(told.text):
            self.ids[id[:4]] = id

    def _filled(self, value: Any) -> Any:
        """The arguments, with real ids."""
        if isinstance(value, dict):
            return {name: self._filled(one) for name, one in value.items()}
        if isinstance(value, list):
            return [self._filled(one) for one in value]
        if isinstance(value, str) and re.fullmatch(r"[a-z]{3}_…", value):
            assert value[:4] in self.ids, f"no tool has told of {value} yet"
            return self.ids[value[:4]]
        if isinstance(value, str) and _TIME.fullmatch(value):
            return iso(self.clock.now_ms() + 3 * DAY_MS)
        return value

    # The world -----------------------------------------------------------------------------------

    async def _mail(self, told: str) -> None:
        port = _WHILE.search(told)
        if port is None:
            return await self._deliver(told)
        self._coming = asyncio.create_task(self._deliver_once_heard(_WHILE.sub("", told), int(port[1])))

    async def _deliver(self, told: str) -> None:
        """A mail, signed by the domain of its author. `Answers: msg_…` is whatever was sent last to that inbox."""
        head, _, text = told.strip().partition("\n\n")
        fields = dict(line.split(": ", 1) for line in head.splitlines())
        mail = EmailMessage()
        file, answers = fields.pop("File", ""), fields.pop("Answers", "")
        address = f"{fields.pop('To')}@{SHARED}"
        for name, value in {**fields, "To": address, "Date": "Sun, 22 Nov 2026 10:00:00 +0000"}.items():
            mail[name] = value
        self._count += 1
        domain = parseaddr(mail["From"])[1].partition("@")[2]
        mail["Message-ID"] = f"<{self._count}@{domain}>"
        if answers:
            (last,) = await self.maild.api.messages(direction=answers, limit="1")
            mail["In-Reply-To"] = last["messageIdHeader"]
        mail.set_content(text)
        if file:
            mail.add_attachment(b"%PDF-1.4\n%%EOF\n", maintype="application", subtype="pdf", filename=file)
        octets = mail.as_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        reply = await self.maild.deliver(address, self._signer(domain).sign(octets))
        assert reply.startswith("250 "), reply

    async def _meanwhile(self, step: Step) -> None:
        """What was to come while a block ran has come, when it is over."""
        if self._coming is not None and step.kind not in ("answer", "mail"):
            coming, self._coming = self._coming, None
            await coming

    async def _nothing_is_due(self) -> bool | None:
        waiting = await self.maild.api.messages(status="scheduled")
        now = iso(self.clock.now_ms())
        return all(one["scheduledAt"] > now for one in waiting) or None

    async def _newest_sent(self) -> str | None:
        found = await self.maild.api.messages(direction="outbound", limit="1")
        return found[0]["id"] if found else None

    async def _answer_once_sent(self, told: str, newest: str | None) -> None:
        async def has_gone() -> bool | None:
            return await self._newest_sent() != newest or None

        await patiently(has_gone)
        await self._deliver(told)

    async def _deliver_once_heard(self, told: str, port: int) -> None:
        async def is_heard() -> bool | None:
            with contextlib.suppress(ConnectionRefusedError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                return True
            return None

        await patiently(is_heard)
        await self._deliver(told)

    def _signer(self, domain: str) -> Signer:
        if domain not in self.signers:
            records = PublishedRecords(self.dns)
            records.add(f"_dmarc.{domain}", "v=DMARC1; p=reject")
            self.signers[domain] = Signer(records, domain)
        return self.signers[domain]


async def patiently(look: Callable[[], Awaitable[T | None]]) -> T:
    """What `look` finds, once it finds something: programs take a while to start."""
    async with asyncio.timeout(GIVES_UP_S):
        while (found := await look()) is None:
            await asyncio.sleep(0.005)
    return found


def compare(shown: Any, came: Any, path: str = "$") -> None:
    """Differs unless what came has the same keys and kinds, and says what is shown."""
    if isinstance(shown, dict) and isinstance(came, dict):
        if shown.keys() != came.keys():
            raise Differs(f"{path}: shown {sorted(shown)}, came {sorted(came)}")
        for name, one in shown.items():
            compare(one, came[name], f"{path}.{name}")
    elif isinstance(shown, list) and isinstance(came, list):
        if bool(shown) != bool(came):
            raise Differs(f"{path}: shown {shown}, came {came}")
        for number, one in enumerate(came):
            compare(shown[min(number, len(shown) - 1)], one, f"{path}[{number}]")
    elif isinstance(shown, str) and isinstance(came, str):
        if not _pattern(shown).fullmatch(came):
            raise Differs(f"{path}: shown {shown!r}, came {came!r}")
    elif _kind(shown) != _kind(came) or (isinstance(shown, bool) and shown is not came):
        raise Differs(f"{path}: shown {shown!r}, came {came!r}")


def compare_words(shown: str, came: str) -> None:
    """Differs unless the words are those that are shown. A line `…` is any number of lines."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == ANYTHING else f"{_pattern(line).pattern}\n"
        for line in shown.strip().split("\n")
    )
    if not re.fullmatch(pattern, came.strip() + "\n"):
        raise Differs(f"came:\n{came}")


def _pattern(shown: str) -> re.Pattern[str]:
    return re.compile(".*?".join(map(re.escape, shown.split(ANYTHING))))


def _kind(value: Any) -> str:
    return (
        "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__
    )
