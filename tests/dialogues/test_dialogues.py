"""SMTP conversations as data: every `*.smtp` beside this file is one test.

# says what the conversation protects
SET smtp.max_errors = 3        a setting of this daemon (TOML), before the first line
C: NOOP                        the client says it, with CRLF; \\x00 \\r \\n \\t are octets, {A*600} is 600 As
C! NO                          … without CRLF
S: 250 2.0                     the server's next line begins so
S~ 250[ -]SIZE \\d+            … or matches
S* 250                         one whole reply, each of its lines begins so
REPEAT 20 / END                the lines between, {n} counting from 1
CLOSED                         the server has closed
STORED 1                       bot@agents.test holds so many messages now
TEXT "a\\n"                    … the newest of which has this text (JSON)
"""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Start
from tests.support.running import Running, Smtp

FOLDER = Path(__file__).parent
DIALOGUES = sorted(FOLDER.glob("*.smtp"))

Step = tuple[int, str, str]


def read(file: Path) -> tuple[dict[str, dict[str, Any]], list[Step]]:
    settings: dict[str, dict[str, Any]] = {}
    steps: list[Step] = []
    lines = enumerate(file.read_text("utf-8").splitlines(), 1)
    for number, line in lines:
        if line.startswith("SET "):
            key, _, value = line.removeprefix("SET ").partition(" = ")
            section, _, name = key.partition(".")
            settings.setdefault(section, {})[name] = tomllib.loads(f"v = {value}")["v"]
        elif line.startswith("REPEAT "):
            repeated = list(steps_of(lines))
            for count in range(1, int(line.split()[1]) + 1):
                steps += [(at, verb, text.replace("{n}", str(count))) for at, verb, text in repeated]
        elif line and not line.startswith("#"):
            steps.append(step_of(number, line))
    return settings, steps


def steps_of(lines: Iterator[tuple[int, str]]) -> Iterator[Step]:
    for number, line in lines:
        if line == "END":
            return
        yield step_of(number, line)


def step_of(number: int, line: str) -> Step:
    verb, _, text = line.partition(" ")
    assert verb in STEPS, f"line {number}: what is {verb}?"
    return number, verb, text


def octets(text: str) -> bytes:
    text = re.sub(r"\{(.+?)\*(\d+)\}", lambda found: found[1] * int(found[2]), text)
    return text.encode().decode("unicode_escape").encode("latin-1") if "\\" in text else text.encode()


async def client_line(_maild: Running, talk: Smtp, text: str) -> None:
    await talk.write(octets(text) + b"\r\n")


async def client_octets(_maild: Running, talk: Smtp, text: str) -> None:
    await talk.write(octets(text))


async def server_line(_maild: Running, talk: Smtp, text: str) -> None:
    line = await talk.line()
    assert line.startswith(text), f"expected {text!r}, heard {line!r}"


async def server_matches(_maild: Running, talk: Smtp, text: str) -> None:
    line = await talk.line()
    assert re.fullmatch(text, line), f"expected {text!r}, heard {line!r}"


async def server_reply(_maild: Running, talk: Smtp, text: str) -> None:
    reply = await talk.reply()
    assert all(line.startswith(text) for line in reply.split("\n")), f"expected {text!r}, heard {reply!r}"


async def closed(_maild: Running, talk: Smtp, _text: str) -> None:
    assert await talk.closed(), "the session is still open, or said something"


async def stored(maild: Running, _talk: Smtp, text: str) -> None:
    assert len(await maild.api.messages()) == int(text)


async def text_is(maild: Running, _talk: Smtp, text: str) -> None:
    newest = (await maild.api.messages(limit="1"))[0]
    shown = (await maild.api.get(f"/v1/messages/{newest['id']}")).data
    assert shown["textBody"] == json.loads(text)


STEPS = {
    "C:": client_line,
    "C!": client_octets,
    "S:": server_line,
    "S~": server_matches,
    "S*": server_reply,
    "CLOSED": closed,
    "STORED": stored,
    "TEXT": text_is,
}


@pytest.mark.parametrize("file", DIALOGUES, ids=lambda file: file.stem)
async def test_dialogue(file: Path, start: Start) -> None:
    settings, steps = read(file)
    maild = await start(**settings)
    await maild.inbox("bot")
    talk = await maild.smtp(greeting=False)
    for number, verb, text in steps:
        try:
            await STEPS[verb](maild, talk, text)
        except (AssertionError, TimeoutError, ConnectionError) as error:
            raise AssertionError(f"{file.name}:{number}: {verb} {text}\n{error!r}") from error
