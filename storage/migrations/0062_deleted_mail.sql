-- Bounces and complaints about a message that was deleted after a host took it count for its organization as ever.
CREATE TABLE deleted_mail (
  bounce_token    TEXT PRIMARY KEY,
  message_id      TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  inbox_id        TEXT NOT NULL,
  from_address    TEXT NOT NULL,
  envelope_from   TEXT NOT NULL,
  sent_at         INTEGER NOT NULL,
  recipients      TEXT NOT NULL,
  deleted_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX deleted_mail_by_organization ON deleted_mail (organization_id);
CREATE INDEX deleted_mail_by_age ON deleted_mail (deleted_at);
