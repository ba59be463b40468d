-- An attachment may lie in the text of a mail, uuencoded. A CHECK is changed by copying its table.
DROP TRIGGER attachments_are_as_they_came;
DROP TRIGGER attachments_go_with_their_message;

ALTER TABLE attachments RENAME TO attachments_before;
CREATE TABLE attachments (
  id           TEXT PRIMARY KEY,
  message_id   TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  position     INTEGER NOT NULL,
  filename     TEXT NOT NULL,
  content_type TEXT NOT NULL,
  size_bytes   INTEGER NOT NULL,
  content_id   TEXT,
  is_inline    INTEGER NOT NULL,
  slice_offset INTEGER NOT NULL,
  slice_length INTEGER NOT NULL,
  encoding     TEXT NOT NULL CHECK (encoding IN ('identity', 'base64', 'quoted-printable', 'uuencode'))
) STRICT;
INSERT INTO attachments
  SELECT id, message_id, position, filename, content_type, size_bytes, content_id, is_inline, slice_offset,
    slice_length, encoding
  FROM attachments_before;
DROP TABLE attachments_before;
CREATE INDEX attachments_by_message ON attachments (message_id, position);

CREATE TRIGGER attachments_are_as_they_came BEFORE UPDATE ON attachments BEGIN
  SELECT RAISE(ABORT, 'an attachment does not change');
END;

CREATE TRIGGER attachments_go_with_their_message BEFORE DELETE ON attachments
WHEN EXISTS (SELECT 1 FROM messages WHERE id = OLD.message_id) BEGIN
  SELECT RAISE(ABORT, 'an attachment goes with its message');
END;
