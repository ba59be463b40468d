-- Active inboxes and open drafts are counted as they come and go.
CREATE TABLE organization_counts (
  organization_id TEXT NOT NULL,
  counted         TEXT NOT NULL,                 -- 'inboxes' that are active, 'open_drafts'
  amount          INTEGER NOT NULL,
  PRIMARY KEY (organization_id, counted)
) STRICT, WITHOUT ROWID;
INSERT INTO organization_counts (organization_id, counted, amount)
  SELECT organization_id, 'inboxes', count(*) FROM inboxes WHERE is_active = 1 GROUP BY organization_id;
INSERT INTO organization_counts (organization_id, counted, amount)
  SELECT organization_id, 'open_drafts', count(*) FROM drafts WHERE status = 'draft' GROUP BY organization_id;
CREATE TRIGGER inboxes_come_into_the_count AFTER INSERT ON inboxes WHEN NEW.is_active BEGIN
  INSERT INTO organization_counts (organization_id, counted, amount) VALUES (NEW.organization_id, 'inboxes', 1)
    ON CONFLICT (organization_id, counted) DO UPDATE SET amount = amount + 1;
END;
CREATE TRIGGER inboxes_go_from_the_count AFTER UPDATE OF is_active ON inboxes WHEN OLD.is_active AND NOT NEW.is_active BEGIN
  UPDATE organization_counts SET amount = amount - 1 WHERE organization_id = OLD.organization_id AND counted = 'inboxes';
END;
CREATE TRIGGER open_drafts_come_into_the_count AFTER INSERT ON drafts WHEN NEW.status = 'draft' BEGIN
  INSERT INTO organization_counts (organization_id, counted, amount) VALUES (NEW.organization_id, 'open_drafts', 1)
    ON CONFLICT (organization_id, counted) DO UPDATE SET amount = amount + 1;
END;
CREATE TRIGGER open_drafts_go_from_the_count AFTER UPDATE OF status ON drafts WHEN OLD.status = 'draft' AND NEW.status <> 'draft' BEGIN
  UPDATE organization_counts SET amount = amount - 1 WHERE organization_id = OLD.organization_id AND counted = 'open_drafts';
END;
