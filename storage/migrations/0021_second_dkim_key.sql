-- A domain may sign with a second key, of another algorithm (RFC 8463): one of each is active.
ALTER TABLE dkim_keys ADD COLUMN algorithm TEXT NOT NULL DEFAULT 'rsa' CHECK (algorithm IN ('rsa', 'ed25519'));
DROP INDEX dkim_keys_active;
CREATE UNIQUE INDEX dkim_keys_active ON dkim_keys (domain_name, algorithm) WHERE status = 'active';
