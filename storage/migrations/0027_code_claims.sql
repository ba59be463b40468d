-- Which mail's code was handed out, and to whom: each to one caller.
CREATE TABLE code_claims (
  message_id      TEXT PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
  id              TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  key_id          TEXT NOT NULL,
  kind            TEXT NOT NULL CHECK (kind IN ('code', 'link')),
  created_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
