-- The queue steps over lines that are full by place, by whose mail it is, and by its destination, from the index alone.
DROP INDEX recipients_due;
CREATE INDEX recipients_due ON recipients (next_attempt_at, message_id, position, domain, organization_id)
  WHERE status IN ('queued', 'deferred') AND lease IS NULL;
