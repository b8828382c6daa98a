"""Maintenance of a PostgreSQL database without a store: migration, status, size and epoch."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from svc_core.operation.ports import Collection
from svc_http.stores.migration_steps import AppliedStep, MigrationStatus
from svc_http.stores.postgres import _backfill as filling
from svc_http.stores.postgres import _migrations as migrations
from svc_http.stores.postgres._connection import (
    MAINTENANCE_SETTINGS,
    connect,
    translate_postgres_error,
)
from svc_http.stores.postgres._history import origin_of, renew_database


@asynccontextmanager
async def maintenance_connection(dsn: str) -> AsyncIterator[Any]:
    """Opens a connection without a limit of time for statements; translates its errors.

    Raises:
        StorageUnavailable: the server cannot be reached, or the connection was lost.
    """
    connection = await connect(dsn, MAINTENANCE_SETTINGS)
    try:
        yield connection
    except Exception as error:
        fault = translate_postgres_error(error)
        if fault is not error:
            raise fault from error
        raise
    finally:
        connection.terminate()


async def database_bytes(dsn: str) -> int:
    """The bytes that the database occupies on disk.

    Raises:
        StorageUnavailable: the server refuses the connection, or it was lost.
    """
    async with maintenance_connection(dsn) as connection:
        return int(await connection.fetchval("SELECT pg_database_size(current_database())"))


async def tells_its_place(dsn: str) -> bool:
    """Whether the role may ask where the database lives, by which a restore is noticed.

    Raises:
        StorageUnavailable: the server refuses the connection, or has no such database.
    """
    async with maintenance_connection(dsn) as connection:
        return await origin_of(connection) != ""


async def migrate_postgres(
    dsn: str, collections: Iterable[Collection[Any]], *, epoch: bytes
) -> tuple[AppliedStep, ...]:
    """Apply the pending migration steps while others use the database; the steps applied now.

    Filters that are no longer declared are dropped, so no process that declares them may run. Rows
    that older processes have written beside a newer one are filled.

    Raises:
        StorageUnavailable: the server refuses the connection, or it was lost.
    """
    declarations = tuple(collections)
    async with maintenance_connection(dsn) as connection:
        steps = await migrations.apply_postgres(connection, declarations, epoch, also_drops=True)
        tables = await migrations.shaped_tables(connection, declarations)
        await filling.sweep_backfill(connection, tables.values())
        return steps


async def postgres_status(dsn: str, collections: Iterable[Collection[Any]]) -> MigrationStatus:
    """The applied and pending steps, also while servers run; an empty database lacks all steps.

    Raises:
        StorageUnavailable: the server refuses the connection, or has no such database.
    """
    async with maintenance_connection(dsn) as connection:
        return await migrations.postgres_status_of(connection, tuple(collections))


async def renew_postgres_epoch(dsn: str, epoch: bytes) -> None:
    """Begin this epoch of the change feed, which invalidates all watermarks.

    Raises:
        StorageUnavailable: the server refuses the connection, or has no such database.
    """
    async with maintenance_connection(dsn) as connection:
        await renew_database(connection, epoch)
