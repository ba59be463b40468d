-- A test key uses up no draft of live keys. Who wrote a draft before is not known: it counts as a live key's.
ALTER TABLE drafts ADD COLUMN mode TEXT NOT NULL DEFAULT 'live' CHECK (mode IN ('live', 'test'));
