"""Every statement that our code gives SQLite in a test, held to three rules: none reads a whole table, one that names
rows in a list finds them by it, and one that joins what a subquery found says that this comes first: which it is, the
next release of SQLite may think otherwise.

Each is explained once a process, when the test that first ran it is over: on an empty store, without statistics, as the
daemon's have none (it never runs ANALYZE). Found are the tables that are read from one end to the other; and lists of
keys that are only compared, for SQLite reads all of an organization's rows where that spares it the sorting of a few.
That a statement passes over many rows of an index no plan can say: tests/unit/storage/test_read_work.py counts.
"""

import re
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache, wraps
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from storage.engine.tx import Tx
from storage.searching.index_schema import SCHEMA

ROOT = Path(__file__).parents[3]
ROOMS = tuple(f"{ROOT}/{room}/" for room in ("storage", "maild", "controlplane"))
METHODS = ("run", "run_many", "one", "all", "value")

COMMAND = "a command of the operator"
CHECK = "maild check compares everything with everything"
HOURLY = "once an hour, over what an operator has few of"
ERASED = "once for an organization that is deleted: an operator has few of these"
UNCHECKED = "in a transaction that checks no references"
QUEUE = "a partial index of what waits to be sent (max_queued), not of the table"
# (where the statement stands, what it reads as a whole) → why it may.
ALLOWED = {
    ("storage/audit/trail.py: is_waiting", "audit_waiting"): "one row; it is empty as a rule",
    ("storage/audit/trail.py: prunable", "organizations"): HOURLY,
    ("storage/audit/trail.py: AuditRecorder.seal_waiting", "audit_waiting"): "its first rows",
    ("storage/audit/trail.py: count_waiting", "audit_waiting"): COMMAND,
    ("storage/audit/trail.py: organizations", "organizations"): COMMAND,
    ("storage/mail/blobs.py: known_files", "blobs"): "an index of those that are files",
    ("storage/mail/inboxes.py: create", "api_keys"): "while foreign keys are violated, and none ever is",
    ("storage/mail/inboxes.py: create", "messages"): "while foreign keys are violated, and none ever is",
    ("storage/mail/inboxes.py: without_domain", "inboxes"): COMMAND,
    ("storage/mail/unheard_replies.py: begin", "unheard_replies"): "at start: 10,000 at most",
    ("storage/upkeep/integrity.py: counters", "blobs"): CHECK,
    ("storage/upkeep/integrity.py: counters", "inboxes"): CHECK,
    ("storage/upkeep/integrity.py: counters", "message_labels"): CHECK,
    ("storage/upkeep/integrity.py: counters", "messages"): CHECK,
    ("storage/upkeep/integrity.py: counters", "organizations"): CHECK,
    ("storage/upkeep/integrity.py: counters", "threads"): CHECK,
    ("storage/domains/dkim_keys.py: names", "dkim_keys"): COMMAND,
    ("storage/domains/domains.py: of_everybody", "domains"): COMMAND,
    ("storage/publishing/webhooks.py: forget_secrets", "webhooks"): COMMAND,
    ("storage/tenants/organizations.py: every", "organizations"): COMMAND,
    ("storage/tenants/erasure.py: deleted", "organizations"): "an index of those that are being deleted",
    ("storage/tenants/erasure.py: content", "webhooks"): ERASED,
    ("storage/tenants/erasure.py: remove", "webhooks"): ERASED,
    ("storage/tenants/erasure.py: begin", "webhooks"): ERASED,
    ("storage/tenants/erasure.py: remove_domains", "domains"): ERASED,
    ("storage/tenants/erasure.py: remove_inboxes", "messages"): UNCHECKED,
    ("storage/tenants/erasure.py: remove_inboxes", "api_keys"): UNCHECKED,
    ("storage/tenants/erasure.py: finish", "webhooks"): ERASED,
    ("storage/tenants/erasure.py: finish", "console_links"): ERASED,
    ("storage/sending/outbound.py: depth", "recipients"): QUEUE,
    ("storage/sending/leases.py: waiting", "recipients"): QUEUE,
    ("storage/tenants/overview.py: waiting", "recipients"): "the first 5,000 of what waits to be sent",
    ("storage/sending/queue_selection.py: found", "recipients"): QUEUE,
    ("storage/sending/queue_selection.py: lines", "recipients"): QUEUE,
    ("storage/sending/queue_selection.py: listed", "recipients"): QUEUE,
    ("storage/rate_windows.py: between", "rate_windows"): "at start: the requests of the last minute",
    ("storage/rate_windows.py: purge", "rate_windows"): "the requests of the last minute",
    ("storage/upkeep/retention.py: _find", "rate_windows"): "the requests of the last minute",
    ("storage/upkeep/retention.py: _find", "recent_recipients"): "the recipients of the last minutes",
    ("storage/upkeep/retention.py: _plans", "organizations"): HOURLY,
    ("storage/upkeep/rotation.py: _seal_anew", "dkim_keys"): COMMAND,
    ("storage/upkeep/rotation.py: _seal_anew", "webhooks"): COMMAND,
    ("storage/upkeep/rotation.py: _values", "dkim_keys"): COMMAND,
    ("storage/upkeep/rotation.py: _values", "webhooks"): COMMAND,
    (
        "storage/searching/search_tail.py: _gone",
        "search_gone",
    ): "its first rows: what was deleted a moment ago",
    (
        "storage/searching/search_tail.py: _has_gone",
        "search_gone",
    ): "its first row: what was deleted a moment ago",
    ("storage/searching/search_tail.py: length", "search_tail"): "what the search index has yet to be told",
    ("storage/mail/withdrawal.py: _found", "recipients"): QUEUE,
    ("storage/mail/withdrawal.py: find_sent_by", "recipients"): QUEUE,
}
# (where the statement stands, the column) → why rows are not found by the list of its values.
FILTERS = {
    ("storage/audit/trail.py: _found", "type"): "a page of the log goes by the log's numbers",
    (
        "storage/publishing/events.py: has_gap",
        "type",
    ): "what the log lost behind a position: a row for each inbox and type",
    ("storage/publishing/events.py: list_back", "type"): "a page of the log goes by the log's numbers",
    ("storage/publishing/events.py: list_events", "type"): "a page of the log goes by the log's numbers",
    (
        "storage/upkeep/retention.py: _remove",
        "destination",
    ): "a day goes as a whole, and what is gone is not read again",
    (
        "storage/upkeep/retention.py: _remove",
        "domain",
    ): "a day goes as a whole, and what is gone is not read again",
    ("storage/upkeep/retention.py: _remove", "second"): "the requests of the last minute",
}
# One row each, or a few.
SMALL = {"evidence_mark", "index_state", "master_key", "search_mark", "server_secrets", "switched_off"}
_STEP = re.compile(r"SCAN (\w+)\b(?! VIRTUAL TABLE INDEX \d+:.)|SEARCH (\w+) USING AUTOMATIC")
# What stands before the list: a column, several, or NOT; a column behind a plus is compared on purpose.
# A subquery in brackets, or by its name; its alias; and what it is joined by.
_JOINED = re.compile(
    r"(?:\)|\bFROM\s+(\w+))\s*(?:AS\s+)?((?!(?:LEFT|CROSS|INNER|JOIN)\b)\w*)\s*(?:INNER\s+)?\bJOIN\b"
)
_LISTED = re.compile(r"(?<![+\w.])(?!NOT )([\w.]+|\([\w., ]+\)) IN \(SELECT (?:value|json_extract)\b")


class Statement(NamedTuple):
    """`place`: the file and the function that it stands in."""

    place: str
    line: int
    sql: str


class Watch:
    """What was explained so far in this process, and what waits to be."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._new: list[Statement] = []

    def begin(self) -> None:
        """Watch every Tx from now on."""
        for name in METHODS:
            setattr(Tx, name, self._watched(getattr(Tx, name)))

    def _watched(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(ask)
        def watched(tx: Tx, sql: str, *parameters: Any) -> Any:
            if sql not in self._seen:
                code = sys._getframe(1).f_code
                if code.co_filename.startswith(ROOMS):  # a test asks as it likes
                    self._seen.add(sql)
                    function = code.co_qualname.partition(".<locals>")[0]
                    place = f"{Path(code.co_filename).relative_to(ROOT)}: {function}"
                    self._new.append(Statement(place, sys._getframe(1).f_lineno, sql))
            return ask(tx, sql, *parameters)

        return watched

    def faults(self) -> list[str]:
        """Of the statements that are new since the last look: what is read beyond need without a reason."""
        new, self._new = self._new, []
        return [f"{one.place} (line {one.line}) {fault}:\n{one.sql}" for one in new for fault in _faults(one)]


def _faults(one: Statement) -> Iterator[str]:
    for table, step in scans(one.sql):
        if table not in SMALL and (one.place, table) not in ALLOWED:
            yield f"reads all of {table} ({step})"
    for column in compared_lists(one.sql):
        if (one.place, column) not in FILTERS:
            yield f"does not find rows by the list of {column} ({'; '.join(_plan(one.sql))})"
    for found in undecided_joins(one.sql):
        yield f"leaves to the planner whether {found} comes first (THEN_JOIN)"


def undecided_joins(sql: str) -> list[str]:
    """The subqueries, by name or alias, that a JOIN stands behind which SQLite may turn round."""
    _, tables = _empty_store()
    return [alias or name for name, alias in _JOINED.findall(sql) if name not in tables]


def compared_lists(sql: str) -> list[str]:
    """The columns whose values the statement has in a list, where its plan does not find rows by them."""
    listed = [names.strip("()").rpartition(" ")[2].rpartition(".")[2] for names in _LISTED.findall(sql)]
    plan = " ".join(_plan(sql)) if listed else ""
    return [one for one in listed if not re.search(rf"\b(?:{one}|rowid)=\?", plan)]


def scans(sql: str) -> list[tuple[str, str]]:
    """The tables that the statement reads as a whole, each with the step of its plan that does."""
    _, tables = _empty_store()
    found = []
    for step in _plan(sql):
        name = _STEP.match(step)
        table = name and _table(sql, name.group(1) or name.group(2), tables)
        if table:
            found.append((table, step))
    return found


def _plan(sql: str) -> list[str]:
    if not re.match(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b", sql):
        return []
    conn, _ = _empty_store()
    names = re.findall(r"[:@$](\w+)", sql)
    parameters: Any = dict.fromkeys(names) if "?" not in sql else (None,) * sql.count("?")
    return [step for *_, step in conn.execute(f"EXPLAIN QUERY PLAN {sql}", parameters).fetchall()]


def _table(sql: str, name: str, tables: Iterable[str]) -> str | None:
    """The table that a step names, which it does by its alias; None where it is none (json_each, a subquery)."""
    return next(
        (table for table in tables if name == table or re.search(rf"\b{table}(?:\s+AS)?\s+{name}\b", sql)),
        None,
    )


@cache
def _empty_store() -> tuple[sqlite3.Connection, list[str]]:
    conn = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    conn.execute("PRAGMA foreign_keys = ON")
    conn.executescript((resources.files("storage") / "schema.sql").read_text("utf-8"))
    conn.executescript(SCHEMA)  # of the search index, whose tables have names of their own
    return conn, [row[0] for row in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]


watch = Watch()
