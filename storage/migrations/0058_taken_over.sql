-- Keys that one minted, and that are still active, are found without a look at all others.
CREATE INDEX api_keys_by_minter ON api_keys (minted_by) WHERE is_active = 1;
