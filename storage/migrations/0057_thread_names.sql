-- Ticket systems begin the References of all that a ticket sends with an id that no message has. Nobody kept it of what is
-- there already.
CREATE TABLE thread_names (
  inbox_id  TEXT NOT NULL,
  name      TEXT NOT NULL,
  thread_id TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
  PRIMARY KEY (inbox_id, name, thread_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX thread_names_by_thread ON thread_names (thread_id);
