"""`/llms.txt`, `/llms-full.txt`, the documents: what a model reads of a host names that host, and leaves nothing out.

A new operation, tool, code or event is in the long text by itself, since it is made of their tables; these tests say
that it is, and that both texts stay as short as those who pay for each word were promised.
"""

import posixpath
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from controlplane.contract.refusals import MESSAGES
from controlplane.contract.telling.events import EVENTS
from controlplane.mcp.tools import TOOLS
from controlplane.operations.operation import Operation
from controlplane.operations.table import OPERATIONS
from controlplane.reference import llms
from controlplane.reference.documents import documents
from controlplane.transport.statuses import STATUSES
from tests.conftest import Start, on_shared
from tests.support.laws.words import ROOT
from tests.support.running import Running
from tests.support.waiting import GIVES_UP_S

PUBLIC_URL = "https://api.agents.test"  # of the daemons of tests
OF_A_READER = "https://hooks.example.org"  # where a webhook of theirs is reached
SHORT_BYTES, FULL_BYTES = 4 * 1024, 60 * 1024
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)


@pytest.fixture(scope="module")
def told() -> dict[str, str]:
    return dict(documents(PUBLIC_URL))


@pytest.fixture(scope="module")
def full(told: dict[str, str]) -> str:
    return llms.full(PUBLIC_URL, OPERATIONS, TOOLS, told)


def lines_of(text: str, section: str) -> list[str]:
    """The lines below that heading of the second level."""
    return text.split(f"\n## {section}\n")[1].split("\n## ", maxsplit=1)[0].splitlines()


# Nothing is missing ------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.id)
def test_every_operation_has_its_line(full: str, operation: Operation) -> None:
    (head,) = [line for line in lines_of(full, "Operations") if f"] {operation.id}: " in line]
    assert head.startswith(f"{operation.method} {operation.path} [")
    assert operation.scope in head
    assert head.endswith(operation.summary)


def test_an_operation_tells_what_it_takes_and_what_it_refuses(full: str) -> None:
    text = "\n".join(lines_of(full, "Operations"))
    (told,) = re.findall(r"^POST /v1/messages/\{id\}/reply .*\n((?:  .*\n)+)", text, re.MULTILINE)
    taken, answered, refused = told.splitlines()
    assert (
        "text, html, replyAll: bool, quote: none|text, attachments: [{filename*, contentType, content*}]"
        in taken
    )
    assert answered.split() == ["->", "SentReply|DraftedReply", "once"]
    assert refused.split()[:2] == ["!", "*sending*"]
    assert {"thread_advanced", "no_reply_target"} <= set(refused.split())
    assert "rate_limit_exceeded" not in refused, "said once, for all"


def test_every_answer_is_told_of(full: str) -> None:
    answers = {line.partition(":")[0] for line in lines_of(full, "Answers")}
    named = re.findall(
        r"^  -> \[?([\w|]+)\]?(?: once)?$", "\n".join(lines_of(full, "Operations")), re.MULTILINE
    )
    assert len(named) > 80
    assert {name for names in named for name in names.split("|")} - {"Event"} <= answers


def test_every_tool_code_and_event_has_its_line(full: str) -> None:
    tools = {re.split(r"\(", line)[0]: line for line in lines_of(full, "Tools (MCP)")}
    assert {tool.name for tool in TOOLS} <= tools.keys()
    assert all(tool.description in tools[tool.name] for tool in TOOLS)
    assert tools["reply"].startswith("reply(messageId*, text*, lastSeenMessageId*, replyAll: bool, ")
    codes = lines_of(full, "Codes")
    assert all(f"{code} {STATUSES[code]}: {what_is_told(text)}" in codes for code, text in MESSAGES.items())
    events = {line.partition(":")[0] for line in lines_of(full, "Events")}
    assert EVENTS.keys() <= events


def test_the_long_text_has_the_recipes_and_how_to_behave(full: str, told: dict[str, str]) -> None:
    for path, text in told.items():
        if path == llms.SKILL or (path.startswith(llms.COOKBOOK) and path not in llms.APART):
            (title,) = re.findall(r"^# .*$", text, re.MULTILINE)
            assert f"\n#{title}\n" in full, path
    assert "<!--" not in full
    assert "\n---\n" not in full, "the front matter is for those who load skills"
    assert not re.search(r"^#+ (?:Python|TypeScript|MCP)$", full, re.MULTILINE), "in the documents"


# They are short, and of this host ----------------------------------------------------------------


def what_is_told(message: str) -> str:
    """The form of an id is all that is told of each kind that may be missing."""
    lacks = re.fullmatch(r"No .+ has this id (\(.+\))\.", message)
    return lacks[1] if lacks else message


def test_they_are_no_longer_than_promised(full: str) -> None:
    assert len(llms.short(PUBLIC_URL, has_tools=True).encode()) <= SHORT_BYTES
    assert len(full.encode()) <= FULL_BYTES


def test_every_address_is_of_this_host(full: str, told: dict[str, str]) -> None:
    for text in (full, *(text for path, text in told.items() if path.startswith("agents/"))):
        hosts = {one.rstrip(".,") for one in re.findall(r"https?://[^\s/`\")<>|]+", text)}
        assert hosts <= {PUBLIC_URL, OF_A_READER}, (
            "say https://mail.example.org, which becomes the host's own"
        )
    assert PUBLIC_URL in full


def test_a_slash_at_the_end_of_the_address_is_not_doubled() -> None:
    assert "https://x.test/mcp" in llms.short("https://x.test/", has_tools=True)
    assert "https://x.test//" not in llms.short("https://x.test/", has_tools=True)


def test_what_is_not_served_is_not_told_of(told: dict[str, str]) -> None:
    without = llms.full(PUBLIC_URL, OPERATIONS, (), told)
    assert "/mcp" in llms.short(PUBLIC_URL, has_tools=True)
    assert "/mcp" not in llms.short(PUBLIC_URL, has_tools=False)
    assert "<!--" not in llms.short(PUBLIC_URL, has_tools=True)
    assert "\n## Tools (MCP)\n" not in without


async def test_a_host_without_mcp_does_not_tell_of_it(start: Start) -> None:
    maild = await start(http={"mcp": False})
    assert b"/mcp" not in (await maild.api.with_key(None).get("/llms.txt")).body
    assert b"## Tools (MCP)" not in (await maild.api.with_key(None).get("/llms-full.txt")).body


# They are served ---------------------------------------------------------------------------------


@on_shared
async def test_they_are_served_without_a_key(shared: Running, full: str) -> None:
    api = shared.api.with_key(None)
    for path, text in (("/llms.txt", llms.short(PUBLIC_URL, True)), ("/llms-full.txt", full)):
        answer = await api.get(path)
        assert (answer.status, answer.body.decode()) == (200, text)
        assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "X-Request-Id" in answer.headers


@on_shared
async def test_every_link_of_theirs_is_answered(shared: Running, full: str) -> None:
    for text in (llms.short(PUBLIC_URL, True), full):
        links = set(LINK.findall(CODE.sub("", text)))
        assert links
        for link in links:
            assert link.startswith(PUBLIC_URL + "/"), link
            path = link.removeprefix(PUBLIC_URL).partition("#")[0]
            assert (await shared.api.with_key(None).get(path)).status == 200, link


@on_shared
async def test_documents_are_served_where_they_lie(shared: Running, told: dict[str, str]) -> None:
    here = {file.relative_to(ROOT / "docs").as_posix() for file in (ROOT / "docs").rglob("*.md")}
    assert told.keys() == here
    for path, text in told.items():
        assert "<!--" not in text, "a model would read it"
        answer = await shared.api.with_key(None).get(f"/docs/{path}")
        assert (answer.status, answer.body.decode()) == (200, text)
        assert answer.headers["Content-Type"] == "text/markdown; charset=utf-8"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_their_links_lead_to_each_other(told: dict[str, str]) -> None:
    """Below /docs/ as in the source; what is nowhere but in the source is named there, not linked."""
    for path, text in told.items():
        for link in LINK.findall(CODE.sub("", text)):
            if not re.match(r"[a-z]+:|#", link):
                target = posixpath.normpath(posixpath.join(posixpath.dirname(path), link.partition("#")[0]))
                assert target in told, f"{path}: {link}"


@on_shared
@pytest.mark.parametrize(
    "path",
    [
        "/docs/agents",
        "/docs/agents/",
        "/docs/agents/cookbook",
        "/docs/agents/nobody.md",
        "/docs/%2e%2e/README.md",
        "/docs/agents/..%2f..%2fpyproject.toml",
        "/docs//etc/passwd",
        "/docs/__init__.py",
    ],
)
async def test_nothing_else_can_be_had(shared: Running, path: str) -> None:
    answer = await shared.api.with_key(None).call("GET", path)
    assert (answer.status, answer.code) == (404, "not_found")


# What is installed has them ----------------------------------------------------------------------

BUILD = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
READ = "from controlplane.reference.documents import documents; print(*documents('https://x.test'))"


def test_a_wheel_has_the_documents(tmp_path: Path, told: dict[str, str]) -> None:
    built = _python(BUILD, str(tmp_path), folder=ROOT)
    with zipfile.ZipFile(tmp_path / built[-1]) as wheel:
        wheel.extractall(tmp_path / "installed")
    assert _python(READ, folder=tmp_path / "installed") == list(told)


def _python(program: str, *arguments: str, folder: Path) -> list[str]:
    """The words that it printed; its modules are those of the folder, and what is installed."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=GIVES_UP_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()
