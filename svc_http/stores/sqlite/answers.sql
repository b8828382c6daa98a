-- get
SELECT fingerprint, status, headers, body, at FROM answers
WHERE tenant = ?1 AND operation = ?2 AND key = ?3
-- put
INSERT INTO answers (tenant, operation, key, fingerprint, status, headers, body, at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (tenant, operation, key) DO UPDATE SET fingerprint = excluded.fingerprint,
  status = excluded.status, headers = excluded.headers, body = excluded.body, at = excluded.at
-- drop
DELETE FROM answers WHERE rowid IN (
  WITH own AS (SELECT rowid AS id, length(body) AS size FROM answers WHERE tenant = ?1 LIMIT ?2)
  SELECT id FROM (
    SELECT id, sum(size) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) - size AS before FROM own)
  WHERE before < ?3)
RETURNING 1
-- purge
DELETE FROM answers WHERE rowid IN (
  WITH old AS (SELECT rowid AS id, at, length(body) AS size FROM answers WHERE at < ?1
    ORDER BY at, tenant, operation, key LIMIT ?2)
  SELECT id FROM (
    SELECT id, sum(size) OVER (ORDER BY at, id ROWS UNBOUNDED PRECEDING) - size AS before FROM old)
  WHERE before < ?3)
RETURNING 1
