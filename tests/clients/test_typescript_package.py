"""The TypeScript client as others get it: its tarball, where nothing else is, compiled against and run."""

import asyncio
import json
import platform
import re
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scripts.client_names import NAMES
from scripts.client_typescript import CLIENT
from tests.clients.test_typescript_operations import camel
from tests.support.clients.journeys import PDF, travelled
from tests.support.daemon import Daemon
from tests.support.machine import node, tools
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.waiting import GIVES_UP_S

pytestmark = [pytest.mark.interop, tools.needs("node", "npm")]

README = CLIENT / "README.md"
RUNTIMES = Path(__file__).parent / "runtimes"


@pytest.fixture(scope="module")
def compiled(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the journey, and what the README shows, were compiled against the tarball."""
    folder = tmp_path_factory.mktemp("compiled")
    with ThreadPoolExecutor(1) as apart:  # from the tests' loop
        apart.submit(asyncio.run, compile_in(folder, package)).result()
    return folder


async def compile_in(folder: Path, package: Path) -> None:
    modules = await node.modules(CLIENT)
    types = folder / "node_modules" / "@types"
    types.mkdir(parents=True)
    (types / "node").symlink_to(modules / "@types" / "node")
    (types.parent / "undici-types").symlink_to(modules / "undici-types")
    (types.parent / "maild-client").symlink_to(package / "node_modules" / "maild-client")
    for name in ("journey.ts", "tsconfig.json", "package.json"):
        (folder / name).write_bytes((package / name).read_bytes())
    shown = programs()
    assert len(shown) == 2
    for number, program in enumerate(shown):
        (folder / f"readme-{number}.ts").write_text(program, "utf-8")
    # With the types of the client itself, which is what skipLibCheck would leave out.
    await tools.run(
        tools.path_of("node"), str(modules / ".bin" / "tsc"), "--project", "tsconfig.json", folder=folder
    )


async def by_node() -> list[str]:
    return [tools.path_of("node"), "--throw-deprecation"]


async def by_bun() -> list[str]:
    return [str(await elsewhere() / "@oven" / "bun-linux-x64" / "bin" / "bun")]


async def by_deno() -> list[str]:
    rights = ("--allow-env=MAILD_URL,MAILD_API_KEY", "--allow-net=127.0.0.1", "--allow-read=.")
    return [str(await elsewhere() / "@deno" / "linux-x64-glibc" / "deno"), "run", "--no-prompt", *rights]


async def elsewhere() -> Path:
    if platform.machine() != "x86_64":
        pytest.skip("the pinned Bun and Deno are for x86_64")
    return await node.modules(RUNTIMES)


@pytest.mark.parametrize("program", [by_node, by_bun, by_deno])
async def test_the_tarball_goes_the_whole_way(
    compiled: Path, tmp_path: Path, program: Callable[[], Awaitable[list[str]]]
) -> None:
    command = await program()
    async with (
        asyncio.timeout(GIVES_UP_S),
        DnsServer() as dns,
        Mx() as mx,
        Daemon(tmp_path, dns_port=dns.port, outbound_port=mx.port) as daemon,
    ):
        dns.add_mx("there.test", "127.0.0.1")
        told = await travelled(
            *command, "out/journey.js", folder=compiled, daemon=daemon,
            variables={"MAILD_URL": daemon.api.url, "MAILD_API_KEY": daemon.api_key},
        )  # fmt: skip
    assert told["newer"][0] == told["newer"][1]
    assert told["text"].strip() == "Please pay." and told["words"] and told["bytes"] == len(PDF)
    assert told["worked"] == ["Re: Invoice"]
    assert told["directions"] == ["outbound", "outbound", "inbound"]
    assert {"draft.created", "email.received", "message.updated"} <= set(told["types"])
    assert told["draft"] == "draft" and told["requestId"]


def programs() -> list[str]:
    """What the README shows, each from its import on: the blocks behind one go on with it."""
    blocks = re.findall(r"^```typescript\n(.*?)^```$", README.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    found: list[str] = []
    for block in blocks:
        if block.startswith("import "):
            found.append(block)
        else:
            found[-1] += block
    return found


def test_the_readme_names_every_method() -> None:
    table = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", README.read_text("utf-8"), re.MULTILINE))
    told = {(resource, verb) for resource, verbs in table.items() for verb in re.findall(r"`(\w+)`", verbs)}
    there = {tuple(map(camel, name)) for name in NAMES.values()}
    assert told == {*there, ("inboxes", "work")}


def test_the_tarball_has_the_built_client_alone(package: Path) -> None:
    folder = package / "node_modules" / "maild-client"
    names = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
    sources = {file.stem for file in (CLIENT / "src").glob("*.ts")}
    built = {f"dist/{stem}.{kind}" for stem in sources for kind in ("js", "d.ts")}
    assert names == {*built, "package.json", "LICENSE", "README.md"}
    told = json.loads((folder / "package.json").read_text("utf-8"))
    # Of compilers that do not read `exports`: the default beside `"module": "commonjs"`.
    assert told["exports"] == {".": {"types": told["types"], "default": told["main"]}}
    assert [file.name for file in (package / "node_modules").iterdir() if file.name[0] != "."] == [
        "maild-client"
    ]
