"""The operator's commands beside a running daemon, on its store.

hands = Hands(maild, folder, "queue")
await hands("list", "--all")           `maild queue list --all --json`: its one document
await hands.text("show")               what a person reads
await hands.refused("show", "x")       why it says no
"""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner

from maild.cli.program import main
from tests.support.running import Running

_LOGGED = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ")
REFUSED = 2


class Ended(NamedTuple):
    code: int
    text: str
    error: str


class Hands:
    """`command`: what all of them begin with. `of_own`: they are told the organization of `maild`."""

    def __init__(self, maild: Running, folder: Path, *command: str, of_own: bool = False) -> None:
        self._maild = maild
        self._command = command
        self._options = ("--org", maild.organization_id) if of_own else ()
        self._config = folder / "maild.toml"
        self._config.write_text(f'data_dir = "{maild.settings.data_dir}"\n')

    async def __call__(self, *arguments: str) -> dict[str, Any]:
        return document(await self.run(*arguments, "--json"))

    async def text(self, *arguments: str) -> str:
        return (await self.run(*arguments)).text

    async def refused(self, *arguments: str) -> str:
        ended = await self.run(*arguments)
        assert ended.code == REFUSED, ended
        return ended.error

    async def run(self, *arguments: str, said: str = "") -> Ended:
        return await self._maild.operate(self._run, arguments, said)

    def _run(self, arguments: tuple[str, ...], said: str) -> Ended:
        verb, *given = arguments
        # Of an option that stands twice the last counts.
        command = [*self._command, verb, *self._options, *given, "--config", str(self._config)]
        result = CliRunner().invoke(main, command, input=said)
        # The daemon in this process logs to the same place meanwhile.
        lines = [line for line in result.stdout.splitlines(keepends=True) if not _LOGGED.match(line)]
        return Ended(result.exit_code, "".join(lines), result.stderr)


def document(ended: Ended) -> dict[str, Any]:
    """What it answers to programs."""
    assert ended.code == 0, ended
    found: dict[str, Any] = json.loads(ended.text)
    return found
