"""The operator's commands (maild/cli): faults are one clear line each on stderr and exit code 2."""

import asyncio
import hashlib
import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
import structlog
from click.testing import CliRunner, Result

from conf import loading
from conf.loading import load
from maild import logs
from maild.cli.program import main
from maild.commands import organizations, store_commands
from maild.commands.operator_commands import OperatorCommands
from maild.daemon import Daemon
from maild.inbound.wire import tls
from storage import data_folder, server_secrets
from storage.data_folder import DataFolder, DataFolderError
from storage.engine import migrate
from storage.engine.database import Database
from storage.tenants import erasure
from storage.upkeep.erasing import Eraser
from tests.support.waiting import GIVES_UP_S

COMMANDS = "maild.commands.operator_commands.OperatorCommands"
DOMAIN = "agents.example.org"
SOMEBODY = 54321  # a user of whom nothing is known
KEY = re.compile(r"svc_(live|test)_[0-9a-f]{48}")


@pytest.fixture(autouse=True)
def _no_logs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # The runner's stderr is gone after each call; loggers that were bound to it would break other tests.
    monkeypatch.setattr(logs, "configure", lambda settings: None)
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    yield
    structlog.reset_defaults()


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "maild.toml"
    path.write_text(
        f"data_dir = '{tmp_path / 'data'}'\n[server]\nshared_domains = ['{DOMAIN}']\n"
        "[smtp]\nlisten = ['127.0.0.1:0']\n[http]\nlisten = '127.0.0.1:0'\n"
    )
    return path


def is_private(*folders: str | Path) -> bool:
    """Is one of them closed to others, or one above it?"""
    lowest = [Path(folder).resolve() for folder in folders]
    ways = {folder for one in lowest for folder in (one, *one.parents)}
    return any(folder.stat().st_mode & 0o005 != 0o005 for folder in ways)


as_somebody = pytest.mark.skipif(
    os.geteuid() != 0 or is_private(Path(__file__).parent, sys.prefix, tempfile.gettempdir()),
    reason="root alone acts for others, who must find this program and the folder",
)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A data folder of a user without a name, where that one finds it: below pytest's own only its user does."""
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, SOMEBODY, SOMEBODY)
        yield Path(folder)


def in_folder(config: Path, folder: Path, data: str = ".") -> Path:
    """The configuration of a store there, where its user may read it."""
    moved = folder / "maild.toml"
    moved.write_text(config.read_text().replace(str(config.parent / "data"), str(folder / data)))
    return moved


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments])


def answer(*arguments: str | Path) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def fault(*arguments: str | Path, exit_code: int = 2) -> str:
    """The one line that a command complains with."""
    result = run(*arguments)
    assert result.exit_code == exit_code, (result.exit_code, result.output, result.exception)
    (line,) = result.stderr.splitlines()
    assert line.startswith("maild: ") and "Traceback" not in line
    assert result.stdout == ""
    return line.removeprefix("maild: ")


def rows(config: Path, sql: str) -> list[tuple[Any, ...]]:
    conn = sqlite3.connect(load(config).data_path / "maild.sqlite3")
    try:
        return conn.execute(sql).fetchall()
    finally:
        conn.close()


# init --------------------------------------------------------------------------------------------


def test_init_makes_a_store_and_shows_keys_once(config: Path) -> None:
    first = answer("init", "--config", config)
    assert set(first) == {"organizationId", "apiKey", "testKey", "records"}
    assert KEY.fullmatch(first["apiKey"]) and first["apiKey"].startswith("svc_live_")
    assert KEY.fullmatch(first["testKey"]) and first["testKey"].startswith("svc_test_")
    second = answer("init", "--config", config)
    assert second == {"organizationId": first["organizationId"], "records": first["records"]}
    assert rows(config, "SELECT count(*) FROM organizations") == [(1,)]
    assert rows(config, "SELECT count(*) FROM api_keys") == [(2,)]
    assert rows(config, "SELECT address, is_operator FROM inboxes") == [(f"postmaster@{DOMAIN}", 1)]


def test_init_sets_the_recommended_policy_where_it_is_asked_to(config: Path) -> None:
    assert "policy" not in answer("init", "--config", config)
    assert rows(config, "SELECT count(*) FROM policies") == [(0,)]
    made = answer("init", "--config", config, "--recommended-policy")
    assert made["policy"] == "recommended"
    ((owner, version, document),) = rows(config, "SELECT owner_id, version, document FROM policies")
    assert (owner, version) == (made["organizationId"], 1)
    assert json.loads(document)["outbound"]["holdOn"] == ["recipient_from_content", "secret"]
    again = answer("init", "--config", config, "--recommended-policy")
    assert again["policy"].startswith("unchanged")
    assert rows(config, "SELECT version FROM policies") == [(1,)]


@pytest.mark.parametrize(("said", "policies"), [("y\n", 1), ("n\n", 0), ("\n", 0)])
def test_init_asks_a_person_once_the_keys_are_shown(
    config: Path, monkeypatch: pytest.MonkeyPatch, said: str, policies: int
) -> None:
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)
    result = CliRunner().invoke(main, ["init", "--config", str(config)], input=said)
    assert result.exit_code == 0, result.output
    assert -1 < result.output.index("apiKey: ") < result.output.index("Set it? [y/N]")
    assert rows(config, "SELECT count(*) FROM policies") == [(policies,)]
    assert "Set it?" not in CliRunner().invoke(main, ["init", "--config", str(config)], input="y\n").output


def test_two_that_make_a_store_at_one_moment_make_one(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each finds none, and one is faster."""
    made = answer("init", "--config", config)
    monkeypatch.setattr(migrate, "is_there", lambda _: False)
    assert answer("init", "--config", config)["organizationId"] == made["organizationId"]
    assert list(load(config).data_path.glob("*.building*")) == []


def test_init_says_what_to_publish(config: Path) -> None:
    records = answer("init", "--config", config)["records"]
    assert [one["purpose"] for one in records] == ["mx", "spf", "dkim", "dmarc"]
    for one in records:
        assert set(one) >= {
            "domainName",
            "purpose",
            "type",
            "name",
            "value",
            "priority",
            "required",
            "status",
            "observed",
        }
        assert one["domainName"] == DOMAIN
    dkim = records[2]
    assert dkim["name"] == f"s1._domainkey.{DOMAIN}" and dkim["value"].startswith("v=DKIM1; k=rsa; p=MII")
    plain = run("init", "--config", config).stdout
    assert all(one["value"] in plain for one in records)


def test_init_keeps_secrets_to_their_owner(config: Path) -> None:
    made = answer("init", "--config", config)
    folder = load(config).data_path
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / "master.key").stat().st_mode & 0o777 == 0o600
    for file in folder.rglob("*"):
        if file.is_file():
            assert made["apiKey"].encode() not in file.read_bytes()


def test_init_writes_the_configuration_for_a_domain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAILD_DATA_DIR", str(tmp_path / "data"))
    path = tmp_path / "etc" / "maild.toml"
    made = answer("init", "--config", path, "--domain", "Agents.Example.org.")
    settings = load(path)
    assert settings.server.shared_domains == (DOMAIN,)
    assert settings.server.hostname == DOMAIN and settings.server.public_url == f"https://{DOMAIN}"
    assert {one["domainName"] for one in made["records"]} == {DOMAIN}
    before = path.read_text()
    assert "apiKey" not in answer("init", "--config", path, "--domain", DOMAIN)
    assert path.read_text() == before


@as_somebody
def test_init_by_root_leaves_everything_to_the_owner_of_the_folder(open_folder: Path, config: Path) -> None:
    config.write_text(config.read_text().replace(str(config.parent / "data"), str(open_folder)))
    answer("init", "--config", config)
    assert {file.name for file in open_folder.iterdir()} >= {"maild.sqlite3", "master.key"}
    assert {(one.stat().st_uid, one.stat().st_gid) for one in open_folder.iterdir()} == {(SOMEBODY, SOMEBODY)}
    assert os.geteuid() == 0 and os.getegid() == 0
    DataFolder(open_folder).lock()
    assert (open_folder / "lock").stat().st_uid == SOMEBODY


@as_somebody
def test_root_does_not_serve_the_store_of_another_user(open_folder: Path, config: Path) -> None:
    """What it writes would be closed to that user: mail that came in meanwhile is lost to the service."""
    config.write_text(config.read_text().replace(str(config.parent / "data"), str(open_folder)))
    answer("init", "--config", config)
    line = fault("serve", "--config", config)
    assert f"belongs to the user #{SOMEBODY}" in line and "systemctl start maild" in line


@as_somebody
@pytest.mark.parametrize(
    ("owner", "served_as"), [((SOMEBODY, 100), f"{SOMEBODY} 100 100"), ((65534, 0), "65534 65534 65534")]
)
def test_root_is_told_a_command_by_which_that_user_serves(
    open_folder: Path, config: Path, owner: tuple[int, int], served_as: str
) -> None:
    """Nothing is to be looked up of a user without a name, as in a container; nobody's group is not called so."""
    os.chown(open_folder, *owner)
    config.write_text(config.read_text().replace(str(config.parent / "data"), str(open_folder)))
    answer("init", "--config", config)
    advised = fault("serve", "--config", config).split("'")[-2]
    shown = f"{advised.removesuffix('maild serve')} sh -c 'echo $(id -u) $(id -g) $(id -G)'"
    done = subprocess.run(
        ["sh", "-c", shown], capture_output=True, text=True, timeout=GIVES_UP_S, check=False
    )
    assert (done.stdout, done.stderr) == (f"{served_as}\n", "")


@as_somebody
def test_a_store_that_is_closed_to_this_user_says_whose_it_is(open_folder: Path, config: Path) -> None:
    """An operator forgets to become root: what to do is no riddle."""
    readable = in_folder(config, open_folder, data="data")  # which root makes
    answer("init", "--config", readable)
    os.seteuid(SOMEBODY)
    try:
        for command in ("queue", "show"), ("org", "list"), ("check",), ("backup", open_folder / "backup"):
            assert "the user root" in fault(*command, "--config", readable)
    finally:
        os.seteuid(0)


def test_a_configuration_of_which_a_part_could_be_written_is_none(tmp_path: Path) -> None:
    """The next init would take it for one that somebody wrote, and the daemon its defaults for what is missing."""
    config = tmp_path / "etc" / "maild.toml"
    command = [sys.executable, "-B", "-m", "maild", "init", "--domain", DOMAIN, "--config", str(config)]
    done = subprocess.run(
        ["sh", "-c", 'ulimit -f 8; exec "$@"', "sh", *command],
        capture_output=True, text=True, timeout=GIVES_UP_S, check=False, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, f"maild: {config}: File too large\n")
    assert list(config.parent.iterdir()) == []


def test_the_configuration_that_init_writes_may_be_read_by_the_user_of_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAILD_DATA_DIR", str(tmp_path / "data"))
    path = tmp_path / "etc" / "ours" / "maild.toml"
    answer("init", "--config", path, "--domain", DOMAIN)
    modes = [one.stat().st_mode & 0o777 for one in (path, path.parent, path.parent.parent)]
    assert modes == [0o644, 0o755, 0o755]


def test_a_configuration_that_this_user_may_not_read(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", Mock(return_value=False))
    monkeypatch.setattr(loading, "at_once", Mock(side_effect=PermissionError(13, "Permission denied")))
    line = fault("serve", "--config", config)
    assert line.startswith(str(config)) and "chmod 644" in line


def test_init_again_where_systemd_keeps_the_master_key(config: Path, tmp_path: Path) -> None:
    """A shared domain is added by it."""
    answer("init", "--config", config)
    kept = tmp_path / "kept.key"
    (load(config).data_path / "master.key").rename(kept)
    config.write_text(config.read_text().replace(f"'{DOMAIN}'", f"'{DOMAIN}', 'second.test'"))
    assert "--key-file" in fault("init", "--config", config)
    made = answer("init", "--config", config, "--key-file", kept)
    assert {one["domainName"] for one in made["records"]} == {DOMAIN, "second.test"}
    assert not (load(config).data_path / "master.key").exists()


def test_init_that_can_not(config: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone.toml"
    assert str(gone) in fault("init", "--config", gone)
    assert not gone.exists()
    assert "shared_domains" in fault("init", "--config", config, "--domain", "other.test")
    occupied = tmp_path / "occupied"
    occupied.touch()
    config.write_text(f"data_dir = '{occupied / 'data'}'\n")
    assert "data_dir" in fault("init", "--config", config)


def test_init_of_a_domain_that_is_none_writes_nothing(tmp_path: Path) -> None:
    """Else the next run would stumble over the file."""
    path = tmp_path / "maild.toml"
    assert "--domain" in fault("init", "--config", path, "--domain", "not a domain")
    assert not path.exists()


def test_what_is_not_there_is_told_to_a_person_without_python(config: Path) -> None:
    """`limits.inboxes: None` reads as "none may be made"."""
    own = answer("init", "--config", config)["organizationId"]
    shown = run("org", "show", own, "--config", config).stdout.splitlines()
    assert {"limits.inboxes: unlimited", "limits.webhooks: 50", "tripwire.trippedAt: -"} <= set(shown)
    assert not [line for line in shown if line.endswith(("None", "True", "False"))]
    assert run("queue", "show", "--config", config).stdout == "waiting: 0\npausedSince: -\n"


# check-config --------------------------------------------------------------------------------------


def test_check_config(config: Path) -> None:
    result = run("check-config", "--config", config)
    assert (result.exit_code, result.stdout, result.stderr) == (0, f"{config}: OK\n", "")
    assert answer("check-config", "--config", config) == {"ok": True, "faults": []}


def test_check_config_names_every_fault_in_a_line_of_its_own(config: Path) -> None:
    config.write_text(
        "colour = 1\n[smtp]\nmax_sessions = 0\nlisten = ['127.0.0.1:0', 'x']\n[http]\nlisten = 5\n"
    )
    result = run("check-config", "--config", config)
    assert (result.exit_code, result.stdout) == (2, "")
    lines = result.stderr.splitlines()
    assert all(line.startswith("maild: ") for line in lines)
    assert sorted(line.split(":")[1].strip() for line in lines) == [
        "colour",
        "http.listen",
        "smtp.listen.1",
        "smtp.max_sessions",
    ]
    as_json = run("check-config", "--json", "--config", config)
    told = [line.removeprefix("maild: ") for line in lines]
    assert (as_json.exit_code, as_json.stderr) == (2, "")
    assert json.loads(as_json.stdout) == {"ok": False, "faults": told}


def test_check_config_tells_what_is_wrong_with_files_beside_other_faults(
    config: Path, tmp_path: Path
) -> None:
    file = tmp_path / "cert.pem"
    file.write_text("hello")
    config.write_text(
        f"data_dir = '{tmp_path}'\n[http]\nlisten = 5\n[smtp]\ntls_cert = '{file}'\ntls_key = '{file}'\n"
    )
    for command in ("check-config", "serve"):
        result = run(command, "--config", config)
        assert (result.exit_code, result.stdout) == (2, "")
        assert [line.split(":")[1].strip() for line in result.stderr.splitlines()] == [
            "http.listen",
            "smtp.tls_cert",
            "smtp.tls_key",
        ]


def test_the_store_is_at_hand_while_a_certificate_is_renewed(config: Path, tmp_path: Path) -> None:
    answer("init", "--config", config)
    pair = f"tls_cert = '{tmp_path}/gone.pem'\ntls_key = '{tmp_path}/gone.key'\n"
    config.write_text(config.read_text().replace("[smtp]\n", f"[smtp]\n{pair}"))
    assert answer("queue", "show", "--config", config)["waiting"] == 0
    told = {one["check"]: one["status"] for one in diagnosed(config)}
    assert told["certificate"] == "fault"


@as_somebody
def test_root_asks_about_files_as_the_user_of_the_daemon(open_folder: Path) -> None:
    folder = open_folder
    cert, key = tls.self_signed(folder, "mx.test")
    config = folder / "maild.toml"
    config.write_text(
        f"data_dir = '{folder}'\n[smtp]\nlisten = ['127.0.0.1:0']\ntls_cert = '{cert}'\ntls_key = '{key}'\n"
        "[http]\nlisten = '127.0.0.1:0'\n[dns]\nnameservers = ['127.0.0.1:9']\ntimeout_s = 1\n"
    )
    answer("init", "--config", config)
    os.chmod(key, 0o640)  # of root and its group
    told = f"smtp.tls_key: {key} is not readable: Permission denied"
    assert f"smtp.tls_cert: {cert}" in run("check-config", "--config", config).stderr
    os.chmod(cert, 0o644)
    assert fault("check-config", "--config", config) == told
    certificate = next(one for one in diagnosed(config) if one["check"] == "certificate")
    assert (certificate["status"], "Permission denied" in certificate["found"]) == ("fault", True)
    os.chown(key, SOMEBODY, SOMEBODY)
    assert run("check-config", "--config", config).exit_code == 0
    assert (os.geteuid(), os.getegid()) == (0, 0)


@as_somebody
@pytest.mark.parametrize(
    "part", ["maild.sqlite3", "master.key", "lock", "blobs", "blobs/0z", "smtp-self-signed.key"]
)
def test_what_root_restored_is_told_to_root_and_to_the_daemon(
    open_folder: Path, config: Path, part: str
) -> None:
    config = in_folder(config, open_folder)
    answer("init", "--config", config)
    made, folder = open_folder / part, DataFolder(open_folder)
    if not part.startswith("blobs"):
        made.touch(0o600)
    (folder.blobs / "0z").mkdir(0o700, parents=True)
    for one in (folder.blobs, folder.blobs / "0z", made):
        one.chmod(0o700)
        os.chown(one, SOMEBODY, SOMEBODY)
    assert [one["status"] for one in of_files(config)] == ["ok"]
    os.chown(made, 0, 0)
    (told,) = of_files(config)
    assert told["status"] == "fault" and f"{made} is closed to the user #{SOMEBODY}" in told["found"]
    assert f"chown -R {SOMEBODY}: {open_folder};" in told["advice"]
    os.seteuid(SOMEBODY)
    try:
        with pytest.raises(DataFolderError, match=f"{made} is closed to this user"):
            folder.check_writable()
    finally:
        os.seteuid(0)


def test_doctor_tells_what_is_open_to_others(config: Path) -> None:
    answer("init", "--config", config)
    folder = load(config).data_path
    assert [one["status"] for one in of_files(config)] == ["ok"]
    folder.chmod(0o755)
    (folder / "master.key").chmod(0o644)
    assert [(one["subject"], one["status"], one["advice"].split(":")[0]) for one in of_files(config)] == [
        (str(folder), "warning", f"chmod 700 {folder}"),
        (str(folder / "master.key"), "warning", f"chmod 600 {folder / 'master.key'}"),
    ]


def of_files(config: Path) -> list[dict[str, Any]]:
    return [one for one in diagnosed(config) if one["check"] == "files"]


def diagnosed(config: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run("doctor", "--config", config, "--json").stdout)["diagnoses"]
    return found


def test_check_config_of_no_file(tmp_path: Path) -> None:
    line = fault("check-config", "--config", tmp_path / "gone.toml")
    assert "gone.toml: it is not there" in line and "maild init --domain" in line and "--config" in line
    (tmp_path / "broken.toml").write_text("[")
    assert "broken.toml" in fault("check-config", "--config", tmp_path / "broken.toml")


def test_every_command_reads_the_configuration_first(tmp_path: Path) -> None:
    gone = tmp_path / "gone.toml"
    for command in (
        ("serve",), ("check",), ("check-config",), ("org", "create", "Acme"), ("org", "approve", "org_1"),
        ("org", "pause", "org_1"), ("org", "list"), ("org", "show", "org_1"), ("org", "plan", "org_1", "pro"),
        ("org", "reset-tripwire", "org_1"), ("queue", "pause"), ("queue", "resume"), ("queue", "show"),
        ("keys", "create", "--org", "org_1", "--name", "n"),
    ):  # fmt: skip
        assert str(gone) in fault(*command, "--config", gone)


def test_a_command_that_is_not_there_is_told_with_those_that_are() -> None:
    """Of users it was asked whether 'serve' was meant, and of a start nothing was said."""
    for word in ("start", "user"):
        told = run(word, "--json")
        assert told.exit_code == 2 and f"No such command '{word}'; there are: " in told.stderr
        assert told.stderr.rstrip().endswith("serve")
    assert "No such command 'ad'; there are: add, list, remove" in run("member", "ad").stderr


def test_an_option_before_the_command_is_told_where_it_stands(config: Path) -> None:
    told = run("--config", config, "check-config")
    assert told.exit_code == 2 and "stands behind the command" in told.stderr
    assert "stands behind the command" in run("queue", "--json", "list").stderr


# check -------------------------------------------------------------------------------------------


def test_check_of_a_store_that_is_whole(config: Path) -> None:
    answer("init", "--config", config)
    assert answer("check", "--config", config) == {"ok": True, "blobs": 0, "damage": [], "strayFiles": []}
    assert run("check", "--config", config).stdout == "0 stored messages: OK\n"


def test_check_names_all_that_is_wrong_and_changes_nothing(config: Path) -> None:
    organization_id = answer("init", "--config", config)["organizationId"]
    folder = load(config).data_path
    conn = sqlite3.connect(folder / "maild.sqlite3")
    ((inbox_id,),) = conn.execute("SELECT id FROM inboxes").fetchall()
    small, gone, changed = (f"blb_{name}" for name in ("small", "gone", "changed"))
    rows_of = [(small, 5, hashlib.sha256(b"hello").digest(), b"hell0"), (gone, 3, bytes(32), None),
               (changed, 5, hashlib.sha256(b"hello").digest(), None)]  # fmt: skip
    with conn:
        conn.executemany("INSERT INTO blobs VALUES (?, ?, ?, ?, 0, 1, NULL)", rows_of)
        conn.execute("UPDATE inboxes SET unread_count = 3")
        conn.execute("INSERT INTO stored_bytes (organization_id, bytes) VALUES (?, 99)", (organization_id,))
        conn.execute(
            "INSERT INTO attachments VALUES ('att_1', 'msg_none', 0, 'a', 'b', 1, NULL, 0, 0, 1, 'base64')"
        )
    conn.close()
    blobs = folder / "blobs"
    for name, content in (("blb_changed", b"he11o"), ("blb_stray", b"x"), ("blb_arriving", b"x")):
        (blobs / name[-2:]).mkdir(parents=True, exist_ok=True)
        (blobs / name[-2:] / name).write_bytes(content)
        if name != "blb_arriving":
            os.utime(blobs / name[-2:] / name, (1, 1))
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    result = run("check", "--config", config, "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["ok"] is False and found["blobs"] == 3
    assert {(one["kind"], one["id"]) for one in found["damage"]} == {
        ("blob", small), ("blob", gone), ("blob", changed), ("counter", inbox_id), ("counter", organization_id),
        ("reference", None),
    }  # fmt: skip
    assert found["strayFiles"] == [str(blobs / "ay" / "blb_stray")]
    plain = run("check", "--config", config)
    assert plain.exit_code == 1
    lines = plain.stdout.splitlines()
    assert len(lines) == 8 and lines[-1].startswith("3 stored messages: 6 faults; restore")
    assert f"counter: {inbox_id} unread messages of an inbox: 3 counted, 0 found" in lines
    after = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert {path: after[path] for path in before} == before


# org, keys -----------------------------------------------------------------------------------------


def test_org_create(config: Path) -> None:
    answer("init", "--config", config)
    made = answer("org", "create", "Acme", "--plan", "free", "--config", config)
    assert set(made) == {"organizationId", "apiKey", "testKey"}
    ((name, plan, status),) = rows(
        config, f"SELECT name, plan, sending_status FROM organizations WHERE id = '{made['organizationId']}'"
    )
    assert (name, plan, status) == ("Acme", "free", "approved")
    assert "--plan" in fault("org", "create", "Acme", "--plan", "gold", "--config", config)
    for name in ("", "x" * 101):
        assert "NAME" in fault("org", "create", name, "--config", config)


def test_org_pause_and_approve(config: Path) -> None:
    organization_id = answer("init", "--config", config)["organizationId"]
    state = (
        "SELECT sending_status, sending_reason, sending_action, sending_tripped_at IS NULL FROM organizations"
    )
    for is_first in (True, False):
        made = answer("org", "pause", organization_id, "--reason", "spam", "--config", config)
        assert made == {"organizationId": organization_id, "status": "paused", "changed": is_first}
        assert rows(config, state) == [("paused", "spam", "contact_operator", 0)]
    assert answer("org", "pause", organization_id, "--reason", "worse", "--config", config)["changed"]
    for is_first in (True, False):
        made = answer("org", "approve", organization_id, "--config", config)
        assert made == {"organizationId": organization_id, "status": "approved", "changed": is_first}
        assert rows(config, state) == [("approved", None, None, 1)]
    for command in ("pause", "approve"):
        assert fault("org", command, "org_none", "--config", config) == "there is no organization org_none"


def test_org_pause_is_told_once(config: Path) -> None:
    organization_id = answer("init", "--config", config)["organizationId"]
    for _ in range(2):
        answer("org", "pause", organization_id, "--config", config)
    ((type_, data),) = rows(config, "SELECT type, data FROM events")
    assert type_ == "sending.paused"
    assert {**json.loads(data), "trippedAt": ""} == {
        "status": "paused", "reason": "manual_review", "action": "contact_operator", "trippedAt": "",
    }  # fmt: skip


def test_org_show_and_list(config: Path) -> None:
    organization_id = answer("init", "--config", config)["organizationId"]
    other = answer("org", "create", "Acme", "--plan", "free", "--config", config)["organizationId"]
    shown = answer("org", "show", other, "--config", config)
    assert (shown["id"], shown["name"], shown["plan"]) == (other, "Acme", "free")
    assert shown["limits"]["messagesDaily"] == 100 and shown["usage"]["messagesDaily"] == 0
    assert shown["sendingApproval"]["status"] == "approved"
    assert shown["sinceApproval"] == {"sent": 0, "hardBounceRate": 0.0, "complaintRate": 0.0}
    assert shown["tripwire"] == {"trippedAt": None, "recentRecipients": 0}
    listed = answer("org", "list", "--config", config)["organizations"]
    assert [one["id"] for one in listed] == [organization_id, other] and listed[1]["plan"] == "free"
    plain = run("org", "list", "--config", config).stdout.splitlines()
    assert [line.split()[0] for line in plain] == [organization_id, other]
    assert "usage.messagesDaily: 0\n" in run("org", "show", other, "--config", config).stdout
    assert fault("org", "show", "org_none", "--config", config) == "there is no organization org_none"


def test_org_delete_without_a_daemon(config: Path) -> None:
    answer("init", "--config", config)
    other = answer("org", "create", "Acme", "--config", config)["organizationId"]
    found = answer("org", "delete", other, "--dry-run", "--config", config)
    assert (found["name"], found["isClosed"], found["content"]["keys"]) == ("Acme", False, 2)
    assert "content.keys: 2\n" in run("org", "delete", other, "--dry-run", "--config", config).stdout
    assert "--yes deletes it" in fault("org", "delete", other, "--config", config)
    assert rows(config, "SELECT count(*) FROM organizations WHERE deleted_at IS NULL") == [(2,)]
    done = answer("org", "delete", other, "--yes", "--config", config)
    assert done == {"organizationId": other, "deleted": True, "erased": {"keys": 2}}
    assert rows(config, "SELECT count(*) FROM organizations") == [(1,)]
    assert rows(config, "SELECT count(*) FROM search_gone") == [(0,)]
    gone = fault("org", "delete", other, "--yes", "--config", config)
    assert gone == f"there is no organization {other}"


def test_org_delete_of_a_store_that_no_daemon_has_opened_yet(config: Path) -> None:
    """After a restore, too, it has no log of changes, beside which one reads while another writes: now and then a
    transaction was refused."""
    answer("init", "--config", config)
    other = answer("org", "create", "Acme", "--config", config)["organizationId"]
    answer("compact", "--config", config)
    assert rows(config, "PRAGMA journal_mode") == [("delete",)]
    assert answer("org", "delete", other, "--yes", "--config", config)["deleted"]
    assert rows(config, "PRAGMA journal_mode") == [("wal",)]


def test_org_delete_that_the_disk_refuses_is_told_in_one_line(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer("init", "--config", config)
    other = answer("org", "create", "Acme", "--config", config)["organizationId"]
    refused = AsyncMock(side_effect=sqlite3.OperationalError("database or disk is full"))
    monkeypatch.setattr(Eraser, "erase", refused)
    assert fault("org", "delete", other, "--yes", "--config", config).endswith("database or disk is full")


def test_org_delete_that_is_interrupted_ends_its_work_before_it_closes_the_store(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else that tells in a traceback that the store is closed."""
    answer("init", "--config", config)
    other = answer("org", "create", "Acme", "--config", config)["organizationId"]
    was_closed: list[bool] = []

    async def erase(eraser: Eraser, _organization_id: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            was_closed.append(eraser._db._closed)

    monkeypatch.setattr(Eraser, "erase", erase)
    progress = Mock(side_effect=[None, RuntimeError("interrupted")])
    with pytest.raises(RuntimeError, match="interrupted"):
        OperatorCommands(load(config)).deletion.delete(other, progress)
    assert was_closed == [False]


def test_what_a_command_answers_has_no_lines_of_a_log_in_it(config: Path) -> None:
    """It does here what the daemon tells of in its log."""
    answer("init", "--config", config)
    other = answer("org", "create", "Acme", "--config", config)["organizationId"]
    done = subprocess.run(
        [sys.executable, "-m", "maild", "org", "delete", other, "--yes", "--json", "--config", str(config)],
        capture_output=True, text=True, timeout=GIVES_UP_S, check=True, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert (json.loads(done.stdout)["organizationId"], done.stderr) == (other, "")


@pytest.mark.parametrize(("said", "left"), [("Acme\n", 1), ("acme\n", 2), ("\n", 2)])
def test_org_delete_wants_the_name(
    config: Path, monkeypatch: pytest.MonkeyPatch, said: str, left: int
) -> None:
    answer("init", "--config", config)
    other = answer("org", "create", "Acme", "--config", config)["organizationId"]
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)
    result = CliRunner().invoke(main, ["org", "delete", other, "--config", str(config)], input=said)
    assert result.exit_code == (0 if left == 1 else 2), result.output
    assert rows(config, "SELECT count(*) FROM organizations") == [(left,)]


def test_org_delete_goes_on_where_it_was_killed(config: Path) -> None:
    answer("init", "--config", config)
    other = answer("org", "create", "Acme", "--config", config)["organizationId"]
    store = OperatorCommands(load(config))
    store._write(partial(erasure.begin, organization_id=other, now_ms=1, records=store._audit))
    (_, line) = run("org", "list", "--config", config).stdout.splitlines()
    assert line.startswith(f"{other}  being deleted  selfhost  ")
    assert answer("org", "delete", other, "--dry-run", "--config", config)["isClosed"]
    assert answer("org", "delete", other, "--yes", "--config", config)["deleted"]


def test_org_delete_refuses_the_operators_own(config: Path) -> None:
    own = answer("init", "--config", config)["organizationId"]
    for how in ("--yes", "--dry-run"):
        assert f"{own} is the operator's own" in fault("org", "delete", own, how, "--config", config)


def test_names_neither_act_on_the_terminal_nor_make_lines(config: Path) -> None:
    """Who may name an organization or a member would else show the operator what is not so."""
    answer("init", "--config", config)
    name, shown = "a\x1b[2J\norg_2  approved\u202e\x9b", r"a\u001b[2J\norg_2  approved\u202e\u009b"
    made = answer("org", "create", name, "--config", config)["organizationId"]
    listed = CliRunner().invoke(main, ["org", "list", "--config", str(config)], color=True).stdout
    assert listed.splitlines()[1:] == [f"{made}  approved  selfhost  0 today, 0 this month  {shown}"]
    assert f"\nname: {shown}\n" in run("org", "show", made, "--config", config).stdout
    assert run("keys", "revoke", "\x1b[2J\nmaild: done", "--config", config).stderr == (
        "maild: there is no key \\u001b[2J\\nmaild: done\n"
    )


def test_a_terminal_of_few_characters_is_shown_all_the_same(config: Path) -> None:
    answer("init", "--config", config)
    answer("org", "create", "Łódź é", "--config", config)
    done = subprocess.run(
        [sys.executable, "-m", "maild", "org", "list", "--config", str(config)],
        env=os.environ | {"PYTHONIOENCODING": "latin-1"},
        capture_output=True, encoding="latin-1", timeout=GIVES_UP_S, check=False, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("  \\u0141\xf3d\\u017a \xe9\n")


def test_org_plan(config: Path) -> None:
    organization_id = answer("init", "--config", config)["organizationId"]
    made = answer("org", "plan", organization_id, "pro", "--config", config)
    assert made == {"organizationId": organization_id, "plan": "pro", "changed": True}
    assert rows(config, "SELECT plan FROM organizations") == [("pro",)]
    assert "PLAN" in fault("org", "plan", organization_id, "gold", "--config", config)
    assert fault("org", "plan", "org_none", "pro", "--config", config) == "there is no organization org_none"


def test_org_reset_tripwire(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In slices, between which the daemon writes."""
    rests: list[float] = []
    monkeypatch.setattr(organizations, "FORGOTTEN_AT_ONCE", 2)
    monkeypatch.setattr(store_commands, "rest", rests.append)
    mine = answer("init", "--config", config)["organizationId"]
    other = answer("org", "create", "Acme", "--config", config)["organizationId"]
    conn = sqlite3.connect(load(config).data_path / "maild.sqlite3")
    with conn:
        conn.execute("UPDATE organizations SET tripwire_tripped_at = 1795000000000")
        for one in (mine, other):
            addresses = [(one, f"{number}@there.test") for number in range(5)]
            conn.executemany("INSERT INTO recent_recipients VALUES (?, ?, 1)", addresses)
    conn.close()
    assert answer("org", "show", mine, "--config", config)["tripwire"] == {
        "trippedAt": "2026-11-18T11:06:40.000Z", "recentRecipients": 5,
    }  # fmt: skip
    made = answer("org", "reset-tripwire", mine, "--config", config)
    assert made == {"organizationId": mine, "tripwire": "reset", "changed": True}
    assert len(rests) == 3 and min(rests) >= store_commands.REST_MIN_S
    assert rows(config, "SELECT id FROM organizations WHERE tripwire_tripped_at IS NOT NULL") == [(other,)]
    assert rows(config, "SELECT organization_id, count(*) FROM recent_recipients GROUP BY 1") == [(other, 5)]
    none = fault("org", "reset-tripwire", "org_none", "--config", config)
    assert none == "there is no organization org_none"


def test_queue_pause_and_resume(config: Path) -> None:
    answer("init", "--config", config)
    running: dict[str, Any] = {"waiting": 0, "pausedSince": None, "destinations": []}
    assert answer("queue", "show", "--config", config) == running
    paused = answer("queue", "pause", "--config", config)
    assert paused["changed"] and paused["pausedSince"] is not None
    assert answer("queue", "pause", "--config", config) == {**paused, "changed": False}
    assert answer("queue", "resume", "--config", config) == {**running, "changed": True}
    assert answer("queue", "resume", "--config", config) == {**running, "changed": False}


@pytest.mark.parametrize("verb", ["list", "retry", "hold", "release", "drop"])
def test_a_name_that_is_misspelt_is_no_empty_queue(config: Path, verb: str) -> None:
    answer("init", "--config", config)
    place = ("--config", config)
    assert fault("queue", verb, "--org", "org_1", *place) == "there is no organization org_1"
    assert fault("queue", verb, "--message", "msg_1", *place) == "there is no message msg_1"


def test_keys_create(config: Path) -> None:
    organization_id = answer("init", "--config", config)["organizationId"]
    ((inbox_id,),) = rows(config, "SELECT id FROM inboxes")
    create = ("keys", "create", "--org", organization_id, "--name", "n", "--config", config)
    for options, mode, scopes, inbox in (
        ((), "live", ["*"], None),
        (("--test",), "test", ["*"], None),
        (("--scope", "messages:read", "--scope", "inboxes:*"), "live", ["messages:read", "inboxes:*"], None),
        (("--inbox", inbox_id), "live", ["inboxes:read", "messages:read", "messages:send", "threads:read"], inbox_id),
        (("--inbox", inbox_id, "--scope", "messages:*", "--scope", "keys:read"), "live",
         ["messages:read", "messages:send"], inbox_id),
    ):  # fmt: skip
        made = answer(*create, *options)
        assert set(made) == {"id", "apiKey"} and made["apiKey"].startswith(f"svc_{mode}_")
        ((found_mode, found_scopes, found_inbox),) = rows(
            config, f"SELECT mode, scopes, inbox_id FROM api_keys WHERE id = '{made['id']}'"
        )
        assert (found_mode, json.loads(found_scopes), found_inbox) == (mode, scopes, inbox)


def test_keys_list_finds_a_key_by_the_characters_that_are_known_of_it(config: Path) -> None:
    """One that leaked is revoked at once, though nobody has another that could list it."""
    made = answer("init", "--config", config)
    organization_id, raw_key = made["organizationId"], made["apiKey"]
    found = answer("keys", "list", "--org", organization_id, "--config", config)["keys"]
    assert [one["mode"] for one in found] == ["test", "live"]
    leaked = found[1]
    assert leaked["keyPrefix"] == raw_key[:16] and leaked["scopes"] == ["*"] and leaked["isActive"]
    shown = run("keys", "list", "--org", organization_id, "--config", config).stdout
    assert f"{leaked['id']}  {raw_key[:16]}…  live  *  " in shown and raw_key not in shown
    assert shown.count("\n") == 2
    run("keys", "revoke", leaked["id"], "--config", config)
    shown = run("keys", "list", "--org", organization_id, "--config", config).stdout
    assert f"{leaked['id']}  {raw_key[:16]}…  revoked" in shown
    assert (
        fault("keys", "list", "--org", "org_none", "--config", config) == "there is no organization org_none"
    )


def test_a_key_itself_is_not_what_revoke_takes_and_is_not_shown(config: Path) -> None:
    raw_key = answer("init", "--config", config)["apiKey"]
    line = fault("keys", "revoke", raw_key, "--config", config)
    assert raw_key not in line and "maild keys list" in line


def test_a_person_hears_that_keys_are_shown_once(config: Path) -> None:
    """A program that reads JSON does not."""
    made = run("init", "--config", config)
    assert "shown this once" in made.stderr
    (own,) = re.findall(r"org_\w+", made.stdout)
    again = run("init", "--config", config)
    assert f"maild keys create --org {own}" in again.stderr and "apiKey" not in again.stdout
    for command in (("org", "create", "Acme"), ("keys", "create", "--org", own, "--name", "n")):
        assert "shown this once" in run(*command, "--config", config).stderr
        assert run(*command, "--json", "--config", config).stderr == ""


def test_keys_create_that_can_not(config: Path) -> None:
    organization_id = answer("init", "--config", config)["organizationId"]
    ((inbox_id,),) = rows(config, "SELECT id FROM inboxes")
    other = answer("org", "create", "Other", "--config", config)["organizationId"]
    create = ("keys", "create", "--name", "n", "--config", config)
    assert fault(*create, "--org", "org_none") == "there is no organization org_none"
    assert fault(*create, "--org", organization_id, "--inbox", "inb_none") == "there is no inbox inb_none"
    assert fault(*create, "--org", other, "--inbox", inbox_id) == f"there is no inbox {inbox_id}"
    line = fault(*create, "--org", organization_id, "--scope", "colours:read")
    assert "colours:read" in line and "messages:read" in line and "operator:queue" in line
    assert "--scope" in fault(*create, "--org", organization_id, "--inbox", inbox_id, "--scope", "keys:read")
    for name in ("", "x" * 65):
        assert "--name" in fault(*create, "--org", organization_id, "--name", name)


def test_without_a_store_each_command_says_how_to_make_one(config: Path) -> None:
    for command in (
        ("org", "create", "Acme"), ("org", "pause", "o"), ("org", "approve", "o"), ("org", "list"),
        ("org", "show", "o"), ("org", "plan", "o", "pro"), ("org", "reset-tripwire", "o"), ("queue", "pause"),
        ("keys", "create", "--org", "o", "--name", "n"),
    ):  # fmt: skip
        assert "maild init" in fault(*command, "--config", config)
    load(config).data_path.mkdir()
    assert "maild init" in fault("org", "create", "Acme", "--config", config)


@pytest.mark.parametrize(
    "command",
    [("serve",), ("init",), ("check",), ("rotate-master-key",), ("org", "create", "Acme"), ("org", "list"),
     ("queue", "show"), ("keys", "create", "--org", "o", "--name", "n")],
)  # fmt: skip
def test_an_empty_or_foreign_store_is_refused_in_one_line(config: Path, command: tuple[str, ...]) -> None:
    answer("init", "--config", config)
    database = load(config).data_path / "maild.sqlite3"
    database.write_bytes(b"")
    assert "is empty; restore it from a backup" in fault(*command, "--config", config)
    conn = sqlite3.connect(database)
    conn.execute("CREATE TABLE songs (id)")
    conn.close()
    assert "is no whole store of maild" in fault(*command, "--config", config)


def older_store(config: Path) -> Path:
    """As of the first version, in a backup that is restored under this one."""
    answer("init", "--config", config)
    path = load(config).data_path / "maild.sqlite3"
    path.unlink()
    conn = sqlite3.connect(path, isolation_level=None)
    migrate._take(conn, migrate.steps()[0], 1)
    conn.close()
    return path


@pytest.mark.parametrize("command", [("check",), ("org", "list"), ("queue", "pause"), ("audit", "verify")])
def test_a_store_of_an_older_version_is_not_called_damaged(config: Path, command: tuple[str, ...]) -> None:
    path = older_store(config)
    line = fault(*command, "--config", config)
    newest = len(migrate.steps())
    assert line == (
        f"{path} has schema version 1, older than this program's {newest}: 'maild init', or the start of the daemon,"
        " brings it up to date"
    )
    answer("init", "--config", config)
    assert run("check", "--config", config).exit_code == 0
    assert run("queue", "pause", "--config", config).exit_code == 0


@pytest.mark.parametrize("is_replaced", [False, True], ids=["taken away", "another in its place"])
@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_commands_open_the_files_that_the_daemon_has_or_none(
    config: Path, suffix: str, is_replaced: bool
) -> None:
    """Without one of them each would write over what the other has committed, in what is the last copy of it."""
    answer("init", "--config", config)
    folder = DataFolder(load(config).data_path)
    folder.lock()
    store = sqlite3.connect(folder.database)  # as the daemon has it
    store.execute("SELECT count(*) FROM organizations")
    folder.note_store()
    part = Path(f"{folder.database}{suffix}")
    kept = part.rename(part.with_name("kept"))
    if is_replaced:
        part.write_bytes(kept.read_bytes())
    for command in (["queue", "pause"], ["check"], ["init"]):
        assert f"{part} was taken away from a maild that runs" in fault(*command, "--config", config)
    assert part.exists() == is_replaced
    kept.rename(part)
    answer("queue", "pause", "--config", config)
    store.close()
    folder.unlock()


async def test_a_daemon_that_has_closed_its_store_keeps_no_command_from_it(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite removes the files beside it then, a moment before the daemon ends."""
    answer("init", "--config", config)
    daemon, close, looked = Daemon(load(config)), Database.close, list[str]()

    async def and_look(db: Database) -> None:
        await close(db)
        DataFolder(db.path.parent).check_store()
        looked.append("with the daemon's lock")

    monkeypatch.setattr(Database, "close", and_look)
    await daemon.start()
    await daemon.stop()
    assert looked


def test_a_daemon_that_closes_its_store_while_a_command_looks_keeps_it_from_none(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command has read the note by then, and looks at the files when they are gone."""
    answer("init", "--config", config)
    folder = DataFolder(load(config).data_path)
    folder.lock()
    store = sqlite3.connect(folder.database)
    store.execute("SELECT count(*) FROM organizations")
    folder.note_store()
    noted = DataFolder._noted_files

    def and_close(looking: DataFolder) -> dict[str, int]:
        found = noted(looking)
        folder.forget_store()
        store.close()
        return found

    monkeypatch.setattr(DataFolder, "_noted_files", and_close)
    DataFolder(folder.path).check_store()
    folder.unlock()


def test_what_was_noted_keeps_no_command_from_another_daemons_store(config: Path) -> None:
    """As between the lock and the store of a daemon that starts."""
    answer("init", "--config", config)
    folder = DataFolder(load(config).data_path)
    for noted in ("1 maild.sqlite3\n", "\0\0\0", "4711", "x maild.sqlite3", "\n", " "):
        (folder.path / "lock").write_text(noted)  # by one that was killed, or by a disk that lost its power
        answer("queue", "pause", "--config", config)
        folder.lock()
        answer("queue", "pause", "--config", config)
        folder.note_store()
        folder.forget_store()
        assert (folder.path / "lock").read_text() == ""
        folder.unlock()


@pytest.mark.parametrize("command", ["init", "doctor", "check"])
def test_a_store_that_was_taken_away_from_a_daemon_is_not_made_anew(config: Path, command: str) -> None:
    """What it holds is in that process alone now: a new store would be served from the next start on."""
    answer("init", "--config", config)
    folder = DataFolder(load(config).data_path)
    folder.lock()
    try:
        folder.database.unlink()
        assert "was taken away from a maild that runs" in fault(command, "--config", config)
    finally:
        folder.unlock()
    assert not folder.database.exists()


def test_init_leaves_a_store_alone_on_which_an_older_daemon_runs(config: Path) -> None:
    path = older_store(config)
    running = DataFolder(load(config).data_path)
    running.lock()
    try:
        assert "another maild is running" in fault("init", "--config", config)
    finally:
        running.unlock()
    conn = sqlite3.connect(path)
    assert conn.execute("PRAGMA user_version").fetchone() == (1,)
    conn.close()


def test_a_store_of_a_newer_version_is_left_alone(config: Path) -> None:
    answer("init", "--config", config)
    conn = sqlite3.connect(load(config).data_path / "maild.sqlite3")
    conn.execute("PRAGMA user_version = 999")
    conn.close()
    for command in (["serve"], ["init"], ["queue", "pause"], ["check"]):
        line = fault(*command, "--config", config)
        assert "newer than this program's" in line
        assert (
            "install the version of maild that wrote it, or restore the backup from before the upgrade"
            in line
        )


def test_init_makes_no_new_store_beside_messages_of_a_lost_one(config: Path) -> None:
    """The next start would remove them: no row knows them."""
    answer("init", "--config", config)
    folder = load(config).data_path
    (folder / "maild.sqlite3").unlink()
    message = folder / "blobs" / "ab" / "blb_01ab"
    message.parent.mkdir(parents=True)
    message.write_bytes(b"Subject: x")
    assert "holds messages, but their store is gone" in fault("init", "--config", config)
    # As a restore that was interrupted leaves it: the folder of messages comes first.
    for command in (["serve"], ["check"], ["queue", "pause"]):
        told = fault(*command, "--config", config)
        assert "their store is gone: restore" in told and "'maild init'" not in told
    assert message.exists() and not (folder / "maild.sqlite3").exists()


# serve ---------------------------------------------------------------------------------------------


def test_serve_without_a_data_folder(config: Path) -> None:
    assert "maild init" in fault("serve", "--config", config)


@pytest.mark.parametrize("command", ["init", "serve", "check", "org list", "queue pause"])
@pytest.mark.parametrize("make", [Path.touch, os.mkfifo])
def test_a_data_folder_that_is_none_is_told(config: Path, make: Callable[[Path], None], command: str) -> None:
    """It was said not to exist. And who looked for the lock of a named pipe waited for ever."""
    path = load(config).data_path
    make(path)
    assert fault(*command.split(), "--config", config) == f"data_dir: {path} is no folder; name one"


@pytest.mark.parametrize("command", ["serve", "init", "org list"])
def test_a_store_whose_link_leads_nowhere_is_told(config: Path, command: str) -> None:
    """As where a disk is not mounted: one was told to run `init`, which asked for another user."""
    path = load(config).data_path
    path.mkdir()
    store = path / "maild.sqlite3"
    store.symlink_to("elsewhere/maild.sqlite3")
    told = fault(*command.split(), "--config", config)
    assert (
        told == f"data_dir: {store} is a link to what is not there: mount or restore it, or remove the link"
    )


def test_serve_without_a_store(config: Path) -> None:
    """A folder without one is a mistake: mail would bounce off a store made in passing."""
    load(config).data_path.mkdir()
    assert "maild init" in fault("serve", "--config", config)
    assert not (load(config).data_path / "maild.sqlite3").exists()


def test_serve_without_the_master_key(config: Path) -> None:
    answer("init", "--config", config)
    (load(config).data_path / "master.key").unlink()
    assert "master.key" in fault("serve", "--config", config)


def test_serve_with_a_damaged_store(config: Path) -> None:
    answer("init", "--config", config)
    (load(config).data_path / "maild.sqlite3").write_bytes(b"no database, long enough " * 1000)
    assert "maild.sqlite3" in fault("serve", "--config", config)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_serve_in_a_folder_it_may_not_write(config: Path) -> None:
    answer("init", "--config", config)
    load(config).data_path.chmod(0o500)
    try:
        assert "not writable" in fault("serve", "--config", config)
    finally:
        load(config).data_path.chmod(0o700)


@as_somebody
@pytest.mark.skipif(
    int(Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text()) <= 25,
    reason="anybody may bind port 25 here",
)
def test_serve_by_hand_says_what_port_25_wants(open_folder: Path, config: Path) -> None:
    config.write_text(config.read_text().replace("listen = ['127.0.0.1:0']", "listen = ['127.0.0.2:25']"))
    readable = in_folder(config, open_folder)
    answer("init", "--config", readable)
    os.seteuid(SOMEBODY)
    try:
        line = fault("serve", "--config", readable)
    finally:
        os.seteuid(0)
    assert line.startswith("smtp.listen: can't listen on 127.0.0.2:25: ")
    assert "systemctl start maild" in line and "net_bind_service" in line


@pytest.mark.parametrize("key", ["smtp.listen", "http.listen"])
def test_serve_on_a_port_that_is_taken(config: Path, key: str) -> None:
    answer("init", "--config", config)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        section = key.partition(".")[0]
        text = config.read_text()
        old = "listen = ['127.0.0.1:0']" if section == "smtp" else "listen = '127.0.0.1:0'"
        config.write_text(text.replace(old, old.replace("127.0.0.1:0", address)))
        line = fault("serve", "--config", config)
    assert line.startswith(f"{key}: ") and address in line


def test_serve_is_begun_again_once_the_disk_has_room(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 2 would keep systemd from it, and there is nothing to restore."""
    answer("init", "--config", config)
    full = sqlite3.OperationalError("disk I/O error")  # as SQLite says it of the file that connections share
    full.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
    monkeypatch.setattr(migrate, "configure", Mock(side_effect=full))
    line = fault("serve", "--config", config, exit_code=1)
    assert "maild.sqlite3: the disk is full" in line and "restore" not in line
    assert "the disk is full" in fault("org", "list", "--config", config)


def test_serve_is_begun_again_where_the_store_fills_the_disk_at_the_start(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer("init", "--config", config)
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    monkeypatch.setattr(server_secrets, "get_or_make", Mock(side_effect=full))
    assert "maild.sqlite3: the disk is full" in fault("serve", "--config", config, exit_code=1)


def test_serve_is_begun_again_once_its_address_is_up(config: Path) -> None:
    """At boot the network may be later than we."""
    answer("init", "--config", config)
    config.write_text(config.read_text().replace("listen = '127.0.0.1:0'", "listen = '192.0.2.1:8025'"))
    line = fault("serve", "--config", config, exit_code=1)
    assert line.startswith("http.listen: can't listen on 192.0.2.1:8025")


def test_serve_with_a_file_where_large_messages_belong(config: Path) -> None:
    answer("init", "--config", config)
    (load(config).data_path / "blobs").touch(mode=0o700)
    assert str(load(config).data_path / "blobs") in fault("serve", "--config", config)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("part", ["maild.sqlite3", "blobs"])
def test_serve_of_what_another_user_restored(config: Path, part: str) -> None:
    """It would start, and refuse all that comes in."""
    answer("init", "--config", config)
    (load(config).data_path / "blobs").mkdir()
    (load(config).data_path / part).chmod(0o500)
    line = fault("serve", "--config", config)
    assert line == f"data_dir: {load(config).data_path / part} is closed to this user; make it its owner"


def test_serve_with_a_pair_that_is_none(config: Path, tmp_path: Path) -> None:
    answer("init", "--config", config)
    (cert, _), (_, key) = (tls.self_signed(folder, "mx.test") for folder in two_folders(tmp_path))
    pair = f"[smtp]\ntls_cert = '{cert}'\ntls_key = '{key}'"
    config.write_text(config.read_text().replace("[smtp]", pair))
    assert fault("serve", "--config", config).startswith("smtp.tls_cert, smtp.tls_key")


def two_folders(tmp_path: Path) -> list[Path]:
    folders = [tmp_path / "one", tmp_path / "two"]
    for one in folders:
        one.mkdir()
    return folders


def test_a_folder_that_the_sandbox_closes_is_told_as_such(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its owner and mode are as they should be, so nobody would find out why it is not writable."""
    answer("init", "--config", config)
    monkeypatch.setattr(os, "access", closed_to_writers)
    monkeypatch.setattr(os, "statvfs", lambda _: Mock(f_flag=os.ST_RDONLY))
    folder = load(config).data_path
    assert fault("serve", "--config", config) == (
        f"data_dir: {folder} is on a file system that is read-only here; a unit of systemd that closes it must name it"
        " in ReadWritePaths="
    )


def closed_to_writers(_: Path, wanted: int) -> bool:
    return not wanted & os.W_OK


def test_a_read_only_snapshot_is_looked_through(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backup that is mounted, too: who looks for damage writes nothing."""
    answer("init", "--config", config)
    monkeypatch.setattr(os, "access", closed_to_writers)
    assert answer("check", "--config", config)["ok"]


def test_a_store_at_rest_is_looked_through_where_nothing_can_be_made_beside_it(config: Path) -> None:
    """As in a read-only snapshot of a daemon that was stopped: even who only reads would make the shared file."""
    answer("init", "--config", config)
    load(config).data_path.joinpath("maild.sqlite3-shm").symlink_to("nowhere")  # which SQLite does not follow
    assert answer("check", "--config", config)["ok"]
    assert answer("org", "list", "--config", config)["organizations"]


def test_a_folder_that_root_may_not_write_is_told_as_read_only(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read-only snapshot of btrfs has no flag that says so, and no other user could write there either."""
    answer("init", "--config", config)
    monkeypatch.setattr(os, "access", closed_to_writers)
    monkeypatch.setattr(data_folder, "ROOT", os.geteuid())
    assert "is on a file system that is read-only here" in fault("doctor", "--config", config)


@pytest.mark.parametrize("closed", ["<&-", "<&- >&-", "<&- >&- 2>&-"])
def test_a_daemon_without_standard_files_ends_by_its_own_words(config: Path, closed: str) -> None:
    """The first sockets and files had their numbers: libuv aborts when it closes one of them."""
    program = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", "maild", "serve", "--config"]
    ended = subprocess.run(
        [*program, str(config)], capture_output=True, text=True, check=False, timeout=GIVES_UP_S
    )
    assert (ended.returncode, "Fatal" in ended.stderr) == (2, False)


def test_a_second_daemon_is_refused_in_one_line_of_a_process_of_its_own(config: Path) -> None:
    """D9, by the real command. The code has systemd try again: the other one may be the one before, which can't end
    while its disk stands still."""
    answer("init", "--config", config)
    running = DataFolder(load(config).data_path)
    running.lock()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "maild", "serve", "--config", str(config)],
            capture_output=True, text=True, timeout=GIVES_UP_S, check=False, cwd=Path(__file__).parents[3],
        )  # fmt: skip
    finally:
        running.unlock()
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"maild: data_dir: another maild is running on {load(config).data_path}\n"


@pytest.mark.parametrize("command", ["check", "audit verify"])
@pytest.mark.parametrize("place", ["/dev/full", "a reader that is gone"])
def test_an_answer_with_nowhere_to_go_is_no_verdict(config: Path, command: str, place: str) -> None:
    """Exit code 1 would be damage, or an audit log that was tampered with."""
    answer("init", "--config", config)
    if place == "/dev/full":
        out = os.open(place, os.O_WRONLY)
    else:
        reader, out = os.pipe()
        os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "maild", *command.split(), "--config", str(config)],
        stdout=out, stderr=subprocess.PIPE, text=True, timeout=GIVES_UP_S, check=False, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    os.close(out)
    told = "maild: standard output: No space left on device\n" if place == "/dev/full" else ""
    assert (done.returncode, done.stderr) == (2, told)


@pytest.mark.parametrize(
    "arguments",
    ["check", "audit verify", "org show org_none", "check --nope", "nope", "backup {tmp_path}/backup"],
)
def test_an_answer_and_a_fault_with_nowhere_to_go_are_no_verdict(
    config: Path, tmp_path: Path, arguments: str
) -> None:
    """As in a job whose log is on the disk that is full: 1 would be damage, or a store that lost a message."""
    answer("init", "--config", config)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "maild", *arguments.format(tmp_path=tmp_path).split(), "--config", str(config)],
            stdout=full, stderr=full, timeout=GIVES_UP_S, check=False, cwd=Path(__file__).parents[3],
        )  # fmt: skip
    assert done.returncode == 2


def test_a_backup_whose_log_is_full_is_one(config: Path, tmp_path: Path) -> None:
    answer("init", "--config", config)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "maild", "backup", str(tmp_path / "backup"), "--config", str(config)],
            stdout=subprocess.DEVNULL, stderr=full, timeout=GIVES_UP_S, check=False, cwd=Path(__file__).parents[3],
        )  # fmt: skip
    assert done.returncode == 0


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_with_nowhere_to_go_is_told_in_one_line(option: str) -> None:
    with Path("/dev/full").open("w") as out:
        done = subprocess.run(
            [sys.executable, "-m", "maild", option],
            stdout=out, stderr=subprocess.PIPE, text=True, timeout=GIVES_UP_S, check=False,
            cwd=Path(__file__).parents[3],
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "maild: standard output: No space left on device\n")


@pytest.mark.parametrize("command", ["serve", "check-config"])
def test_a_file_that_can_not_be_looked_at_is_not_called_standard_output(
    config: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """As a folder of another host's whose connection is stale."""
    monkeypatch.setattr(data_folder, "ROOT", os.geteuid())
    long = config.parent / ("d" * 300)
    config.write_text(config.read_text().replace(str(config.parent / "data"), str(long)))
    assert fault(command, "--config", config) == f"{long}: File name too long"


def test_a_daemon_that_gets_no_descriptor_is_begun_again(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("maild.process.run", Mock(side_effect=OSError(24, "Too many open files")))
    assert fault("serve", "--config", config, exit_code=1) == "Too many open files"


@pytest.mark.parametrize("command", ["init", "serve"])
def test_a_processor_that_is_too_old_is_told_in_one_line(config: Path, tmp_path: Path, command: str) -> None:
    """As the virtual ones kvm64 and qemu64 are. Beginning again would not mend it."""
    (tmp_path / "numpy.py").write_text(
        "raise RuntimeError('NumPy was built with baseline optimizations: \\n(X86_V2) but your machine does not:\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-m", "maild", command, "--config", str(config)],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True, text=True, timeout=GIVES_UP_S, check=False, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2 and line.startswith("maild: this processor lacks ") and "(X86_V2)" in line


@pytest.mark.parametrize("arguments", [["--help"], ["check-config"], ["serve"]])
def test_an_interpreter_that_leaves_out_docstrings_is_refused(arguments: list[str]) -> None:
    """They are the help of commands, and what the document of the API says."""
    command = [sys.executable, "-OO", "-m", "maild", *arguments]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=GIVES_UP_S,
        check=False,
        cwd=Path(__file__).parents[3],
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("maild: PYTHONOPTIMIZE=2 ") and done.stderr.endswith("set it to 1\n")


def test_keys_of_sessions_are_written_nowhere(config: Path, tmp_path: Path) -> None:
    """Whoever has them reads what went by. Nor does a place that can't be written keep the daemon from serving."""
    for file in (tmp_path / "keys", tmp_path / "none" / "keys"):
        done = subprocess.run(
            [sys.executable, "-m", "maild", "serve", "--config", str(config)],
            env=os.environ | {"SSLKEYLOGFILE": str(file)},
            capture_output=True, text=True, timeout=GIVES_UP_S, check=False, cwd=Path(__file__).parents[3],
        )  # fmt: skip
        assert "run 'maild init' first" in done.stderr and not file.exists()


@pytest.mark.parametrize(
    ("command", "work"),
    [("check", "maild.commands.checking.check"), ("audit verify", f"{COMMANDS}.verify_audit")],
)
def test_a_look_that_is_interrupted_is_no_verdict(
    config: Path, monkeypatch: pytest.MonkeyPatch, command: str, work: str
) -> None:
    """Exit code 1 would be damage, or an audit log that was tampered with."""
    answer("init", "--config", config)
    monkeypatch.setattr(work, Mock(side_effect=KeyboardInterrupt))
    done = run(*command.split(), "--config", config)
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", "\nmaild: interrupted\n")


@pytest.mark.parametrize("command", ["org create {}", "org show {}", "keys revoke {}", "queue list --org {}"])
def test_an_argument_that_is_no_text_is_a_fault_in_one_line(config: Path, command: str) -> None:
    answer("init", "--config", config)
    octets = b"caf\xe9".decode("utf-8", "surrogateescape")
    done = run(*command.format(octets).split(), "--config", config)
    assert (done.exit_code, done.stderr) == (2, "maild: 'caf\\udce9' is not UTF-8\n")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("queue list --all", "no recipient waits"),
        ("queue list --destination example.org", "no recipient waits"),
        ("reviews list", "no review is pending"),
        ("reviews list --status any", "there is no review"),
        ("member list --org {}", "there is no member; `maild member add` makes one"),
        ("rules list --org {}", "there is no rule"),
        ("reports", "there is no report"),
    ],
)
def test_a_list_without_rows_says_so_and_not_to_a_pipe(config: Path, command: str, said: str) -> None:
    """Silence may be a fault of whoever asks."""
    organization = answer("init", "--config", config)["organizationId"]
    done = run(*command.format(organization).split(), "--config", config)
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", f"{said}\n")


def test_a_lock_of_a_process_that_died_locks_nobody_out(config: Path) -> None:
    answer("init", "--config", config)
    (load(config).data_path / "lock").touch()
    folder = DataFolder(load(config).data_path)
    folder.lock()
    folder.unlock()


def test_a_lock_file_that_was_removed_lets_no_second_daemon_in(config: Path) -> None:
    """Nor a command that wants the store for itself."""
    answer("init", "--config", config)
    running, second = (DataFolder(load(config).data_path) for _ in range(2))
    running.lock()
    try:
        (running.path / "lock").unlink()
        with pytest.raises(DataFolderError, match="another maild is running"):
            second.lock()
        assert "another maild is running" in fault("compact", "--config", config)
        running.database.unlink()
        assert "was taken away from a maild that runs" in fault("doctor", "--config", config)
    finally:
        running.unlock()
    second.lock()
    second.unlock()


def test_help_and_version() -> None:
    for arguments in (("--help",), ("-h",), ("--version",), *((name, "--help") for name in main.commands)):
        assert run(*arguments).exit_code == 0


def test_a_shell_completes_what_is_run_as_a_module() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "maild"],
        env=os.environ
        | {"_MAILD_COMPLETE": "bash_complete", "COMP_WORDS": "maild queue pa", "COMP_CWORD": "2"},
        capture_output=True,
        text=True,
        timeout=GIVES_UP_S,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, "plain,pause\n"), ran.stderr
