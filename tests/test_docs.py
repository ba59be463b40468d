"""Documents can't drift: what they name exists, and what exists is named."""

import ast
import dataclasses
import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import click
import pytest
from pydantic import BaseModel

from conf.loading import CLIENT_VARIABLES, ENVIRONMENT_PREFIX
from conf.log_events import LogEvent
from conf.settings import Plan, Settings
from controlplane.contract import fields, validation
from controlplane.contract.refusals import MESSAGES
from controlplane.contract.scopes import SCOPES
from controlplane.contract.telling.events import EVENTS
from controlplane.mcp.tools import TOOLS
from controlplane.operations.table import OPERATIONS
from maild import __version__
from maild.cli.program import main
from storage.agents.policies import NO_POLICY, document_of
from storage.audit.acts import Act
from tests.support.laws.words import ROOT, anchors, of_sources, tracked

README = ROOT / "README.md"
DOCUMENTS = [README, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = {file.relative_to(ROOT).as_posix(): file.read_text("utf-8") for file in DOCUMENTS}
EVERYTHING = "\n".join(TEXTS.values())
SKILL = "docs/agents/SKILL.md"
TOLD = of_sources() | TEXTS  # also what docstrings and comments say


def commands(group: click.Group, prefix: str = "") -> dict[str, click.Command]:
    found: dict[str, click.Command] = {}
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            found |= commands(command, f"{prefix}{name} ")
        else:
            found[f"{prefix}{name}"] = command
    return found


COMMANDS = commands(main)


def options(command: click.Command) -> set[str]:
    return {name for one in command.params for name in one.opts if name.startswith("--")}


def fenced(text: str) -> list[str]:
    """The lines of the text's shell blocks, comments apart."""
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return [
        line.strip() for block in blocks for line in block.splitlines() if line.strip() and line[0] != "#"
    ]


# Commands ----------------------------------------------------------------------------------------


def test_the_commands_of_the_readme_are_there_and_executable() -> None:
    found = [line.split()[0] for line in fenced(TEXTS["README.md"])]
    assert {"scripts/dev", "scripts/test"} <= set(found)
    for command in found:
        if "/" in command:
            assert os.access(ROOT / command, os.X_OK), command


def test_every_script_that_a_text_names_is_there() -> None:
    for name, text in TOLD.items():
        for script in re.findall(r"(?<![\w/])scripts/[\w./-]*\w", text):
            assert (ROOT / script).exists(), f"{name}: {script}"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_readme_with_its_options(command: str) -> None:
    (shown,) = re.findall(rf"`maild {command}( [^`]*)?`", TEXTS["README.md"].split("| command |")[1])
    assert options(COMMANDS[command]) - {"--config", "--json", "--help", "--reason"} <= set(
        re.findall(r"--[a-z-]+", shown)
    )


def test_every_command_that_a_text_names_exists_with_its_options() -> None:
    for name, text in TOLD.items():
        for words in re.findall(r"[`']maild ([a-z][^`'|]*)[`']", text):
            command = next((one for one in COMMANDS if words == one or words.startswith(one + " ")), None)
            assert command is not None, f"{name}: maild {words}"
            assert set(re.findall(r"--[a-z-]+", words)) <= options(COMMANDS[command]), (
                f"{name}: maild {words}"
            )


CLIENTS = ROOT / "controlplane" / "clients"


@pytest.mark.parametrize("file", [*DOCUMENTS, *CLIENTS.glob("*/README.md")], ids=lambda file: file.name)
def test_nothing_of_ours_is_installed_from_a_registry(file: Path) -> None:
    """It is in none: the command fails, or runs what whoever took the name there has put into it."""
    text = file.read_text("utf-8")
    assert not re.findall(r"(?:pip|pipx|npm|npx|uvx?)(?: \w+)* maild(?:-client|c)?\b(?!/)|npm:maild", text)
    version = json.loads((CLIENTS / "typescript" / "package.json").read_text("utf-8"))["version"]
    for path in re.findall(r"(?:pip|npm)\s+install\s+(\./\S+?)[`)\s]", text):
        folder = ROOT / path.removesuffix(f"/maild-client-{version}.tgz")
        assert (folder / "pyproject.toml").exists() or (folder / "package.json").exists(), path


# Configuration -------------------------------------------------------------------------------------


SECTIONS = "|".join(one.name for one in dataclasses.fields(Settings) if one.name not in ("data_dir", "plans"))


def keys() -> set[str]:
    found = {one.name for one in dataclasses.fields(Settings)} | {
        one.name for one in dataclasses.fields(Plan)
    }
    for section in dataclasses.fields(Settings):
        value = getattr(Settings(), section.name)
        if hasattr(value, "__dataclass_fields__"):
            found |= {one.name for one in dataclasses.fields(value)} | {
                f"{section.name}.{one.name}" for one in dataclasses.fields(value)
            }
    return found


def test_every_name_with_a_dot_is_a_key_or_a_module() -> None:
    """In sources: `storage.reserve_percent`, storage.mail.blobs, outbound.hasten (a function of
    storage/sending/outbound.py)."""
    known = keys()
    packages = {file.stem: file.read_text("utf-8") for file in (ROOT / "storage").rglob("*.py")}
    for name, text in TOLD.items():
        is_client = name.startswith("controlplane/clients/")  # its `webhooks.verify` is no key of ours
        if name.startswith(("maild/", "controlplane/", "storage/", "conf/")) and not is_client:
            for dotted in re.findall(rf"(?<![\w./-])((?:{SECTIONS})\.[a-z_]+)(?![\w/])", text):
                section, _, word = dotted.partition(".")
                is_module = (ROOT / section / f"{word}.py").exists() or (ROOT / section / word).is_dir()
                is_function = f"def {word}(" in packages.get(section, "")
                assert dotted in known or is_module or is_function, f"{name}: {dotted}"


def members_of_policies() -> set[str]:
    """Some of their parts are named as sections of the configuration are: `outbound.recipients`."""
    document = document_of(NO_POLICY)
    return {f"{part}.{member}" for part, members in document.items() for member in members}


def test_every_key_that_a_document_names_exists() -> None:
    known = keys() | members_of_policies()
    for name, text in TEXTS.items():
        dotted = re.findall(rf"`((?:{SECTIONS})\.[a-z_]+)`", text)
        bracketed = [f"{a}.{b}" for a, b in re.findall(r"`\[([a-z]+)\] ([a-z_]+)", text)]
        files = {one for one in dotted if one.endswith((".py", ".sql"))}
        assert set(dotted) - files | set(bracketed) <= known, name


def test_environment_variables_that_are_named_exist() -> None:
    conf = (ROOT / "conf" / "maild.toml").read_text("utf-8")
    named = set(re.findall(r"\b(MAILD_[A-Z_]+)=", EVERYTHING + conf)) - CLIENT_VARIABLES
    for variable in named:
        key = variable.removeprefix(ENVIRONMENT_PREFIX).lower().replace("__", ".")
        assert key in keys() | {"section.key"}, variable


# The text ------------------------------------------------------------------------------------------


def test_lines_of_documents_are_wrapped() -> None:
    """At 120, so that a change of a sentence is a change of few lines. Tables have one line for each row."""
    for name, text in TEXTS.items():
        if name.endswith(".md"):
            prose = re.sub(r"^```.*?^```|\A---\n.*?^---$", "", text, flags=re.DOTALL | re.MULTILINE)
            long = [line for line in prose.splitlines() if len(line) > 120 and not line.startswith("|")]
            assert long == [], name


# The API ---------------------------------------------------------------------------------------------


def test_tools_and_operations_are_as_many_as_the_documents_say() -> None:
    (all_tools,) = re.findall(r"`POST /mcp` gives a model's host (\d+) tools", TEXTS["README.md"])
    assert int(all_tools) == len(TOOLS)
    quickstart = TEXTS["docs/agents/quickstart-mcp.md"]
    bound = [one for one in TOOLS if not one.is_of_several and not one.is_of_work]
    assert re.findall(r"such a key sees (\d+) tools", quickstart) == [str(len(bound))]
    operations = len(OPERATIONS) + 1  # and `/health`
    assert re.findall(r"There are (\d+): take\sthe few", quickstart) == [str(operations)]


def test_every_route_that_a_document_names_exists() -> None:
    known = {(route.method, re.sub(r"\{\w+\}", "{}", route.path)) for route in OPERATIONS}
    for name, text in TEXTS.items():
        for method, path in re.findall(r"`(GET|POST|PATCH|DELETE) (/v1/[^`? ]*)", text):
            assert (method, re.sub(r"\{\w+\}", "{}", path)) in known, f"{name}: {method} {path}"


def test_the_contract_has_every_route_with_its_scope() -> None:
    text = TEXTS["docs/contract.md"]
    for route in OPERATIONS:
        told = re.search(rf"`{route.method} {re.escape(route.path)}`(.*)", text)
        assert told is not None, f"{route.method} {route.path}"
        assert route.scope in told[1], f"{route.method} {route.path}: {route.scope}"


def test_the_contract_has_every_scope_and_every_event() -> None:
    text = TEXTS["docs/contract.md"]
    for scope in SCOPES:
        assert f"\n| `{scope}` |" in text, scope
    for event in EVENTS:
        assert f"`{event}`" in text, event


def words_in_code(text: str) -> set[str]:
    """What stands in code marks (`a.b` is the member `b` of `a`), and the names of members in JSON."""
    marked = (one.rpartition(".")[2] for one in re.findall(r"`([\w.-]+)`", text))
    return set(marked) | set(re.findall(r'"(\w+)":', text))


def members(model: type[BaseModel]) -> set[str]:
    return {one.alias or name for name, one in model.model_fields.items()}


def models_in(shape: Any) -> set[type[BaseModel]]:
    """The models that this one, or a type made of models, consists of."""
    if isinstance(shape, type) and issubclass(shape, BaseModel):
        parts = (one.annotation for one in shape.model_fields.values())
        return {shape}.union(*(models_in(one) for one in parts))
    return set[type[BaseModel]]().union(*(models_in(one) for one in get_args(shape)))


def test_the_contract_has_every_member_of_every_response() -> None:
    told = words_in_code(TEXTS["docs/contract.md"])
    models = {model for operation in OPERATIONS for model in models_in(operation.answer)}
    assert len(models) > 50
    for model in models | {model for _, event in EVENTS.values() for model in models_in(event)}:
        assert members(model) - {"root"} <= told, model.__name__


def test_the_contract_has_every_field_of_every_request() -> None:
    told = words_in_code(TEXTS["docs/contract.md"])
    for route in OPERATIONS:
        for model in (route.body, route.query):
            if model is not None:
                assert members(model) <= told, f"{route.method} {route.path}"


def test_every_error_code_that_a_document_names_exists() -> None:
    """A word in code marks that looks like one: `…_not_found`, `…_reached`, `…_too_large` and their like."""
    looks = re.compile(
        r"`([a-z]+(?:_[a-z]+)*_(?:not_found|reached|too_large|failed|reserved|denied|conflict|unsupported))`"
    )
    own = {"delivery_failed", *LogEvent}
    for name, text in TEXTS.items():
        if not name.startswith("docs/performance"):
            logged = LOGGED.keys() if name in ("docs/operating.md", "docs/metrics.md") else set()
            assert set(looks.findall(text)) - own - logged <= set(MESSAGES), name


def fault_codes() -> set[str]:
    """Every code that `details.fields` may hold, as the source has it."""
    source = "\n".join(file.read_text("utf-8") for file in (ROOT / "controlplane").rglob("*.py"))
    found = set(validation.CODES.values()) | {"wrong_type"}
    found |= set(re.findall(r'PydanticCustomError\(\s*"(\w+)"', source))
    found |= set(re.findall(r'\bFault\([^()]*?,\s*"(\w+)",', source))
    return found


def test_fault_codes_are_those_of_the_document() -> None:
    (listed,) = re.findall(
        r"`details\.fields\[\]\.code` is stable:(.*?)\.\n", TEXTS["docs/contract.md"], re.DOTALL
    )
    assert set(re.findall(r"`(\w+)`", listed)) == fault_codes()


def test_events_that_a_document_names_exist() -> None:
    known = {*get_args(fields.EventType), *Act}
    for name, text in TEXTS.items():
        assert set(re.findall(r"`((?:email|domain|sending)\.[a-z]+)`", text)) - {"domain.py"} <= known, name


def test_parts_of_the_server_that_act_are_those_of_the_audit_page() -> None:
    acting: set[str] = set()
    for folder in ("maild", "controlplane", "storage"):
        for file in (ROOT / folder).rglob("*.py"):
            acting |= set(re.findall(r'= system\("(\w+)"\)', file.read_text("utf-8")))
    told = TEXTS["docs/audit.md"].split("- `actor`:")[1].split("\n- ")[0]
    assert set(re.findall(r"`system:(\w+)`", told)) == acting


# The log ------------------------------------------------------------------------------------------


def log_lines() -> dict[str, str]:
    """Event → the level at which the source logs it."""
    found = {one.value: one.level for one in LogEvent}
    for folder in ("maild", "controlplane", "storage"):
        for file in (ROOT / folder).rglob("*.py"):
            text = file.read_text("utf-8")
            found |= {event: level for level, event in re.findall(r'\blog\.(\w+)\(\s*"(\w+)"', text)}
            found |= dict.fromkeys(
                re.findall(
                    r'\b(?:Enduring|EnduringOutages|SetAside|tell_failure)\([^"]*\blog, "(\w+)"', text
                ),
                "error",
            )
            found |= dict.fromkeys(re.findall(r'strangers\.note\(\s*"(\w+)"', text), "info")
    return found


LOGGED = log_lines()


def test_every_log_line_of_the_operators_page_exists() -> None:
    table = TEXTS["docs/operating.md"].split("## Log lines")[1]
    rows = re.findall(r"^\| (`.*?`) \| (debug|info|warning|error) \|", table, re.MULTILINE)
    told = {event: level for events, level in rows for event in re.findall(r"`(\w+)`", events)}
    assert told.keys() <= LOGGED.keys()
    for event, level in LOGGED.items():
        if level in ("warning", "error", "exception"):
            assert told.get(event) == level.replace("exception", "error"), event


def test_the_decisions_that_are_logged_are_those_of_the_operators_page() -> None:
    table = TEXTS["docs/operating.md"].split("### Decisions")[1].split("###")[0]
    listed = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*) \|$", table, re.MULTILINE)
    assert listed == [(one.value, one.level, one.says) for one in LogEvent]


def test_lines_that_are_left_out_are_those_of_the_operators_page() -> None:
    bounded: set[str] = set()
    for folder in ("maild", "controlplane"):
        for file in (ROOT / folder).rglob("*.py"):
            found = re.findall(r"\.note\(\s*LogEvent\.(\w+)", file.read_text("utf-8"))
            bounded |= {LogEvent[one].value for one in found}
    told = TEXTS["docs/operating.md"].split("What any peer can bring about at will (")[1].split(")")[0]
    listed = set(re.findall(r"`(\w+)`", told)) | {
        one.value for one in LogEvent if one.value.startswith("http_")
    }
    assert listed == bounded


# Citations ---------------------------------------------------------------------------------------


def headings(document: str) -> set[str]:
    """What may be cited of a document: its headings, without their numbers, and the terms that stand in bold."""
    found = re.findall(r"^#+ (?:\d+\. )?(.*)$|\*\*([^*]+?)\.?\*\*", TEXTS[document], re.MULTILINE)
    return {heading or term for heading, term in found}


def test_every_heading_that_is_cited_is_there() -> None:
    cited = r'\b(?:docs/)?(\w+)\.md,(?: section \d+,)?((?:(?:,| and)? ?"[^"]+")+)'
    for name, text in TOLD.items():
        for document, quoted in re.findall(cited, " ".join(text.split())):
            assert set(re.findall(r'"([^"]+)"', quoted)) <= headings(f"docs/{document}.md"), (
                f"{name}: {quoted}"
            )


def test_every_section_of_the_contract_that_is_cited_is_there() -> None:
    sections = set(re.findall(r"^## (\d+)\. ", TEXTS["docs/contract.md"], re.MULTILINE))
    for name, text in TOLD.items():
        for numbers in re.findall(
            r"contract(?:\.md)?, sections? ([\d, andto]+)", " ".join(text.split()), re.I
        ):
            assert set(re.findall(r"\d+", numbers)) <= sections, f"{name}: {numbers}"


def test_every_document_that_is_cited_is_there() -> None:
    for name, text in TOLD.items():
        for document in re.findall(r"(?<![\w/.-])((?:docs/)?[a-zA-Z]+\.md)\b", text):
            here = (ROOT / name).parent
            assert any((folder / document).exists() for folder in (ROOT, ROOT / "docs", here)), (
                f"{name}: {document}"
            )


def table_of_threats() -> dict[str, str]:
    """Id → its row."""
    return dict(re.findall(r"^\| ([SAMWCDL]\d+) (\|.*)$", TEXTS["docs/threats.md"], re.MULTILINE))


def test_every_threat_has_a_test_or_says_what_is_missing() -> None:
    threats = table_of_threats()
    assert len(threats) > 50
    for id, row in threats.items():
        assert "`tests/" in row.rsplit("|", 2)[1] or "**not yet**" in row, id


def test_every_threat_that_is_cited_is_in_the_table() -> None:
    threats = table_of_threats()
    for name, text in TOLD.items():
        if name.startswith("tests/"):
            assert set(re.findall(r"(?<![\w.-])[SAWD]\d{1,2}(?![\w-])", text)) <= set(threats), name


# Files and links -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TEXTS)
def test_relative_links_lead_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", TEXTS[name]):
        if not re.match(r"[a-z]+:", target):
            file, _, anchor = target.partition("#")
            path = (ROOT / name).parent / file if file else ROOT / name
            assert path.exists(), target
            if anchor:
                assert anchor in anchors(path.read_text("utf-8")), target


def test_alerts_are_about_what_is_served_and_have_an_answer() -> None:
    alerts = (ROOT / "conf/alerts.yml").read_text("utf-8")
    listed = re.findall(r"^\| `(maild_\w+)` \|", TEXTS["docs/metrics.md"], re.MULTILINE)
    for asked in (alerts, TEXTS["docs/metrics.md"]):
        names = {one.removesuffix("_bucket") for one in re.findall(r"\b(maild_\w+)\b", asked)}
        assert names <= set(listed)
        events = "|".join(re.findall(r'event=~?"([^"]*)"', asked)).split("|")
        assert events and set(events) <= LOGGED.keys()
    runbook = "docs/metrics.md#when-an-alert-fires"
    rules = re.findall(r"- alert: (\w+)", alerts)
    assert alerts.count(f"runbook: {runbook}\n") == len(rules)
    table = TEXTS["docs/metrics.md"].split("## When an alert fires")[1].split("\n## ")[0]
    answered = " ".join(re.findall(r"^\| (`.*?) \|", table, re.MULTILINE))
    assert re.findall(r"`(Maild[A-Z]\w+)`", answered) == rules


def test_files_that_are_named_exist() -> None:
    """Whole paths anywhere, the last parts of paths with an extension that ours have."""
    names = ["/" + file.relative_to(ROOT).as_posix() for file in tracked()]
    for name, text in TOLD.items():
        paths = re.findall(
            r"(?<![\w/.~{$-])((?:maild|controlplane|storage|conf|tests|systemd|scripts|docs)/[\w./-]*\w)",
            text,
        )
        for path in paths:
            assert (ROOT / path).exists(), f"{name}: {path}"
        for path in re.findall(r"(?<![\w/.*{$-])((?:[\w-]+/)*[\w-]+\.(?:py|sql|toml|service|lock))\b", text):
            assert any(one.endswith("/" + path) for one in names), f"{name}: {path}"


def test_the_readme_leads_to_every_document() -> None:
    """By itself, or by a page of a folder to the others in it."""
    for name in TEXTS:
        folder = (ROOT / name).parent
        page = (folder / "README.md").relative_to(ROOT).as_posix()
        is_listed = page in TEXTS and page != name and f"]({(ROOT / name).name})" in TEXTS[page]
        assert name == "README.md" or is_listed or f"]({name})" in TEXTS["README.md"], name


def test_every_figure_of_the_readme_was_measured() -> None:
    """As docs/performance.md tells, which has the command beside each."""
    (section,) = re.findall(r"^## Figures\n(.*?)^## ", TEXTS["README.md"], re.DOTALL | re.MULTILINE)
    figures = set(re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?", section))
    assert len(figures) > 20
    for figure in figures:
        assert re.search(rf"(?<![\d.]){re.escape(figure)}(?![\d.]*\d)", TEXTS["docs/performance.md"]), figure


def test_the_readme_knows_every_folder() -> None:
    for folder in ("maild", "controlplane", "storage", "conf", "tests", "scripts", "systemd", "docs"):
        assert f"{folder}/" in TEXTS["README.md"], folder


def test_nothing_that_is_tracked_names_this_machine() -> None:
    """Folders of the machine it was written on, and addresses of package registries."""
    machine = re.compile(
        r"(?<![\w.{}$])/(?:work/(?:main|shared|\w+/)|root/|home/\w+/|tmp/(?!\.)\w+)"
        r"|https?://[\w.-]*(?:pypi|pythonhosted|artifactory|nexus|registry|mirror)[\w.-]*|--(?:extra-)?index-url"
    )
    for file in tracked():
        if file != Path(__file__) and file.suffix not in (".gz", ".png"):
            found = machine.search(file.read_text("utf-8", "replace"))
            assert found is None, f"{file.relative_to(ROOT)}: {found and found[0]}"


def test_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "version" in project["project"]["dynamic"]
    assert re.search(rf"^## .*{re.escape(__version__)}", TEXTS["CHANGELOG.md"], re.MULTILINE) or (
        "Unreleased" in TEXTS["CHANGELOG.md"]
    )


def test_programs_of_the_quickstart_are_python_and_name_the_endpoint() -> None:
    text = (ROOT / "docs" / "agents" / "quickstart-mcp.md").read_text("utf-8")
    programs = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(programs) > 3
    for program in programs:
        compile(program, "quickstart-mcp.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        assert '"https://mail.example.org/mcp"' in program and "Bearer {key}" in program


def test_a_skill_has_what_its_loaders_read() -> None:
    """Its name and when to use it, within their bounds. On one line and quoted: many of them read no more of YAML."""
    front = re.match(
        r'---\nname: ([a-z0-9-]{1,64})\ndescription: "([^"\\<>\n]{1,1024})"\n---\n# ', TEXTS[SKILL]
    )
    assert front is not None


def test_a_skill_names_codes_tools_and_fields_that_there_are() -> None:
    rows = re.findall(r"^\| (`.*?) \|", TEXTS[SKILL], re.MULTILINE)
    codes = {code for row in rows for code in re.findall(r"`(\w+)`", row)}
    assert codes and codes <= MESSAGES.keys()
    named = set(re.findall(r"`([a-z]+_[a-z_]+)`", TEXTS[SKILL])) - MESSAGES.keys()
    assert named <= {tool.name for tool in TOOLS}


def test_configurations_of_hosts_are_read_and_name_the_endpoint() -> None:
    text = (ROOT / "docs" / "agents" / "quickstart-mcp.md").read_text("utf-8")
    blocks = re.findall(r"```(json|toml)\n(.*?)```", text, re.DOTALL)
    servers: list[dict[str, Any]] = []
    for kind, block in blocks:
        document = json.loads(block) if kind == "json" else tomllib.loads(block)
        (name,) = {"mcpServers", "servers", "mcp_servers"} & document.keys()
        servers += document[name].values()
    assert len(servers) == len(blocks) > 3
    (bridged,) = [one for one in servers if "command" in one]
    servers.remove(bridged)
    assert {one.get("url") or one["httpUrl"] for one in servers} == {"https://mail.example.org/mcp"}
    assert all("MAILD_API_KEY" in str(one) or "maild-key" in str(one) for one in servers)
    assert (bridged["command"], bridged["args"]) == ("maildc", ["mcp"])
    assert bridged["env"] == {"MAILD_URL": "https://mail.example.org"}, (
        "the key is kept, not in a host's file"
    )
