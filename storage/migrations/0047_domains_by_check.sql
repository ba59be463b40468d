-- What is due for a check is found without a look at every domain of the host.
CREATE INDEX domains_by_check ON domains (coalesce(last_checked_at, 0)) WHERE status = 'verified';
CREATE INDEX domains_waiting ON domains (coalesce(failing_since, created_at)) WHERE status = 'pending';
