-- Which key sent a message: who may not approve it, should it be held when its time comes.
ALTER TABLE messages ADD COLUMN submitted_by TEXT;
