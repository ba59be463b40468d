-- Reports about shared domains, which are nobody's registration, are kept as well.
ALTER TABLE domain_reports RENAME TO domain_reports_before;
CREATE TABLE domain_reports (
  id              TEXT PRIMARY KEY,
  domain_id       TEXT REFERENCES domains (id),  -- NULL: of none, but
  shared_domain   TEXT,                          -- a shared domain's name
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
  created_at      INTEGER NOT NULL,
  CHECK ((domain_id IS NULL) <> (shared_domain IS NULL))
) STRICT;
INSERT INTO domain_reports
  SELECT id, domain_id, NULL, kind, reporter, report_id, verified_domain, begin_at, end_at, total, passed, is_truncated,
    detail, message_id, created_at FROM domain_reports_before;
DROP TABLE domain_reports_before;
CREATE INDEX domain_reports_by_domain ON domain_reports (domain_id, id);
CREATE INDEX domain_reports_by_shared_domain ON domain_reports (shared_domain, id) WHERE shared_domain IS NOT NULL;
CREATE UNIQUE INDEX domain_reports_once ON domain_reports
  (coalesce(domain_id, shared_domain), kind, reporter, report_id, begin_at, coalesce(verified_domain, ''));
CREATE INDEX domain_reports_by_age ON domain_reports (created_at);
