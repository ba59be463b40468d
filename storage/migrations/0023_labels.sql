-- Messages are found by their labels: `unread`, which nearly all have at first, by partial indexes, the others by a table.
CREATE INDEX messages_unread_by_inbox ON messages (inbox_id, id DESC)
  WHERE instr(labels, '["unread"') = 1 OR instr(labels, ',"unread"') > 0;
CREATE INDEX messages_unread_by_organization ON messages (organization_id, id DESC)
  WHERE instr(labels, '["unread"') = 1 OR instr(labels, ',"unread"') > 0;
CREATE TABLE message_labels (
  inbox_id        TEXT NOT NULL,
  label           TEXT NOT NULL,
  message_id      TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  PRIMARY KEY (inbox_id, label, message_id)
) STRICT, WITHOUT ROWID;
INSERT INTO message_labels (inbox_id, label, message_id, organization_id)
  SELECT DISTINCT m.inbox_id, l.value, m.id, m.organization_id FROM messages m, json_each(m.labels) l
  WHERE m.labels NOT IN ('[]', '["unread"]') AND l.value <> 'unread';
CREATE INDEX message_labels_by_organization ON message_labels (organization_id, label, message_id);
