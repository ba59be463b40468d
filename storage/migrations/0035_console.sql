-- People who sign in to the console: the links that let them in, and their sessions (storage/tenants/console_sessions.py).
CREATE TABLE console_links (
  token_hash      BLOB PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  member_id       TEXT NOT NULL REFERENCES members (id),
  created_at      INTEGER NOT NULL,
  expires_at      INTEGER NOT NULL,
  used_at         INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX console_links_by_member ON console_links (member_id, created_at);
CREATE INDEX console_links_by_end ON console_links (expires_at);
CREATE TABLE console_sessions (
  id              TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  member_id       TEXT NOT NULL REFERENCES members (id),
  token_hash      BLOB NOT NULL UNIQUE,
  created_at      INTEGER NOT NULL,
  last_used_at    INTEGER NOT NULL,
  expires_at      INTEGER NOT NULL,
  address         TEXT NOT NULL,
  user_agent      TEXT NOT NULL
) STRICT;
CREATE INDEX console_sessions_by_member ON console_sessions (member_id, id);
CREATE INDEX console_sessions_by_organization ON console_sessions (organization_id, id);
CREATE INDEX console_sessions_by_end ON console_sessions (expires_at);
CREATE INDEX members_by_email ON members (email);
