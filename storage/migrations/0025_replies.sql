-- Whom an answer goes to, on what condition it is sent, and by which authority.
ALTER TABLE messages ADD COLUMN reply_to_addresses TEXT;
ALTER TABLE messages ADD COLUMN authors TEXT;
ALTER TABLE messages ADD COLUMN org_domains TEXT;
ALTER TABLE messages ADD COLUMN forward_of TEXT;
ALTER TABLE messages ADD COLUMN if_last TEXT;
ALTER TABLE messages ADD COLUMN authority TEXT;
ALTER TABLE drafts ADD COLUMN if_last TEXT;
DROP TRIGGER messages_are_as_they_came;
CREATE TRIGGER messages_are_as_they_came BEFORE UPDATE OF
  id, organization_id, inbox_id, thread_id, direction, mode, from_address, from_name, to_addresses, cc_addresses,
  bcc_addresses, reply_to, subject, snippet, text_body, extracted_text, message_id_header, in_reply_to, reference_ids,
  is_auto_reply, is_spam, auth, created_at, from_domain_shown, reply_to_addresses, forward_of
ON messages BEGIN
  SELECT RAISE(ABORT, 'what a message says does not change');
END;
