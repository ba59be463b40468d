-- Members are listed in pages, in the order in which they joined.
CREATE INDEX members_by_organization ON members (organization_id, joined_at, id);
