-- A message may be held. What a CHECK allows can't be altered, and copying the table would take minutes; all that was
-- allowed still is, so no row has to be looked at (https://sqlite.org/lang_altertable.html#otheralter).
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql,
    'CHECK (status IN (''received'', ''scheduled'',', 'CHECK (status IN (''received'', ''held'', ''scheduled'',')
  WHERE type = 'table' AND name = 'messages';
PRAGMA writable_schema = RESET;
CREATE TABLE reviews (
  id              TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  inbox_id        TEXT NOT NULL,
  message_id      TEXT NOT NULL UNIQUE,
  direction       TEXT NOT NULL CHECK (direction IN ('inbound', 'outbound')),
  mode            TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  status          TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'expired', 'withdrawn')),
  reasons         TEXT NOT NULL,
  warnings        TEXT NOT NULL,
  submitted_by    TEXT,
  is_told         INTEGER NOT NULL,
  expires_at      INTEGER NOT NULL,
  resolved_by     TEXT,
  resolved_at     INTEGER,
  note            TEXT,
  created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX reviews_by_organization ON reviews (organization_id, direction, status, id);
CREATE INDEX reviews_by_inbox ON reviews (inbox_id, direction, status, id);
CREATE INDEX reviews_by_end ON reviews (expires_at) WHERE status = 'pending';
CREATE INDEX reviews_untold ON reviews (organization_id, id) WHERE is_told = 0;
CREATE TABLE review_digests (
  organization_id TEXT NOT NULL,
  address         TEXT NOT NULL,
  sent_at         INTEGER NOT NULL,
  review_id       TEXT NOT NULL,
  PRIMARY KEY (organization_id, address)
) STRICT, WITHOUT ROWID;
ALTER TABLE organizations ADD COLUMN reviewers TEXT NOT NULL DEFAULT 'keys' CHECK (reviewers IN ('keys', 'members'));
ALTER TABLE api_keys ADD COLUMN minted_by TEXT;
