-- What a message says never changes, so what was rendered of it can be kept (storage/shown/kept_json.py).
CREATE TRIGGER messages_are_as_they_came BEFORE UPDATE OF
  id, organization_id, inbox_id, thread_id, direction, mode, from_address, from_name, to_addresses, cc_addresses,
  bcc_addresses, reply_to, subject, snippet, text_body, extracted_text, message_id_header, in_reply_to, reference_ids,
  is_auto_reply, is_spam, auth, created_at
ON messages BEGIN
  SELECT RAISE(ABORT, 'what a message says does not change');
END;

CREATE TRIGGER attachments_are_as_they_came BEFORE UPDATE ON attachments BEGIN
  SELECT RAISE(ABORT, 'an attachment does not change');
END;

CREATE TRIGGER attachments_go_with_their_message BEFORE DELETE ON attachments
WHEN EXISTS (SELECT 1 FROM messages WHERE id = OLD.message_id) BEGIN
  SELECT RAISE(ABORT, 'an attachment goes with its message');
END;
