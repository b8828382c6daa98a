# ruff: noqa: S608 - identifiers come from declarations and are checked, values are parameters
"""A PostgreSQL database as source or target of a store copy.

Rule 1: a target carries a mark while it is filled, and no store opens a marked database. A copy
        that was killed leaves the mark and no rows, and can be repeated.
Rule 2: the copy locks all tables of the target against writers until it ends.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from svc_core.base.compact import ascii_text
from svc_core.operation.ports import Collection, SealedLine, key_digest
from svc_http.stores.contents import (
    BATCH_ROWS,
    CHANGES,
    LEDGERS,
    LINES,
    Part,
    Row,
    columns_of,
    count_statement,
    parts_of,
    record_of,
    select_statement,
    table_of,
)
from svc_http.stores.errors import CopyRefused
from svc_http.stores.postgres import _copy_mark as copy_mark
from svc_http.stores.postgres import _migrations as migrations
from svc_http.stores.postgres._ledger import row_of
from svc_http.stores.postgres._maintenance import maintenance_connection
from svc_http.stores.postgres._table import PostgresTable, Tables
from svc_http.stores.relational.filter_columns import facet_pairs
from svc_http.stores.relational.stored_ledger import line_of

_ENTRY = "scope, position, resource_type, entry, details"

_NO_IDLE_TIMEOUT = "SET idle_in_transaction_session_timeout = 0"
"""Between two batches the transaction idles while the other side of the copy works."""

_SET_LEDGER_TIMES = (
    "UPDATE ledgers AS g SET recorded_at = l.recorded_at FROM ledger_lines AS l"
    " WHERE l.tenant = g.tenant AND l.seq = g.size - 1"
)


class PostgresSource:
    """The contents of a PostgreSQL database as of one transaction."""

    def __init__(self, connection: Any) -> None:
        """Read over `connection`, which is inside a transaction."""
        self._connection = connection

    async def epoch(self) -> bytes:
        """The epoch of the change feed: eight bytes."""
        return bytes(await self._connection.fetchval("SELECT value FROM meta WHERE name = 'epoch'"))

    async def count(self, part: Part, number: str = "1", last: int = 1) -> int:
        """How many rows a part has; see the port."""
        return int(await self._connection.fetchval(count_statement(part, number, last)))

    async def rows(self, part: Part) -> AsyncGenerator[list[Row], None]:
        """The rows of a part, in the order of every backend, in batches of `BATCH_ROWS`."""
        columns = _ENTRY if part == CHANGES else None
        cursor = await self._connection.cursor(select_statement(part, columns))
        while batch := await cursor.fetch(BATCH_ROWS):
            yield [_read(part, tuple(row)) for row in batch]


class PostgresTarget(PostgresSource):
    """An empty PostgreSQL database while a copy writes to it."""

    def __init__(self, connection: Any, tables: Tables) -> None:
        """Write to these tables, by the names of their collections."""
        super().__init__(connection)
        self._tables = tables

    async def add(self, part: Part, rows: Sequence[Row]) -> None:
        """Insert a batch of rows that a `CopySource` has returned."""
        if isinstance(part, Collection):
            await self._add_documents(self._tables[part.name], rows)
        elif part == CHANGES:
            await self._add(part, _ENTRY, map(_entry, rows))
        elif part == LINES:
            lines = [(row[0], SealedLine(*row[1:])) for row in rows]
            keys = {(tenant, key_digest(k), line.seq) for tenant, line in lines for k in line.keys}
            await self._add(
                part, columns_of(part), ((tenant, *row_of(line)) for tenant, line in lines)
            )
            await self._add("ledger_keys", "tenant, digest, seq", keys)
        elif part == LEDGERS:
            # The time of the last line is set at the end, from the lines.
            columns = f"{columns_of(part)}, recorded_at"
            await self._add(part, columns, ((*row, "") for row in rows))
        else:
            await self._add(part, columns_of(part), rows)

    async def _add_documents(self, table: PostgresTable, rows: Sequence[Row]) -> None:
        records, facets = [], []
        for tenant, id_, version, raw in rows:
            record = record_of(table.collection, raw)
            records.append((tenant, id_, version, *table.cells(tenant, record)))
            facets += [(tenant, id_, *pair, record.order) for pair in facet_pairs(record)]
        await self._add(table.rows, f"tenant, id, version, {', '.join(table.columns)}", records)
        await self._add(table.facets, "tenant, id, name, value, ord", facets)

    async def _add(self, table: str, columns: str, rows: Iterable[Row]) -> None:
        await self._connection.copy_records_to_table(
            table, columns=columns.split(", "), records=rows
        )


@asynccontextmanager
async def database_source(dsn: str) -> AsyncIterator[PostgresSource]:
    """Opens a snapshot of a database, which others may go on writing to.

    Raises:
        StorageUnavailable: the server refuses the connection, or it was lost.
        CopyRefused: the database is an incomplete copy.
    """
    async with maintenance_connection(dsn) as connection:
        await connection.execute(_NO_IDLE_TIMEOUT)
        await copy_mark.check(connection)
        await connection.transaction(isolation="repeatable_read", readonly=True).start()
        yield PostgresSource(connection)


@asynccontextmanager
async def database_target(
    dsn: str, collections: Iterable[Collection[Any]], epoch: bytes
) -> AsyncIterator[PostgresTarget]:
    """Yields a migrated, empty database for filling; its rows are committed if the block succeeds.

    Raises:
        StorageUnavailable: the server refuses the connection, or it was lost.
        CopyRefused: the database is not empty.
    """
    declarations = tuple(collections)
    tables = [table_of(part) for part in parts_of(declarations)]
    async with maintenance_connection(dsn) as connection:
        await connection.execute(_NO_IDLE_TIMEOUT)
        async with connection.transaction():
            await _lock_empty(connection, tables)
            await copy_mark.mark_incomplete(connection)
        transaction = connection.transaction()
        try:
            await transaction.start()
            await _lock_empty(connection, tables)
            shaped = await migrations.shaped_tables(connection, declarations)
            yield PostgresTarget(connection, shaped)
            await connection.execute(_SET_LEDGER_TIMES)
            await migrations.write_epoch(connection, epoch)
            await copy_mark.unmark(connection)
            await transaction.commit()
        except BaseException:
            # If the server is gone, the mark remains, which a repetition accepts.
            with suppress(Exception):
                await transaction.rollback()
                await copy_mark.unmark(connection)
            raise
        await connection.execute(f"ANALYZE {', '.join(tables)}")


async def _lock_empty(connection: Any, tables: Sequence[str]) -> None:
    """Lock tables against writers and check that they are empty.

    Raises:
        CopyRefused: one has rows.
    """
    await connection.execute(f"LOCK TABLE {', '.join(tables)} IN SHARE ROW EXCLUSIVE MODE")
    for table in tables:
        if await connection.fetchval(f"SELECT EXISTS (SELECT FROM {table})"):
            raise CopyRefused(
                "the PostgreSQL database is not empty; name another one, made by createdb"
            )


def _read(part: Part, row: Row) -> Row:
    if part == CHANGES:
        scope, position, resource_type, entry, details = row
        id_, change_type, resource_id, version, at, path = json.loads(entry)
        kinds = (change_type, resource_type, resource_id)
        return (scope, position, id_, *kinds, version, at, path, details)
    return (row[0], *line_of(row[1:])) if part == LINES else row


def _entry(row: Row) -> Row:
    scope, position, id_, change_type, resource_type, resource_id, version, *rest = row
    at, path, details = rest
    entry = ascii_text((id_, change_type, resource_id, version, at, path))
    return (scope, position, resource_type, entry, details)
