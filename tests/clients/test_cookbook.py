"""Every block of the recipes is run, and what they show is what comes (docs/agents/cookbook)."""

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from scripts.client_typescript import CLIENT
from tests.clients.typescript_world import PROGRAMS
from tests.conftest import Start
from tests.support.clients.cookbook import (
    ANSWERS,
    COOKBOOK,
    Differs,
    Page,
    ShiftedClock,
    compare,
    compare_words,
    steps,
)
from tests.support.clients.cookbook import CLIENT as PYTHON_CLIENT
from tests.support.laws.words import ROOT
from tests.support.machine import node, tools
from tests.support.machine.ports import free_port
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.tls_front import tls_front

PAGES = sorted(page for page in COOKBOOK.glob("*.md") if page.name != "README.md")
LANGUAGES = ("curl", "Python", "TypeScript", "MCP")
DEV_URL = "http://127.0.0.1:8025"  # of scripts/dev
HOOKS = (
    "https://hooks.example.org",
    "8026",
)  # where a page's program is reached by the server, and listens itself


@pytest.fixture
async def dns() -> AsyncIterator[DnsServer]:
    async with DnsServer() as server:
        yield server


async def run(start: Start, dns: DnsServer, folder: Path, text: str, node_modules: Path | None = None) -> int:
    """Read it; how many steps there were."""
    clock = ShiftedClock()
    port = free_port()
    async with tls_front(folder, port) as front:
        maild = await start(
            clock=clock,
            dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
            outbound={"relay": "127.0.0.1:9", "first_retry_s": 3600},  # mail waits, and nobody is asked
            webhooks={"ca_file": str(front.ca_file), "allow_private_networks": True},
        )
        reader = folder / "reader"
        reader.mkdir()
        told = text.replace(DEV_URL, maild.api.url).replace("svc_live_…", maild.api.key or "")
        told = told.replace(HOOKS[0], front.url).replace(HOOKS[1], str(port))
        return await Page(maild, dns, clock, reader, node_modules).read(told)


@pytest.mark.interop
@tools.needs("bash", "curl", "jq", "node", "npm")
@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.stem)
async def test_a_recipe_does_what_it_says(
    start: Start, dns: DnsServer, tmp_path: Path, package: Path, file: Path
) -> None:
    assert await run(start, dns, tmp_path, file.read_text("utf-8"), package / "node_modules") > 5


@pytest.mark.interop
@tools.needs("node", "npm")
async def test_programs_in_typescript_pass_its_strictest_check(tmp_path: Path, package: Path) -> None:
    programs = [
        step.text for file in PAGES for step in steps(file.read_text("utf-8")) if step.kind == "typescript"
    ]
    assert len(programs) > len(PAGES)
    for number, program in enumerate(programs):
        (tmp_path / f"{number}.mts").write_text(program)
    (tmp_path / "node_modules").symlink_to(package / "node_modules")
    modules = await node.modules(CLIENT)
    options = json.loads((PROGRAMS / "tsconfig.json").read_text("utf-8"))["compilerOptions"]
    options |= {"noEmit": True, "typeRoots": [str(modules / "@types")]}
    (tmp_path / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "include": ["*.mts"]}))
    await tools.run(tools.path_of("node"), str(modules / "typescript" / "bin" / "tsc"), folder=tmp_path)


@pytest.mark.interop
async def test_programs_in_python_pass_its_strictest_check(tmp_path: Path) -> None:
    """mypy's: what may be missing is looked at before it is used."""
    programs = [
        step.text for file in PAGES for step in steps(file.read_text("utf-8")) if step.kind == "python"
    ]
    assert len(programs) > len(PAGES)
    for number, program in enumerate(programs):
        (tmp_path / f"program_{number}.py").write_text(program)
    (tmp_path / "mypy.ini").write_text(f"[mypy]\nstrict = True\nmypy_path = {PYTHON_CLIENT}\n")
    await tools.run(sys.executable, "-m", "mypy", "--config-file", "mypy.ini", ".", folder=tmp_path)


@pytest.mark.interop
@tools.needs("bash", "curl", "jq")
async def test_five_minutes_of_the_readme_end_with_an_answer(
    start: Start, dns: DnsServer, tmp_path: Path
) -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    section = text.split("\n## Five minutes")[1].split("\n## ", maxsplit=1)[0]
    assert await run(start, dns, tmp_path, section) > 5


@pytest.mark.interop
@tools.needs("bash", "curl", "jq")
async def test_mail_to_try_the_recipes_with_is_proven(start: Start, dns: DnsServer, tmp_path: Path) -> None:
    """Else a key that only answers, as most recipes make it, refuses the first mail that a reader sends."""
    text = (COOKBOOK / "README.md").read_text("utf-8")
    section = text.split("\n## Mail to try with\n")[1].split("\n## ", maxsplit=1)[0]
    before = """```sh
ORDERS=$(curl -sS -H "Authorization: Bearer $MAILD_API_KEY" --json '{"username": "orders"}' "$MAILD_URL/v1/inboxes" |
  jq -r .data.id)
```
"""
    after = """
```json
{"status": "queued"}
```
```sh
curl -sS -H "$OWNER" "$MAILD_URL/v1/messages/wait?inboxId=$ORDERS" | jq .data.message.auth.verifiedDomain
```
```json
"agents.test"
```
"""
    assert await run(start, dns, tmp_path, before + section.rstrip() + after) == 5


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.stem)
def test_a_recipe_is_told_in_every_language_and_shows_what_comes(file: Path) -> None:
    text = file.read_text("utf-8")
    for language in LANGUAGES:
        told = steps(text.split(f"\n## {language}\n")[1].split("\n## ", maxsplit=1)[0])
        assert any(step.kind in ANSWERS for step in told), language


def test_the_index_has_every_recipe() -> None:
    index = (COOKBOOK / "README.md").read_text("utf-8")
    for page in PAGES:
        assert f"]({page.name})" in index, page.name


@pytest.mark.interop
@tools.needs("bash", "curl", "jq")
@pytest.mark.parametrize(
    "page",
    [
        "```sh\nfalse\n```\n",
        "```sh\nfalse | true\n```\n",
        '```sh\ncurl -sS "$MAILD_URL/v1/nowhere"\n```\n',
        "```sh\necho 1\n```\n```json\ntrue\n```\n",
        "```python\nraise SystemExit(1)\n```\n",
        '```python\nprint("a")\n```\n```text\nb\n```\n',
        '```json call\n{"name": "reply", "arguments": {"messageId": "msg_…"}}\n```\n',
        "```ruby\nputs 1\n```\n",
    ],
)
async def test_a_page_that_is_wrong_is_told(start: Start, dns: DnsServer, tmp_path: Path, page: str) -> None:
    with pytest.raises(Differs, match=r"^line 1, |^line 4, "):
        await run(start, dns, tmp_path, page)


# What is compared --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shown", "came"),
    [
        ({"id": "msg_…", "count": 1}, {"id": "msg_01x", "count": 7}),
        ([{"a": "b"}], [{"a": "b"}, {"a": "b"}]),
        ({"a": None, "b": [], "c": True}, {"a": None, "b": [], "c": True}),
    ],
)
def test_what_is_alike_passes(shown: object, came: object) -> None:
    compare(shown, came)


@pytest.mark.parametrize(
    ("shown", "came"),
    [
        ({"id": "msg_…"}, {"id": "thd_01x"}),
        ({"id": "msg_…"}, {"id": "msg_01x", "more": 1}),
        ({"status": "held"}, {"status": "queued"}),
        ({"held": True}, {"held": False}),
        ({"count": 1}, {"count": True}),
        ({"at": None}, {"at": "…"}),
        ({"list": [1]}, {"list": []}),
        ({"list": []}, {"list": [1]}),
        ([{"a": "b"}], [{"a": "b"}, {"a": "c"}]),
    ],
)
def test_what_differs_is_told(shown: object, came: object) -> None:
    with pytest.raises(Differs):
        compare(shown, came)


def test_words_are_compared_line_by_line() -> None:
    compare_words("one …\n…\nend", "one two\nthree\nfour\nend\n")
    for came in ("one two\nthree\n", "two\nend", "one two\nend\nmore"):
        with pytest.raises(Differs):
            compare_words("one …\n…\nend", came)
