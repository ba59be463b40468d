"""Members and links that sign them in, on the command line: who may come into the console, and how."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.unit.maild.test_cli import answer, config, fault, rows, run

__all__ = ["config"]  # the fixture


@pytest.fixture
def org(config: Path) -> str:
    made: str = answer("init", "--config", config)["organizationId"]
    return made


def test_members_are_added_changed_listed_and_removed(config: Path, org: str) -> None:
    place = ("--config", config, "--org", org)
    added = answer("member", "add", *place, "--email", "Ada@People.test", "--role", "owner", "--name", "Ada")
    assert (added["email"], added["role"], added["name"]) == ("ada@people.test", "owner", "Ada")
    changed = answer("member", "add", *place, "--email", "ada@people.test", "--role", "member")
    assert (changed["id"], changed["role"], changed["name"]) == (added["id"], "member", "Ada")
    assert added["changed"] and changed["changed"]
    again = answer("member", "add", *place, "--email", "ada@people.test", "--role", "member")
    assert again == {**changed, "changed": False}
    listed = run("member", "list", *place)
    assert listed.stdout == f"{added['id']}  member  ada@people.test  Ada\n"
    assert answer("member", "list", *place)["members"] == [
        {name: value for name, value in changed.items() if name != "changed"}
    ]
    removed = answer("member", "remove", *place, "ADA@people.test")
    assert removed["removed"] and answer("member", "list", *place)["members"] == []
    acts = rows(config, "SELECT type FROM audit WHERE type LIKE 'member.%' ORDER BY seq")
    assert acts == [("member.added",), ("member.changed",), ("member.removed",)]


def test_a_link_is_one_line_that_names_the_server(config: Path, org: str) -> None:
    place = ("--config", config, "--org", org)
    answer("member", "add", *place, "--email", "ada@people.test", "--role", "owner")
    done = run("console", "link", *place, "--member", "ada@people.test")
    assert done.exit_code == 0
    (line,) = done.stdout.splitlines()
    assert line.startswith("http://127.0.0.1:8025/console/sign-in?link=")
    assert "signs ada@people.test in once, until 20" in done.stderr
    (secret,) = parse_qs(urlsplit(line).query)["link"]
    assert len(secret) == 43
    ((link_hash,),) = rows(config, "SELECT token_hash FROM console_links")
    assert secret.encode() not in link_hash


def test_faults_say_what_is_wrong(config: Path, org: str) -> None:
    place = ("--config", config, "--org", org)
    link = ("console", "link", *place, "--member", "ada@people.test")
    assert fault(*link) == f"there is no member ada@people.test of organization {org}"
    assert fault("member", "remove", *place, "x") == f"there is no member x of organization {org}"
    assert fault("member", "list", "--config", config, "--org", "org_x") == "there is no organization org_x"
    assert fault("member", "add", *place, "--email", "Ada <a@b.test>", "--role", "owner").startswith(
        "--email: "
    )
    answer("member", "add", *place, "--email", "ada@people.test", "--role", "owner")
    written = config.read_text()
    config.write_text(written + "console = false\n")
    assert fault(*link).startswith("http.console is false")
    config.write_text(written.replace("[smtp]", "public_url = 'http://mail.people.test'\n[smtp]"))
    assert "wants https://, or a loopback address" in fault(*link)
