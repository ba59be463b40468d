-- Destinations that the operator asked to try now, whatever is remembered of their hosts (storage/sending/queue_selection.py).
CREATE TABLE retries_asked (
  destination TEXT PRIMARY KEY,
  asked_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX retries_asked_by_time ON retries_asked (asked_at);
