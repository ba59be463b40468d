-- What is kept of an attempt beside its verdicts (storage/sending/attempts.py).
ALTER TABLE delivery_attempts ADD COLUMN next_attempt_at INTEGER;
CREATE TABLE delivery_evidence (
  message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  position   INTEGER NOT NULL,                   -- of the first recipient that it is about
  attempt    INTEGER NOT NULL,
  shared     TEXT,                               -- JSON: position and attempt of each other one, NULL: there is none
  evidence   TEXT NOT NULL,                      -- JSON: maild/message/delivery_evidence.py
  PRIMARY KEY (message_id, position, attempt)
) STRICT;
