-- A message whose 250 was not heard is known when it comes again (storage/mail/unheard_replies.py).
ALTER TABLE blobs ADD COLUMN transaction_digest BLOB;
CREATE TABLE unheard_replies (
  transaction_digest BLOB PRIMARY KEY,
  message_id         TEXT NOT NULL,
  noted_at           INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX unheard_replies_by_age ON unheard_replies (noted_at);
CREATE TABLE replies_settled (
  is_one  INTEGER PRIMARY KEY CHECK (is_one = 1),
  through TEXT NOT NULL
) STRICT;
