# ruff: noqa: S608 - identifiers come from declarations and are checked, values are parameters
"""Rows that another shape of their collection wrote, filled with what they lack.

A row names the shape of its writer. While processes of two releases run beside each other, the
older one writes rows without the newer one's filters; they are filled when they are found: during
the step that adds the filter, and every few seconds after it.

Rule 1: a few rows at a time, each locked by whoever fills it: what is written meanwhile stays.
Rule 2: bytes and versions do not change, only what finds a row.
"""

from collections.abc import Iterable
from typing import Any

from attrs import evolve

from svc_http.stores.postgres.documents import ShapedTable
from svc_http.stores.postgres.table import Table, pairs, with_facets

ROWS_MAX = 200


async def fill(connection: Any, table: Table, number: int) -> int:
    """Fill the rows whose shape is not `number`, but for those that others hold; how many."""
    walk = (
        f"SELECT tenant, id, body FROM {table.rows} WHERE shape <> {number}"
        f" AND (tenant, id) > ($1, $2) ORDER BY tenant, id LIMIT {ROWS_MAX} FOR UPDATE SKIP LOCKED"
    )
    collection, row_count, last = table.collection, 0, ("", "")
    while True:
        async with connection.transaction():
            rows = await connection.fetch(walk, *last)
            for tenant, id_, body in rows:
                record = evolve(collection.record(collection.decode(body)), raw=body)
                values = [tenant, id_, *table.values(tenant, number, record)[:-1]]
                statement = with_facets(table, table.fill, at=len(values) + 1, is_new=False)
                await connection.fetch(statement, *values, *pairs(record))
        if not rows:
            return row_count
        row_count, last = row_count + len(rows), (rows[-1]["tenant"], rows[-1]["id"])


async def sweep(connection: Any, tables: Iterable[ShapedTable]) -> None:
    """Fill what older processes wrote since the filters of these tables were added."""
    for table, number in tables:
        has_stale = f"SELECT EXISTS (SELECT FROM {table.rows} WHERE shape <> {number})"
        if number and await connection.fetchval(has_stale):
            await fill(connection, table, number)
