-- head
SELECT size, state, recorded_at FROM ledgers WHERE tenant = $1
-- hold
SELECT size, state, recorded_at FROM ledgers WHERE tenant = $1 FOR UPDATE
-- grow
INSERT INTO ledgers (tenant, size, state, recorded_at) VALUES (?, ?, ?, ?)
ON CONFLICT (tenant) DO UPDATE
SET size = excluded.size, state = excluded.state, recorded_at = excluded.recorded_at
-- taken
SELECT id FROM ledger_lines WHERE tenant = $1 AND id = ANY ($2::text[])
-- add_lines
INSERT INTO ledger_lines (tenant, seq, id, subject, opens, recorded_at, keys, seal, line)
SELECT ?, n.* FROM unnest(?::bigint[], ?::text[], ?::text[], ?::bool[], ?::text[], ?::text[],
  ?::bytea[], ?::bytea[]) AS n
-- add_keys
INSERT INTO ledger_keys (tenant, digest, seq)
SELECT ?, n.* FROM unnest(?::bigint[], ?::bigint[]) AS n ON CONFLICT DO NOTHING
-- add_nodes
INSERT INTO ledger_nodes (tenant, level, number, hash)
SELECT ?, n.* FROM unnest(?::int[], ?::bigint[], ?::bytea[]) AS n
-- get_many
SELECT seq, id, subject, opens, recorded_at, keys, seal, line FROM ledger_lines
WHERE tenant = $1 AND id = ANY ($2::text[])
-- lines
SELECT line FROM ledger_lines WHERE tenant = $1 AND seq >= $2 AND seq < $3 ORDER BY seq
-- seals
SELECT seal FROM ledger_lines WHERE tenant = $1 AND seq >= $2 AND seq < $3 ORDER BY seq
-- of_subjects
SELECT s.subject, l.line FROM unnest($2::text[]) WITH ORDINALITY AS s (subject, place)
CROSS JOIN LATERAL (SELECT seq, line FROM ledger_lines
  WHERE tenant = $1 AND subject = s.subject AND seq >= $3 AND seq < $4
  ORDER BY seq LIMIT $5) AS l
ORDER BY s.place, l.seq LIMIT $5
-- acts
WITH RECURSIVE acts (seq, id) AS (
  SELECT -1::bigint, t.id COLLATE "C" FROM unnest($3::text[]) AS t (id)
  UNION
  SELECT l.seq, l.id FROM acts AS a JOIN ledger_lines AS l ON l.tenant = $1
    AND substring(l.line FROM position('"target":"'::bytea IN substring(l.line FROM 1 FOR 800)) + 10 FOR 28)
      = convert_to(a.id, 'UTF8')
    AND position('"target":"'::bytea IN substring(l.line FROM 1 FOR 800))
      BETWEEN 1 AND position(',"payload":'::bytea IN substring(l.line FROM 1 FOR 800))
    AND l.seq > a.seq AND l.seq < $4 AND left(l.id, 4) = left(a.id, 4)
    AND l.subject = ANY ($2::text[]))
SELECT line FROM ledger_lines WHERE tenant = $1
  AND seq IN (SELECT seq FROM (SELECT seq FROM acts LIMIT $5) AS a WHERE seq >= 0) ORDER BY seq
-- counts_of
SELECT subject, count(*) FROM ledger_lines
WHERE tenant = $1 AND subject = ANY ($2::text[]) AND seq >= $3 GROUP BY subject
-- opened
SELECT seq, id, subject, opens, recorded_at, keys, seal, line FROM ledger_lines
WHERE tenant = $1 AND opens AND seq < $2 ORDER BY seq DESC LIMIT $3
-- opened_by_key
SELECT seq, id, subject, opens, recorded_at, keys, seal, line FROM ledger_lines
WHERE tenant = $1 AND opens AND seq < $2 AND subject IN (
  SELECT h.subject FROM ledger_keys AS k
  JOIN ledger_lines AS h ON h.tenant = k.tenant AND h.seq = k.seq
  WHERE k.tenant = $1 AND k.digest = $4 AND k.seq < $5)
ORDER BY seq DESC LIMIT $3
-- holders
SELECT d.digest, s.subject, s.ids FROM unnest($2::bigint[]) AS d (digest)
CROSS JOIN LATERAL (SELECT h.subject, min(k.seq) AS first, string_agg(h.id, ',') AS ids
  FROM (SELECT seq FROM ledger_keys
    WHERE tenant = $1 AND digest = d.digest AND seq < $3 ORDER BY seq LIMIT $5) AS k
  JOIN ledger_lines AS h ON h.tenant = $1 AND h.seq = k.seq
  GROUP BY h.subject ORDER BY first LIMIT $4) AS s
ORDER BY s.first
-- size_at
WITH RECURSIVE halving (low, high) AS (
  SELECT 0::bigint, size FROM ledgers WHERE tenant = $1
  UNION ALL
  SELECT CASE WHEN l.recorded_at <= $2 THEN h.middle + 1 ELSE h.low END,
    CASE WHEN l.recorded_at <= $2 THEN h.high ELSE h.middle END
  FROM (SELECT low, high, (low + high) / 2 AS middle FROM halving WHERE low < high) AS h
  JOIN ledger_lines AS l ON l.tenant = $1 AND l.seq = h.middle)
SELECT low FROM halving WHERE low = high
-- nodes
SELECT hash FROM ledger_nodes
WHERE tenant = $1 AND level = $2 AND number >= $3 AND number < $4 ORDER BY number
-- erase
UPDATE ledger_lines SET line = $3, keys = NULL WHERE tenant = $1 AND id = $2
-- clear_lines
DELETE FROM ledger_lines WHERE tenant = $1 AND seq >= $2
-- clear_nodes
DELETE FROM ledger_nodes WHERE tenant = $1 AND (level, number) IN (
  SELECT level, number FROM ledger_nodes WHERE tenant = $1 LIMIT $2) RETURNING 1
-- clear_checkpoints
DELETE FROM ledger_checkpoints WHERE tenant = $1 AND day IN (
  SELECT day FROM ledger_checkpoints WHERE tenant = $1 ORDER BY day LIMIT $2) RETURNING 1
-- clear_head
DELETE FROM ledgers WHERE tenant = $1
  AND NOT EXISTS (SELECT 1 FROM ledger_nodes WHERE tenant = $1) RETURNING 1
-- drop_keys
DELETE FROM ledger_keys WHERE tenant = $1 AND digest = ANY ($2::bigint[]) AND seq = $3
-- keep
INSERT INTO ledger_checkpoints AS c (tenant, day, size, text) VALUES ($1, $2, $3, $4)
ON CONFLICT (tenant, day) DO UPDATE SET size = excluded.size, text = excluded.text
WHERE excluded.size >= c.size
-- end
SELECT coalesce((SELECT max(seq) + 1 FROM ledger_lines WHERE tenant = $1), 0),
  coalesce((SELECT recorded_at FROM ledgers WHERE tenant = $1), '')
-- stored
SELECT seq, id, subject, opens, recorded_at, keys, seal, line FROM ledger_lines
WHERE tenant = $1 AND seq = ANY ($2::bigint[]) ORDER BY seq
-- indexed
SELECT k.digest, k.seq FROM json_array_elements($2::json) AS n (pair)
JOIN ledger_keys AS k
  ON k.tenant = $1 AND k.digest = (n.pair ->> 0)::bigint AND k.seq = (n.pair ->> 1)::bigint
-- index
SELECT digest, seq FROM ledger_keys
WHERE tenant = $1 AND (digest, seq) > ($2::bigint, $3::bigint) ORDER BY digest, seq LIMIT $4
-- checkpoints
SELECT day, size, text FROM ledger_checkpoints WHERE tenant = $1 ORDER BY day
