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
from svc_http.stores.statement_files import named_statements

CONNECTIONS_MAX: Final = 4
"""The connections of one process: each counts some thousand requests a second."""

OPEN_SECONDS: Final = 5.0
"""How long the first call of a process may take, which may have to create the tables."""

CHANNEL: Final = "svc_signals"

FAILURES: Final = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError)
"""The exceptions that mean that the database does not answer."""

_LOCK: Final = 0x737663  # the advisory lock under which the tables are created

_SQL: Final = named_statements(__package__, "coordination.sql")


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
        rows = await self._fetch(_SQL["hit"], *values)
        while len(rows) < len(names):  # the first request of a subject
            await self._fetch(_SQL["open_windows"], names, second)
            rows = await self._fetch(_SQL["hit"], *values)
        used = tuple([count for row in rows for count in (row["in_minute"], row["in_day"])])
        return PoolUsage(used, max(row["minute"] for row in rows), max(row["day"] for row in rows))

    # -- lockouts ------------------------------------------------------------------------------

    async def failures(self, address: str) -> Failures:
        """The failures of one address."""
        return _times(await self._fetch(_SQL["failures"], address))

    async def record(self, address: str, now: datetime) -> Failures:
        """Count one unknown key; the failures before it."""
        bounds = lockout.attempts_max(address), lockout.WINDOW
        return _times(await self._fetch(_SQL["record"], address, now, *bounds))

    async def locked(self, now: datetime) -> tuple[LockedAddress, ...]:
        """The addresses that are locked at `now`."""
        rows = await self._fetch(_SQL["locked"], now - lockout.WINDOW)
        return lockout.locked_addresses({row["address"]: tuple(row["times"]) for row in rows}, now)

    async def clear(self, address: str | None) -> int:
        """Forget the failures of one address, or of all."""
        return len(await self._fetch(_SQL["clear"], address))

    # -- leases --------------------------------------------------------------------------------

    async def take(self, name: str, holder: str, seconds: float) -> bool:
        """Take or extend the lease of a name; see the port."""
        return bool(await self._fetch(_SQL["take"], name, holder, timedelta(seconds=seconds)))

    async def release(self, name: str, holder: str) -> None:
        """End the lease of a name; see the port."""
        await self._fetch(_SQL["release"], name, holder)

    # -- signals -------------------------------------------------------------------------------

    async def tell(self, names: frozenset[str]) -> None:
        """Signal to every process."""
        news = ",".join(sorted(names))
        await self._fetch(_SQL["tell"], CHANNEL, news, circuit=self._signal_circuit)

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
            await connection.execute(_SQL["tables"])


def _times(rows: Sequence[Any]) -> Failures:
    return tuple(rows[0]["times"]) if rows else ()


def on_postgres(address: str) -> Coordination:
    """Coordination through the database at an address like `postgresql://user@127.0.0.1/svc`."""
    backend = PostgresCoordination(address)
    return Coordination(backend, backend, backend, backend, backend.close, backend.circuit)
