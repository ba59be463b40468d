"""What an inbox has sent and what has come into it lately: for what is told of a message before it is sent.

How far back is looked is bounded, however much an inbox has: at its newest LOOK messages, both ways.
"""

from collections.abc import Sequence
from typing import NamedTuple

from storage import id_spans
from storage.engine.dialect import THEN_JOIN
from storage.engine.tx import Tx
from storage.visibility import VISIBLE

LOOK = 2000
INBOUND_LOOK = 50
BEGINNING_CHARS = 64 * 1024  # of a text; a longer one lies in the raw message
LIST_CHARS = 4096  # of a list of addresses that a stranger wrote; longer ones are not looked into

_PLACES = f"""(SELECT p.id FROM messages p WHERE p.inbox_id = :inbox AND p.{VISIBLE} AND p.id > :after
    ORDER BY p.id DESC LIMIT {LOOK})"""
_NEWEST = f"{_PLACES} n {THEN_JOIN} messages m ON m.id = n.id AND m.{VISIBLE}"
_OURS = """m.organization_id = :organization AND m.direction = 'outbound' AND m.mode IN (:live, :test)
    AND m.status <> 'cancelled'"""
_SAME = f"""SELECT m.id, m.to_addresses, m.cc_addresses, m.bcc_addresses FROM {_NEWEST}
    WHERE {_OURS} AND m.status <> 'failed' AND m.created_at >= :since
      AND m.subject = :subject AND m.snippet = :snippet AND coalesce(m.text_body, '') = :text
      AND coalesce(m.extracted_text, '') = :extracted
    ORDER BY m.id DESC"""
_CAME_IN = f"""SELECT m.id, m.subject, substr(m.text_body, 1, {BEGINNING_CHARS}), m.text_slices IS NOT NULL,
      m.html_slices IS NOT NULL, m.reply_to,
      CASE WHEN length(m.reply_to_addresses) <= {LIST_CHARS} THEN m.reply_to_addresses END,
      CASE WHEN length(m.cc_addresses) <= {LIST_CHARS} THEN m.cc_addresses ELSE '[]' END
    FROM {_NEWEST} WHERE m.organization_id = :organization AND m.direction = 'inbound'
    ORDER BY m.id DESC LIMIT {INBOUND_LOOK}"""


class SameWords(NamedTuple):
    """A message that said the same. Lists are JSON arrays."""

    id: str
    to_addresses: str
    cc_addresses: str
    bcc_addresses: str


class CameIn(NamedTuple):
    """What a message that came in says of addresses. `is_large`: its text lies in the raw message, as its HTML does, if
    it has some. `reply_to_addresses` (None: `reply_to` is all) and `cc_addresses`: JSON arrays."""

    id: str
    subject: str
    text: str | None
    is_large: int
    has_html: int
    reply_to: str | None
    reply_to_addresses: str | None
    cc_addresses: str


class SentWords(NamedTuple):
    """The words of a message, as its row keeps them; empty where it keeps none."""

    subject: str
    snippet: str
    text: str
    extracted: str


def same_words(
    tx: Tx, organization_id: str, inbox_id: str, said: SentWords, since_ms: int, modes: Sequence[str]
) -> list[SameWords]:
    """What the inbox has sent since then, or is to send, in the same words, newest first; among its newest LOOK."""
    after, _ = id_spans.between(tx, organization_id, since_ms, None)
    given = {**_asked(organization_id, inbox_id, modes), **said._asdict(), "since": since_ms, "after": after}
    return [SameWords(*row) for row in tx.all(_SAME, given)]


def came_in(tx: Tx, organization_id: str, inbox_id: str) -> list[CameIn]:
    """The newest INBOUND_LOOK messages that came into the inbox, newest first; among its newest LOOK."""
    given = {"organization": organization_id, "inbox": inbox_id, "after": ""}
    return [CameIn(*row) for row in tx.all(_CAME_IN, given)]


def _asked(organization_id: str, inbox_id: str, modes: Sequence[str]) -> dict[str, object]:
    return {
        "organization": organization_id,
        "inbox": inbox_id,
        "live": modes[0],
        "test": modes[-1],
        "after": "",
    }
