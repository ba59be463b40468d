-- Of most mail the new words are how its text begins: their length is kept, not the words a second time. What is stored
-- already stays as it is.
ALTER TABLE messages RENAME COLUMN extracted_text TO extracted_apart;
ALTER TABLE messages ADD COLUMN extracted_length INTEGER;
ALTER TABLE messages ADD COLUMN extracted_text TEXT AS (coalesce(extracted_apart, substr(text_body, 1, extracted_length)));
DROP TRIGGER messages_are_as_they_came;
CREATE TRIGGER messages_are_as_they_came BEFORE UPDATE OF
  id, organization_id, inbox_id, direction, mode, from_address, from_name, to_addresses, cc_addresses,
  bcc_addresses, reply_to, subject, snippet, text_body, extracted_apart, message_id_header, in_reply_to, reference_ids,
  is_auto_reply, is_spam, auth, created_at, from_domain_shown, reply_to_addresses, forward_of, extracted_length
ON messages BEGIN
  SELECT RAISE(ABORT, 'what a message says does not change');
END;
