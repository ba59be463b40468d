-- Where more is due than goes at once, organizations take turns.
CREATE INDEX messages_scheduled_by_organization ON messages (organization_id, scheduled_at) WHERE status = 'scheduled';
