-- What was lost is told to those readers alone who wanted it; an empty type: of any inbox and type, from before this step.
ALTER TABLE events_gone RENAME TO events_gone_before;
CREATE TABLE events_gone (
  organization_id TEXT NOT NULL,
  inbox_id        TEXT NOT NULL,
  type            TEXT NOT NULL,
  seq             INTEGER NOT NULL,
  event_id        TEXT NOT NULL,
  PRIMARY KEY (organization_id, inbox_id, type)
) STRICT, WITHOUT ROWID;
INSERT INTO events_gone SELECT organization_id, '', '', seq, event_id FROM events_gone_before;
DROP TABLE events_gone_before;
CREATE INDEX events_gone_by_position ON events_gone (organization_id, seq);
CREATE INDEX events_gone_by_id ON events_gone (organization_id, event_id);
