-- By which address of its inbox a message came, and by which list. Of what is there already nobody kept it.
ALTER TABLE messages ADD COLUMN delivered_to TEXT;
ALTER TABLE messages ADD COLUMN mailing_list TEXT;
DROP TRIGGER messages_are_as_they_came;
CREATE TRIGGER messages_are_as_they_came BEFORE UPDATE OF
  id, organization_id, inbox_id, direction, mode, from_address, from_name, to_addresses, cc_addresses,
  bcc_addresses, reply_to, subject, snippet, text_body, extracted_apart, message_id_header, in_reply_to, reference_ids,
  is_auto_reply, is_spam, auth, created_at, from_domain_shown, reply_to_addresses, forward_of, extracted_length,
  delivered_to, mailing_list
ON messages BEGIN
  SELECT RAISE(ABORT, 'what a message says does not change');
END;
