"""Somebody who holds the disk rewrites the audit log."""

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from controlplane.operations.accounts.audit import shown_row
from maild.cli.program import main
from storage.audit import chain, trail
from storage.audit.chain import AuditRow
from storage.engine.tx import Tx
from tests.support.running import SHARED, Running, Template

ROWS = 12
TOUCH = "DROP TRIGGER audit_stays_as_it_was"
COLUMNS = {
    "organization_id": "'org_other'", "seq": "seq + 100", "created_at": "created_at + 1", "type": "'key.revoked'",
    "actor": "'key_other'", "subject": "'key_other'", "request_id": "'req_other'", "details": "'{}'",
    "hash": "zeroblob(32)",
}  # fmt: skip


class Host:
    """A store that lies on a disk, and the commands that look at it."""

    def __init__(self, folder: Path, organization_id: str) -> None:
        self.folder = folder
        self.organization_id = organization_id
        self.config = folder.parent / "maild.toml"
        self.config.write_text(f'data_dir = "{folder}"\n[server]\nshared_domains = ["{SHARED}"]\n')

    def verify(self, *options: str) -> Result:
        return CliRunner().invoke(main, ["audit", "verify", "--config", str(self.config), *options])

    def verdict(self, *options: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.verify("--json", *options).output)
        return found

    def rewrite(self, *statements: str) -> None:
        conn = sqlite3.connect(self.folder / "maild.sqlite3", isolation_level=None)
        for statement in statements:
            conn.execute(statement)
        conn.close()

    def rows(self) -> list[AuditRow]:
        conn = sqlite3.connect(self.folder / "maild.sqlite3")
        columns = ", ".join(AuditRow._fields)
        found = conn.execute(f"SELECT {columns} FROM audit WHERE organization_id = ? ORDER BY seq",
                             (self.organization_id,)).fetchall()  # fmt: skip
        conn.close()
        return [AuditRow(*row) for row in found]


@pytest.fixture
def host(template: Template, tmp_path: Path) -> Host:
    """With ROWS rows at least, of keys that were minted by the command."""
    shutil.copytree(template.folder, tmp_path / "data")
    host = Host(tmp_path / "data", template.organization_id)
    while len(host.rows()) < ROWS:
        arguments = [
            "keys",
            "create",
            "--org",
            host.organization_id,
            "--name",
            "a",
            "--config",
            str(host.config),
        ]
        assert CliRunner().invoke(main, arguments).exit_code == 0
    return host


def test_what_nobody_touched_is_whole(host: Host) -> None:
    found = host.verify()
    assert (found.exit_code, found.output.count("whole")) == (0, 1)
    head = host.rows()[-1].hash.hex()
    assert host.verify("--org", host.organization_id, "--head", head).exit_code == 0
    assert host.verdict()["organizations"] == [
        {"organizationId": host.organization_id, "rows": ROWS, "first": 1, "last": ROWS, "head": head,
         "brokenSeq": None, "fault": None}
    ]  # fmt: skip


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("seq", [1, 6])
def test_a_column_that_was_changed_is_found_at_its_row(host: Host, column: str, seq: int) -> None:
    host.rewrite(TOUCH, f"UPDATE audit SET {column} = {COLUMNS[column]} WHERE seq = {seq}")
    done = host.verify("--org", host.organization_id)
    # Where the first row is gone, what is left begins in the middle.
    first = seq + 1 if seq == 1 and column in ("organization_id", "seq") else seq
    assert (done.exit_code, f"BROKEN at {first}:" in done.output) == (1, True), done.output


def test_octets_that_are_no_text_are_found(host: Host) -> None:
    host.rewrite(TOUCH, "UPDATE audit SET actor = CAST(x'ff41' AS TEXT) WHERE seq = 4")
    assert host.verdict()["organizations"][0]["brokenSeq"] == 4


def test_a_time_that_is_none_is_found(host: Host) -> None:
    host.rewrite(TOUCH, f"UPDATE audit SET created_at = {2**62} WHERE seq = 4")
    assert host.verdict()["organizations"][0]["brokenSeq"] == 4


@pytest.mark.parametrize("change", [
    "actor = CAST(x'ff41' AS TEXT)", "details = CAST(x'7bff' AS TEXT)", "details = '}, {'", "details = '[]'",
    f"created_at = {2**62}", f"created_at = {-(2**62)}", "request_id = CAST(x'00ff' AS TEXT)",
])  # fmt: skip
def test_a_row_that_was_rewritten_is_told_as_far_as_it_can_be_read(host: Host, change: str) -> None:
    host.rewrite(TOUCH, f"UPDATE audit SET {change} WHERE seq = 4")
    conn = sqlite3.connect(host.folder / "maild.sqlite3")
    page = trail.page(Tx(conn), host.organization_id, after=0, limit=ROWS, types=None, actor=None)
    conn.close()
    told = json.loads(msgspec.json.encode([shown_row(row) for row in page.rows]))
    assert [one["seq"] for one in told] == list(range(1, ROWS + 1))
    assert all(isinstance(one["details"], dict) for one in told)


def test_rows_before_the_first_are_found(host: Host) -> None:
    columns = ", ".join(AuditRow._fields[2:])
    host.rewrite(f"INSERT INTO audit SELECT organization_id, -5, {columns} FROM audit WHERE seq = 1")
    assert host.verify().exit_code == 1


def test_a_row_that_was_deleted_is_missed(host: Host) -> None:
    host.rewrite("DELETE FROM audit WHERE seq = 5")
    assert host.verdict()["organizations"][0]["brokenSeq"] == 5


def test_rows_that_changed_places_are_found(host: Host) -> None:
    host.rewrite(
        TOUCH, *(f"UPDATE audit SET seq = {to} WHERE seq = {at}" for at, to in ((4, 99), (5, 4), (99, 5)))
    )
    assert host.verdict()["organizations"][0]["brokenSeq"] == 4


def test_a_row_that_was_put_in_is_found(host: Host) -> None:
    columns = ", ".join(AuditRow._fields[2:])
    host.rewrite(f"INSERT INTO audit SELECT organization_id, {ROWS + 1}, {columns} FROM audit WHERE seq = 3")
    assert host.verdict()["organizations"][0]["brokenSeq"] == ROWS + 1


def test_a_chain_that_was_made_again_without_the_key_is_found(host: Host) -> None:
    """Everything is in the hands of who does it but the master key: the sealed audit key is of no use to him."""
    mac, previous, forged = chain.mac_of(b"a guess"), chain.GENESIS, []
    for row in host.rows():
        told = row._replace(actor="key_innocent")
        previous = chain.hash_of(mac, previous, told)
        forged.append(told._replace(hash=previous))
    host.rewrite("DELETE FROM audit")
    conn = sqlite3.connect(host.folder / "maild.sqlite3")
    conn.executemany(f"INSERT INTO audit VALUES ({', '.join('?' * len(AuditRow._fields))})", forged)
    conn.commit()
    conn.close()
    assert host.verdict()["organizations"][0]["brokenSeq"] == 1


def test_a_tail_that_was_cut_off_shows_against_a_head_from_elsewhere_alone(host: Host) -> None:
    noted = host.rows()[-1].hash.hex()
    host.rewrite(f"DELETE FROM audit WHERE seq > {ROWS - 3}")
    assert host.verify().exit_code == 0
    done = host.verify("--head", noted)
    assert (done.exit_code, "no row has that hash" in done.output) == (1, True)
    assert host.verdict("--head", noted)["headFound"] is False
    assert host.verify("--head", host.rows()[-1].hash.hex()).exit_code == 0


def test_a_tail_that_was_cut_off_and_written_over_shows_as_well(host: Host) -> None:
    """Even by the daemon itself, which goes on from what it finds."""
    noted = host.rows()[-1].hash.hex()
    host.rewrite(f"DELETE FROM audit WHERE seq > {ROWS - 3}")
    arguments = ["keys", "create", "--org", host.organization_id, "--name", "a", "--config", str(host.config)]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    assert host.verify().exit_code == 0
    assert host.verify("--head", noted).exit_code == 1


def forget_the_key(host: Host) -> None:
    host.rewrite("DELETE FROM server_secrets WHERE name = 'audit'")


def lose_the_master_key(host: Host) -> None:
    (host.folder / "master.key").unlink()


def take_another_master_key(host: Host) -> None:
    (host.folder / "master.key").write_text("00" * 32)


def lose_the_store(host: Host) -> None:
    (host.folder / "maild.sqlite3").unlink()


@pytest.mark.parametrize(
    "spoil", [forget_the_key, lose_the_master_key, take_another_master_key, lose_the_store]
)
def test_what_can_not_be_looked_at_is_neither_whole_nor_broken(
    host: Host, spoil: Callable[[Host], None]
) -> None:
    spoil(host)
    done = host.verify()
    assert (done.exit_code, done.output.startswith("maild: ")) == (2, True), done.output


def test_a_key_that_is_gone_is_to_be_restored_before_another_is_made(host: Host) -> None:
    """A start, which a store that has no rows yet is told of, would leave rows that no key fits."""
    forget_the_key(host)
    assert "restore that from a backup" in host.verify().output
    host.rewrite("DELETE FROM audit")
    assert "the daemon makes it when it starts" in host.verify().output


@pytest.mark.parametrize("options", [("--org", "org_none"), ("--head", "abc"), ("--head", "z" * 64)])
def test_what_can_not_be_asked(host: Host, options: tuple[str, str]) -> None:
    assert host.verify(*options).exit_code == 2


def test_a_master_key_that_lies_elsewhere_is_named(host: Host) -> None:
    elsewhere = host.folder.parent / "elsewhere.key"
    (host.folder / "master.key").rename(elsewhere)
    assert host.verify().exit_code == 2
    assert host.verify("--key-file", str(elsewhere)).exit_code == 0


def test_the_log_is_whole_after_the_master_key_was_rotated(host: Host) -> None:
    assert CliRunner().invoke(main, ["rotate-master-key", "--config", str(host.config)]).exit_code == 0
    assert host.verify().exit_code == 0
    assert host.rows()[-1].type == "master_key.rotated"


# Commands beside a daemon --------------------------------------------------------------------------


async def test_commands_and_the_daemon_write_one_chain(maild: Running, bot: dict[str, Any]) -> None:
    async def by_the_api() -> None:
        for number in range(25):
            assert (await maild.api.post("/v1/agents", {"name": f"a{number}"})).status == 201

    def by_commands() -> None:
        for _ in range(25):
            maild.store.keys.create(maild.organization_id, "a", ["*"], None, "live")

    before = (await maild.api.get("/v1/audit/head")).data["seq"]
    await asyncio.gather(by_the_api(), by_the_api(), *(asyncio.to_thread(by_commands) for _ in range(2)))
    assert (await maild.api.get("/v1/audit/head")).data["seq"] == before + 100
    # Whether it is one chain, is asked when the daemon stops (tests/support/laws/audited.py).


async def test_what_a_command_did_without_the_master_key_is_sealed_by_the_daemon(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With a systemd credential the key is the daemon's alone: a command must work all the same."""
    master_key = maild.settings.data_path / "master.key"
    hidden = tmp_path / "hidden"
    master_key.rename(hidden)
    made = await maild.operate(
        maild.store.keys.create, maild.organization_id, "a", ["audit:read"], None, "live"
    )
    hidden.rename(master_key)
    head = (await maild.api.get("/v1/audit/head")).data
    assert maild.sql("SELECT subject, type FROM audit_waiting") == [(made["id"], "key.minted")]
    await maild.daemon.audit.round()
    assert maild.sql("SELECT count(*) FROM audit_waiting") == [(0,)]
    (row,) = (await maild.api.get("/v1/audit", after=str(head["seq"]))).data
    assert (row["type"], row["subject"], row["actor"]) == ("key.minted", made["id"], "operator")
    assert row["details"] == {"inboxId": None, "mode": "live", "scopes": ["audit:read"], "wasUnsealed": True}


async def test_rows_that_wait_may_be_anything(maild: Running) -> None:
    """They lie there unsealed, so whoever holds the disk may have written them."""
    for created_at, details in ((2**62, "{}"), (-(2**62), "[1]"), (0, "{"), (0, b"\xff")):
        maild.sql(
            "INSERT INTO audit_waiting (organization_id, created_at, type, actor, subject, details)"
            " VALUES ('org_none', ?, 'x', 'key_1', NULL, CAST(? AS TEXT))",
            created_at, details,
        )  # fmt: skip
    await maild.daemon.audit.round()
    assert maild.sql("SELECT count(*) FROM audit_waiting") == [(0,)]
    found = maild.sql("SELECT actor, details FROM audit WHERE organization_id = 'org_none'")
    assert all(json.loads(details)["wasUnsealed"] is True for _, details in found) and len(found) == 4
