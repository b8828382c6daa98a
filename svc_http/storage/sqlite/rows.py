# ruff: noqa: S608 - identifiers come from declarations and are checked, values are parameters
"""Stored rows and what finds them: columns, facets and text, changed together."""

import json
import sqlite3

from attrs import evolve, frozen

from svc_core.ports import Record
from svc_http.storage.sqlite.table import Table

REINDEXED_ROWS = 500
"""Rows held in memory at a time while filters are filled again."""

_NO_FACETS = "[]"


@frozen
class Place:
    """A stored row before it changes; `facets` is the JSON of its facets."""

    row: int
    version: int
    order: int
    facets: str


@frozen(eq=False)
class RowWriter:
    """Writes the row `id_` of `owner` in one table."""

    connection: sqlite3.Connection
    table: Table
    owner: str
    id_: str

    def find(self) -> Place | None:
        """Where the row is now."""
        row = self.connection.execute(self.table.find, (self.owner, self.id_)).fetchone()
        return None if row is None else Place(*row)

    def insert(self, record: Record) -> Place:
        """Write the first version."""
        facets = _facets_json(record)
        columns = _columns(self.table, 1, facets, record)
        cursor = self.connection.execute(self.table.insert, [self.owner, self.id_, *columns])
        if cursor.lastrowid is None:
            raise AssertionError("an insert has a row number")
        place = Place(cursor.lastrowid, 1, record.order, facets)
        self._add_facets(place)
        self._add_text(place.row, record)
        return place

    def update(self, old: Place, record: Record) -> Place:
        """Write the next version over the old one."""
        new = Place(old.row, old.version + 1, record.order, _facets_json(record))
        self._overwrite(new, record)
        if (new.order, new.facets) != (old.order, old.facets):
            self._drop_facets(old)
            self._add_facets(new)
        if record.search is not None:
            self.connection.execute(self.table.drop_text, (new.row,))
            self._add_text(new.row, record)
        return new

    def remove(self, old: Place) -> None:
        """Take the row away with all that finds it."""
        self._drop_facets(old)
        if self.table.collection.search is not None:
            self.connection.execute(self.table.drop_text, (old.row,))
        self.connection.execute(self.table.remove, (old.row,))

    def refill(self, place: Place, record: Record) -> None:
        """Write columns, facets and text of a row whose facets and text are gone."""
        self._overwrite(place, record)
        self._add_facets(place)
        self._add_text(place.row, record)

    def _overwrite(self, place: Place, record: Record) -> None:
        columns = _columns(self.table, place.version, place.facets, record)
        self.connection.execute(self.table.update, [*columns, place.row])

    def _add_facets(self, place: Place) -> None:
        if place.facets != _NO_FACETS:
            self.connection.executemany(
                self.table.add_facet,
                [
                    (self.owner, name, value, place.order, self.id_, place.row)
                    for name, value in json.loads(place.facets)
                ],
            )

    def _drop_facets(self, place: Place) -> None:
        if place.facets != _NO_FACETS:
            self.connection.executemany(
                self.table.drop_facet,
                [
                    (self.owner, name, value, place.order, self.id_)
                    for name, value in json.loads(place.facets)
                ],
            )

    def _add_text(self, row: int, record: Record) -> None:
        if record.search:
            self.connection.execute(
                self.table.add_text, (row, owner_token(self.owner), record.search)
            )


def owner_token(owner: str) -> str:
    """The tenant as one token without upper case, which the text index would fold."""
    return "t" + owner.encode().hex()


def reindex(connection: sqlite3.Connection, table: Table) -> None:
    """Fill columns, facets and text again from the stored bodies, which stay as they are."""
    connection.execute(f"DELETE FROM {table.facet_rows}")
    statement = (
        f"SELECT row, tenant, id, version, body FROM {table.rows}"
        " WHERE row > ? ORDER BY row LIMIT ?"
    )
    last = 0
    while stored := connection.execute(statement, (last, REINDEXED_ROWS)).fetchall():
        for row, owner, id_, version, body in stored:
            record = evolve(table.collection.record(table.collection.decode(body)), raw=body)
            place = Place(row, version, record.order, _facets_json(record))
            RowWriter(connection, table, owner, id_).refill(place, record)
        last = stored[-1][0]


def _facets_json(record: Record) -> str:
    """The facets of a row as text beside it, so that a change finds the old ones."""
    pairs = [[name, value] for name, values in record.facets.items() for value in values]
    return json.dumps(pairs, separators=(",", ":")) if pairs else _NO_FACETS


def _columns(table: Table, version: int, facets: str, record: Record) -> list[object]:
    keys = (record.keys[key] for key in table.keys)
    return [version, record.order, facets, *keys, record.raw]
