-- How large the messages are that wait for the index: read from their rows, it cost all of their text.
ALTER TABLE search_tail ADD COLUMN body_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE search_tail SET body_bytes = coalesce(
  (SELECT m.size_bytes - (SELECT coalesce(sum(a.slice_length), 0) FROM attachments a WHERE a.message_id = m.id)
   FROM messages m WHERE m.id = search_tail.message_id), 0);
