-- A conversation keeps its latest 50 participants, each of a length that mail can reach (storage/mail/threads.py).
UPDATE threads SET participants = (
  SELECT json_group_array(value) FROM (
    SELECT value FROM (
      SELECT key, value FROM json_each(threads.participants) WHERE length(value) <= 320 ORDER BY key DESC LIMIT 50
    ) ORDER BY key
  )
) WHERE json_array_length(participants) > 50
     OR EXISTS (SELECT 1 FROM json_each(threads.participants) WHERE length(value) > 320);
