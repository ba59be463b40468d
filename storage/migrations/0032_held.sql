-- Mail that came in and is held until somebody decides on it. No row is written: nothing is held yet, so the indexes
-- have what they will have, and a column may be NULL that never was.
ALTER TABLE messages ADD COLUMN held_at INTEGER;
ALTER TABLE stored_bytes ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
DROP TRIGGER messages_are_as_they_came;
PRAGMA writable_schema = ON;
UPDATE sqlite_master SET sql = replace(sql,
    'thread_id         TEXT NOT NULL REFERENCES threads (id)', 'thread_id         TEXT REFERENCES threads (id)')
  WHERE type = 'table' AND name = 'messages';
UPDATE sqlite_master SET sql = sql || ' WHERE held_at IS NULL'
  WHERE type = 'index' AND name IN ('messages_by_inbox', 'messages_by_organization');
UPDATE sqlite_master SET sql = sql || ' AND held_at IS NULL' WHERE type = 'index' AND name = 'messages_by_header';
PRAGMA writable_schema = RESET;
CREATE INDEX messages_held_by_inbox ON messages (inbox_id, id DESC) WHERE held_at IS NOT NULL;
CREATE INDEX messages_held_by_organization ON messages (organization_id, id DESC) WHERE held_at IS NOT NULL;
CREATE TABLE held_mail (
  message_id   TEXT PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
  inbox_id     TEXT NOT NULL,
  thread_id    TEXT NOT NULL,
  header       TEXT,
  conversation TEXT NOT NULL,
  rejected_at  INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX held_mail_by_header ON held_mail (inbox_id, header) WHERE header IS NOT NULL;
CREATE INDEX held_mail_rejected ON held_mail (rejected_at) WHERE rejected_at IS NOT NULL;
CREATE TRIGGER messages_are_as_they_came BEFORE UPDATE OF
  id, organization_id, inbox_id, direction, mode, from_address, from_name, to_addresses, cc_addresses,
  bcc_addresses, reply_to, subject, snippet, text_body, extracted_text, message_id_header, in_reply_to, reference_ids,
  is_auto_reply, is_spam, auth, created_at, from_domain_shown, reply_to_addresses, forward_of
ON messages BEGIN
  SELECT RAISE(ABORT, 'what a message says does not change');
END;
CREATE TRIGGER messages_stay_in_their_thread BEFORE UPDATE OF thread_id ON messages WHEN OLD.thread_id IS NOT NULL BEGIN
  SELECT RAISE(ABORT, 'a message stays in its thread');
END;
CREATE TRIGGER messages_stay_visible BEFORE UPDATE OF held_at ON messages WHEN OLD.held_at IS NULL BEGIN
  SELECT RAISE(ABORT, 'a message that was visible is not held');
END;
