-- append
INSERT INTO changes (scope, position, resource_type, entry, details)
SELECT n.scope,
  (SELECT coalesce(max(h.position), 0) FROM changes AS h WHERE h.scope = n.scope) + n.place,
  n.resource_type, n.entry, n.details
FROM unnest(?::text[], ?::int[], ?::text[], ?::text[], ?::text[])
  AS n (scope, place, resource_type, entry, details)
-- drop
DELETE FROM changes WHERE scope = $1 AND position IN (
  SELECT position FROM changes WHERE scope = $1 ORDER BY position LIMIT $2) RETURNING 1
-- heads
SELECT (SELECT coalesce(max(position), 0) FROM changes WHERE scope = $1) AS everybody,
  (SELECT coalesce(max(position), 0) FROM changes WHERE scope = $2) AS own
-- read
SELECT h.everybody, h.own, e.scope, e.position, e.resource_type, e.details, e.entry FROM (
  SELECT (SELECT coalesce(max(position), 0) FROM changes WHERE scope = $1) AS everybody,
    (SELECT coalesce(max(position), 0) FROM changes WHERE scope = $2) AS own) AS h
LEFT JOIN (
  (SELECT seq, scope, position, resource_type, entry, details FROM changes
    WHERE scope = $1 AND position > $3 ORDER BY position LIMIT $5)
  UNION ALL
  (SELECT seq, scope, position, resource_type, entry, details FROM changes
    WHERE scope = $2 AND position > $4 ORDER BY position LIMIT $5)
  ORDER BY seq LIMIT $5) AS e ON TRUE
ORDER BY e.seq
-- read_types
SELECT h.everybody, h.own, e.scope, e.position, e.resource_type, e.details, e.entry FROM (
  SELECT (SELECT coalesce(max(position), 0) FROM changes WHERE scope = $1) AS everybody,
    (SELECT coalesce(max(position), 0) FROM changes WHERE scope = $2) AS own) AS h
LEFT JOIN (
  SELECT a.* FROM unnest($6::text[]) AS t (name) CROSS JOIN LATERAL (
    -- One walk per type: an IN would read every entry of the types before it sorts.
    (SELECT seq, scope, position, resource_type, entry, details FROM changes
      WHERE scope = $1 AND resource_type = t.name AND position > $3 ORDER BY position LIMIT $5)
    UNION ALL
    (SELECT seq, scope, position, resource_type, entry, details FROM changes
      WHERE scope = $2 AND resource_type = t.name AND position > $4 ORDER BY position LIMIT $5)
  ) AS a ORDER BY a.seq LIMIT $5) AS e ON TRUE
ORDER BY e.seq
-- epoch
SELECT value FROM meta WHERE name = 'epoch'
