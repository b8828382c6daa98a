-- get
SELECT version, ord, body FROM {rows} WHERE tenant = ? AND id = ?
-- get_many
SELECT id, version, ord, body FROM {rows}
WHERE tenant = ? AND id IN (SELECT value FROM json_each(?))
-- find
SELECT row, version, ord, facets FROM {rows} WHERE tenant = ? AND id = ?
-- insert
INSERT INTO {rows} (tenant, id, {columns}) VALUES (?, ?, {marks})
ON CONFLICT (tenant, id) DO NOTHING
-- update
UPDATE {rows} SET {updates} WHERE row = ?
-- remove
DELETE FROM {rows} WHERE row = ?
-- add_facet
INSERT INTO {facets} (tenant, name, value, ord, id, row) VALUES (?, ?, ?, ?, ?, ?)
-- drop_facet
DELETE FROM {facets} WHERE tenant = ? AND name = ? AND value = ? AND ord = ? AND id = ?
-- add_text
INSERT INTO {texts} (rowid, owner, tokens) VALUES (?, ?, ?)
-- drop_text
DELETE FROM {texts} WHERE rowid = ?
-- reindexed
SELECT row, tenant, id, version, body FROM {rows} WHERE row > ? ORDER BY row LIMIT ?
-- create
CREATE TABLE {rows} (row INTEGER PRIMARY KEY, tenant TEXT NOT NULL, id TEXT NOT NULL,
  version INTEGER NOT NULL, ord INTEGER NOT NULL, facets TEXT NOT NULL, body BLOB NOT NULL
  {filters}, UNIQUE (tenant, id))
-- create_order
CREATE INDEX i_{rows} ON {rows} (tenant, ord DESC, id DESC)
-- create_facets
CREATE TABLE {facets} (tenant TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
  ord INTEGER NOT NULL, id TEXT NOT NULL, row INTEGER NOT NULL, PRIMARY KEY
  (tenant, name, value, ord DESC, id DESC)) WITHOUT ROWID
-- create_across
CREATE INDEX a_{rows} ON {rows} (ord, tenant, id)
-- create_texts
CREATE VIRTUAL TABLE {texts} USING fts5(owner, tokens, tokenize = "{tokenizer}")
-- drop_texts
DROP TABLE {texts}
-- add_key
ALTER TABLE {rows} ADD COLUMN k_{name} {k}
-- index_key
CREATE INDEX i_{rows}_{name} ON {rows} (tenant, k_{name}, ord DESC, id DESC) WHERE k_{name} IS
  NOT NULL
-- index_digest
CREATE INDEX i_{rows}_{name} ON {rows} (tenant, k_{name}) WHERE k_{name} IS NOT NULL
-- add_number
ALTER TABLE {rows} ADD COLUMN n_{name} {n}
-- index_number
CREATE INDEX i_{rows}_{name} ON {rows} (tenant, n_{name} DESC, id DESC)
-- index_pair
CREATE INDEX i_{rows}_{key}_{number} ON {rows} (tenant, k_{key}, n_{number} DESC, id DESC) WHERE
  k_{key} IS NOT NULL
-- drop_key
ALTER TABLE {rows} DROP COLUMN k_{name}
-- drop_number
ALTER TABLE {rows} DROP COLUMN n_{name}
-- drop_index
DROP INDEX i_{rows}{index}
-- drop_pair
DROP INDEX i_{rows}_{key}_{number}
