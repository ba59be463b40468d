-- Who did what: a chain of hashes for each organization.
CREATE TABLE audit (
  organization_id TEXT NOT NULL,
  seq             INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  type            TEXT NOT NULL,
  actor           TEXT NOT NULL,
  subject         TEXT,
  request_id      TEXT,
  details         TEXT NOT NULL,
  hash            BLOB NOT NULL,
  PRIMARY KEY (organization_id, seq)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER audit_stays_as_it_was BEFORE UPDATE ON audit BEGIN
  SELECT RAISE(ABORT, 'the audit log does not change');
END;
CREATE TABLE audit_waiting (
  seq             INTEGER PRIMARY KEY,
  organization_id TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  type            TEXT NOT NULL,
  actor           TEXT NOT NULL,
  subject         TEXT,
  details         TEXT NOT NULL
) STRICT;
