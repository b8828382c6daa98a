-- head
SELECT size, state FROM ledgers WHERE tenant = ?1
-- number
SELECT coalesce((SELECT number FROM ledgers WHERE tenant = ?1),
  (SELECT coalesce(max(number), 0) + 1 FROM ledgers))
-- grow
INSERT INTO ledgers (number, tenant, size, state) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (number) DO UPDATE SET size = excluded.size, state = excluded.state
-- add_line
INSERT INTO ledger_lines (place, ledger, id, subject, opens, recorded_at, seal, body)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
-- drop_lines
DELETE FROM ledger_lines WHERE place >= ?1 AND place < ?2
-- next_body
SELECT max(number) + 1 FROM ledger_bodies
-- add_body
INSERT INTO ledger_bodies (number, keys, line) VALUES (?1, ?2, ?3)
-- add_key
INSERT OR IGNORE INTO ledger_keys (digest, place) VALUES (?1, ?2)
-- add_node
INSERT INTO ledger_nodes (ledger, level, number, hash) VALUES (?1, ?2, ?3, ?4)
-- get_many
SELECT l.place & 0xFFFFFFFFFF, l.id, l.subject, l.opens, l.recorded_at, b.keys, l.seal, b.line
FROM ledgers AS g
CROSS JOIN ledger_lines AS l ON l.ledger = g.number AND l.id IN (SELECT value FROM json_each(?2))
CROSS JOIN ledger_bodies AS b ON b.number = l.body
WHERE g.tenant = ?1
-- lines
SELECT b.line FROM ledgers AS g
CROSS JOIN ledger_lines AS l
  ON l.place >= (g.number << 40) + ?2 AND l.place < (g.number << 40) + ?3
CROSS JOIN ledger_bodies AS b ON b.number = l.body
WHERE g.tenant = ?1 ORDER BY l.place
-- seals
SELECT l.seal FROM ledgers AS g
CROSS JOIN ledger_lines AS l
  ON l.place >= (g.number << 40) + ?2 AND l.place < (g.number << 40) + ?3
WHERE g.tenant = ?1 ORDER BY l.place
-- of_subject
SELECT b.line FROM ledgers AS g
CROSS JOIN ledger_lines AS l ON l.subject = ?2
  AND l.place >= (g.number << 40) + ?3 AND l.place < (g.number << 40) + ?4
CROSS JOIN ledger_bodies AS b ON b.number = l.body
WHERE g.tenant = ?1 ORDER BY l.place LIMIT ?5
-- acts
WITH RECURSIVE acts (place, id) AS (
  SELECT -1, value FROM json_each(?3)
  UNION
  SELECT l.place, l.id FROM acts AS a
  CROSS JOIN ledgers AS g ON g.tenant = ?1
  CROSS JOIN ledger_bodies AS b
    ON substr(b.line, instr(substr(b.line, 1, 800), CAST('"target":"' AS BLOB)) + 10, 28)
      = CAST(a.id AS BLOB)
    AND instr(substr(b.line, 1, 800), CAST('"target":"' AS BLOB))
      BETWEEN 1 AND instr(substr(b.line, 1, 800), CAST(',"payload":' AS BLOB))
  CROSS JOIN ledger_lines AS l ON l.body = b.number
    AND l.place > max(a.place, (g.number << 40) - 1) AND l.place < (g.number << 40) + ?4
    AND substr(l.id, 1, 4) = substr(a.id, 1, 4)
    AND l.subject IN (SELECT value FROM json_each(?2))
  LIMIT ?5)
SELECT b.line FROM acts
CROSS JOIN ledger_lines AS l ON l.place = acts.place
CROSS JOIN ledger_bodies AS b ON b.number = l.body WHERE acts.place >= 0 ORDER BY l.place
-- counts_of
SELECT s.value, (SELECT count(*) FROM ledger_lines AS l WHERE l.subject = s.value
  AND l.place >= (g.number << 40) + ?3 AND l.place < g.number + 1 << 40)
FROM ledgers AS g CROSS JOIN json_each(?2) AS s WHERE g.tenant = ?1
-- opened
SELECT l.place & 0xFFFFFFFFFF, l.id, l.subject, l.opens, l.recorded_at, b.keys, l.seal, b.line
FROM ledgers AS g
CROSS JOIN ledger_lines AS l ON l.opens = 1
  AND l.place >= g.number << 40 AND l.place < (g.number << 40) + ?2
CROSS JOIN ledger_bodies AS b ON b.number = l.body
WHERE g.tenant = ?1 ORDER BY l.place DESC LIMIT ?3
-- opened_by_key
-- The plus keeps SQLite from walking all openings where few subjects hold the key.
SELECT l.place & 0xFFFFFFFFFF, l.id, l.subject, l.opens, l.recorded_at, b.keys, l.seal, b.line
FROM ledgers AS g
CROSS JOIN ledger_lines AS l ON +l.opens = 1
  AND l.place >= g.number << 40 AND l.place < (g.number << 40) + ?2
  AND l.subject IN (SELECT h.subject FROM ledgers AS w
    CROSS JOIN ledger_keys AS k ON k.digest = ?4
      AND k.place >= w.number << 40 AND k.place < (w.number << 40) + ?5
    CROSS JOIN ledger_lines AS h ON h.place = k.place
    WHERE w.tenant = ?1)
CROSS JOIN ledger_bodies AS b ON b.number = l.body
WHERE g.tenant = ?1 ORDER BY l.place DESC LIMIT ?3
-- holders
SELECT d.value, json_extract(s.value, '$[0]'), json_extract(s.value, '$[1]') FROM ledgers AS g
CROSS JOIN json_each(?2) AS d
CROSS JOIN json_each((SELECT json_group_array(json_array(subject, ids)) FROM (
  SELECT h.subject, group_concat(h.id) AS ids FROM (SELECT place FROM ledger_keys
    WHERE digest = d.value AND place >= g.number << 40 AND place < (g.number << 40) + ?3
    ORDER BY place LIMIT ?5) AS stating
  CROSS JOIN ledger_lines AS h ON h.place = stating.place
  GROUP BY h.subject ORDER BY min(stating.place) LIMIT ?4))) AS s
WHERE g.tenant = ?1
-- size_at
WITH RECURSIVE halving (low, high, first) AS (
  SELECT 0, size, number << 40 FROM ledgers WHERE tenant = ?1
  UNION ALL
  SELECT iif(l.recorded_at <= ?2, (low + high) / 2 + 1, low),
    iif(l.recorded_at <= ?2, high, (low + high) / 2), first
  FROM halving CROSS JOIN ledger_lines AS l ON l.place = first + (low + high) / 2
  WHERE low < high)
SELECT low FROM halving WHERE low = high
-- nodes
SELECT n.hash FROM ledgers AS g
CROSS JOIN ledger_nodes AS n
  ON n.ledger = g.number AND n.level = ?2 AND n.number >= ?3 AND n.number < ?4
WHERE g.tenant = ?1 ORDER BY n.number
-- blank
UPDATE ledger_bodies SET line = zeroblob(length(line)),
  keys = CAST(zeroblob(length(CAST(keys AS BLOB))) AS TEXT)
WHERE number = (SELECT l.body FROM ledgers AS g
  CROSS JOIN ledger_lines AS l ON l.place = (g.number << 40) + ?2 WHERE g.tenant = ?1)
-- blank_lines
UPDATE ledger_bodies SET line = zeroblob(length(line)),
  keys = CAST(zeroblob(length(CAST(keys AS BLOB))) AS TEXT)
WHERE number IN (SELECT l.body FROM ledgers AS g
  CROSS JOIN ledger_lines AS l
    ON l.place >= (g.number << 40) + ?2 AND l.place < g.number + 1 << 40 WHERE g.tenant = ?1)
-- clear_lines
DELETE FROM ledger_lines WHERE place >= (SELECT number << 40 FROM ledgers WHERE tenant = ?1) + ?2
  AND place < (SELECT number + 1 << 40 FROM ledgers WHERE tenant = ?1)
-- clear_nodes
DELETE FROM ledger_nodes WHERE (ledger, level, number) IN (SELECT n.ledger, n.level, n.number
  FROM ledgers AS g CROSS JOIN ledger_nodes AS n ON n.ledger = g.number
  WHERE g.tenant = ?1 LIMIT ?2) RETURNING 1
-- clear_checkpoints
DELETE FROM ledger_checkpoints WHERE tenant = ?1 AND day IN (
  SELECT day FROM ledger_checkpoints WHERE tenant = ?1 ORDER BY day LIMIT ?2) RETURNING 1
-- clear_head
DELETE FROM ledgers AS g WHERE tenant = ?1
  AND NOT EXISTS (SELECT 1 FROM ledger_nodes AS n WHERE n.ledger = g.number) RETURNING 1
-- point
UPDATE ledger_lines SET body = ?3
WHERE place = (SELECT number << 40 FROM ledgers WHERE tenant = ?1) + ?2
-- drop_keys
DELETE FROM ledger_keys WHERE digest IN (SELECT value FROM json_each(?2))
  AND place = (SELECT number << 40 FROM ledgers WHERE tenant = ?1) + ?3
-- keep
INSERT INTO ledger_checkpoints (tenant, day, size, text) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (tenant, day) DO UPDATE SET size = excluded.size, text = excluded.text
WHERE excluded.size >= size
-- checkpoints
SELECT day, size, text FROM ledger_checkpoints WHERE tenant = ?1 ORDER BY day
-- end
SELECT l.place - (g.number << 40) + 1, l.recorded_at FROM ledgers AS g
CROSS JOIN ledger_lines AS l ON l.place >= g.number << 40 AND l.place < g.number + 1 << 40
WHERE g.tenant = ?1 ORDER BY l.place DESC LIMIT 1
-- stored
SELECT l.place & 0xFFFFFFFFFF, l.id, l.subject, l.opens = 1, l.recorded_at, b.keys, l.seal,
  coalesce(b.line, x'')
FROM ledgers AS g
CROSS JOIN json_each(?2) AS seq
CROSS JOIN ledger_lines AS l ON l.place = (g.number << 40) + seq.value
LEFT JOIN ledger_bodies AS b ON b.number = l.body
WHERE g.tenant = ?1 ORDER BY l.place
-- indexed
SELECT k.digest, k.place & 0xFFFFFFFFFF FROM ledgers AS g
CROSS JOIN json_each(?2) AS pair
CROSS JOIN ledger_keys AS k ON k.digest = json_extract(pair.value, '$[0]')
  AND k.place = (g.number << 40) + json_extract(pair.value, '$[1]')
WHERE g.tenant = ?1
-- index
SELECT k.digest, k.place & 0xFFFFFFFFFF FROM ledgers AS g
CROSS JOIN ledger_keys AS k ON (k.digest, k.place) > (?2, (g.number << 40) + ?3)
  AND k.place >= g.number << 40 AND k.place < g.number + 1 << 40
WHERE g.tenant = ?1 ORDER BY k.digest, k.place LIMIT ?4
