"""A store whose master key is lost gets another one (maild replace-lost-master-key, storage/upkeep/rotation.py)."""

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conf.settings import Settings
from controlplane.webhooks.secrets import Secrets
from maild.cli.program import main
from maild.commands.operator_commands import OperatorCommands
from storage.audit import trail
from storage.audit.acts import OPERATOR, Act
from storage.clock import Clock
from storage.data_folder import DataFolder, DataFolderError
from storage.domains import dkim_keys, domains
from storage.engine import migrate
from storage.publishing import webhooks
from storage.sealing import Sealer, SealError, read_master_key, write_master_key
from storage.upkeep import rotation
from tests.support.running import Template, settings_for

CUSTOMERS = "customer.test"


@pytest.fixture
def settings(template: Template, tmp_path: Path) -> Settings:
    """A store as init leaves it, with a webhook, a deleted one, and a registered domain; and its key is lost."""
    shutil.copytree(template.folder, tmp_path / "data")
    made = settings_for(tmp_path / "data")
    key = read_master_key(DataFolder(made.data_path).master_key)
    with writing(made) as tx:
        sealer, owner = Sealer(key), template.organization_id
        for number in (1, 2):
            _, sealed = Secrets(sealer).make(f"whk_{number}")
            webhooks.create(
                tx, f"whk_{number}", 0, organization_id=owner, url="u", subscribed_events=[], secret=sealed
            )
        webhooks.delete(tx, owner, "whk_2", 1)
        domains.register(
            tx, "dom_1", 0, organization_id=owner, domain_name=CUSTOMERS, challenge="c", daily_cap=None
        )
        keys = (("s1", "active", "rsa"), ("s2", "published", "rsa"), ("e1", "active", "ed25519"))
        for selector, status, algorithm in keys:
            sealed = sealer.seal(b"private", dkim_keys.context(CUSTOMERS, selector))
            tx.run(
                "INSERT INTO dkim_keys VALUES (?, ?, ?, ?, 'old', 0, ?)",
                (CUSTOMERS, selector, status, sealed, algorithm),
            )
    DataFolder(made.data_path).master_key.unlink()
    return made


def writing(settings: Settings) -> Any:
    return migrate.transaction(DataFolder(settings.data_path).database)


def key_of(settings: Settings) -> bytes:
    folder = DataFolder(settings.data_path)
    return rotation.valid_key(folder.database, folder.master_key)


def verified(settings: Settings, head: str | None = None) -> dict[str, Any]:
    return OperatorCommands(settings).verify_audit(None, None, head)


def replace(settings: Settings) -> dict[str, Any]:
    return OperatorCommands(settings).replace_lost_master_key(None)


def test_the_store_opens_under_the_new_key_and_holds_nothing_of_the_old_one(settings: Settings) -> None:
    told = replace(settings)
    sealer = Sealer(key_of(settings))
    assert told["webhooks"] == 1 and CUSTOMERS in told["domains"] and told["auditLogs"] >= 1
    with writing(settings) as tx:
        values = rotation._values(tx)
        assert {context for _, _, context in values} >= {
            "webhook:whk_1",
            f"dkim:{CUSTOMERS}:s3",
            "server:audit",
        }
        assert all(sealer.open(value, context) for _, value, context in values)
        assert tx.value("SELECT length(secret) FROM webhooks WHERE id = 'whk_2'") == 0


def test_each_domain_signs_by_a_new_key_under_the_next_selector(settings: Settings) -> None:
    told = replace(settings)
    shared = settings.server.shared_domains
    with writing(settings) as tx:
        keys = {key.selector: key for key in dkim_keys.of_domain(tx, CUSTOMERS)}
        assert {name: key.status for name, key in keys.items()} == {
            "s1": "retired", "s2": "retired", "e1": "retired", "s3": "active"
        }  # fmt: skip
        assert [key.private_key for name, key in keys.items() if name != "s3"] == [b""] * 3
        assert [key.selector for name in shared for key in dkim_keys.signing(tx, name)] == ["s2"] * len(
            shared
        )
        public = {key.public_key for name in shared for key in dkim_keys.signing(tx, name)}
    published = [one for one in told["records"] if one["name"].startswith("s2._domainkey.")]
    assert len(published) == len(shared)
    assert all(any(key in one["value"] for key in public) for one in published)


def test_a_second_algorithm_waits_for_its_record_as_ever(settings: Settings) -> None:
    outbound = dataclasses.replace(settings.outbound, dkim_ed25519=True)
    replace(dataclasses.replace(settings, outbound=outbound))
    with writing(settings) as tx:
        waiting = [key.selector for key in dkim_keys.of_domain(tx, CUSTOMERS) if key.status == "published"]
    assert waiting == ["e2"]


def test_the_audit_log_stays_and_says_what_became_of_it(settings: Settings, template: Template) -> None:
    with writing(settings) as tx:
        before = trail.head(tx, template.organization_id)
        rows = trail.as_stored(tx, template.organization_id, 0, 1000)
    replace(settings)
    found = verified(settings, before.hash.hex())
    assert found["ok"] and found["headFound"], found
    with writing(settings) as tx:
        after = trail.as_stored(tx, template.organization_id, 0, 1000)
    assert [row._replace(hash=b"") for row in after[: len(rows)]] == [row._replace(hash=b"") for row in rows]
    assert [row.type for row in after[len(rows) :]] == [
        Act.AUDIT_KEY_LOST, Act.DOMAIN_KEY_ROTATED, Act.WEBHOOK_SECRET_ROTATED
    ]  # fmt: skip
    assert json.loads(after[len(rows)].details) == {"through": before.seq, "hash": before.hash.hex()}
    assert verified(settings, "00" * 32)["headFound"] is False


def test_what_was_missing_from_a_chain_before_is_missing_after(
    settings: Settings, template: Template
) -> None:
    with writing(settings) as tx:
        last = trail.head(tx, template.organization_id).seq
        tx.run(
            "DELETE FROM audit WHERE organization_id = ? AND seq = ?", (template.organization_id, last - 1)
        )
    replace(settings)
    (told,) = [one for one in verified(settings)["organizations"] if one["brokenSeq"] is not None]
    assert (told["organizationId"], told["brokenSeq"]) == (template.organization_id, last - 1)


def test_a_row_whose_words_are_no_text_goes_on_as_it_is(settings: Settings, template: Template) -> None:
    with writing(settings) as tx:
        tx.run(
            """INSERT INTO audit SELECT organization_id, seq + 1, created_at, CAST(x'ff' AS TEXT), actor, NULL, NULL,
                 details, hash FROM audit WHERE organization_id = ? ORDER BY seq DESC LIMIT 1""",
            (template.organization_id,),
        )
        last = trail.head(tx, template.organization_id).seq
    replace(settings)
    with writing(settings) as tx:
        (row,) = [one for one in trail.as_stored(tx, template.organization_id, last - 1, 1)]
    assert row.type.encode("utf-8", "surrogateescape") == b"\xff"


def test_a_chain_whose_first_rows_are_gone_stays_whole(settings: Settings, template: Template) -> None:
    owner = template.organization_id
    recorder = trail.AuditRecorder(b"a key that is lost", Clock())
    with writing(settings) as tx:
        tx.run("DELETE FROM audit")
        for _ in range(5):
            recorder.record(tx, owner, Act.KEY_MINTED, OPERATOR)
        assert recorder.prune(tx, owner, 2**62, 3) == 3
    replace(settings)
    assert verified(settings)["ok"]


def test_a_key_file_that_is_there_is_not_written_over(settings: Settings) -> None:
    folder = DataFolder(settings.data_path)
    write_master_key(folder.master_key, bytes(32))
    with pytest.raises(SealError, match="move this file away first"):
        replace(settings)
    assert read_master_key(folder.master_key) == bytes(32)
    folder.master_key.unlink()
    replace(settings)
    with pytest.raises(SealError, match="nothing is lost"):
        replace(settings)


def test_a_running_daemon_still_has_the_key(settings: Settings) -> None:
    folder = DataFolder(settings.data_path)
    folder.lock()
    with pytest.raises(DataFolderError, match="another maild is running"):
        replace(settings)
    folder.unlock()
    assert not folder.master_key.exists()


def test_what_is_told_where_the_key_is_missing_names_the_way_back(settings: Settings) -> None:
    with pytest.raises(SealError, match="maild replace-lost-master-key"):
        key_of(settings)


def test_the_command(settings: Settings, tmp_path: Path) -> None:
    config = tmp_path / "maild.toml"
    config.write_text(f'data_dir = "{settings.data_path}"\n')
    done = CliRunner().invoke(main, ["replace-lost-master-key", "--config", str(config)])
    assert done.exit_code == 0 and "webhooks: 1" in done.output, done.output
    assert CUSTOMERS in done.output and "Publish these DNS records" in done.output and "[" not in done.output
    again = CliRunner().invoke(main, ["replace-lost-master-key", "--config", str(config)])
    assert again.exit_code == 2 and "nothing is lost" in again.output, again.output
