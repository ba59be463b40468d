-- Whom inboxes write to and who writes to them, as organizations want it; whom they have written to.
CREATE TABLE rules (
  id              TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  inbox_id        TEXT,
  direction       TEXT NOT NULL CHECK (direction IN ('inbound', 'outbound')),
  action          TEXT NOT NULL CHECK (action IN ('allow', 'block', 'hold')),
  value           TEXT NOT NULL,
  note            TEXT,
  created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX rules_by_organization ON rules (organization_id, id);
CREATE INDEX rules_by_value ON rules (organization_id, direction, value);
CREATE TABLE correspondents (
  inbox_id        TEXT NOT NULL,
  address         TEXT NOT NULL,
  mode            TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  first_sent_at   INTEGER NOT NULL,
  PRIMARY KEY (inbox_id, address, mode)
) STRICT, WITHOUT ROWID;
-- Of each message the index tells all that is asked, so that none is read. When it was sent first is not known any
-- more; the first of the last attempts comes near it. Keys of addresses beyond ASCII may differ from these: who has
-- one is taken for a new correspondent once.
INSERT INTO correspondents (inbox_id, address, mode, first_sent_at)
  SELECT m.inbox_id, lower(r.address), m.mode, coalesce(min(r.last_attempt_at), 0)
  FROM messages m INDEXED BY messages_by_organization CROSS JOIN recipients r ON r.message_id = m.id
  WHERE m.direction = 'outbound'
  GROUP BY m.inbox_id, lower(r.address), m.mode;
CREATE INDEX correspondents_by_time ON correspondents (inbox_id, mode, first_sent_at);
