-- An inbox is deactivated at once, and what waits in it is withdrawn afterwards. What a kill has left so far waits in
-- inboxes that another organization's verification deactivated: all that are gone are looked at once.
ALTER TABLE inboxes ADD COLUMN withdraws_mail INTEGER NOT NULL DEFAULT 0;
CREATE INDEX inboxes_to_withdraw ON inboxes (organization_id, id) WHERE withdraws_mail = 1;
UPDATE inboxes SET withdraws_mail = 1 WHERE is_active = 0;
-- So it is with what keys have sent that are revoked with their mail.
ALTER TABLE api_keys ADD COLUMN withdraws_mail INTEGER NOT NULL DEFAULT 0;
CREATE INDEX api_keys_to_withdraw ON api_keys (organization_id, id) WHERE withdraws_mail = 1;

-- Threads that are unread are found among others in an index alone.
DROP INDEX threads_by_inbox;
DROP INDEX threads_by_organization;
CREATE INDEX threads_by_inbox ON threads (inbox_id, is_archived, last_message_at DESC, id DESC, unread_count);
CREATE INDEX threads_by_organization ON threads
  (organization_id, is_archived, last_message_at DESC, id DESC, unread_count);
