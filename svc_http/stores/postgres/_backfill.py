# ruff: noqa: S608 - identifiers come from declarations and are checked, values are parameters
"""Backfills the index columns of rows that a process of another release has written.

A row names the shape (the set of filters) of its writer. While two releases run side by side, the
older one writes rows without the newer filters. These rows are found by their shape and filled:
during the migration step that adds the filter, and every few seconds afterwards.

Rule 1: rows are filled in small batches, each row under its lock, so concurrent writes are kept.
Rule 2: bytes and versions do not change, only index data.
"""

from collections.abc import Iterable
from typing import Any

from svc_http.stores.contents import record_of
from svc_http.stores.postgres._table import PostgresTable, facet_columns, with_facets

ROWS_MAX = 200


async def fill(connection: Any, table: PostgresTable) -> int:
    """Fill the rows of another shape than the table's, except locked ones; the number filled."""
    walk = (
        f"SELECT tenant, id, body FROM {table.rows} WHERE shape <> {table.shape}"
        f" AND (tenant, id) > ($1, $2) ORDER BY tenant, id LIMIT {ROWS_MAX} FOR UPDATE SKIP LOCKED"
    )
    row_count, last = 0, ("", "")
    while True:
        async with connection.transaction():
            rows = await connection.fetch(walk, *last)
            for tenant, id_, body in rows:
                record = record_of(table.collection, body)
                cells = [tenant, id_, *table.cells(tenant, record)[:-1]]
                statement = with_facets(table, table.fill, at=len(cells) + 1, is_new=False)
                await connection.fetch(statement, *cells, *facet_columns(record))
        if not rows:
            return row_count
        row_count, last = row_count + len(rows), (rows[-1]["tenant"], rows[-1]["id"])


async def sweep_backfill(connection: Any, tables: Iterable[PostgresTable]) -> None:
    """Fill the rows that older processes have written since filters were added to these tables."""
    for table in tables:
        has_stale = f"SELECT EXISTS (SELECT FROM {table.rows} WHERE shape <> {table.shape})"
        if table.shape and await connection.fetchval(has_stale):
            await fill(connection, table)
