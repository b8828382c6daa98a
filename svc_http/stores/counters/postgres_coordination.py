"""Coordination through a PostgreSQL database, in tables of its own beside those of the store.

Rule 1: the tables are unlogged. A crash of the database server empties them; in exchange, counting
        never waits for the disk.
Rule 2: what must be atomic is a single statement, and rows are locked in one order.
Rule 3: every insertion of a row deletes a few expired rows.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import asyncpg

from svc_core.access import lockout
from svc_core.operation.ports import CommitListener, Failures, LockedAddress, Pool, PoolUsage
from svc_http.stores.counters.circuit import ANSWER_SECONDS, Circuit
from svc_http.stores.counters.in_process import Coordination
from svc_http.stores.counters.listener import SignalListener

CONNECTIONS_MAX: Final = 4
"""The connections of one process: each counts some thousand requests a second."""

OPEN_SECONDS: Final = 5.0
"""How long the first call of a process may take, which may have to create the tables."""

CHANNEL: Final = "svc_signals"

FAILURES: Final = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError)
"""The exceptions that mean that the database does not answer."""

_TABLES: Final = """
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
"""

_LOCK: Final = 0x737663  # the advisory lock under which the tables are created

# Under READ COMMITTED a row that another request has just changed is read again once it is locked,
# so the decision rests on the values that are updated. The second is limited to the clock of the
# server plus a minute: a caller whose clock is far ahead must not advance the windows of all.
_HIT: Final = """
WITH asked AS (
  SELECT * FROM unnest($1::text[], $2::int8[], $3::int8[]) AS a (name, per_minute, per_day)
), clock AS (
  SELECT least($4::int8, extract(epoch FROM clock_timestamp())::int8 + 60) AS second
), held AS MATERIALIZED (
  SELECT * FROM svc_windows WHERE name = ANY ($1) ORDER BY name FOR UPDATE
), turned AS MATERIALIZED (
  SELECT name, greatest(minute, second / 60) AS minute, greatest(day, second / 86400) AS day,
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
  WHERE w.name = t.name AND (fits = 1 OR w.minute < t.minute OR w.day < t.day)
)
SELECT minute, day, in_minute, in_day FROM turned ORDER BY array_position($1, name)
"""

_OPEN: Final = """
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
"""

# The former times are stored beside the present ones, because RETURNING can return only the new
# values of a row.
_RECORD: Final = """
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
"""

_CLEAR: Final = "DELETE FROM svc_failures WHERE $1::text IS NULL OR address = $1 RETURNING 1"

_TAKE: Final = """
INSERT INTO svc_leases AS l (name, holder, until) VALUES ($1, $2, clock_timestamp() + $3::interval)
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
WHERE l.holder = $2 OR l.until <= clock_timestamp()
RETURNING true
"""


async def _no_reset(_: Any) -> None:
    """Skip the reset of a returned connection: the statements here leave no state behind."""


class PostgresCoordination:
    """Implements the four coordination ports in one database; for one event loop."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._pool: Any = None
        self._opening = asyncio.Lock()
        self._turns = asyncio.Semaphore(CONNECTIONS_MAX)
        self.circuit = Circuit(FAILURES)
        self._signal_circuit = Circuit(FAILURES)  # a failing signal must refuse no request
        self._listener = SignalListener(self._listen, FAILURES)

    # -- counters ------------------------------------------------------------------------------

    async def hit(self, pools: Sequence[Pool], second: int) -> PoolUsage:
        """Count one request in all of the pools or in none."""
        names = [f"{pool.name}:{pool.subject}" for pool in pools[::2]]
        limits = [pool.limit for pool in pools]
        values = names, limits[::2], limits[1::2], second
        rows = await self._fetch(_HIT, *values)
        while len(rows) < len(names):  # the first request of a subject
            await self._fetch(_OPEN, names, second)
            rows = await self._fetch(_HIT, *values)
        used = tuple([count for row in rows for count in (row["in_minute"], row["in_day"])])
        return PoolUsage(used, max(row["minute"] for row in rows), max(row["day"] for row in rows))

    # -- lockouts ------------------------------------------------------------------------------

    async def failures(self, address: str) -> Failures:
        """The failures of one address."""
        return _times(
            await self._fetch("SELECT times FROM svc_failures WHERE address = $1", address)
        )

    async def record(self, address: str, now: datetime) -> Failures:
        """Count one unknown key; the failures before it."""
        bounds = lockout.ATTEMPTS_MAX, lockout.WINDOW
        return _times(await self._fetch(_RECORD, address, now, *bounds))

    async def locked(self, now: datetime) -> tuple[LockedAddress, ...]:
        """The addresses that are locked at `now`."""
        recent = "SELECT address, times FROM svc_failures WHERE last > $1"
        rows = await self._fetch(recent, now - lockout.WINDOW)
        return lockout.locked_addresses({row["address"]: tuple(row["times"]) for row in rows}, now)

    async def clear(self, address: str | None) -> int:
        """Forget the failures of one address, or of all."""
        return len(await self._fetch(_CLEAR, address))

    # -- leases --------------------------------------------------------------------------------

    async def take(self, name: str, holder: str, seconds: float) -> bool:
        """Take or extend the lease of a name; see the port."""
        return bool(await self._fetch(_TAKE, name, holder, timedelta(seconds=seconds)))

    async def release(self, name: str, holder: str) -> None:
        """End the lease of a name; see the port."""
        statement = "DELETE FROM svc_leases WHERE name = $1 AND holder = $2"
        await self._fetch(statement, name, holder)

    # -- signals -------------------------------------------------------------------------------

    async def tell(self, names: frozenset[str]) -> None:
        """Signal to every process."""
        news = ",".join(sorted(names))
        await self._fetch("SELECT pg_notify($1, $2)", CHANNEL, news, circuit=self._signal_circuit)

    async def hear(self, listener: CommitListener) -> None:
        """Call `listener` for every signal from now on."""
        await self._listener.add(listener)

    async def _listen(self, listener: SignalListener) -> None:
        connection = await asyncpg.connect(self._address, timeout=ANSWER_SECONDS)
        try:
            is_over = asyncio.Event()
            connection.add_termination_listener(lambda _: is_over.set())
            await connection.add_listener(CHANNEL, lambda *args: listener.on_signal(args[-1]))
            listener.on_connect()
            await is_over.wait()
        finally:
            connection.terminate()

    async def close(self) -> None:
        """Close the connections."""
        await self._listener.close()
        if self._pool is not None:
            self._pool.terminate()

    # -- statements ----------------------------------------------------------------------------

    async def _fetch(
        self, statement: str, *values: Any, circuit: Circuit | None = None
    ) -> Sequence[Any]:
        circuit = circuit or self.circuit
        # Waiting for a free connection has no limit of time; using it has.
        async with self._turns:
            seconds = OPEN_SECONDS if self._pool is None else circuit.seconds
            with circuit.attempt():
                async with asyncio.timeout(seconds):
                    pool = await self._open_pool()
                    rows: Sequence[Any] = await pool.fetch(statement, *values)
                    return rows

    async def _open_pool(self) -> Any:
        async with self._opening:
            if self._pool is None:
                pool = await asyncpg.create_pool(
                    self._address,
                    min_size=0,
                    max_size=CONNECTIONS_MAX,
                    reset=_no_reset,
                    server_settings={"application_name": "svc counters"},
                )
                try:
                    await _create_tables(pool)
                except BaseException:
                    pool.terminate()
                    raise
                self._pool = pool
        return self._pool


async def _create_tables(pool: Any) -> None:
    """Create the tables if they do not exist."""
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute(f"SELECT pg_advisory_xact_lock({_LOCK})")
        # A role without the right to create tables can use those that another role has created.
        if await connection.fetchval("SELECT to_regclass('svc_leases') IS NULL"):
            await connection.execute(_TABLES)


def _times(rows: Sequence[Any]) -> Failures:
    return tuple(rows[0]["times"]) if rows else ()


def on_postgres(address: str) -> Coordination:
    """Coordination through the database at an address like `postgresql://user@127.0.0.1/svc`."""
    backend = PostgresCoordination(address)
    return Coordination(backend, backend, backend, backend, backend.close, backend.circuit)
