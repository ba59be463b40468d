"""What is held is read by nobody by mistake: every statement over `messages` says which it means
(storage/visibility.py).

Statements are looked for as they stand in the source: a text that reads `messages` says VISIBLE or HELD as often as it
does, or is an exception with a reason.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from storage.visibility import HELD, VISIBLE
from tests.support.laws.query_plans import ROOT

READS = re.compile(r"(?:\b(?:FROM|JOIN|UPDATE|INTO)|\{THEN_JOIN\}|by_index.*?\})\s+messages\b")
SAYS = re.compile(r"\{(?:VISIBLE|HELD|seen)\}")

IN_NO_THREAD = "what is held is in no thread"
OURS = "what is scheduled, has recipients or an envelope sender of its own, is ours"
FOUND = "a row that the caller has found, in the same transaction"
LATER = "its conditions are put behind it"
COUNTED = "the bytes, blobs and labels of all that there is"
# (file, function or constant) → why it says nothing.
EXCEPTIONS = {
    ("conversation.py", "_PLACES"): IN_NO_THREAD,
    ("evidence.py", "_PUT"): FOUND,
    ("exchanges.py", "newest"): IN_NO_THREAD,
    ("held_mail.py", "_delete"): FOUND,
    ("idempotency.py", "find"): "what a request has made is ours",
    ("inboxes.py", "mailbox_by_bounce_token"): OURS,
    ("integrity.py", "_COUNTERS"): COUNTED,
    ("labels.py", "_FITTING"): IN_NO_THREAD,
    ("labels.py", "walk"): "what is held has no label",
    ("message_json.py", "_page"): LATER,
    ("leases.py", "_DUE_OF"): OURS,
    ("message_outcomes.py", "_MOVE"): OURS,
    ("message_outcomes.py", "_ONE_SUMMARY"): OURS,
    ("message_outcomes.py", "_WITH_RECIPIENTS"): OURS,
    ("message_words.py", "_TEXTS"): "the index has what is held; a search shows none of it",
    ("messages.py", "_INSERT"): "it is what is inserted that says it",
    ("messages.py", "_SELECT"): LATER,
    ("messages.py", "_THAT_SCHEDULED"): OURS,
    ("messages.py", "cancel"): OURS,
    ("messages.py", "delete"): FOUND,
    ("messages.py", "drop_bytes"): FOUND,
    ("messages.py", "end_held"): OURS,
    ("messages.py", "fail_scheduled"): OURS,
    ("messages.py", "hold_scheduled"): OURS,
    ("messages.py", "let_go"): OURS,
    ("messages.py", "newest_before"): "new ids come behind those of what is held, too",
    ("messages.py", "next_scheduled_at"): OURS,
    ("messages.py", "release"): OURS,
    ("messages.py", "release_blob"): COUNTED,
    ("messages.py", "scheduled_until"): OURS,
    ("messages.py", "set_labels"): FOUND,
    ("needle.py", "_HOLDING"): FOUND,
    ("outbound.py", "_FROM_AHEAD"): OURS,
    ("outbound.py", "of_domain"): OURS,
    ("recipient_reports.py", "reported"): OURS,
    ("search.py", "among"): LATER,
    ("search.py", "indexed"): LATER,
    ("search.py", "tail"): LATER,
    ("unheard_replies.py", "_OF_THE_LAST_SECONDS"): "what is held was accepted as well",
    ("withdrawal.py", "_SCHEDULED_BY_KEYS"): OURS,
    ("withdrawal.py", "_WAITING"): OURS,
    ("withdrawal.py", "_WITHDRAW_SCHEDULED"): OURS,
}


class Text(NamedTuple):
    """A text in the source, with `{name}` where a name stands in it. `place`: the function, or the constant."""

    place: str
    said: str


def texts(tree: ast.AST, place: str = "") -> Iterator[Text]:
    for node in ast.iter_child_nodes(tree):
        here = place
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            here = node.name
        elif isinstance(node, ast.Assign) and not place:
            here = ast.unparse(node.targets[0])
        said = _said(node)
        if said is None:
            yield from texts(node, here)
        else:
            yield Text(here, said)


def _said(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.JoinedStr):
        return None
    parts = (
        f"{{{ast.unparse(one.value)}}}" if isinstance(one, ast.FormattedValue) else str(one.value)  # type: ignore[attr-defined]
        for one in node.values
    )
    return "".join(parts)


def silent(source: str) -> set[str]:
    """Where something reads `messages` and does not say which."""
    return {
        one.place
        for one in texts(ast.parse(source))
        if len(READS.findall(one.said)) > len(SAYS.findall(one.said))
    }


def test_every_statement_says_which_messages_it_reads() -> None:
    found = {
        (path.name, place)
        for path in Path(ROOT, "storage").rglob("*.py")
        for place in silent(path.read_text("utf-8"))
    }
    assert found - EXCEPTIONS.keys() == set(), "say f'… AND {VISIBLE}', or give the reason here"
    assert EXCEPTIONS.keys() - found == set(), "no exception any more"


@pytest.mark.parametrize(
    ("source", "places"),
    [
        ('def get(): tx.one("SELECT id FROM messages WHERE id = ?")', {"get"}),
        ('_GET = f"SELECT id FROM messages m WHERE id = ? AND {VISIBLE}"', set()),
        ('_GET = f"SELECT 1 FROM messages WHERE {VISIBLE} AND id IN (SELECT id FROM messages)"', {"_GET"}),
        ('_GET = f"SELECT 1 FROM a {THEN_JOIN} messages m ON 1"', {"_GET"}),
        ('def set(): tx.run("UPDATE messages SET labels = 1")', {"set"}),
        ('_GET = "SELECT 1 FROM message_labels JOIN work_items"', set()),
    ],
)
def test_who_says_nothing_is_found(source: str, places: set[str]) -> None:
    assert silent(source) == places


def test_no_sql_stands_elsewhere() -> None:
    for room in ("maild", "controlplane"):
        for path in Path(ROOT, room).rglob("*.py"):
            assert not any(READS.search(one.said) for one in texts(ast.parse(path.read_text("utf-8")))), path


def test_the_words_are_those_of_the_indexes() -> None:
    """SQLite takes a partial index for a statement that says its very words."""
    schema = Path(ROOT, "storage", "schema.sql").read_text("utf-8")
    for name in ("by_inbox", "by_organization"):
        assert re.search(rf"INDEX messages_{name} ON messages \([^)]*\) WHERE {VISIBLE};", schema)
        assert re.search(rf"INDEX messages_held_{name} ON messages \([^)]*\) WHERE {HELD};", schema)
