"""The care of a database from outside of a store."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from svc_core.operation.ports import Collection
from svc_http.stores.postgres import filling, migrations
from svc_http.stores.postgres.connection import MAINTENANCE_SETTINGS, connect, translate_error
from svc_http.stores.steps import Applied, Status


@asynccontextmanager
async def maintenance_connection(dsn: str) -> AsyncIterator[Any]:
    """A connection that takes its time.

    Raises:
        StorageUnavailable: there is none to be had, or it was lost.
    """
    connection = await connect(dsn, MAINTENANCE_SETTINGS)
    try:
        yield connection
    except Exception as error:
        fault = translate_error(error)
        if fault is not error:
            raise fault from error
        raise
    finally:
        connection.terminate()


async def size(dsn: str) -> int:
    """The bytes that the database takes on its disk.

    Raises:
        StorageUnavailable: the server does not let us in, or went away.
    """
    async with maintenance_connection(dsn) as connection:
        return int(await connection.fetchval("SELECT pg_database_size(current_database())"))


async def migrate(
    dsn: str, collections: Iterable[Collection[Any]], *, epoch: bytes
) -> tuple[Applied, ...]:
    """Take the pending steps while others use the database; the steps taken now.

    What is declared no longer is dropped, so no process may run that declares it. Rows that older
    processes wrote beside a newer one are filled.

    Raises:
        StorageUnavailable: the server does not let us in, or went away.
    """
    declarations = tuple(collections)
    async with maintenance_connection(dsn) as connection:
        steps = await migrations.apply(connection, declarations, epoch, also_drops=True)
        tables = await migrations.shaped_tables(connection, declarations)
        await filling.sweep(connection, tables.values())
        return steps


async def status(dsn: str, collections: Iterable[Collection[Any]]) -> Status:
    """The steps taken and those pending, also while servers run; an empty database lacks all.

    Raises:
        StorageUnavailable: the server does not let us in, or there is no such database.
    """
    async with maintenance_connection(dsn) as connection:
        return await migrations.status_of(connection, tuple(collections))


async def renew_epoch(dsn: str, epoch: bytes) -> None:
    """Name a new life of the feed after a restore, so that no old watermark is believed.

    Raises:
        StorageUnavailable: the server does not let us in, or there is no such database.
    """
    async with maintenance_connection(dsn) as connection:
        await migrations.renew_epoch(connection, epoch)
