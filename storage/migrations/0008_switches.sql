-- What the operator has switched off (`maild queue pause`).
CREATE TABLE switched_off (
  name  TEXT PRIMARY KEY,
  since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
