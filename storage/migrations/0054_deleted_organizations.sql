-- Organizations that are deleted, bit by bit.
ALTER TABLE organizations ADD COLUMN deleted_at INTEGER;
ALTER TABLE organizations ADD COLUMN erased TEXT;
CREATE INDEX organizations_deleted ON organizations (id) WHERE deleted_at IS NOT NULL;

CREATE TRIGGER open_drafts_leave_the_count_with_their_row AFTER DELETE ON drafts WHEN OLD.status = 'draft' BEGIN
  UPDATE organization_counts SET amount = amount - 1 WHERE organization_id = OLD.organization_id AND counted = 'open_drafts';
END;

-- Addresses of deleted organizations that nobody may have yet (storage/mail/resting_addresses.py).
CREATE TABLE resting_addresses (
  address_hash TEXT PRIMARY KEY,                 -- SHA-256, in hexadecimal digits
  until        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX resting_addresses_by_end ON resting_addresses (until);
