-- The store names the master key that it is sealed under.
CREATE TABLE master_key (
  fingerprint BLOB PRIMARY KEY
) STRICT, WITHOUT ROWID;
