# ruff: noqa: S608 - identifiers come from declarations and are checked, values are parameters
"""Generates the SQLite tables and statements of one collection from its declaration.

`c_<name>` holds the rows, `f_<name>` the facets, `t_<name>` the text index.

Rule 1: identifiers come from declarations and are checked; values only travel as parameters.
Rule 2: every filter has an index that ends in the sort key, so a page costs the same anywhere.
Rule 3: the text of a statement is generated once per shape and cached under it.
"""

import re
import string
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from attrs import field, frozen

from svc_core.operation.ports import NO_NUMBER, Collection

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")

# The core prepares the tokens, so the text index must not split them again: the ASCII tokenizer
# treats every character beyond ASCII as part of a token, and this option adds all punctuation.
_TOKEN_CHARS = string.punctuation.replace("'", "''")
_TOKENIZER = f"ascii tokenchars '{_TOKEN_CHARS}'".replace('"', '""')


class Shape(NamedTuple):
    """The features of a list statement that determine its text.

    `driver` is the filter or number whose index is walked (None: the index of the whole list, or
    the text index if `has_words`); with `is_several` the walk takes any of several values, in no
    order. `checks` are the other filters with the number of their values; `spans` are the bounded
    numbers, and whether each range wraps; `order` is the number that is the sort key; `has_run`
    limits a search to a range of row numbers.
    """

    driver: str | None
    checks: tuple[tuple[str, int], ...] = ()
    spans: tuple[tuple[str, bool], ...] = ()
    has_start: bool = False
    has_end: bool = False
    has_after: bool = False
    order: str | None = None
    has_words: bool = False
    has_run: bool = False
    is_several: bool = False

    @property
    def is_all(self) -> bool:
        """Whether every row matches."""
        is_bounded = self.has_start or self.has_end or self.has_words
        return not (is_bounded or self.checks or self.spans)


@frozen(eq=False)
class SqliteTable:
    """The names and statements of one collection."""

    collection: Collection[Any]
    keys: tuple[str, ...]
    facets: tuple[str, ...]
    numbers: tuple[str, ...]
    rows: str
    facet_rows: str
    texts: str
    get: str
    get_many: str
    find: str
    run: str
    insert: str
    update: str
    remove: str
    add_facet: str
    drop_facet: str
    add_text: str
    drop_text: str
    _statements: dict[object, str] = field(factory=dict, init=False)

    def scan(self, shape: Shape) -> str:
        """The statement of a listing of this shape."""
        return self._statement("scan", shape, _scan)

    def count(self, shape: Shape) -> str:
        """The statement that counts what a listing of this shape would have."""
        return self._statement("count", shape, _count)

    def search(self, shape: Shape) -> str:
        """The statement of a text search of this shape."""
        return self._statement("search", shape, _search)

    def _statement(
        self, kind: str, shape: Shape, make: Callable[["SqliteTable", Shape], str]
    ) -> str:
        statement = self._statements.get((kind, shape))
        if statement is None:
            statement = self._statements[kind, shape] = make(self, shape)
        return statement

    def across(self, checks: tuple[tuple[str, int], ...], has_after: bool, has_end: bool) -> str:
        """The statement of a listing over every tenant, lowest first."""
        bounds = " AND (c.ord, c.tenant, c.id) > (?, ?, ?)" if has_after else ""
        bounds += " AND c.ord <= ?" if has_end else ""
        return (
            f"SELECT c.tenant, c.id, c.version, c.ord, c.body FROM {self.rows} AS c"
            f" WHERE TRUE{bounds}{_checks(self, checks)} ORDER BY c.ord, c.tenant, c.id LIMIT ?"
        )

    def probe(self, name: str) -> str:
        """The statement that counts the rows of one value, or of one span, up to a limit."""
        if name in self.numbers:
            source = f"{self.rows} WHERE tenant = ? AND n_{name} BETWEEN ? AND ?"
        elif name in self.facets:
            source = f"{self.facet_rows} WHERE tenant = ? AND name = '{name}' AND value = ?"
        else:
            source = f"{self.rows} WHERE tenant = ? AND k_{name} = ?"
        return f"SELECT count(*) FROM (SELECT 1 FROM {source} LIMIT ?)"


@lru_cache(maxsize=512)  # a command opens its database often: once for each page of an export
def build_table(collection: Collection[Any]) -> SqliteTable:
    """The table names and statements of a collection.

    Raises:
        AssertionError: a declared name cannot be an identifier, or two differ only by case.
    """
    keys, facets = tuple(collection.keys), tuple(collection.facets)
    numbers = collection.number_names
    _check_names((collection.name, *keys, *facets, *numbers))
    rows, facet_rows, texts = (f"{kind}_{collection.name}" for kind in "cft")
    filters = (*(f"k_{key}" for key in keys), *(f"n_{name}" for name in numbers))
    columns = ("version", "ord", "facets", *filters, "body")
    return SqliteTable(
        collection=collection,
        keys=keys,
        facets=facets,
        numbers=numbers,
        rows=rows,
        facet_rows=facet_rows,
        texts=texts,
        get=f"SELECT version, ord, body FROM {rows} WHERE tenant = ? AND id = ?",
        get_many=(
            f"SELECT id, version, ord, body FROM {rows} WHERE tenant = ?"
            " AND id IN (SELECT value FROM json_each(?))"
        ),
        find=f"SELECT row, version, ord, facets FROM {rows} WHERE tenant = ? AND id = ?",
        run=(
            f"SELECT min(row), max(row), count(*) FROM (SELECT row FROM {rows} INDEXED BY i_{rows}"
            " WHERE tenant = ? AND ord BETWEEN ? AND ? LIMIT ?)"
        ),
        insert=(
            f"INSERT INTO {rows} (tenant, id, {', '.join(columns)})"
            f" VALUES (?, ?{', ?' * len(columns)}) ON CONFLICT (tenant, id) DO NOTHING"
        ),
        update=f"UPDATE {rows} SET {', '.join(f'{name} = ?' for name in columns)} WHERE row = ?",
        remove=f"DELETE FROM {rows} WHERE row = ?",
        add_facet=(
            f"INSERT INTO {facet_rows} (tenant, name, value, ord, id, row)"
            " VALUES (?, ?, ?, ?, ?, ?)"
        ),
        drop_facet=(
            f"DELETE FROM {facet_rows}"
            " WHERE tenant = ? AND name = ? AND value = ? AND ord = ? AND id = ?"
        ),
        add_text=f"INSERT INTO {texts} (rowid, owner, tokens) VALUES (?, ?, ?)",
        drop_text=f"DELETE FROM {texts} WHERE rowid = ?",
    )


def _check_names(names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if not _IDENTIFIER.match(name) or name.lower() in seen:
            raise AssertionError(f"{name!r} is not a name of its own in letters, digits and _")
        seen.add(name.lower())


# -- definition ---------------------------------------------------------------------------------


def create_tables(table: SqliteTable) -> list[str]:
    """The statements that create the tables of a collection, without its key columns."""
    rows = table.rows
    statements = [
        f"CREATE TABLE {rows} (row INTEGER PRIMARY KEY, tenant TEXT NOT NULL, id TEXT NOT NULL,"
        " version INTEGER NOT NULL, ord INTEGER NOT NULL, facets TEXT NOT NULL,"
        " body BLOB NOT NULL, UNIQUE (tenant, id))",
        f"CREATE INDEX i_{rows} ON {rows} (tenant, ord DESC, id DESC)",
        f"CREATE TABLE {table.facet_rows} (tenant TEXT NOT NULL, name TEXT NOT NULL,"
        " value TEXT NOT NULL, ord INTEGER NOT NULL, id TEXT NOT NULL, row INTEGER NOT NULL,"
        " PRIMARY KEY (tenant, name, value, ord DESC, id DESC)) WITHOUT ROWID",
    ]
    if table.collection.scope == "tenant":
        statements.append(f"CREATE INDEX a_{rows} ON {rows} (ord, tenant, id)")
    return statements


def add_column(table: SqliteTable, kind: str, name: str) -> list[str]:
    """The statements that add the column and the index of a key (`k`) or a number (`n`).

    Of a pair of both (`p`), a text with a space, it is the index alone.
    """
    rows = table.rows
    if kind == "p":
        key, _, number = name.partition(" ")
        return [
            f"CREATE INDEX i_{rows}_{key}_{number} ON {rows}"
            f" (tenant, k_{key}, n_{number} DESC, id DESC) WHERE k_{key} IS NOT NULL"
        ]
    if kind == "n":
        return [
            f"ALTER TABLE {rows} ADD COLUMN n_{name} INTEGER NOT NULL DEFAULT {NO_NUMBER}",
            f"CREATE INDEX i_{rows}_{name} ON {rows} (tenant, n_{name} DESC, id DESC)",
        ]
    return [
        f"ALTER TABLE {rows} ADD COLUMN k_{name} TEXT",
        f"CREATE INDEX i_{rows}_{name} ON {rows} (tenant, k_{name}, ord DESC, id DESC)"
        f" WHERE k_{name} IS NOT NULL",
    ]


def drop_column(table: SqliteTable, kind: str, name: str) -> list[str]:
    """The statements that drop a key (`k`), a number (`n`) or the index of a pair (`p`)."""
    if kind == "p":
        return [f"DROP INDEX i_{table.rows}_{name.replace(' ', '_')}"]
    return [
        f"DROP INDEX i_{table.rows}_{name}",
        f"ALTER TABLE {table.rows} DROP COLUMN {kind}_{name}",
    ]


def add_texts(table: SqliteTable) -> list[str]:
    """The statements that create the text index."""
    return [
        f'CREATE VIRTUAL TABLE {table.texts} USING fts5(owner, tokens, tokenize = "{_TOKENIZER}")'
    ]


def drop_texts(table: SqliteTable) -> list[str]:
    """The statements that drop the text index."""
    return [f"DROP TABLE {table.texts}"]


# -- queries ------------------------------------------------------------------------------------


def _scan(table: SqliteTable, shape: Shape) -> str:
    line, source = _source(table, shape)
    key = _sort_key(line, shape)
    after = f" AND ({key}, {line}.id) < (?, ?)" if shape.has_after else ""
    number = "" if shape.order is None else f", {key}"
    return (
        f"SELECT c.id, c.version, c.ord, c.body{number} FROM {source}{_bounds(line, shape)}{after}"
        f"{_checks(table, shape.checks)} ORDER BY {key} DESC, {line}.id DESC LIMIT ?"
    )


def _count(table: SqliteTable, shape: Shape) -> str:
    line, source = _source(table, shape)
    # A row may have two of the values of a facet.
    row = "DISTINCT c.row" if shape.is_several else "1"
    rows = f"SELECT {row} FROM {source}{_bounds(line, shape)}{_checks(table, shape.checks)} LIMIT ?"
    return f"SELECT count(*) FROM ({rows})"


def _source(table: SqliteTable, shape: Shape) -> tuple[str, str]:
    """The alias of the table whose index is walked, and the FROM and WHERE clauses of the walk.

    INDEXED BY makes a statement fail at once if the planner cannot use that index.
    """
    driver, mark = shape.driver, "= ?"
    if shape.is_several:
        mark = "IN (SELECT value FROM json_each(?))"
    if shape.has_words:
        return "c", (
            f"{table.texts} AS t CROSS JOIN {table.rows} AS c ON c.row = t.rowid"
            f" WHERE {table.texts} MATCH ? AND c.tenant = ?"
        )
    if driver is None:
        return "c", f"{table.rows} AS c INDEXED BY i_{table.rows} WHERE c.tenant = ?"
    if driver in table.facets:
        return "f", (
            f"{table.facet_rows} AS f CROSS JOIN {table.rows} AS c ON c.row = f.row"
            f" WHERE f.tenant = ? AND f.name = '{driver}' AND f.value {mark}"
        )
    index = f"i_{table.rows}_{driver}"
    if shape.order in table.collection.rankings.get(driver, ()):
        index += f"_{shape.order}"
    walk = f"{table.rows} AS c INDEXED BY {index} WHERE c.tenant = ?"
    return "c", walk if driver in table.numbers else f"{walk} AND c.k_{driver} {mark}"


def _sort_key(line: str, shape: Shape) -> str:
    return f"{line}.ord" if shape.order is None else f"c.n_{shape.order}"


def _bounds(line: str, shape: Shape) -> str:
    lower = f" AND {line}.ord >= ?" if shape.has_start else ""
    upper = f" AND {line}.ord <= ?" if shape.has_end else ""
    return lower + upper + "".join(_span(name, wraps) for name, wraps in shape.spans)


def _span(name: str, wraps: bool) -> str:
    if wraps:
        return f" AND (c.n_{name} >= ? OR c.n_{name} BETWEEN {NO_NUMBER + 1} AND ?)"
    return f" AND c.n_{name} BETWEEN ? AND ?"


def _checks(table: SqliteTable, checks: tuple[tuple[str, int], ...]) -> str:
    return "".join(f" AND {_check(table, name, count)}" for name, count in checks)


def _check(table: SqliteTable, name: str, count: int) -> str:
    marks = ", ".join("?" * count)
    if name in table.facets:
        return (
            f"EXISTS (SELECT 1 FROM {table.facet_rows} AS g WHERE g.tenant = c.tenant"
            f" AND g.name = '{name}' AND g.value IN ({marks}) AND g.ord = c.ord AND g.id = c.id)"
        )
    # The plus (`+c.k_`) keeps the planner from walking this index and sorting.
    return f"+c.k_{name} IN ({marks})"


def _search(table: SqliteTable, shape: Shape) -> str:
    """Rank within the text index, then read rows; without other filters only the best are read."""
    matching = f"SELECT rowid FROM {table.texts} WHERE {table.texts} MATCH ?"
    words = f" AND c.row IN ({matching})" if shape.has_words else ""
    after = " AND (m.rank, c.ord, c.id) < (?, ?, ?)" if shape.has_after else ""
    run = " AND t.rowid BETWEEN ? AND ?" if shape.has_run else ""
    best = ""
    if shape.is_all:
        below = " WHERE rank < ?" if shape.has_after else ""
        last = f"SELECT rank FROM m{below} ORDER BY rank DESC LIMIT 1 OFFSET ?"
        best = f" AND m.rank >= ifnull(({last}), 0)"
    return (
        "WITH m AS MATERIALIZED (SELECT t.rowid AS row, sum(word.value) AS rank"
        f" FROM json_each(?) AS word CROSS JOIN {table.texts} AS t"
        f" WHERE t.{table.texts} MATCH word.key{run} GROUP BY t.rowid)"
        f" SELECT c.id, c.version, c.ord, c.body, m.rank FROM m CROSS JOIN {table.rows} AS c"
        f" ON c.row = m.row WHERE c.tenant = ?"
        f"{words}{_bounds('c', shape)}{after}{_checks(table, shape.checks)}{best}"
        " ORDER BY m.rank DESC, c.ord DESC, c.id DESC LIMIT ?"
    )
