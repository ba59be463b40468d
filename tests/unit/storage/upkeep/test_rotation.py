"""Another master key in the place of the present one (storage/upkeep/rotation.py, maild rotate-master-key)."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from conf.settings import Settings
from controlplane.webhooks.secrets import Secrets
from maild.cli.program import main
from maild.commands.operator_commands import OperatorCommands
from storage import server_secrets
from storage.data_folder import DataFolder, DataFolderError
from storage.domains import dkim_keys
from storage.engine import migrate
from storage.engine.tx import Tx
from storage.sealing import Sealer, SealError, master_key_file, read_master_key, write_master_key
from storage.upkeep import rotation
from tests.support.running import Template, settings_for

PLAIN = b"a secret"


@pytest.fixture
def settings(template: Template, tmp_path: Path) -> Settings:
    """A store as init leaves it, with one value of every kind that is sealed."""
    shutil.copytree(template.folder, tmp_path / "data")
    made = settings_for(tmp_path / "data")
    fill(made, template.organization_id)
    return made


def fill(settings: Settings, organization_id: str) -> None:
    seal = Sealer(key_of(settings)).seal
    conn = migrate.connect(DataFolder(settings.data_path).database)
    for number in range(3):
        webhook = f"whk_{number}"
        conn.execute(
            """INSERT INTO webhooks (id, organization_id, url, subscribed_events, secret, previous_secret,
                 created_at, updated_at) VALUES (?, ?, 'u', '[]', ?, ?, 1, 1)""",
            (
                webhook,
                organization_id,
                seal(PLAIN, f"webhook:{webhook}"),
                seal(PLAIN, f"webhook:{webhook}") if number else None,
            ),
        )
    conn.execute("INSERT INTO server_secrets VALUES ('x', ?)", (seal(PLAIN, server_secrets.context("x")),))
    conn.execute("INSERT INTO dkim_keys VALUES ('old.test', 's1', 'retired', x'', 'p', 1, 'rsa')")
    conn.close()


def key_of(settings: Settings) -> bytes:
    return read_master_key(DataFolder(settings.data_path).master_key)


def opened(settings: Settings, key: bytes) -> list[bytes]:
    """Every sealed value of the store."""
    conn = migrate.connect(DataFolder(settings.data_path).database)
    try:
        return [Sealer(key).open(value, context) for _, value, context in rotation._values(Tx(conn))]
    finally:
        conn.close()


def test_everything_opens_under_the_new_key_and_nothing_under_the_old(settings: Settings) -> None:
    before = key_of(settings)
    plain = opened(settings, before)
    assert plain.count(PLAIN) == 6 and len(plain) >= 8  # and the DKIM keys of two shared domains
    answer = OperatorCommands(settings).rotate_master_key(None)
    after = key_of(settings)
    assert after != before and answer["resealed"] == len(plain)
    assert opened(settings, after) == plain
    with pytest.raises(SealError):
        opened(settings, before)
    assert not list(settings.data_path.glob("*.next"))
    assert (settings.data_path / "master.key").stat().st_mode & 0o777 == 0o600
    OperatorCommands(settings).rotate_master_key(None)
    assert opened(settings, key_of(settings)) == plain


def test_what_was_sealed_before_is_overwritten_in_the_file(settings: Settings) -> None:
    folder = DataFolder(settings.data_path)
    conn = migrate.connect(folder.database)
    ((sealed,),) = conn.execute("SELECT secret FROM server_secrets WHERE name = 'x'").fetchall()
    conn.close()
    OperatorCommands(settings).rotate_master_key(None)
    assert not any(sealed in file.read_bytes() for file in settings.data_path.glob("maild.sqlite3*"))


def test_the_contexts_are_those_that_are_sealed_with() -> None:
    contexts = {(one.table, one.column): one.context for one in rotation.SEALED}
    assert dkim_keys.context("a.test", "s1") == "dkim:a.test:s1"
    assert contexts["dkim_keys", "private_key"] == "'dkim:' || domain_name || ':' || selector"
    assert server_secrets.context("x") == "server:x"
    assert contexts["server_secrets", "secret"] == "'server:' || name"
    secret, sealed = Secrets(Sealer(bytes(32))).make("whk_1")
    assert Sealer(bytes(32)).open(sealed, "webhook:whk_1") == secret.encode()
    assert contexts["webhooks", "secret"] == contexts["webhooks", "previous_secret"] == "'webhook:' || id"


def test_every_column_that_is_sealed_is_in_the_list(settings: Settings) -> None:
    """A BLOB is a digest, a message or sealed: what is new must be told here."""
    conn = migrate.connect(DataFolder(settings.data_path).database)
    blobs = {
        (table, column)
        for (table,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        if not table.startswith("search_index")
        for _, column, kind, *_ in conn.execute(f"PRAGMA table_info({table})").fetchall()
        if kind == "BLOB"
    }
    conn.close()
    plain = {
        ("api_keys", "key_hash"), ("blobs", "sha256"), ("blobs", "data"), ("messages", "trace"),
        ("idempotency", "request_hash"), ("master_key", "fingerprint"), ("audit", "hash"),
        ("console_links", "token_hash"), ("console_sessions", "token_hash"),
        ("blobs", "transaction_digest"), ("unheard_replies", "transaction_digest"),
    }  # fmt: skip
    assert blobs - plain == {(one.table, one.column) for one in rotation.SEALED}


def test_a_running_daemon_keeps_its_key(settings: Settings) -> None:
    folder = DataFolder(settings.data_path)
    folder.lock()
    before = key_of(settings)
    with pytest.raises(DataFolderError, match="another maild is running"):
        OperatorCommands(settings).rotate_master_key(None)
    folder.unlock()
    assert key_of(settings) == before


def test_a_wrong_key_is_told_at_start(settings: Settings) -> None:
    folder = DataFolder(settings.data_path)
    right = key_of(settings)
    folder.master_key.unlink()
    write_master_key(folder.master_key, bytes(32))
    with pytest.raises(SealError, match=r"master\.key is not the master key that the store is sealed under"):
        rotation.valid_key(folder.database, folder.master_key)
    with pytest.raises(SealError, match="another master key"):
        OperatorCommands(settings).init()
    assert opened(settings, right)


def test_a_store_from_before_names_its_key_at_the_first_start(settings: Settings) -> None:
    folder = DataFolder(settings.data_path)
    conn = migrate.connect(folder.database)
    conn.execute("DELETE FROM master_key")
    right = key_of(settings)
    folder.master_key.unlink()
    write_master_key(folder.master_key, bytes(32))
    with pytest.raises(SealError, match="does not open"):
        rotation.valid_key(folder.database, folder.master_key)
    assert conn.execute("SELECT * FROM master_key").fetchall() == []
    folder.master_key.unlink()
    write_master_key(folder.master_key, right)
    assert rotation.valid_key(folder.database, folder.master_key) == right
    assert len(conn.execute("SELECT * FROM master_key").fetchall()) == 1
    conn.close()


def test_a_credential_goes_before_the_file(tmp_path: Path) -> None:
    inside, folder = tmp_path / "data" / "master.key", tmp_path / "credentials"
    folder.mkdir()
    environment = {"CREDENTIALS_DIRECTORY": str(folder)}
    assert master_key_file(inside, environment) == inside
    (folder / "master.key").write_text("x")
    assert master_key_file(inside, environment) == folder / "master.key"
    assert master_key_file(inside, {}) == inside


def test_the_source_of_a_credential_is_rotated_where_it_is(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "etc" / "master.key"
    source.parent.mkdir()
    (settings.data_path / "master.key").rename(source)
    before = read_master_key(source)
    with pytest.raises(SealError, match="no readable master key"):
        OperatorCommands(settings).rotate_master_key(None)
    OperatorCommands(settings).rotate_master_key(source)
    assert read_master_key(source) != before
    assert not (settings.data_path / "master.key").exists()
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(source.parent))
    OperatorCommands(settings).init()  # it reads the credential, and makes no key of its own
    assert not (settings.data_path / "master.key").exists()
    assert opened(settings, read_master_key(source))


def test_init_makes_no_key_for_a_store_that_has_one(settings: Settings) -> None:
    (settings.data_path / "master.key").unlink()
    with pytest.raises(SealError, match="no readable master key"):
        OperatorCommands(settings).init()
    assert not (settings.data_path / "master.key").exists()


def test_the_command(tmp_path: Path) -> None:
    config = tmp_path / "maild.toml"
    config.write_text(f'data_dir = "{tmp_path / "data"}"\n')
    run = CliRunner().invoke
    failed = run(main, ["rotate-master-key", "--config", str(config)])
    assert failed.exit_code == 2 and "run 'maild init' first" in failed.output
    assert run(main, ["init", "--config", str(config), "--json"]).exit_code == 0
    done = run(main, ["rotate-master-key", "--config", str(config), "--json"])
    assert (done.exit_code, '"resealed": 2' in done.output) == (0, True), done.output
