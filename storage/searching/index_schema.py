"""What stands in the index's file: its tables, and what messages and inboxes are called in them.

A message is a number there: its organization's number × 2^36 + a count that goes up with each of its
messages. So an organization's messages lie side by side, and in the order of their age unless the clock was set back
(`is_ordered`). An inbox is a term beside those of the words.

`FORM` says how words become terms. A file of another form is not read: its terms are not those that a search asks for.
"""

import secrets
import sqlite3
import unicodedata

from storage.engine.tx import Tx
from storage.searching.index_file import IndexLost
from storage.searching.trigram_terms import TERMS_FORM

APPLICATION_ID = 0x6D616978  # "maix"
# What is said to be the same is folded alike, and its terms are made alike.
FORM = f"{TERMS_FORM}, Unicode {unicodedata.unidata_version}"

DOCUMENTS_BITS = 36

HASH_BYTES = 8 * 1024 * 1024  # of terms that wait for the commit: a batch is one segment
SEGMENTS_MERGED = 8  # of one size at a time, while there is work

SCHEMA = f"""
CREATE TABLE index_state (
  form      TEXT NOT NULL,
  mark      TEXT NOT NULL,                       -- of the last change
  previous  TEXT,                                -- what the store named before it; NULL: not good enough
  organization_id TEXT NOT NULL DEFAULT '',      -- up to where the store's messages were walked through
  message_id      TEXT NOT NULL DEFAULT '',
  is_complete     INTEGER NOT NULL DEFAULT 0     -- what is not in the store's tail is here
) STRICT;
CREATE TABLE indexed_organizations (
  number          INTEGER PRIMARY KEY,
  organization_id TEXT NOT NULL UNIQUE,
  documents       INTEGER NOT NULL DEFAULT 0,    -- the last number given to one of its messages
  newest_id       TEXT NOT NULL DEFAULT '',      -- the newest message indexed
  is_ordered      INTEGER NOT NULL DEFAULT 1     -- 0: the clock was set back once; numbers don't sort by age
) STRICT;
CREATE TABLE indexed_inboxes (
  number   INTEGER PRIMARY KEY,
  inbox_id TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE documents (
  document   INTEGER PRIMARY KEY,                -- organization's number × 2^{DOCUMENTS_BITS} + the message's
  message_id TEXT NOT NULL UNIQUE
) STRICT;
CREATE VIRTUAL TABLE trigrams USING fts5 (
  terms, content = '', detail = none, columnsize = 0, tokenize = 'ascii'
);
INSERT INTO trigrams (trigrams, rank) VALUES ('hashsize', {HASH_BYTES});
INSERT INTO trigrams (trigrams, rank) VALUES ('automerge', {SEGMENTS_MERGED});
INSERT INTO trigrams (trigrams, rank) VALUES ('crisismerge', 64);
"""


def create(conn: sqlite3.Connection) -> str:
    """Put the tables into an empty file, in one transaction; the mark that they begin with."""
    mark = secrets.token_hex(16)
    conn.execute("BEGIN IMMEDIATE")
    for statement in SCHEMA.split(";\n"):
        conn.execute(statement)
    conn.execute("INSERT INTO index_state (form, mark) VALUES (?, ?)", (FORM, mark))
    conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    conn.execute("COMMIT")
    return mark


def is_complete_for(tx: Tx, mark: str | None) -> bool:
    """May a store that names this mark ask it, or are its messages still walked through? IndexLost, which says why,
    where it does not belong to such a store."""
    if tx.value("PRAGMA application_id") != APPLICATION_ID:
        raise IndexLost("foreign")
    row = tx.one("SELECT form, mark, previous, is_complete FROM index_state")
    if row is None or row[0] != FORM:
        raise IndexLost("of another version")
    if mark is None or mark not in row[1:3]:
        raise IndexLost("of another store or another time")
    tx.value("SELECT count(*) FROM trigrams WHERE trigrams MATCH '\"abc\"' AND rowid < 0")
    return bool(row[3])


def inbox_term(number: int) -> str:
    """None of a trigram: those are no ASCII."""
    return f"i{number}"
