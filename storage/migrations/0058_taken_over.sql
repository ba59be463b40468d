-- The inboxes that others have on a name, and the policies of an organization, are found without a look at all.
CREATE INDEX inboxes_by_domain ON inboxes (domain, organization_id) WHERE is_active = 1;
DROP INDEX policies_of_work;
CREATE INDEX policies_by_organization ON policies (organization_id, has_work);
