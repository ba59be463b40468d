-- Which blobs are files: each start asks, and read all raw messages to know.
CREATE INDEX blobs_in_files ON blobs (id) WHERE data IS NULL;
