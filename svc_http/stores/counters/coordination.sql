-- tables
CREATE UNLOGGED TABLE IF NOT EXISTS svc_windows (
  name text PRIMARY KEY, minute int8 NOT NULL, in_minute int8 NOT NULL, day int8 NOT NULL,
  in_day int8 NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX IF NOT EXISTS svc_windows_day ON svc_windows (day);
CREATE UNLOGGED TABLE IF NOT EXISTS svc_failures (
  address text PRIMARY KEY, times timestamptz[] NOT NULL, before timestamptz[] NOT NULL,
  last timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS svc_failures_last ON svc_failures (last);
CREATE UNLOGGED TABLE IF NOT EXISTS svc_leases (
  name text PRIMARY KEY, holder text NOT NULL, until timestamptz NOT NULL
);
-- hit
-- Under READ COMMITTED a row that another request has just changed is read again once it is locked,
-- so the decision rests on the values that are updated. The second is limited to the clock of the
-- server plus a minute: a caller whose clock is far ahead must not advance the windows of all.
WITH asked AS (
  SELECT * FROM unnest($1::text[], $2::int8[], $3::int8[]) AS a (name, per_minute, per_day)
), clock AS (
  -- Later windows than `last` were opened before the clock was set back.
  SELECT least($4::int8, now + 60) AS second, greatest($4::int8, now) AS last
  FROM extract(epoch FROM clock_timestamp()) AS e (moment), cast(moment AS int8) AS now
), held AS MATERIALIZED (
  SELECT * FROM svc_windows WHERE name = ANY ($1) ORDER BY name FOR UPDATE
), turned AS MATERIALIZED (
  SELECT name,
    CASE WHEN minute > last / 60 + 1 THEN last / 60 ELSE greatest(minute, second / 60) END
      AS minute,
    CASE WHEN day > last / 86400 + 1 THEN last / 86400 ELSE greatest(day, second / 86400) END
      AS day,
    CASE WHEN minute < second / 60 THEN 0 ELSE in_minute END AS in_minute,
    CASE WHEN day < second / 86400 THEN 0 ELSE in_day END AS in_day
  FROM held, clock
), decision AS (
  SELECT (count(*) = cardinality($1)
    AND bool_and(in_minute < per_minute AND in_day < per_day))::int AS fits
  FROM turned JOIN asked USING (name)
), kept AS (
  UPDATE svc_windows AS w SET minute = t.minute, in_minute = t.in_minute + fits,
    day = t.day, in_day = t.in_day + fits
  FROM turned AS t, decision
  WHERE w.name = t.name AND (fits = 1 OR w.minute <> t.minute OR w.day <> t.day)
)
SELECT minute, day, in_minute, in_day FROM turned ORDER BY array_position($1, name)
-- open_windows
WITH clock AS (
  SELECT least($2::int8, extract(epoch FROM clock_timestamp())::int8) / 86400 AS day
), old AS (
  DELETE FROM svc_windows WHERE name IN (
    SELECT name FROM svc_windows WHERE day < (SELECT day FROM clock) - 1
    ORDER BY day LIMIT 10 FOR UPDATE SKIP LOCKED)
)
INSERT INTO svc_windows (name, minute, in_minute, day, in_day)
SELECT name, 0, 0, day, 0 FROM unnest($1::text[]) AS a (name), clock ORDER BY name
ON CONFLICT DO NOTHING
-- record
-- The former times are stored beside the present ones, because RETURNING can return only the new
-- values of a row.
WITH old AS (
  DELETE FROM svc_failures WHERE address IN (
    SELECT address FROM svc_failures WHERE last <= $2::timestamptz - $4::interval
    AND address <> $1 ORDER BY last LIMIT 2 FOR UPDATE SKIP LOCKED)
)
INSERT INTO svc_failures AS f (address, times, before, last)
VALUES ($1, ARRAY[$2::timestamptz], '{}', $2)
ON CONFLICT (address) DO UPDATE SET before = f.times, last = $2, times = CASE
  WHEN cardinality(f.times) = $3 AND f.times[1] + $4 > $2 THEN f.times
  ELSE (SELECT array_agg(t ORDER BY t)
    FROM (SELECT t FROM unnest(f.times || $2) AS t ORDER BY t DESC LIMIT $3) AS newest)
END
RETURNING before AS times
-- clear
DELETE FROM svc_failures WHERE $1::text IS NULL OR address = $1 RETURNING 1
-- take
INSERT INTO svc_leases AS l (name, holder, until) VALUES ($1, $2, clock_timestamp() + $3::interval)
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
WHERE l.holder = $2 OR l.until <= clock_timestamp()
RETURNING true
-- failures
SELECT times FROM svc_failures WHERE address = $1
-- locked
SELECT address, times FROM svc_failures WHERE last > $1
-- release
DELETE FROM svc_leases WHERE name = $1 AND holder = $2
-- tell
SELECT pg_notify($1, $2)
