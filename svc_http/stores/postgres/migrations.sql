-- numbers
CREATE TABLE IF NOT EXISTS schema_migrations
  (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, step text NOT NULL)
-- number
INSERT INTO schema_migrations (step) VALUES ($1)
-- applied
SELECT number, step FROM schema_migrations ORDER BY number
-- epoch
INSERT INTO meta VALUES ('epoch', $1) ON CONFLICT (name) DO NOTHING
-- format
SELECT convert_from(value, 'UTF8') FROM meta WHERE name = 'format'
-- keep_format
INSERT INTO meta VALUES ('format', $1) ON CONFLICT (name) DO UPDATE SET value = $1
-- set_epoch
UPDATE meta SET value = $1 WHERE name = 'epoch'
-- new
INSERT INTO shapes (collection, shape, number, added) VALUES ($1, $2, 1, $2)
-- begin
UPDATE shapes SET target = $2,
  next = CASE WHEN target = $2 THEN next ELSE greatest(number, next) + 1 END
WHERE collection = $1 RETURNING next
-- end
UPDATE shapes SET shape = $2, number = next, added = $3, target = NULL, next = NULL
WHERE collection = $1
-- keep
UPDATE shapes SET shape = $2 WHERE collection = $1
-- is_whole
SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)
-- acts
ON ledger_lines (tenant,
  substring(line FROM position('"target":"'::bytea IN substring(line FROM 1 FOR 800)) + 10 FOR 28),
  seq)
WHERE position('"target":"'::bytea IN substring(line FROM 1 FOR 800))
  BETWEEN 1 AND position(',"payload":'::bytea IN substring(line FROM 1 FOR 800))
