-- How much waits is counted, and what is due found, without a look at each row.
DROP INDEX recipients_due;
CREATE INDEX recipients_due ON recipients (next_attempt_at, message_id, position, domain, organization_id, status, lease)
  WHERE status IN ('queued', 'deferred') AND lease IS NULL;
