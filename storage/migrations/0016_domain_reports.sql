-- What other hosts report about a domain (DMARC and TLS), summed up (storage/domains/domain_reports.py).
CREATE TABLE domain_reports (
  id              TEXT PRIMARY KEY,
  domain_id       TEXT NOT NULL REFERENCES domains (id),
  kind            TEXT NOT NULL CHECK (kind IN ('dmarc', 'tls')),
  reporter        TEXT NOT NULL,
  report_id       TEXT NOT NULL,
  verified_domain TEXT,                          -- of who sent it; NULL: nobody knows
  begin_at        INTEGER NOT NULL,
  end_at          INTEGER NOT NULL,
  total           INTEGER NOT NULL,
  passed          INTEGER NOT NULL,
  is_truncated    INTEGER NOT NULL,
  detail          TEXT NOT NULL,
  message_id      TEXT NOT NULL,
  created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX domain_reports_by_domain ON domain_reports (domain_id, id);
CREATE UNIQUE INDEX domain_reports_once ON domain_reports (domain_id, kind, reporter, report_id, begin_at);
CREATE INDEX domain_reports_by_age ON domain_reports (created_at);
