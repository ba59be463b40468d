-- The event log can be read by type and inbox.
DROP INDEX events_by_organization;
CREATE INDEX events_by_organization ON events (organization_id, seq, type, inbox_id);
