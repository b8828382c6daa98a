-- heads
WITH RECURSIVE t (tenant, place) AS (SELECT min(tenant), 1 FROM {rows} WHERE tenant > ?
  UNION ALL SELECT (SELECT min(c.tenant) FROM {rows} AS c WHERE c.tenant > t.tenant), place + 1
  FROM t WHERE tenant IS NOT NULL AND place < ?),
h AS MATERIALIZED (SELECT t.place, t.tenant,
  (SELECT c.id FROM {rows} AS c WHERE c.tenant = t.tenant ORDER BY c.ord, c.id LIMIT 1) AS id FROM t)
SELECT c.tenant, c.id, c.version, c.ord, c.body FROM h CROSS JOIN {rows} AS c
WHERE c.tenant = h.tenant AND c.id = h.id ORDER BY h.place
