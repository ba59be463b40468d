-- Lists of what few are: messages that wait for something, failed, are spam or an answer of a program; suppressions of a
-- reason; drafts of an inbox. With OR, for SQLite makes a table of a longer list at each statement that changes a row.
CREATE INDEX messages_unsettled_by_inbox ON messages (inbox_id, status, id DESC) WHERE held_at IS NULL
  AND (status = 'held' OR status = 'scheduled' OR status = 'queued' OR status = 'failed' OR status = 'cancelled');
CREATE INDEX messages_unsettled_by_organization ON messages (organization_id, status, id DESC) WHERE held_at IS NULL
  AND (status = 'held' OR status = 'scheduled' OR status = 'queued' OR status = 'failed' OR status = 'cancelled');
CREATE INDEX messages_spam_by_inbox ON messages (inbox_id, id DESC) WHERE held_at IS NULL AND is_spam = 1;
CREATE INDEX messages_spam_by_organization ON messages (organization_id, id DESC) WHERE held_at IS NULL AND is_spam = 1;
CREATE INDEX messages_auto_replies_by_inbox ON messages (inbox_id, id DESC) WHERE held_at IS NULL AND is_auto_reply = 1;
CREATE INDEX messages_auto_replies_by_organization ON messages (organization_id, id DESC)
  WHERE held_at IS NULL AND is_auto_reply = 1;
CREATE INDEX suppressions_by_reason ON suppressions (organization_id, reason, id);
CREATE INDEX drafts_of_inbox ON drafts (inbox_id, status, id);
