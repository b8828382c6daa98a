"""Migrates a PostgreSQL database, while it is in use, to what the declared collections need.

Rule 1: every step has a number in `schema_migrations`, written when the step is complete. A step
        that was interrupted is repeated from its beginning, and every part of it is idempotent.
Rule 2: one process migrates at a time. The others poll instead of waiting for the lock: CREATE
        INDEX CONCURRENTLY waits for every running statement, also for one that waits for a lock.
Rule 3: a process that starts only adds columns and indexes, so that older processes go on working
        beside it. Filters that are no longer declared are dropped only by an explicit migration.
Rule 4: a table is locked for a moment at most, never while rows are filled or an index is built.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from svc_core.operation.ports import Collection
from svc_http.stores.migration_steps import (
    ACTS,
    FORMAT,
    SCHEMA,
    AppliedStep,
    MigrationStatus,
    check_migratable,
)
from svc_http.stores.postgres import _backfill as filling
from svc_http.stores.postgres import _table as tables
from svc_http.stores.postgres._table import PostgresTable, Shape
from svc_http.stores.statement_files import named_statements, statement_text

_LOCK = 0x737663  # "svc"
LOOK_SECONDS = 0.1
PASSES_MAX = 5
"""How often a step looks for rows that others wrote meanwhile; the sweep finds later ones."""

_FIXED_STEPS = {
    "feed, answers and ledgers": (),
    SCHEMA: (statement_text(__package__, "schema.sql"),),
    ACTS: (),
}
"""The steps for the tables that every database has, with their statements. The former one has none:
it is noted so that a version that still takes it finds nothing to do."""
_TRY = "SELECT pg_try_advisory_lock($1)"
_SQL = named_statements(__package__, "migrations.sql")

Collections = tuple[Collection[Any], ...]


async def postgres_status_of(connection: Any, collections: Collections) -> MigrationStatus:
    """The applied and the pending steps of a database.

    Raises:
        StoreNewer, StoreOlder: a version wrote the database that this one does not follow on.
    """
    applied = await _applied_steps(connection)
    check_migratable(applied, await _stored_format(connection))
    names = {step.step for step in applied}
    pending = [step for step in _FIXED_STEPS if step not in names]
    shapes = await _shapes(connection) if applied else {}
    for collection in collections:
        old, new = shapes.get(collection.name), tables.shape_of(collection)
        if old is None:
            pending.append(f"collection {collection.name}")
        else:
            steps = ((new - old, "+"), (old - new, "-"))
            pending += [_step(collection, shape, sign) for shape, sign in steps if shape]
    return MigrationStatus(applied, tuple(pending))


async def apply_postgres(
    connection: Any, collections: Collections, epoch: bytes, *, also_drops: bool
) -> tuple[AppliedStep, ...]:
    """Apply every pending step; the steps applied now.

    `epoch` becomes the epoch of the change feed of a new database; an existing one keeps its own.
    """
    status = await postgres_status_of(connection, collections)
    if await _stored_format(connection) < FORMAT and not status.pending:
        await connection.execute(_SQL["keep_format"], str(FORMAT).encode())
    if not any(also_drops or ": -" not in step for step in status.pending):
        return ()
    async with _migration_lock(connection):
        await connection.execute(_SQL["numbers"])
        before = await _applied_steps(connection)
        names = {step.step for step in before}
        async with connection.transaction():
            for step, statements in _FIXED_STEPS.items():
                if step not in names | {ACTS}:
                    await _take_step(connection, step, statements)
        if ACTS not in names:
            await _build(connection, "i_ledger_target", _SQL["acts"])
            await _take_step(connection, ACTS, ())
        await connection.execute(_SQL["epoch"], epoch)
        for collection in collections:
            await _shape(connection, PostgresTable(collection), also_drops=also_drops)
        await connection.execute(_SQL["keep_format"], str(FORMAT).encode())
        return (await _applied_steps(connection))[len(before) :]


async def shaped_tables(connection: Any, collections: Collections) -> dict[str, PostgresTable]:
    """The tables by collection, each with the shape number that this process writes into rows.

    A process that does not know the latest filter writes 0, which is the number of no shape.
    """
    rows = await connection.fetch("SELECT collection, number, added FROM shapes")
    shapes = {name: (number, frozenset(filters)) for name, number, filters in rows}
    tables_by_name = {}
    for collection in collections:
        number, latest = shapes[collection.name]
        is_current = latest <= tables.shape_of(collection)
        table = PostgresTable(collection, number if is_current else 0)
        tables_by_name[collection.name] = table
    return tables_by_name


async def write_epoch(connection: Any, epoch: bytes) -> None:
    """Set the epoch of the change feed of a copy that is being filled."""
    await connection.execute(_SQL["set_epoch"], epoch)


async def _shape(connection: Any, table: PostgresTable, *, also_drops: bool) -> None:
    collection, new = table.collection, tables.shape_of(table.collection)
    old = (await _shapes(connection)).get(collection.name)
    if old is None:
        indexes = tables.indexes(table, new, 1).items()
        statements = [*tables.create_relations(table), *tables.columns(table, new)]
        statements += [f"CREATE INDEX {name} {on}" for name, on in indexes]
        step = f"collection {collection.name}"
        await _take_step(connection, step, statements, _SQL["new"], collection.name, sorted(new))
        return
    if new - old:
        await _extend(connection, table, old, new)
    if old - new and also_drops:
        step, statements = (
            _step(collection, old - new, "-"),
            tables.drop_relations(table, old - new),
        )
        await _take_step(connection, step, statements, _SQL["keep"], collection.name, sorted(new))


async def _extend(connection: Any, table: PostgresTable, old: Shape, new: Shape) -> None:
    """Add new filters to a table in use: columns, then their values, then indexes."""
    name, names, target = table.collection.name, new - old, sorted(old | new)
    async with connection.transaction():
        for statement in tables.columns(table, names):
            await connection.execute(statement)
        number = await connection.fetchval(_SQL["begin"], name, target)
    target_table = PostgresTable(table.collection, number)
    await filling.fill(connection, target_table)
    for index, on in tables.indexes(table, names, number).items():
        await _build(connection, index, on)
    for _ in range(PASSES_MAX):
        if not await filling.fill(connection, target_table):
            break
    step = _step(table.collection, names, "+")
    await _take_step(connection, step, (), _SQL["end"], name, target, sorted(names))
    for earlier in range(1, number):
        (stale,) = tables.indexes(table, frozenset(), earlier)
        await connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {stale}")


async def _build(connection: Any, index: str, on: str) -> None:
    """Build an index concurrently; the remains of an interrupted attempt are dropped first."""
    if await connection.fetchval(_SQL["is_whole"], index):
        return
    # It waits for all running transactions, but blocks none of them meanwhile.
    await connection.execute("SET lock_timeout = 0")
    await connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index}")
    await connection.execute(f"CREATE INDEX CONCURRENTLY {index} {on}")
    await connection.execute("RESET lock_timeout")


async def _take_step(
    connection: Any, step: str, statements: Iterable[str], last: str = "", *values: object
) -> None:
    """Apply a step in one transaction: its statements, and a last one with values."""
    async with connection.transaction():
        for statement in statements:
            await connection.execute(statement)
        if last:
            await connection.execute(last, *values)
        await connection.execute(_SQL["number"], step)


@asynccontextmanager
async def _migration_lock(connection: Any) -> AsyncIterator[None]:
    while not await connection.fetchval(_TRY, _LOCK):  # noqa: ASYNC110 - others hold it
        await asyncio.sleep(LOOK_SECONDS)
    try:
        yield
    finally:
        if not connection.is_closed():
            await connection.execute("SELECT pg_advisory_unlock($1)", _LOCK)


async def _applied_steps(connection: Any) -> tuple[AppliedStep, ...]:
    if await connection.fetchval("SELECT to_regclass('schema_migrations') IS NULL"):
        return ()
    rows = await connection.fetch(_SQL["applied"])
    return tuple(AppliedStep(*row) for row in rows)


async def _stored_format(connection: Any) -> int:
    """The format of the program version that wrote the database last; 0 before the first."""
    if await connection.fetchval("SELECT to_regclass('meta') IS NULL"):
        return 0
    return int(await connection.fetchval(_SQL["format"]) or 0)


async def _shapes(connection: Any) -> dict[str, Shape]:
    rows = await connection.fetch("SELECT collection, shape FROM shapes")
    return {name: frozenset(shape) for name, shape in rows}


def _step(collection: Collection[Any], shape: Shape, sign: str) -> str:
    return f"collection {collection.name}: {tables.step_text(shape, sign)}"
