-- What was found in messages that may be an attack on their reader (storage/mail/evidence.py); none: not looked at yet.
CREATE TABLE message_evidence (
  message_id        TEXT PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
  version           INTEGER NOT NULL,              -- of what was looked for
  risk              TEXT NOT NULL CHECK (risk IN ('none', 'low', 'medium', 'high')),
  hidden_characters INTEGER NOT NULL,
  is_truncated      INTEGER NOT NULL,
  items             TEXT NOT NULL                  -- JSON, as the API shows them
) STRICT;
-- One row, or none yet: the event up to which mail that came in was looked at.
CREATE TABLE evidence_mark (
  seq INTEGER NOT NULL
) STRICT;
-- Mail from before is looked at when somebody asks.
INSERT INTO evidence_mark SELECT coalesce(max(seq), 0) FROM events;
