"""Migrates a SQLite file to the tables and columns that the declared collections need.

Rule 1: every applied step has a number in `schema_migrations`; steps are only ever appended.
Rule 2: all pending steps run in one transaction: a file is migrated completely or untouched.
Rule 3: the fixed tables are spelled out in `schema.sql`. Those of collections are created and
        extended from the declarations, and a new filter is filled from the stored rows.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, Final

from svc_core.operation.ports import Collection
from svc_http.stores.migration_steps import (
    ACTS,
    FORMAT,
    SCHEMA,
    AppliedStep,
    MigrationStatus,
    check_migratable,
)
from svc_http.stores.sqlite._rows import reindex
from svc_http.stores.sqlite._table import SqliteTable, build_table
from svc_http.stores.statement_files import one_line, statement_text

_NUMBERS = "CREATE TABLE IF NOT EXISTS schema_migrations (number INTEGER PRIMARY KEY, step TEXT)"

_FIXED_STEPS: Final[dict[str, tuple[str, ...]]] = {
    "meta and declared shapes": (),
    "changes": (),
    "answers": (),
    "ledger": (),
    "outbox dropped": (),
    SCHEMA: tuple(statement_text(__package__, "schema.sql").rstrip(";\n").split(";\n")),
    ACTS: tuple(statement_text(__package__, "acts.sql").rstrip(";\n").split(";\n")),
}
"""The steps for the tables that every file has, with their statements. The former ones have none:
they are noted so that a version that still takes them finds nothing to do."""
_DROPPING: Final = {
    "pairs": "drop_pair",
    "indexes": "drop_index",
    "keys": "drop_key",
    "numbers": "drop_number",
}
_ADDING: Final = {"numbers": "add_number", "keys": "add_key", "pairs": "index_pair"}
"""The statements that drop and add a filter or the index of a pair, in the order of the kinds."""

_Shape = dict[str, Any]
"""The declaration that the tables of a collection were last migrated to: names by their kinds."""

_NO_SHAPE: Final[_Shape] = {
    "keys": [], "facets": [], "numbers": [], "pairs": [], "search": False, "form": 1,
    "compressed": False,
}  # fmt: skip


def status_of(
    connection: sqlite3.Connection, collections: Iterable[Collection[Any]]
) -> MigrationStatus:
    """The applied and the pending steps of a file.

    Raises:
        StoreNewer, StoreOlder: a version wrote the file that this one does not follow on.
    """
    steps = _applied_steps(connection)
    check_migratable(steps, _stored_format(connection))
    names = {step.step for step in steps}
    shapes = _shapes(connection)
    pending = [step for step in _FIXED_STEPS if step not in names]
    pending += [
        _step(collection, shapes.get(collection.name))
        for collection in collections
        if shapes.get(collection.name) != _shape(collection)
    ]
    return MigrationStatus(steps, tuple(pending))


def apply(
    connection: sqlite3.Connection, collections: Iterable[Collection[Any]], epoch: bytes
) -> tuple[AppliedStep, ...]:
    """Apply every pending step; the steps applied now.

    `epoch` becomes the epoch of the change feed of a new file; an existing file keeps its own.

    Raises:
        StoreNewer, StoreOlder: a version wrote the file that this one does not follow on.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        before = _applied_steps(connection)
        check_migratable(before, _stored_format(connection))
        connection.execute(_NUMBERS)
        names = {step.step for step in before}
        for step, statements in _FIXED_STEPS.items():
            if step not in names:
                for statement in statements:
                    connection.execute(one_line(statement))
                _number(connection, step)
        # Not written again, so that a file of this format can be opened on a full disk.
        if _stored_format(connection) < FORMAT:
            connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.execute("INSERT OR IGNORE INTO meta VALUES ('epoch', ?)", (epoch,))
        _apply_declared(connection, collections)
        steps = _applied_steps(connection)[len(before) :]
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    return steps


def file_facts(connection: sqlite3.Connection) -> dict[str, bytes]:
    """What the file says of itself (`feed_history`)."""
    return dict(connection.execute("SELECT name, value FROM meta"))


def write_facts(connection: sqlite3.Connection, facts: Mapping[str, bytes]) -> None:
    """Write these facts, all at once."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", facts.items())


def _apply_declared(connection: sqlite3.Connection, collections: Iterable[Collection[Any]]) -> None:
    shapes = _shapes(connection)
    for collection in collections:
        old, new = shapes.get(collection.name), _shape(collection)
        if old != new:
            _reshape(connection, build_table(collection), old, new)
            connection.execute(
                "INSERT OR REPLACE INTO shapes VALUES (?, ?)",
                (collection.name, json.dumps(new)),
            )
            _number(connection, _step(collection, old))


def _reshape(
    connection: sqlite3.Connection, table: SqliteTable, old: _Shape | None, new: _Shape
) -> None:
    steps = table.create_tables() if old is None else []
    was = old or _NO_SHAPE | {"indexes": [], "keys": new["keys"], "numbers": new["numbers"]}
    for kind, step in _DROPPING.items():
        steps += [table.statement(step, name) for name in was[kind] if name not in new[kind]]
    for kind, step in _ADDING.items():
        steps += [table.statement(step, name) for name in new[kind] if name not in was[kind]]
    steps += [table.indexes[name] for name in new["indexes"] if name not in was["indexes"]]
    steps += [table.statement("drop_texts")] * was["search"]
    steps += [table.statement("create_texts")] * new["search"]
    for step in steps:
        connection.execute(step)
    if old is not None:
        reindex(connection, table)


def _number(connection: sqlite3.Connection, step: str) -> None:
    connection.execute("INSERT INTO schema_migrations (step) VALUES (?)", (step,))


def _applied_steps(connection: sqlite3.Connection) -> tuple[AppliedStep, ...]:
    if not _has(connection, "schema_migrations"):
        return ()
    rows = connection.execute("SELECT number, step FROM schema_migrations ORDER BY number")
    return tuple(AppliedStep(*row) for row in rows)


def _stored_format(connection: sqlite3.Connection) -> int:
    """The format of the program version that wrote the file last; 0 before the first."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _shapes(connection: sqlite3.Connection) -> dict[str, _Shape]:
    if not _has(connection, "shapes"):
        return {}
    rows = connection.execute("SELECT collection, shape FROM shapes")
    return {name: _whole_shape(json.loads(text)) for name, text in rows}


def _whole_shape(shape: _Shape) -> _Shape:
    """A stored shape with what shapes of earlier versions lack: every filter had an index."""
    shape = _NO_SHAPE | shape
    return {"indexes": sorted(["", *shape["keys"], *shape["numbers"]])} | shape


def _has(connection: sqlite3.Connection, name: str) -> bool:
    statement = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?"
    return bool(connection.execute(statement, (name,)).fetchone()[0])


def _shape(collection: Collection[Any]) -> _Shape:
    pairs = [
        f"{key} {number}"
        for key, numbers in collection.rankings.items()
        for number in numbers
        if key in collection.keys and number in collection.numbers
    ]
    return {
        "keys": sorted(collection.keys),
        "facets": sorted(collection.facets),
        "search": collection.search is not None,
        "numbers": sorted(collection.number_names),
        "pairs": pairs,
        "form": collection.form,
        "compressed": collection.layout.is_compressed,
        "indexes": sorted(build_table(collection).indexes),
    }


def _step(collection: Collection[Any], old: _Shape | None) -> str:
    if old is None:
        return f"collection {collection.name}"
    new = _shape(collection)
    before, after = ({*at["keys"], *at["facets"], *at["numbers"]} for at in (old, new))
    words = [f"+{name}" for name in sorted(after - before)]
    words += [f"-{name}" for name in sorted(before - after)]
    words += ["text index"] if old["search"] != new["search"] else []
    words += [f"form {new['form']}"] if old["form"] != new["form"] else []
    words += ["compressed rows"] if old["compressed"] != new["compressed"] else []
    return f"collection {collection.name}: {' '.join(words) or 'filters rearranged'}"
