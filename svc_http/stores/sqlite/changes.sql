-- append
INSERT INTO changes (scope, position, resource_type, details,
  id, change_type, resource_id, version, occurred_at, path)
VALUES (?1, (SELECT coalesce(max(position), 0) + 1 FROM changes WHERE scope = ?1), ?2, ?3,
  ?4, ?5, ?6, ?7, ?8, ?9)
-- drop
DELETE FROM changes WHERE seq IN (
  SELECT seq FROM changes WHERE scope = ?1 ORDER BY position LIMIT ?2) RETURNING 1
-- heads
SELECT (SELECT coalesce(max(position), 0) FROM changes WHERE scope = ?1) AS everybody,
  (SELECT coalesce(max(position), 0) FROM changes WHERE scope = ?2) AS own
-- read
SELECT heads.everybody, heads.own, e.scope, e.position, e.resource_type, e.details,
  e.id, e.change_type, e.resource_id, e.version, e.occurred_at, e.path
FROM (SELECT (SELECT coalesce(max(position), 0) FROM changes WHERE scope = ?1) AS everybody,
  (SELECT coalesce(max(position), 0) FROM changes WHERE scope = ?2) AS own) AS heads
LEFT JOIN (
  SELECT * FROM (SELECT * FROM changes
    WHERE scope = ?1 AND position > ?3 ORDER BY position LIMIT ?5)
  UNION ALL
  SELECT * FROM (SELECT * FROM changes
    WHERE scope = ?2 AND position > ?4 ORDER BY position LIMIT ?5)
  ORDER BY seq LIMIT ?5) AS e
ORDER BY e.seq
-- read_types
SELECT heads.everybody, heads.own, e.scope, e.position, e.resource_type, e.details,
  e.id, e.change_type, e.resource_id, e.version, e.occurred_at, e.path
FROM (SELECT (SELECT coalesce(max(position), 0) FROM changes WHERE scope = ?1) AS everybody,
  (SELECT coalesce(max(position), 0) FROM changes WHERE scope = ?2) AS own) AS heads
LEFT JOIN (
  -- One walk per type: an IN would read every entry of the types before it sorts.
  SELECT c.* FROM json_each(?6) AS t CROSS JOIN changes AS c ON c.seq IN (
    SELECT * FROM (SELECT seq FROM changes
      WHERE scope = ?1 AND resource_type = t.value AND position > ?3 ORDER BY position LIMIT ?5)
    UNION ALL
    SELECT * FROM (SELECT seq FROM changes
      WHERE scope = ?2 AND resource_type = t.value AND position > ?4 ORDER BY position LIMIT ?5))
  ORDER BY c.seq LIMIT ?5) AS e
ORDER BY e.seq
-- epoch
SELECT value FROM meta WHERE name = 'epoch'
