-- Policies of mail domains for TLS that were fetched (storage/sending/sts_policies.py).
CREATE TABLE sts_policies (
  domain     TEXT PRIMARY KEY,
  policy_id  TEXT NOT NULL,
  mode       TEXT NOT NULL CHECK (mode IN ('enforce', 'testing', 'none')),
  mx         TEXT NOT NULL,
  max_age_s  INTEGER NOT NULL,
  fetched_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sts_policies_by_age ON sts_policies (fetched_at);
CREATE INDEX sts_policies_by_end ON sts_policies (expires_at);
