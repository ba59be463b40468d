-- The index of a search is a file of its own, which the daemon makes anew from the messages.
DROP TABLE search_index;
DROP TABLE search_documents;
DROP TABLE search_inboxes;
DROP TABLE search_organizations;

CREATE TABLE search_gone (
  message_id TEXT PRIMARY KEY,
  inbox_id   TEXT NOT NULL,
  words      TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE search_mark (
  mark TEXT NOT NULL
) STRICT;
