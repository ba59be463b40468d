"""The schema says what storage/states.py says, and every road leads to it (storage/engine/migrate.py)."""

import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from importlib import resources
from pathlib import Path

import pytest

from storage import states
from storage.engine import migrate
from storage.ids import Ids
from storage.visibility import VISIBLE
from tests.support.worlds.store import ManualClock


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store"
    migrate.prepare(path)
    return path


def rows(path: Path, sql: str) -> list[tuple[object, ...]]:
    conn = sqlite3.connect(path)
    try:
        return conn.execute(sql).fetchall()
    finally:
        conn.close()


def schema(path: Path) -> list[tuple[str, str, str]]:
    """Every table, index and trigger, with blanks and comments made alike."""
    found = rows(path, "SELECT type, name, coalesce(sql, '') FROM sqlite_master ORDER BY type, name")
    return [(str(kind), str(name), _alike(str(sql))) for kind, name, sql in found]


def _alike(sql: str) -> str:
    words = re.sub(r"--[^\n]*", " ", sql).replace("(", " ( ").split()
    return " ".join(words).replace(" ,", ",").replace(" )", ")")  # as ALTER TABLE … ADD COLUMN leaves it


def checks(path: Path) -> dict[tuple[str, str], set[str]]:
    """(table, column) → what its CHECK … IN allows."""
    found = {}
    for kind, table, sql in schema(path):
        if kind == "table":
            for column, values in re.findall(r"CHECK \( (\w+) IN \( ([^)]*)\)", sql):
                found[table, column] = set(re.findall(r"'([^']*)'", values))
    return found


def test_the_checks_repeat_the_state_machines(store: Path) -> None:
    found = checks(store)
    for column, machine in states.COLUMNS.items():
        assert found[column] == set(machine), column


def test_every_status_column_has_a_machine(store: Path) -> None:
    assert {column for column in checks(store) if column[1].endswith("status")} == set(states.COLUMNS)


def test_the_steps_end_in_the_schema_of_a_new_store(store: Path, tmp_path: Path) -> None:
    stepped = tmp_path / "stepped"
    conn = sqlite3.connect(stepped, isolation_level=None)
    for number, sql in enumerate(migrate.steps(), 1):
        migrate._take(conn, sql, number)
    conn.close()
    assert schema(stepped) == schema(store)
    assert (
        rows(stepped, "PRAGMA user_version")
        == rows(store, "PRAGMA user_version")
        == [(len(migrate.steps()),)]
    )


def test_an_older_store_takes_the_steps_it_lacks(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conn = sqlite3.connect(store)
    conn.execute(
        "INSERT INTO organizations (id, name, plan, sending_status, created_at) VALUES ('o', 'n', 'p', 'approved', 1)"
    )
    conn.commit()
    conn.close()
    todo = [*migrate.steps(), "CREATE TABLE later (id TEXT);", "ALTER TABLE later ADD COLUMN more TEXT;"]
    monkeypatch.setattr(migrate, "steps", lambda: todo)
    for _ in range(2):  # and a second time changes nothing
        migrate.prepare(store)
        assert rows(store, "PRAGMA user_version") == [(len(todo),)]
        assert rows(store, "SELECT id FROM organizations") == [("o",)]
        assert rows(store, "SELECT name FROM pragma_table_info('later')") == [("id",), ("more",)]


def test_an_older_store_knows_how_far_its_ids_and_times_are_apart(tmp_path: Path) -> None:
    """Its threads tell; those of the last organization were made while the clock was behind by a day."""
    conn = sqlite3.connect(tmp_path / "older", isolation_level=None)
    for number, sql in enumerate(migrate.steps()[:10], 1):
        migrate._take(conn, sql, number)
    clock = ManualClock()
    ids = Ids(clock)
    for organization, apart_ms in (
        ("right", 0),
        ("nearly", 50_000),
        ("apart", 86_400_000),
        ("apart", -90_000),
    ):
        thread_id = ids.new("thd")
        conn.execute(
            """INSERT INTO threads (id, organization_id, inbox_id, subject, base_subject, snippet, participants,
                 message_count, unread_count, last_message_at, created_at)
               VALUES (?, ?, 'i', '', '', '', '[]', 1, 0, 1, ?)""",
            (thread_id, organization, clock.now_ms() - apart_ms),
        )
    migrate._take(conn, migrate.steps()[10], 11)
    assert conn.execute("SELECT * FROM id_drifts").fetchall() == [("apart", 86_400_000)]
    conn.close()


def test_a_step_that_fails_leaves_the_version_before_it(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = schema(store)
    todo = [*migrate.steps(), "CREATE TABLE half (id TEXT); CREATE TABLE half (id TEXT);"]
    monkeypatch.setattr(migrate, "steps", lambda: todo)
    with pytest.raises(migrate.StoreError):
        migrate.prepare(store)
    assert schema(store) == before
    assert rows(store, "PRAGMA user_version") == [(len(todo) - 1,)]


def test_a_newer_store_is_refused_and_left_alone(store: Path) -> None:
    conn = sqlite3.connect(store)
    conn.execute("PRAGMA user_version = 999")
    conn.close()
    with pytest.raises(migrate.StoreError, match="newer"):
        migrate.prepare(store)
    assert rows(store, "PRAGMA user_version") == [(999,)]


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "store"
    text.write_text("this is no database, but long enough to look like one\n" * 100)
    with pytest.raises(migrate.StoreError):
        migrate.prepare(text)
    with pytest.raises(migrate.StoreError):
        migrate.prepare(tmp_path / "nowhere" / "store")


def damaged(path: Path) -> None:
    """Half of it is gone."""
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2 // 4096 * 4096)


def foreign(path: Path, mark: int = 0, version: int = 0) -> None:
    path.unlink()
    conn = sqlite3.connect(path)
    conn.execute("CREATE TABLE messages (id INTEGER)")
    conn.execute(f"PRAGMA application_id = {mark}")
    conn.execute(f"PRAGMA user_version = {version}")
    conn.close()


def without_a_table(path: Path) -> None:
    conn = sqlite3.connect(path)
    conn.execute("DROP TABLE suppressions")
    conn.close()


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda path: path.write_bytes(b""), "is empty; restore it from a backup, or remove it and run 'maild init'"),
        (damaged, "malformed; if it is damaged, restore it from a backup"),
        (foreign, "is no whole store of maild"),
        (lambda path: foreign(path, version=len(migrate.steps())), "is no whole store of maild"),
        (lambda path: foreign(path, mark=0x0F055112), "belongs to another program"),
        (without_a_table, "1 are missing: suppressions"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_whole_store_of_ours_is_refused_and_left_alone(
    store: Path, harm: Callable[[Path], object], words: str
) -> None:
    """What a restore leaves that was cut short would refuse the mail of every inbox of the real store."""
    harm(store)
    before = store.read_bytes()
    for open_it in (migrate.prepare, migrate.connect):
        with pytest.raises(migrate.StoreError, match=words):
            open_it(store)
        assert store.read_bytes() == before


def test_a_store_from_before_the_mark_is_known_by_its_tables(store: Path) -> None:
    conn = sqlite3.connect(store)
    conn.execute("PRAGMA application_id = 0")
    conn.close()
    migrate.connect(store).close()
    migrate.prepare(store)
    assert rows(store, "PRAGMA application_id") == [(migrate.APPLICATION_ID,)]


def test_a_new_store_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "store"

    def half_made(conn: sqlite3.Connection, sql: str, version: int) -> None:
        conn.execute("CREATE TABLE half (id TEXT)")
        assert not path.exists()
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(migrate, "_take", half_made)
        with pytest.raises(migrate.StoreError):
            migrate.prepare(path)
    assert list(tmp_path.iterdir()) == []
    migrate.prepare(path)
    assert sorted(tmp_path.iterdir()) == [path]


def test_tables_are_strict_and_keep_their_references(store: Path) -> None:
    tables = [(name, sql) for kind, name, sql in schema(store) if kind == "table"]
    virtual = [name for name, sql in tables if sql.startswith("CREATE VIRTUAL")]
    for name, sql in tables:
        if not any(name == one or name.startswith(one + "_") for one in (*virtual, "sqlite")):
            assert "STRICT" in sql.rpartition(")")[2], name
    assert rows(store, "PRAGMA foreign_key_check") == []
    assert rows(store, "PRAGMA journal_mode") == [("wal",)]


def test_migrations_are_numbered_without_gaps() -> None:
    folder = resources.files("storage") / "migrations"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    assert [name[:4] for name in names] == [f"{number:04}" for number in range(1, len(names) + 1)]


def older(path: Path, lacks: str) -> tuple[sqlite3.Connection, int]:
    """A store with a message, from before the step that has these words; and the number of that step."""
    conn = sqlite3.connect(path, isolation_level=None)
    step = next(at for at, sql in enumerate(migrate.steps()) if lacks in sql)
    for number, sql in enumerate(migrate.steps()[:step], 1):
        migrate._take(conn, sql, number)
    insert_message(conn, "msg_1")
    return conn, step


def insert_message(conn: sqlite3.Connection, message_id: str, **fields: object) -> None:
    columns = [row[1:4] for row in conn.execute("PRAGMA table_info(messages)")]
    given: dict[str, object] = {
        name: 0 if kind == "INTEGER" else "x"
        for name, kind, is_needed in columns
        if is_needed or name == "id"
    }
    given |= {"id": message_id, "direction": "outbound", "mode": "live", "status": "queued", **fields}
    names, places = ", ".join(given), ", ".join("?" for _ in given)
    conn.execute(f"INSERT INTO messages ({names}) VALUES ({places})", tuple(given.values()))


def test_an_older_store_lets_a_message_be_held_and_is_whole(tmp_path: Path) -> None:
    """The CHECK is changed where the schema is written down; no row is copied, and none is lost."""
    conn, step = older(tmp_path / "older", "CREATE TABLE reviews")
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        conn.execute("UPDATE messages SET status = 'held'")
    migrate._take(conn, migrate.steps()[step], step + 1)
    conn.execute("UPDATE messages SET status = 'held'")
    conn.close()
    conn = sqlite3.connect(tmp_path / "older", isolation_level=None)
    conn.execute("UPDATE messages SET status = 'held'")
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        conn.execute("UPDATE messages SET status = 'hold'")
    assert conn.execute("SELECT id, status FROM messages").fetchall() == [("msg_1", "held")]
    assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    conn.close()


@pytest.mark.parametrize("is_opened_anew", [False, True])
def test_the_indexes_of_an_older_store_go_on_without_what_is_held(
    tmp_path: Path, is_opened_anew: bool
) -> None:
    """They become partial where the schema is written down: nothing was held, so they have what they are to have."""
    conn, step = older(tmp_path / "older", "CREATE TABLE held_mail")
    migrate._take(conn, migrate.steps()[step], step + 1)
    if is_opened_anew:
        conn.close()
        conn = sqlite3.connect(tmp_path / "older", isolation_level=None)
    insert_message(conn, "msg_2")
    insert_message(conn, "msg_3", held_at=1, thread_id=None, message_id_header="x")
    for index, condition in (
        ("messages_by_inbox", "inbox_id = 'x'"), ("messages_by_organization", "organization_id = 'x'"),
    ):  # fmt: skip
        found = f"SELECT id FROM messages INDEXED BY {index} WHERE {condition} AND {VISIBLE} ORDER BY id"
        assert conn.execute(found).fetchall() == [("msg_1",), ("msg_2",)]
    assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    conn.execute("DELETE FROM messages WHERE id IN ('msg_1', 'msg_3')")
    assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    conn.close()


def test_an_older_store_keeps_the_new_words_of_its_messages(tmp_path: Path) -> None:
    conn, step = older(tmp_path / "older", "ADD COLUMN extracted_length")
    insert_message(conn, "msg_2", text_body="new\n> old", extracted_text="new")
    insert_message(conn, "msg_3", text_body="all is new")
    migrate._take(conn, migrate.steps()[step], step + 1)
    found = conn.execute("SELECT text_body, extracted_text FROM messages WHERE id > 'msg_1' ORDER BY id")
    assert found.fetchall() == [("new\n> old", "new"), ("all is new", None)]
    assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    conn.close()


def test_an_older_store_keeps_the_reports_about_its_domains(tmp_path: Path) -> None:
    conn, step = older(tmp_path / "older", "shared_domain   TEXT")
    insert = (
        "INSERT INTO domain_reports VALUES (?, 'dom_1', 'tls', 'r', '7', ?, 1, 2, 3, 4, 0, '{}', 'msg_1', 5)"
    )
    conn.execute(insert, ("rep_1", None))
    conn.execute(insert, ("rep_2", "there.test"))
    migrate._take(conn, migrate.steps()[step], step + 1)
    about = ("dom_1", None, "tls", "r", "7")
    kept = (1, 2, 3, 4, 0, "{}", "msg_1", 5)
    rows = conn.execute("SELECT * FROM domain_reports ORDER BY id").fetchall()
    assert rows == [("rep_1", *about, None, *kept), ("rep_2", *about, "there.test", *kept)]
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        conn.execute(
            "INSERT INTO domain_reports VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            ("rep_3", *rows[1][1:]),
        )
    assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    conn.close()


def test_a_store_that_this_user_may_not_open_is_not_called_damaged(tmp_path: Path) -> None:
    """To put a backup in its place would lose what came since."""
    (tmp_path / "maild.sqlite3").mkdir()
    with pytest.raises(migrate.StoreError, match="run this as the user whom it belongs to") as caught:
        migrate.connect(tmp_path / "maild.sqlite3")
    assert migrate.RESTORE not in str(caught.value)


def test_a_snapshot_whose_log_of_changes_can_not_be_read_is_to_be_copied(store: Path, tmp_path: Path) -> None:
    """Its owner can't open it either, where nobody may write; without what is in the log it would be another store."""
    folder = tmp_path / "snapshot"
    folder.mkdir()
    with closing(migrate.connect(store)) as conn:
        conn.execute("CREATE TABLE more (id INTEGER)")
        for file in (store, store.with_name("store-wal")):
            shutil.copy(file, folder)
    assert (folder / "store-wal").stat().st_size > 0
    (folder / "store-shm").symlink_to("store-shm")  # nobody can make it
    with pytest.raises(migrate.StoreError, match="or on a copy of the folder"):
        migrate.connect(folder / "store", read_only=True)


def test_a_new_store_has_its_name_once_all_of_it_is_in_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands in a log beside it is written back as the connection closes, if it can be: a full disk, or somebody
    who reads, keeps it from that, and SQLite says nothing."""
    path, readers = tmp_path / "store", list[sqlite3.Connection]()
    connect = sqlite3.connect

    class ClosedBesideAReader(sqlite3.Connection):
        def close(self) -> None:
            readers.append(connect(self.execute("PRAGMA database_list").fetchone()[2]))
            readers[-1].execute("BEGIN")
            readers[-1].execute("SELECT count(*) FROM messages").fetchone()
            super().close()

    monkeypatch.setattr(sqlite3, "connect", partial(connect, factory=ClosedBesideAReader))
    migrate._create(path)
    monkeypatch.undo()
    alone = Path(shutil.copy(path, tmp_path / "alone"))
    assert rows(alone, "PRAGMA user_version") == [(len(migrate.steps()),)]
    for reader in readers:
        reader.close()


def test_a_new_store_has_a_log_of_changes_from_the_first_on(tmp_path: Path) -> None:
    """Of two that found it without one at a moment, or beside one who wrote, one was refused: SQLite does not wait
    there (`database is locked`)."""
    path = tmp_path / "store"
    migrate._create(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    migrate.prepare(path)
    other.close()
    assert rows(path, "PRAGMA journal_mode") == [("wal",)]
