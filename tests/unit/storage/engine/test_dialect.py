"""SQLite's own SQL stands in storage/engine/dialect.py, and in the rooms that no expression can take it from."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
OWN = {
    "storage/engine/dialect.py",  # the names that the others use
    "storage/engine/connections.py",  # what they are told
    "storage/engine/database.py",  # a state to read from
    "storage/engine/local_reads.py",  # the transactions of look-ups
    "storage/engine/tx.py",  # statements
    "storage/engine/writer.py",  # transactions, checkpoints
    "storage/engine/migrate.py",  # making a store, and connections of tools
    "storage/upkeep/integrity.py",  # what a file may have suffered
    "storage/upkeep/snapshot.py",  # a copy of the file
    "storage/upkeep/compaction.py",  # the file written anew
    "storage/engine/failures.py",  # codes of errors
    "storage/engine/store_files.py",  # one of those
    "storage/engine/free_pages.py",  # what is free in the file
    "storage/searching/index_batches.py",  # FTS5
    "storage/searching/index_file.py",  # connections of the search index
    "storage/searching/index_proposals.py",  # FTS5
    "storage/searching/index_readers.py",  # connections of searches
    "storage/searching/index_schema.py",  # FTS5
    "storage/searching/search_index.py",  # FTS5
}
FILES = {
    str(file.relative_to(ROOT)): file
    for room in ("storage", "maild", "controlplane", "conf")
    for file in (ROOT / room).rglob("*.py")
}
DRIVERS = {"sqlite3", "aiosqlite"}
WORDS = re.compile(
    r"""
      \bjson(_\w+)?\(          # json_each, json_extract, json('[]') …
    | \b(iif|ifnull|instr|printf|quote|strftime|unixepoch|julianday|datetime|randomblob|zeroblob|typeof|likely
        |unlikely|likelihood|group_concat|bm25|snippet|changes|total_changes|last_insert_rowid|load_extension)\(
    | \b(max|min)\((?!SELECT)[^()]*(\([^()]*\)[^()]*)*,   # of one row's values
    | \b(rowid|_rowid_|sqlite_\w+|PRAGMA|MATCH|GLOB|REGEXP|ATTACH|VACUUM|STRICT|AUTOINCREMENT)\b
    | \b(INDEXED\ BY|NOT\ INDEXED|CROSS\ JOIN|WITHOUT\ ROWID|INSERT\ OR|UPDATE\ OR|REPLACE\ INTO|COLLATE\ NOCASE)\b
    | \bAS\ BLOB\b
    | (\b(AND|OR|WHERE|ON|BY|SELECT)\ |\(|^|,\ )\+[a-z]+[._]   # +column
    """,
    re.VERBOSE,
)


def texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every string but docstrings, as far as it is written down; and what is imported."""
    docstrings = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings:
            yield node.lineno, node.value


def drivers(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [one.name for one in node.names] + [getattr(node, "module", None) or ""]
            yield from ((node.lineno, name) for name in names if name in DRIVERS)


def said(file: Path) -> list[tuple[int, str]]:
    """Where the file speaks SQLite."""
    tree = ast.parse(file.read_text("utf-8"))
    words = [(line, found.group()) for line, text in texts(tree) for found in WORDS.finditer(text)]
    return words + list(drivers(tree))


@pytest.mark.parametrize("name", sorted(FILES.keys() - OWN))
def test_nobody_else_speaks_sqlite(name: str) -> None:
    assert said(FILES[name]) == []


@pytest.mark.parametrize("name", sorted(OWN))
def test_who_is_allowed_to_does(name: str) -> None:
    assert said(FILES[name])


@pytest.mark.parametrize(
    "sql",
    ["x IN (SELECT value FROM json_each(?))", "SET n = max(0, n - ?)", "max(coalesce(a, 0), ?)", "a AND +m.id = 1",
     "+m.id", "FROM a CROSS JOIN b", "t INDEXED BY i", "search MATCH ?", "PRAGMA user_version", "iif(a, b, c)"],
)  # fmt: skip
def test_it_would_be_noticed(sql: str) -> None:
    assert WORDS.search(sql)


@pytest.mark.parametrize(
    "sql", ["max(id), count(*)", "SELECT min(a), max(b) FROM t", "a + b", "n = n + excluded.n"]
)
def test_common_sql_is_no_dialect(sql: str) -> None:
    assert not WORDS.search(sql)


def test_statements_stand_in_storage_alone() -> None:
    asked = re.compile(r"\btx\.(all|one|run|run_many|value)\(")
    found = [
        name
        for name, file in FILES.items()
        if not name.startswith("storage/") and asked.search(file.read_text())
    ]
    assert found == ["controlplane/transport/health.py"]  # SELECT 1: does the store answer?
