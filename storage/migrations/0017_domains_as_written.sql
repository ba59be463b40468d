-- The author's domain as people write it, where that is not its A-label; NULL of messages from before.
ALTER TABLE messages ADD COLUMN from_domain_shown TEXT;
DROP TRIGGER messages_are_as_they_came;
CREATE TRIGGER messages_are_as_they_came BEFORE UPDATE OF
  id, organization_id, inbox_id, thread_id, direction, mode, from_address, from_name, to_addresses, cc_addresses,
  bcc_addresses, reply_to, subject, snippet, text_body, extracted_text, message_id_header, in_reply_to, reference_ids,
  is_auto_reply, is_spam, auth, created_at, from_domain_shown
ON messages BEGIN
  SELECT RAISE(ABORT, 'what a message says does not change');
END;
