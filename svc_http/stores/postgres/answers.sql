-- get
SELECT fingerprint, status, headers, body, at FROM answers
WHERE tenant = $1 AND operation = $2 AND key = $3
-- put
INSERT INTO answers (tenant, operation, key, fingerprint, status, headers, body, at)
SELECT ?, n.* FROM unnest(?::text[], ?::text[], ?::bytea[], ?::int[], ?::text[], ?::bytea[],
  ?::bigint[]) AS n
ON CONFLICT (tenant, operation, key) DO UPDATE SET fingerprint = excluded.fingerprint,
  status = excluded.status, headers = excluded.headers, body = excluded.body, at = excluded.at
-- drop
WITH own AS MATERIALIZED (
  SELECT operation, key, octet_length(body) AS size FROM answers WHERE tenant = $1
  ORDER BY operation, key LIMIT $2),
fitting AS (
  SELECT *, sum(size) OVER (ORDER BY operation, key ROWS UNBOUNDED PRECEDING) - size AS before
  FROM own)
DELETE FROM answers AS a USING fitting AS f
WHERE a.tenant = $1 AND a.operation = f.operation AND a.key = f.key AND f.before < $3
RETURNING 1
-- purge
WITH old AS MATERIALIZED (
  -- Whoever is writing one of them keeps it: nobody waits for a purge, and it waits for nobody.
  SELECT tenant, operation, key, at, octet_length(body) AS size FROM answers WHERE at < $1
  ORDER BY at, tenant, operation, key LIMIT $2 FOR UPDATE SKIP LOCKED),
fitting AS (
  SELECT *, sum(size) OVER (
    ORDER BY at, tenant, operation, key ROWS UNBOUNDED PRECEDING) - size AS before FROM old)
DELETE FROM answers AS a USING fitting AS f
WHERE a.tenant = f.tenant AND a.operation = f.operation AND a.key = f.key AND f.before < $3
RETURNING 1
