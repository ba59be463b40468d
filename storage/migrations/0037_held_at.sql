-- Since when the operator holds a recipient: its time to expire goes on when it is released. NULL: held from before that
-- was kept, whose time goes on unchanged.
ALTER TABLE recipients ADD COLUMN held_at INTEGER;
