-- Counting an organization's mail reads an index, and its bytes one row; a listing by inbox takes the index by
-- inbox; deleting an agent finds its inboxes.
DROP INDEX messages_by_organization;
CREATE INDEX messages_by_organization ON messages (organization_id, id DESC, inbox_id, direction, mode);
CREATE INDEX inboxes_by_agent ON inboxes (agent_id) WHERE agent_id IS NOT NULL;
CREATE INDEX events_by_type ON events (organization_id, type, created_at, mode, inbox_id);

CREATE TABLE stored_bytes (
  organization_id TEXT PRIMARY KEY,
  bytes           INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO stored_bytes (organization_id, bytes)
  SELECT organization_id, sum(size_bytes) FROM messages WHERE blob_id IS NOT NULL GROUP BY organization_id;
