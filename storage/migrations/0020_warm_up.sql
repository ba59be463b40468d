-- Messages of a day to a group of mail hosts, by the section that is warmed up (storage/sending/warm_up_counts.py).
CREATE TABLE warm_up_counts (
  day        TEXT NOT NULL,
  section    TEXT NOT NULL,
  host_group TEXT NOT NULL,
  messages   INTEGER NOT NULL,
  PRIMARY KEY (day, section, host_group)
) STRICT, WITHOUT ROWID;
