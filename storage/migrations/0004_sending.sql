-- Idempotency, scheduled sends, unsubscribe links.

-- Every recipient gets a copy with an unsubscribe link of its own.
ALTER TABLE messages ADD COLUMN unsubscribe INTEGER NOT NULL DEFAULT 0;
-- When it was counted against the plan, where that was not at created_at (scheduled messages).
ALTER TABLE messages ADD COLUMN counted_at INTEGER;

-- Deleting a message blanks its words in a kept answer.
ALTER TABLE idempotency ADD COLUMN message_id TEXT;
CREATE INDEX idempotency_by_message ON idempotency (message_id);

-- Keys that the server made for itself, such as the one that signs unsubscribe links.
CREATE TABLE server_secrets (
  name   TEXT PRIMARY KEY,
  secret BLOB NOT NULL                           -- sealed under the master key
) STRICT, WITHOUT ROWID;
