-- Up to where the log of an organization has lost events by their age; what it lost before this step is not known.
CREATE TABLE events_gone (
  organization_id TEXT PRIMARY KEY,
  seq             INTEGER NOT NULL,
  event_id        TEXT NOT NULL
) STRICT, WITHOUT ROWID;
