# ruff: noqa: S608 - identifiers come from declarations and are checked, values are parameters
"""A SQLite file as source or target of a store copy.

Rule 1: a target is written under a temporary name, without a log, and renamed when it is complete
        and synced. Until then its final name holds a short text that SQLite refuses to open.
Rule 2: the copy holds the lock of the target, so that no server can create a database there.
"""

import os
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, nullcontext, suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from svc_core.operation.ports import Collection, SealedLine
from svc_http.stores.contents import (
    BATCH_ROWS,
    LEDGERS,
    LINES,
    NODES,
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
from svc_http.stores.migration_steps import MigrationStatus
from svc_http.stores.relational.stored_ledger import line_of
from svc_http.stores.sqlite._ledger import add_lines
from svc_http.stores.sqlite._rows import RowWriter
from svc_http.stores.sqlite._storage import migrate_sqlite, sqlite_status
from svc_http.stores.sqlite._table import SqliteTable, build_table
from svc_http.stores.sqlite._texts import Texts
from svc_http.stores.sqlite.file_connection import LOGS, OWNER_ONLY, connect_reader, connect_writer
from svc_http.stores.sqlite.file_lock import FileLock
from svc_http.stores.sqlite.row_compression import expand_row

PLACEHOLDER: Final = b"svc db copy makes a database here, or was ended before it was whole.\n"
"""The content of the final name while the copy is incomplete."""

_READ: Mapping[Part, str] = {
    LINES: (
        "SELECT g.tenant, place & 0xFFFFFFFFFF, id, subject, opens, recorded_at, keys, seal, line"
        " FROM ledgers AS g"
        " CROSS JOIN ledger_lines AS l ON place BETWEEN g.number << 40 AND (g.number + 1 << 40) - 1"
        " CROSS JOIN ledger_bodies AS b ON b.number = l.body ORDER BY g.tenant, place"
    ),
    NODES: (
        "SELECT tenant, level, n.number, hash FROM ledgers AS g"
        " CROSS JOIN ledger_nodes AS n ON n.ledger = g.number ORDER BY tenant, level, n.number"
    ),
}

_FAST_SETUP = (
    "PRAGMA journal_mode=OFF",
    "PRAGMA synchronous=OFF",
    "PRAGMA secure_delete=OFF",
    "BEGIN",
)
"""No durability while a file is filled: an incomplete copy is deleted, a complete one synced."""


class SqliteSource:
    """The contents of a SQLite file as of the snapshot of one connection."""

    def __init__(
        self, connection: sqlite3.Connection, collections: Iterable[Collection[Any]]
    ) -> None:
        """Read these collections over `connection`."""
        self._connection = connection
        self._tables = {collection.name: build_table(collection) for collection in collections}

    async def epoch(self) -> bytes:
        """The epoch of the change feed: eight bytes."""
        (epoch,) = self._connection.execute("SELECT value FROM meta WHERE name = 'epoch'")
        return bytes(epoch[0])

    async def count(self, part: Part, number: str = "1", last: int = 1) -> int:
        """How many rows a part has; see the port."""
        (rows,) = self._connection.execute(count_statement(part, number, last))
        return int(rows[0])

    async def rows(self, part: Part) -> AsyncGenerator[list[Row], None]:
        """The rows of a part, in the order of every backend, in batches of `BATCH_ROWS`."""
        cursor = self._connection.execute(_READ.get(part) or select_statement(part))
        while batch := cursor.fetchmany(BATCH_ROWS):
            if part == LINES:
                batch = [(row[0], *line_of(row[1:])) for row in batch]
            elif isinstance(part, Collection) and part.layout.is_compressed:
                batch = [(*row[:-1], expand_row(row[-1], row[1])) for row in batch]
            yield batch


class SqliteTarget(SqliteSource):
    """A new SQLite file while a copy writes to it."""

    def __init__(
        self, connection: sqlite3.Connection, collections: Iterable[Collection[Any]]
    ) -> None:
        """Write these collections over `connection`."""
        super().__init__(connection, collections)
        self._texts = Texts(connection)
        self._numbers: dict[str, int] = {}

    async def add(self, part: Part, rows: Sequence[Row]) -> None:
        """Insert a batch of rows that a `CopySource` has returned."""
        if isinstance(part, Collection):
            self._add_documents(self._tables[part.name], rows)
        elif part == LINES:
            for tenant, lines in groupby(rows, key=itemgetter(0)):
                sealed_lines = [SealedLine(*line[1:]) for line in lines]
                add_lines(self._connection, self._numbers[tenant], sealed_lines)
        elif part == LEDGERS:
            first = len(self._numbers) + 1
            self._numbers |= {row[0]: number for number, row in enumerate(rows, first)}
            columns = "number, tenant, size, state"
            self._insert(part, columns, [(self._numbers[row[0]], *row) for row in rows])
        elif part == NODES:
            nodes = [(self._numbers[tenant], *node) for tenant, *node in rows]
            self._insert(part, "ledger, level, number, hash", nodes)
        else:
            self._insert(part, columns_of(part), rows)

    def _insert(self, part: Part, columns: str, rows: Sequence[Row]) -> None:
        marks = ", ".join("?" * len(rows[0]))
        statement = f"INSERT INTO {table_of(part)} ({columns}) VALUES ({marks})"
        self._connection.executemany(statement, rows)

    def _add_documents(self, table: SqliteTable, rows: Sequence[Row]) -> None:
        for tenant, id_, version, raw in rows:
            writer = RowWriter(self._connection, self._texts, table, tenant, id_)
            writer.insert(record_of(table.collection, raw), version)
        self._texts.write()
        self._texts.clear()


def check_database_file(path: Path, collections: Iterable[Collection[Any]]) -> MigrationStatus:
    """The migration steps of a database file.

    Raises:
        CopyRefused: the file does not exist, or is no database of this service.
    """
    if not path.is_file():
        raise CopyRefused(f"there is no database {path}")
    try:
        steps = sqlite_status(path, collections)
    except sqlite3.Error as error:
        raise CopyRefused(f"{path} cannot be read: {error}") from error
    if not steps.applied:
        raise CopyRefused(f"{path} is not a database of this service")
    return steps


@asynccontextmanager
async def file_source(
    path: Path, collections: Iterable[Collection[Any]], *, is_alone: bool
) -> AsyncIterator[SqliteSource]:
    """Opens a snapshot of a file; with `is_alone` it holds the lock, so that nobody else writes.

    Raises:
        StoreBusy: `is_alone` is set and another process holds the lock.
    """
    with FileLock(path) if is_alone else nullcontext(), closing(connect_reader(path)) as connection:
        connection.execute("BEGIN")
        yield SqliteSource(connection, collections)


@asynccontextmanager
async def file_target(
    path: Path, collections: Iterable[Collection[Any]], epoch: bytes
) -> AsyncIterator[SqliteTarget]:
    """Creates a file and yields it for filling; it exists if and only if the block succeeds.

    Raises:
        StoreBusy: another process holds the lock of the file.
        CopyRefused: the file exists and is not empty, or cannot be created.
    """
    declarations = tuple(collections)
    try:
        lock = FileLock(path)
    except OSError as error:
        raise CopyRefused(f"{path} cannot be used: {error.strerror}") from error
    with lock, _new_file(path, declarations, epoch) as connection:
        yield SqliteTarget(connection, declarations)


@contextmanager
def _new_file(
    path: Path, collections: tuple[Collection[Any], ...], epoch: bytes
) -> Iterator[sqlite3.Connection]:
    """A temporary file that becomes `path` at the end, where `PLACEHOLDER` stands until then."""
    if path.exists() and not _is_free(path, collections):
        raise CopyRefused(f"{path} exists and is not empty; move it away, or choose another name")
    _remove(path, ("", *LOGS))
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY), "wb") as file:
        file.write(PLACEHOLDER)
    draft = Path(f"{path}.new")
    _remove(draft)  # of a copy that was killed
    try:
        migrate_sqlite(draft, collections, epoch=epoch)
        with closing(connect_writer(draft)) as connection:
            for statement in _FAST_SETUP:
                connection.execute(statement)
            yield connection
            connection.execute("COMMIT")
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        _remove(draft)


def _is_free(path: Path, collections: tuple[Collection[Any], ...]) -> bool:
    """Whether a file holds no rows: empty, a placeholder, or a database without rows."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        if file.read(len(PLACEHOLDER) + 1) in {b"", PLACEHOLDER}:
            return True
    with suppress(CopyRefused):
        if not check_database_file(path, collections).pending:
            statements = (
                f"SELECT 1 FROM {table_of(part)} LIMIT 1" for part in parts_of(collections)
            )
            with closing(connect_reader(path)) as connection:
                return not any(connection.execute(statement).fetchone() for statement in statements)
    return False


def _remove(path: Path, parts: Iterable[str] = ("", *LOGS, ".lock")) -> None:
    """Remove a database with its log and its lock."""
    for part in parts:
        Path(f"{path}{part}").unlink(missing_ok=True)
