# ruff: noqa: S608 - identifiers come from declarations and are checked, values are parameters
"""Generates the PostgreSQL tables and statements of one collection from its declaration.

`c_<name>` holds the rows, `f_<name>` the facets of all rows.

Rule 1: identifiers come from declarations and are checked; values only travel as parameters.
Rule 2: text is compared by its bytes (COLLATE "C"), which is the order of code points that every
        other backend has, whatever the database was made for.
Rule 3: every filter has an index that ends in the sort key, so a page costs the same anywhere.
Rule 4: the shape of a table is what its declaration adds to it (`filter_columns`).
Rule 5: a row names the shape of its writer (`shape`), so that rows of a process which did not know
        a filter can be found and filled (`_backfill`).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from svc_core.operation.ports import NO_NUMBER, Collection, IndexedRow
from svc_http.stores.relational.filter_columns import declared_columns, facet_pairs, index_cells
from svc_http.stores.statement_files import named_statements

TEXT = 'text COLLATE "C"'
_TYPES = {"k": TEXT, "n": f"bigint NOT NULL DEFAULT {NO_NUMBER}", "t": 'text[] COLLATE "C"'}
_INDEXES = {
    "k": "(tenant, {0}, ord DESC, id DESC) WHERE {0} IS NOT NULL",
    "n": "(tenant, {0} DESC, id DESC)",
    "t": "USING gin ({0})",
}

_SQL = named_statements(__package__, "collection.sql")

Shape = frozenset[str]


class PostgresTable:
    """The names and statements of one collection.

    `shape` is the number of the shape that this process writes into its rows.
    """

    def __init__(self, collection: Collection[Any], shape: int = 0) -> None:
        """Name the tables of a collection.

        Raises:
            AssertionError: a declared name cannot be an identifier, or two differ only by case.
        """
        self.collection = collection
        self.shape = shape
        self.rows = rows = f"c_{collection.name}"
        self.facets = f"f_{collection.name}"
        filters = (name for name in declared_columns(collection) if name[0] != "f")
        self.columns = columns = ["ord", "shape", *filters, "body"]
        marks = ", ".join(f"${number}" for number in range(3, len(columns) + 3))
        insert = f"INSERT INTO {rows} (tenant, id, version, {', '.join(columns)})"
        insert += f" VALUES ($1, $2, 1, {marks}) ON CONFLICT (tenant, id)"
        updates = ", ".join(f"{name} = excluded.{name}" for name in columns)
        sets = [f"{name} = ${number}" for number, name in enumerate(columns, 3)]
        place, version = "WHERE tenant = $1 AND id = $2", "RETURNING version"
        self.get = f"SELECT version, ord, body FROM {rows} {place}"
        self.get_many = (
            f"SELECT id, version, ord, body FROM {rows} WHERE tenant = $1 AND id = ANY ($2)"
        )
        self.version = f"SELECT version FROM {rows} {place}"
        self.insert = f"{insert} DO NOTHING {version}"
        self.upsert = f"{insert} DO UPDATE SET version = {rows}.version + 1, {updates} {version}"
        update = f"UPDATE {rows} SET version = version + 1, {', '.join(sets)} {place}"
        self.update = f"{update} AND version = ${len(columns) + 3} {version}"
        self.fill = f"UPDATE {rows} SET {', '.join(sets[:-1])} {place} {version}"
        self.remove = f"DELETE FROM {rows} {place}"

    def cells(self, owner: str, record: IndexedRow) -> list[object]:
        """The column values of a row of `owner`, except tenant, identifier and version."""
        cells = [record.order, self.shape, *index_cells(self.collection, record)]
        if record.search is not None:
            cells.append(tokens_of(owner, sorted(set(record.search.split(" ")) - {""})))
        return [*cells, record.raw]


Tables = Mapping[str, PostgresTable]


def tokens_of(owner: str, words: Iterable[str]) -> list[str]:
    """Words as tokens of the text index: each prefixed by the name of the tenant, so that a word
    which all tenants use is found as fast as one that only this tenant uses."""
    return [f"{owner} {word}" if owner else word for word in words]


def facet_columns(record: IndexedRow) -> tuple[list[str], list[str]]:
    """The facets of a record as two parallel lists: names and values."""
    pairs = facet_pairs(record)
    return [name for name, _ in pairs], [text for _, text in pairs]


def with_facets(table: PostgresTable, statement: str, *, at: int, is_new: bool) -> str:
    """Extend a statement that writes a row so that it also replaces the facets of the row.

    Their names and values are the parameters `at` and `at + 1`. The facets are written after the
    row (`FROM w`), so that the lock of the row is taken before its facets change.
    """
    names = {"facets": table.facets, "at": at, "next": at + 1}
    deletion = "" if is_new else f", gone AS ({_SQL['gone'].format(**names)})"
    insertion = f", added AS ({_SQL['added'].format(**names)})"
    return f"WITH w AS ({statement}){deletion}{insertion} SELECT version FROM w"


def without_facets(table: PostgresTable, statement: str) -> str:
    """Extend a statement that deletes a row so that it also deletes the facets of the row."""
    if not table.collection.facets:
        return statement
    deletion = _SQL["all_gone"].format(facets=table.facets)
    return f"WITH w AS ({statement}), gone AS ({deletion}) SELECT version, ord, body FROM w"


# -- definition --------------------------------------------------------------------------------


def shape_of(collection: Collection[Any]) -> Shape:
    """The set of filters that a collection declares, and the form of what they hold."""
    forms = [f"v_form{collection.form}"] if collection.form > 1 else []
    return frozenset([*declared_columns(collection), *forms])


def step_text(shape: Shape, sign: str) -> str:
    """The description of added (`+`) or removed (`-`) filters in the name of a migration step."""
    changes = [f"{sign}{name}" for name in sorted(part[2:] for part in shape if part != "tokens")]
    return " ".join([*changes, *(["text index"] if "tokens" in shape else [])])


def create_relations(table: PostgresTable) -> list[str]:
    """The statements that create the tables of a collection, without its filter columns."""
    names = ["create"] + ["create_across"] * (table.collection.scope == "tenant")
    return [_SQL[name].format(rows=table.rows, facets=table.facets) for name in names]


def columns(table: PostgresTable, shape: Shape) -> list[str]:
    """The statements that add the columns of a shape; existing columns stay."""
    names = sorted(name for name in shape if name[0] in _TYPES)
    add = f"ALTER TABLE {table.rows} ADD COLUMN IF NOT EXISTS"
    return [f"{add} {name} {_TYPES[name[0]]}" for name in names]


def indexes(table: PostgresTable, shape: Shape, number: int) -> dict[str, str]:
    """The indexes of a shape by name, plus the index of rows whose shape is not `number`."""
    rows, beside = table.rows, table.collection.layout.beside
    names = sorted(name for name in shape if name[0] in _INDEXES and name[2:] not in beside)
    stale = {f"s{number}_{rows}": f"ON {rows} (tenant, id) WHERE shape <> {number}"}
    return stale | {
        f"i_{rows}_{name}": f"ON {rows} {_INDEXES[name[0]].format(name)}" for name in names
    }


def drop_relations(table: PostgresTable, shape: Shape) -> list[str]:
    """The statements that drop the filters of a shape."""
    return [
        f"DELETE FROM {table.facets} WHERE name = '{name[2:]}'"
        if name[0] == "f"
        else f"ALTER TABLE {table.rows} DROP COLUMN IF EXISTS {name}"
        for name in sorted(shape)
    ]
