CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE shapes (collection TEXT PRIMARY KEY, shape TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE changes (seq INTEGER PRIMARY KEY, scope TEXT NOT NULL, position INTEGER NOT NULL,
  id TEXT NOT NULL, change_type TEXT NOT NULL, resource_type TEXT NOT NULL,
  resource_id TEXT NOT NULL, version INTEGER NOT NULL, occurred_at INTEGER NOT NULL,
  path TEXT, details TEXT, UNIQUE (scope, position));
CREATE INDEX i_changes_type ON changes (scope, resource_type, position);
CREATE TABLE answers (tenant TEXT NOT NULL, operation TEXT NOT NULL, key TEXT NOT NULL,
  fingerprint BLOB NOT NULL, status INTEGER NOT NULL, headers TEXT NOT NULL, body BLOB NOT NULL,
  at INTEGER NOT NULL, PRIMARY KEY (tenant, operation, key));
CREATE INDEX i_answers ON answers (at);
CREATE TABLE ledgers (number INTEGER PRIMARY KEY CHECK (number < 1 << 23), tenant TEXT NOT NULL
  UNIQUE, size INTEGER NOT NULL, state BLOB NOT NULL);
CREATE TABLE ledger_lines (place INTEGER PRIMARY KEY, ledger INTEGER NOT NULL, id TEXT NOT NULL,
  subject TEXT NOT NULL, opens INTEGER NOT NULL, recorded_at TEXT NOT NULL, seal BLOB NOT NULL,
  body INTEGER NOT NULL, UNIQUE (ledger, id));
CREATE INDEX i_ledger_subject ON ledger_lines (subject);
CREATE INDEX i_ledger_opens ON ledger_lines (opens) WHERE opens = 1;
CREATE TABLE ledger_bodies (number INTEGER PRIMARY KEY, keys TEXT, line BLOB NOT NULL);
-- A table of one page moves its rows once, when it gets its second: let these be zeros.
INSERT INTO ledger_bodies VALUES (-1, NULL, zeroblob(3000)), (0, NULL, zeroblob(3000));
CREATE TABLE ledger_keys (digest INTEGER NOT NULL, place INTEGER NOT NULL, PRIMARY KEY
  (digest, place)) WITHOUT ROWID;
CREATE TABLE ledger_nodes (ledger INTEGER NOT NULL, level INTEGER NOT NULL,
  number INTEGER NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (ledger, level, number)) WITHOUT ROWID;
CREATE TABLE ledger_checkpoints (tenant TEXT NOT NULL, day TEXT NOT NULL, size INTEGER NOT NULL,
  text BLOB NOT NULL, PRIMARY KEY (tenant, day)) WITHOUT ROWID;
