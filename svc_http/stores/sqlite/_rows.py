# ruff: noqa: S608 - identifiers come from declarations and are checked, values are parameters
"""Writes document rows together with their index data: key columns, facets and text."""

import json
import sqlite3

from attrs import evolve, frozen

from svc_core.base import compact
from svc_core.operation.ports import IndexedRow
from svc_http.stores.contents import record_of
from svc_http.stores.relational.filter_columns import facet_pairs, filter_digest, index_cells
from svc_http.stores.sqlite._table import SqliteTable
from svc_http.stores.sqlite._texts import Texts
from svc_http.stores.sqlite.row_compression import compress_row, expand_row

REINDEXED_ROWS = 500
"""Rows held in memory at a time while the index data of a table is rebuilt."""

_json = compact.compact_encoder(ascii_only=True)

Pairs = list[tuple[str, str]]


@frozen
class RowState:
    """The state of a stored row before a change; `facets` is the JSON list of its facets."""

    row: int
    version: int
    order: int
    facets: str


@frozen(eq=False)
class RowWriter:
    """Writes the row `id_` of `owner` in one table."""

    connection: sqlite3.Connection
    texts: Texts
    table: SqliteTable
    owner: str
    id_: str

    def find(self) -> RowState | None:
        """The present state of the row; None if it does not exist."""
        row = self.connection.execute(self.table.find, (self.owner, self.id_)).fetchone()
        return None if row is None else RowState(*row)

    def insert(self, record: IndexedRow, version: int = 1) -> bool:
        """Insert the row with that version unless it exists; whether it was inserted."""
        pairs = facet_pairs(record)
        columns = self._columns(version, pairs, record)
        cursor = self.connection.execute(self.table.insert, [self.owner, self.id_, *columns])
        if cursor.rowcount == 0 or cursor.lastrowid is None:
            return False
        self._add_facets(cursor.lastrowid, record.order, pairs)
        self._add_text(cursor.lastrowid, record)
        return True

    def update(self, old: RowState, record: IndexedRow) -> int:
        """Overwrite the row with its next version; the number of that version."""
        pairs = facet_pairs(record)
        self._overwrite(old.row, old.version + 1, pairs, record)
        if record.order != old.order or _json(pairs) != old.facets:
            self._drop_facets(old)
            self._add_facets(old.row, record.order, pairs)
        words = record.search
        if words is not None and not self.texts.is_indexed(self.table.texts, old.row, words):
            self.texts.add(self.table.drop_text, (old.row,))
            self._add_text(old.row, record)
        return old.version + 1

    def remove(self, old: RowState) -> None:
        """Delete the row with all its index data."""
        self._drop_facets(old)
        if self.table.collection.search is not None:
            self.texts.add(self.table.drop_text, (old.row,))
        self.connection.execute(self.table.remove, (old.row,))

    def refill(self, row: int, version: int, record: IndexedRow) -> None:
        """Rebuild columns, facets and text of a row whose facets and text were deleted."""
        pairs = facet_pairs(record)
        self._overwrite(row, version, pairs, record)
        self._add_facets(row, record.order, pairs)
        self._add_text(row, record)

    def _overwrite(self, row: int, version: int, pairs: Pairs, record: IndexedRow) -> None:
        columns = self._columns(version, pairs, record)
        self.connection.execute(self.table.update, [*columns, row])

    def _columns(self, version: int, pairs: Pairs, record: IndexedRow) -> list[object]:
        """The values of the columns; one lists the facets, so that an update knows the old ones."""
        collection, body = self.table.collection, record.raw
        if collection.layout.is_compressed:
            body = compress_row(body, self.id_)
        if collection.layout.distinctive:
            keys = {**record.keys}
            for name in collection.layout.distinctive:
                keys[name] = None if (text := keys[name]) is None else filter_digest(text)
            record = evolve(record, keys=keys)
        cells = index_cells(collection, record)
        return [version, record.order, _json(pairs) if pairs else "[]", *cells, body]

    def _add_facets(self, row: int, order: int, pairs: Pairs) -> None:
        for name, value in pairs:
            self.connection.execute(
                self.table.add_facet, (self.owner, name, value, order, self.id_, row)
            )

    def _drop_facets(self, old: RowState) -> None:
        for name, value in json.loads(old.facets):
            self.connection.execute(
                self.table.drop_facet, (self.owner, name, value, old.order, self.id_)
            )

    def _add_text(self, row: int, record: IndexedRow) -> None:
        if record.search:
            self.texts.add(self.table.add_text, (row, owner_token(self.owner), record.search))


def owner_token(owner: str) -> str:
    """The tenant as one token of the text index; hexadecimal, because the index folds case."""
    return "t" + owner.encode().hex()


def reindex(connection: sqlite3.Connection, table: SqliteTable) -> None:
    """Rebuild columns, facets and text of all rows from their stored bytes, which do not change."""
    connection.execute(f"DELETE FROM {table.facet_rows}")
    texts, last = Texts(connection), 0
    while batch := connection.execute(table.reindexed, (last, REINDEXED_ROWS)).fetchall():
        for row, owner, id_, version, body in batch:
            record = record_of(table.collection, expand_row(body, id_))
            RowWriter(connection, texts, table, owner, id_).refill(row, version, record)
        texts.write()
        texts.clear()
        last = batch[-1][0]
