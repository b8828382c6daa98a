# ruff: noqa: S608 - identifiers come from declarations and are checked, values are parameters
"""The tables behind one collection, and the SQL that speaks to them.

`c_<name>` holds the rows, `f_<name>` the facets of all rows.

Rule 1: identifiers come from declarations and are checked; values only travel as parameters.
Rule 2: text is compared by its bytes (COLLATE "C"), which is the order of code points that every
        other backend has, whatever the database was made for.
Rule 3: every filter has an index that ends in the sort key, so a page costs the same anywhere.
Rule 4: a row names the shape that wrote it (`shape`), so that the rows of a process which did not
        know a filter are found and filled (`filling`).
"""

import re
from collections.abc import Iterable
from typing import Any

from attrs import frozen

from svc_core.ports import Collection, Record

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_NAME_MAX = 63
"""PostgreSQL cuts off what is longer."""

TEXT = 'text COLLATE "C"'


@frozen(eq=False)
class Table:
    """The names and statements of one collection."""

    collection: Collection[Any]
    rows: str
    facet_rows: str
    columns: tuple[str, ...]
    get: str
    get_many: str
    version: str
    insert: str
    upsert: str
    update: str
    remove: str
    fill: str

    def values(self, shape: int, record: Record) -> list[object]:
        """What stands in `columns` for this record."""
        made: list[object] = [record.order, shape]
        made += (record.keys[name] for name in self.collection.keys)
        made += (record.numbers[name] for name in self.collection.number_names)
        if record.search is not None:
            made.append(tokens(record.search))
        return [*made, record.raw]


def tokens(text: str) -> list[str]:
    """The distinct tokens of a prepared text, as the index has them."""
    return sorted(set(text.split(" ")) - {""})


def pairs(record: Record) -> tuple[list[str], list[str]]:
    """The names and the values of its facets, side by side."""
    found = [(name, value) for name, values in record.facets.items() for value in values]
    return [name for name, _ in found], [value for _, value in found]


def table(collection: Collection[Any]) -> Table:
    """The tables of a collection.

    Raises:
        AssertionError: a declared name cannot be an identifier, or two differ only by case.
    """
    names = (*collection.keys, *collection.facets, *collection.number_names)
    _check_names(collection.name, names)
    rows, facet_rows = f"c_{collection.name}", f"f_{collection.name}"
    texts = () if collection.search is None else ("tokens",)
    filters = [f"k_{name}" for name in collection.keys]
    filters += [f"n_{name}" for name in collection.number_names]
    columns = ("ord", "shape", *filters, *texts, "body")
    marks = ", ".join(f"${number}" for number in range(1, len(columns) + 3))
    inserted = f"INSERT INTO {rows} (tenant, id, version, {', '.join(columns)}) VALUES ("
    inserted += marks.replace("$2,", "$2, 1,", 1) + ") ON CONFLICT (tenant, id)"
    news = ", ".join(f"{name} = excluded.{name}" for name in columns)
    sets = [f"{name} = ${number}" for number, name in enumerate(columns, 3)]
    return Table(
        collection=collection,
        rows=rows,
        facet_rows=facet_rows,
        columns=columns,
        get=f"SELECT version, ord, body FROM {rows} WHERE tenant = $1 AND id = $2",
        get_many=(
            f"SELECT id, version, ord, body FROM {rows} WHERE tenant = $1 AND id = ANY ($2::text[])"
        ),
        version=f"SELECT version FROM {rows} WHERE tenant = $1 AND id = $2",
        insert=f"{inserted} DO NOTHING RETURNING version",
        upsert=f"{inserted} DO UPDATE SET version = {rows}.version + 1, {news} RETURNING version",
        update=(
            f"UPDATE {rows} SET version = version + 1, {', '.join(sets)}"
            f" WHERE tenant = $1 AND id = $2 AND version = ${len(columns) + 3} RETURNING version"
        ),
        remove=f"DELETE FROM {rows} WHERE tenant = $1 AND id = $2",
        fill=(
            f"UPDATE {rows} SET {', '.join(sets[:-1])} WHERE tenant = $1 AND id = $2"
            " RETURNING version"
        ),
    )


def with_facets(made: Table, statement: str, *, at: int, is_new: bool) -> str:
    """`statement`, which returns the row that it writes, and the facets of that row with it.

    Their names and values are the parameters `at` and the next. The facets wait for the row
    (`FROM w`), so that whoever changes it holds it before anything of it.
    """
    facets, new = made.facet_rows, f"unnest(${at}::text[], ${at + 1}::text[]) AS n (name, value)"
    gone = (
        f", gone AS (DELETE FROM {facets} AS f USING w WHERE f.tenant = $1 AND f.id = $2"
        f" AND NOT EXISTS (SELECT FROM {new} WHERE n.name = f.name AND n.value = f.value))"
    )
    added = (
        f", added AS (INSERT INTO {facets} AS f (tenant, id, name, value, ord)"
        f" SELECT $1, $2, n.name, n.value, $3 FROM w, {new} ON CONFLICT (tenant, id, name, value)"
        " DO UPDATE SET ord = excluded.ord WHERE f.ord <> excluded.ord)"
    )
    return f"WITH w AS ({statement}){'' if is_new else gone}{added} SELECT version FROM w"


def without_facets(made: Table, statement: str) -> str:
    """`statement`, which returns the row that it removes, and its facets with it."""
    if not made.collection.facets:
        return statement
    return (
        f"WITH w AS ({statement}), gone AS (DELETE FROM {made.facet_rows} AS f USING w"
        " WHERE f.tenant = $1 AND f.id = $2) SELECT version, ord, body FROM w"
    )


def _check_names(collection: str, filters: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in (collection, *filters):
        if not _IDENTIFIER.match(name) or name.lower() in seen:
            raise AssertionError(f"{name!r} is not a name of its own in letters, digits and _")
        if len(f"i_c_{collection}_{name}") > _NAME_MAX:
            raise AssertionError(f"{collection} and {name} are too long for the name of an index")
        seen.add(name.lower())
