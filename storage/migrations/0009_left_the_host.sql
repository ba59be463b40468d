-- Whether a message left the host is known of each attempt: a greeting alone is not leaving.
ALTER TABLE delivery_attempts ADD COLUMN has_left INTEGER;
