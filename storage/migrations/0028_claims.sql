-- Inboxes whose mail is a queue of work, and who works on what of it.
CREATE TABLE policies (
  owner_id        TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  version         INTEGER NOT NULL,
  document        TEXT NOT NULL,
  has_work        INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE work_items (
  seq             INTEGER PRIMARY KEY,
  message_id      TEXT NOT NULL UNIQUE REFERENCES messages (id) ON DELETE CASCADE,
  organization_id TEXT NOT NULL,
  inbox_id        TEXT NOT NULL,
  thread_id       TEXT NOT NULL,
  mode            TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  status          TEXT NOT NULL CHECK (status IN ('behind', 'ready', 'claimed', 'delayed', 'dead')),
  attempts        INTEGER NOT NULL DEFAULT 0,
  ready_at        INTEGER
) STRICT;
CREATE INDEX work_ready ON work_items (inbox_id, mode, seq) WHERE status = 'ready';
CREATE UNIQUE INDEX work_heads ON work_items (thread_id, mode) WHERE status IN ('ready', 'claimed', 'delayed');
CREATE INDEX work_behind ON work_items (thread_id, mode, seq) WHERE status = 'behind';
CREATE INDEX work_delayed ON work_items (ready_at) WHERE status = 'delayed';
CREATE TABLE claims (
  id               TEXT PRIMARY KEY,
  organization_id  TEXT NOT NULL,
  inbox_id         TEXT NOT NULL,
  thread_id        TEXT NOT NULL,
  message_id       TEXT NOT NULL,
  key_id           TEXT NOT NULL,
  mode             TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  holder           TEXT,
  status           TEXT NOT NULL CHECK (status IN ('live', 'released', 'expired', 'done', 'dead')),
  attempt          INTEGER NOT NULL,
  lease_expires_at INTEGER NOT NULL,
  created_at       INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX claims_live ON claims (thread_id, mode) WHERE status = 'live';
CREATE INDEX claims_by_lease ON claims (lease_expires_at) WHERE status = 'live';
CREATE INDEX claims_by_key ON claims (key_id) WHERE status = 'live';
CREATE INDEX claims_by_organization ON claims (organization_id, status, id);
CREATE INDEX claims_by_inbox ON claims (inbox_id, status, id);
CREATE INDEX claims_by_age ON claims (created_at) WHERE status <> 'live';
ALTER TABLE drafts ADD COLUMN claim_id TEXT;
ALTER TABLE drafts ADD COLUMN complete_claim INTEGER NOT NULL DEFAULT 0;
