-- Search over words. Every message that is stored already waits in the tail until the indexer comes to it.
CREATE TABLE search_tail (
  organization_id TEXT NOT NULL,
  message_id      TEXT NOT NULL,
  PRIMARY KEY (organization_id, message_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE search_words (
  message_id TEXT PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
  words      TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE search_organizations (
  number          INTEGER PRIMARY KEY,
  organization_id TEXT NOT NULL UNIQUE,
  documents       INTEGER NOT NULL,              -- the last number given to one of its messages
  newest_id       TEXT NOT NULL,                 -- the newest message indexed
  is_ordered      INTEGER NOT NULL               -- 0: the clock was set back once; numbers don't sort by age
) STRICT;

CREATE TABLE search_inboxes (
  number   INTEGER PRIMARY KEY,
  inbox_id TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE search_documents (
  document   INTEGER PRIMARY KEY,                -- organization's number × 2^36 + the message's
  message_id TEXT NOT NULL UNIQUE REFERENCES messages (id)
) STRICT;

CREATE VIRTUAL TABLE search_index USING fts5 (
  words, content = '', detail = none, columnsize = 0, tokenize = 'trigram case_sensitive 1'
);
-- Merging is the indexer's: in steps, when nobody waits.
INSERT INTO search_index (search_index, rank) VALUES ('automerge', 0);
INSERT INTO search_index (search_index, rank) VALUES ('crisismerge', 256);

INSERT INTO search_tail (organization_id, message_id) SELECT organization_id, id FROM messages;

-- Deleting a message finds its events, and its bytes when no other message shows them.
CREATE INDEX messages_by_blob ON messages (blob_id) WHERE blob_id IS NOT NULL;
CREATE INDEX events_by_message ON events (message_id) WHERE message_id IS NOT NULL;

CREATE INDEX drafts_newest ON drafts (organization_id, id);
CREATE INDEX drafts_by_inbox ON drafts (inbox_id, id);
