-- origin
SELECT concat_ws(' ', (SELECT system_identifier FROM pg_control_system()),
  left(pg_walfile_name(pg_current_wal_lsn()), 8),
  (SELECT oid FROM pg_database WHERE datname = current_database()))
-- facts
SELECT name, value FROM meta WHERE name IN ('epoch', 'former', 'origin')
-- proof
-- The text of an entry begins with its id.
SELECT left(entry, 64) FROM changes WHERE scope = $1 AND position = $2
-- newest
SELECT (SELECT encode(value, 'hex') FROM meta WHERE name = 'epoch') AS epoch, position,
  left(entry, 64) AS proof
FROM changes WHERE scope = $1 ORDER BY position DESC LIMIT 1
-- adopt
INSERT INTO meta VALUES ('origin', $1) ON CONFLICT (name) DO NOTHING
-- renew
WITH former AS (
  UPDATE meta SET value = f.value FROM unnest($2::text[], $3::bytea[]) AS f (name, value)
  WHERE meta.name = 'epoch' AND meta.value = $1 AND f.name = 'epoch' RETURNING 1)
INSERT INTO meta SELECT f.name, f.value
FROM former, unnest($2::text[], $3::bytea[]) AS f (name, value) WHERE f.name <> 'epoch'
ON CONFLICT (name) DO UPDATE SET value = excluded.value
