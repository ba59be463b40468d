-- A window of time is looked for between two ids (storage/id_spans.py), so it has to be known how far the ids and the
-- times of an organization's messages are apart. What is known of those that are here is what their threads show: they
-- are made in the same moments, and small to read.
--
-- Threads are found by whether they are archived; an inbox's messages are passed over by direction in the index alone.

CREATE TABLE id_drifts (
  organization_id TEXT PRIMARY KEY,
  drift_ms        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO id_drifts (organization_id, drift_ms)
  SELECT organization_id, max(abs(made_at - created_at)) AS drift FROM (
    SELECT t.organization_id, t.created_at, (
      SELECT sum((instr('0123456789abcdefghjkmnpqrstvwxyz', substr(t.id, 4 + place.value, 1)) - 1)
          << (5 * (10 - place.value)))
        FROM json_each('[1,2,3,4,5,6,7,8,9,10]') AS place) AS made_at
    FROM threads t)
  GROUP BY organization_id HAVING drift > 60000;

DROP INDEX threads_by_inbox;
DROP INDEX threads_by_organization;
DROP INDEX messages_by_inbox;
CREATE INDEX threads_by_inbox ON threads (inbox_id, is_archived, last_message_at DESC, id DESC);
CREATE INDEX threads_by_organization ON threads (organization_id, is_archived, last_message_at DESC, id DESC);
CREATE INDEX messages_by_inbox ON messages (inbox_id, id DESC, direction);
