-- A complaint counts once, and the circuit breaker counts anew from an approval.
ALTER TABLE recipients ADD COLUMN complained_at INTEGER;
ALTER TABLE organizations ADD COLUMN reputation_baseline TEXT;
