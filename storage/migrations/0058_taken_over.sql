-- Keys that one minted and that are still active, and the inboxes that others have on a name, are found without a look
-- at all.
CREATE INDEX api_keys_by_minter ON api_keys (minted_by) WHERE is_active = 1;
CREATE INDEX inboxes_by_domain ON inboxes (domain, organization_id) WHERE is_active = 1;
