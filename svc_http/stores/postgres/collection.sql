-- create
CREATE TABLE {rows} (tenant text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL,
  ord bigint NOT NULL, version bigint NOT NULL, shape int NOT NULL, body bytea NOT NULL,
  PRIMARY KEY (tenant, id));
CREATE INDEX i_{rows} ON {rows} (tenant, ord DESC, id DESC);
CREATE TABLE {facets} (tenant text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL,
  ord bigint NOT NULL, name text COLLATE "C" NOT NULL, value text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, id, name, value));
CREATE INDEX i_{facets} ON {facets} (tenant, name, value, ord DESC, id DESC);
-- create_across
-- An expression, which is in no tenant's list: none may walk the rows of all.
CREATE INDEX a_{rows} ON {rows} ((ord - 0), tenant, id)
-- gone
DELETE FROM {facets} AS f USING w WHERE f.tenant = $1 AND f.id = $2 AND NOT EXISTS (
  SELECT FROM unnest(${at}::text[], ${next}::text[]) AS n (name, value)
  WHERE n.name = f.name AND n.value = f.value)
-- added
INSERT INTO {facets} AS f (tenant, id, name, value, ord)
SELECT $1, $2, n.name, n.value, $3
FROM w, unnest(${at}::text[], ${next}::text[]) AS n (name, value)
ON CONFLICT (tenant, id, name, value)
DO UPDATE SET ord = excluded.ord WHERE f.ord <> excluded.ord
-- all_gone
DELETE FROM {facets} AS f USING w WHERE f.tenant = $1 AND f.id = $2
