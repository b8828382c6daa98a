# ruff: noqa: S608 - identifiers come from declarations and are checked, values are parameters
"""What a declaration adds to the tables of its collection: columns and indexes, one by one.

A collection's shape is the set of its features. What its rows are and how they are listed has
every collection; each filter and the text index is a feature of its own.
"""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from svc_core.ports import NO_NUMBER, Collection
from svc_http.storage.postgres.table import TEXT, Table


class Feature(NamedTuple):
    """A filter of a kind, or the text index, which has no name."""

    kind: str
    name: str


Shape = frozenset[Feature]


class Index(NamedTuple):
    """The name of an index, and what stands after it."""

    name: str
    on: str


def shape_of(collection: Collection[Any]) -> Shape:
    """What a collection declares."""
    features = {Feature("key", key) for key in collection.keys}
    features |= {Feature("number", number) for number in collection.number_names}
    features |= {Feature("facet", facet) for facet in collection.facets}
    return frozenset(features if collection.search is None else {*features, Feature("text", "")})


def to_stored(shape: Shape) -> str:
    """A shape as it is kept."""
    return json.dumps(sorted(shape))


def from_stored(text: str) -> Shape:
    """The shape that was kept."""
    return frozenset(Feature(*each) for each in json.loads(text))


def words(shape: Shape, sign: str) -> str:
    """What comes or goes, in the words of a step."""
    named = [f"{sign}{name}" for name in sorted(feature.name for feature in shape) if name]
    return " ".join([*named, *("text index" for feature in shape if not feature.name)])


def create(made: Table) -> list[str]:
    """The statements that make the tables of a collection, without its features."""
    rows, facets = made.rows, made.facet_rows
    statements = [
        f"CREATE TABLE {rows} (tenant {TEXT} NOT NULL, id {TEXT} NOT NULL,"
        " version bigint NOT NULL, ord bigint NOT NULL, shape int NOT NULL, body bytea NOT NULL,"
        " PRIMARY KEY (tenant, id))",
        f"CREATE INDEX i_{rows} ON {rows} (tenant, ord DESC, id DESC)",
        f"CREATE TABLE {facets} (tenant {TEXT} NOT NULL, id {TEXT} NOT NULL,"
        f" name {TEXT} NOT NULL, value {TEXT} NOT NULL, ord bigint NOT NULL,"
        " PRIMARY KEY (tenant, id, name, value))",
        f"CREATE INDEX i_{facets} ON {facets} (tenant, name, value, ord DESC, id DESC)",
    ]
    if made.collection.scope == "tenant":
        statements.append(f"CREATE INDEX a_{rows} ON {rows} (ord, tenant, id)")
    return statements


def columns(made: Table, shape: Shape) -> list[str]:
    """The statements that add the columns of features; those that are there stay."""
    return [
        f"ALTER TABLE {made.rows} ADD COLUMN IF NOT EXISTS {name} {type_}"
        for feature in sorted(shape)
        for name, type_ in _columns(feature)
    ]


def indexes(made: Table, shape: Shape, number: int) -> list[Index]:
    """The indexes of features, and the one that finds rows of any other shape than `number`."""
    found = [_stale(made, number)]
    rows = made.rows
    for kind, name in sorted(shape):
        if kind == "key":
            on = f"(tenant, k_{name}, ord DESC, id DESC) WHERE k_{name} IS NOT NULL"
            found.append(Index(f"i_{rows}_{name}", f"ON {rows} {on}"))
        elif kind == "number":
            on = f"(tenant, n_{name} DESC, id DESC)"
            found.append(Index(f"i_{rows}_{name}", f"ON {rows} {on}"))
        elif kind == "text":
            found.append(Index(f"t_{rows}", f"ON {rows} USING gin (tokens)"))
    return found


def drop(made: Table, shape: Shape) -> Iterable[str]:
    """The statements that forget features."""
    for feature in sorted(shape):
        for name, _ in _columns(feature):
            yield f"ALTER TABLE {made.rows} DROP COLUMN IF EXISTS {name}"
        if feature.kind == "facet":
            yield f"DELETE FROM {made.facet_rows} WHERE name = '{feature.name}'"


def stale_name(made: Table, number: int) -> str:
    """The index of the rows that another shape wrote."""
    return _stale(made, number).name


def _stale(made: Table, number: int) -> Index:
    return Index(f"s{number}_{made.rows}", f"ON {made.rows} (tenant, id) WHERE shape <> {number}")


def _columns(feature: Feature) -> list[tuple[str, str]]:
    if feature.kind == "key":
        return [(f"k_{feature.name}", TEXT)]
    if feature.kind == "number":
        return [(f"n_{feature.name}", f"bigint NOT NULL DEFAULT {NO_NUMBER}")]
    return [("tokens", f"text[] {TEXT.removeprefix('text ')}")] if feature.kind == "text" else []
