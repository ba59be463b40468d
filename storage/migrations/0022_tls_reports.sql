-- What the outbound sessions of a day were like, for reports to the domains (storage/sending/tls_sessions.py).
CREATE TABLE tls_sessions (
  day          INTEGER NOT NULL,
  domain       TEXT NOT NULL,
  policy_type  TEXT NOT NULL,
  policy       TEXT NOT NULL,
  result_type  TEXT NOT NULL,
  mx_host      TEXT NOT NULL,
  receiving_ip TEXT NOT NULL,
  sending_ip   TEXT NOT NULL,
  reason       TEXT NOT NULL,
  sessions     INTEGER NOT NULL,
  PRIMARY KEY (day, domain, policy_type, policy, result_type, mx_host, receiving_ip, sending_ip, reason)
) STRICT, WITHOUT ROWID;
-- The reports that were sent of them.
CREATE TABLE tls_reports_sent (
  day         INTEGER NOT NULL,
  domain      TEXT NOT NULL,
  destination TEXT NOT NULL,
  message_id  TEXT,
  PRIMARY KEY (day, domain, destination)
) STRICT, WITHOUT ROWID;
CREATE INDEX tls_report_mails ON tls_reports_sent (message_id);
