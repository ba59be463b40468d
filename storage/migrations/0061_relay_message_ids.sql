-- Smarthosts that write the Message-ID anew say in their 250 what it is; answers name it. Nobody kept it of what was sent
-- before.
CREATE TABLE relay_message_ids (
  inbox_id          TEXT NOT NULL,
  message_id_header TEXT NOT NULL,
  message_id        TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  PRIMARY KEY (inbox_id, message_id_header, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX relay_message_ids_by_message ON relay_message_ids (message_id);
