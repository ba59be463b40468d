-- A send asks how many addresses were written to lately, and forgets those that were not: neither reads them all.
CREATE INDEX recent_recipients_by_age ON recent_recipients (organization_id, seen_at);

CREATE TABLE recent_recipient_counts (
  organization_id TEXT PRIMARY KEY,
  addresses       INTEGER NOT NULL               -- rows of recent_recipients
) STRICT, WITHOUT ROWID;
INSERT INTO recent_recipient_counts (organization_id, addresses)
  SELECT organization_id, count(*) FROM recent_recipients GROUP BY organization_id;
CREATE TRIGGER recent_recipients_come_into_the_count AFTER INSERT ON recent_recipients BEGIN
  INSERT INTO recent_recipient_counts (organization_id, addresses) VALUES (NEW.organization_id, 1)
    ON CONFLICT (organization_id) DO UPDATE SET addresses = addresses + 1;
END;
CREATE TRIGGER recent_recipients_go_from_the_count AFTER DELETE ON recent_recipients BEGIN
  UPDATE recent_recipient_counts SET addresses = addresses - 1 WHERE organization_id = OLD.organization_id;
END;
