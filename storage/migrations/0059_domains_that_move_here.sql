-- Whether mail for a domain may soon have a place is found without a look at all domains and inboxes.
CREATE INDEX domains_pending ON domains (domain_name) WHERE status = 'pending';
CREATE INDEX inboxes_ever_by_domain ON inboxes (domain, organization_id);
