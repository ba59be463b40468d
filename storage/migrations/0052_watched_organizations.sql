-- Has it bounces or complaints that are too many, of messages that are too few for the circuit breaker yet?
ALTER TABLE organizations ADD COLUMN is_watched INTEGER NOT NULL DEFAULT 0 CHECK (is_watched IN (0, 1));
