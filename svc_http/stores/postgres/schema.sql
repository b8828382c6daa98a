-- What every database has, whatever its collections. Text is compared by its bytes (COLLATE "C"),
-- which is the order of code points that every other backend has.

CREATE TABLE meta (name text COLLATE "C" PRIMARY KEY, value bytea NOT NULL);

-- What the tables of a collection were made for. `number` is that of the shape, and `added` what
-- it has more than the one before; `target` and `next` are those of a step that has begun.
CREATE TABLE shapes (collection text COLLATE "C" PRIMARY KEY, shape text[] NOT NULL,
  number int NOT NULL, added text[] NOT NULL, target text[], next int);

CREATE TABLE changes (seq bigint GENERATED ALWAYS AS IDENTITY, scope text COLLATE "C" NOT NULL,
  position bigint NOT NULL, resource_type text COLLATE "C" NOT NULL, entry text NOT NULL,
  details text, PRIMARY KEY (scope, position));
CREATE INDEX i_changes_type ON changes (scope, resource_type, position);

CREATE TABLE answers (tenant text COLLATE "C" NOT NULL, operation text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL, fingerprint bytea NOT NULL, status int NOT NULL,
  headers text NOT NULL, body bytea NOT NULL, at bigint NOT NULL,
  PRIMARY KEY (tenant, operation, key));
CREATE INDEX i_answers ON answers (at, tenant, operation, key);

CREATE TABLE ledgers (tenant text COLLATE "C" PRIMARY KEY, size bigint NOT NULL,
  state bytea NOT NULL, recorded_at text COLLATE "C" NOT NULL);
CREATE TABLE ledger_lines (tenant text COLLATE "C" NOT NULL, seq bigint NOT NULL,
  id text COLLATE "C" NOT NULL, subject text COLLATE "C" NOT NULL, opens bool NOT NULL,
  recorded_at text COLLATE "C" NOT NULL, keys text, seal bytea NOT NULL, line bytea NOT NULL,
  PRIMARY KEY (tenant, seq), UNIQUE (tenant, id));
CREATE INDEX i_ledger_subject ON ledger_lines (tenant, subject, seq);
CREATE INDEX i_ledger_opens ON ledger_lines (tenant, seq) WHERE opens;
CREATE TABLE ledger_keys (tenant text COLLATE "C" NOT NULL, digest bigint NOT NULL,
  seq bigint NOT NULL, PRIMARY KEY (tenant, digest, seq));
CREATE TABLE ledger_nodes (tenant text COLLATE "C" NOT NULL, level int NOT NULL,
  number bigint NOT NULL, hash bytea NOT NULL, PRIMARY KEY (tenant, level, number));
CREATE TABLE ledger_checkpoints (tenant text COLLATE "C" NOT NULL, day text COLLATE "C" NOT NULL,
  size bigint NOT NULL, text bytea NOT NULL, PRIMARY KEY (tenant, day));
