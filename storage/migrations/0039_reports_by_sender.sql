-- Ids of reports can be foreseen, so what a forger sends first is another report than the genuine one.
DROP INDEX domain_reports_once;
CREATE UNIQUE INDEX domain_reports_once
  ON domain_reports (domain_id, kind, reporter, report_id, begin_at, coalesce(verified_domain, ''));
