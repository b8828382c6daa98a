"""What the statements cost, read from their plans; what the text index keeps."""

import asyncio
import re
import sqlite3
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from svc_core.base import drive
from svc_core.operation.ports import Collection, Position
from svc_core.operation.ports.selection import criteria_of
from svc_core.testing.sample import NOTES, NOTICES, SAMPLES, SECRETS, Note
from svc_core.testing.sync_store import SyncStore
from svc_http.stores import SqliteStorage
from svc_http.stores.sqlite import has_wal_reset_fault, migrate_sqlite
from svc_http.stores.sqlite._documents import JOINED_MIN, SqliteDocuments
from svc_http.stores.sqlite._lists import SqliteLists
from svc_http.stores.sqlite._session import SqliteSession
from svc_http.stores.sqlite._table import build_table
from svc_http.stores.statement_files import named_statements
from tests.storage.efforts import BOUNDS, FACETS, RARE, WHERES


def lists(**filters: Any) -> SqliteLists:
    return SqliteLists(NOTES, "ann", criteria_of(NOTES, **filters))


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("plans") / "svc.db"
    migrate_sqlite(path, SAMPLES, epoch=bytes(8))
    database = sqlite3.connect(path)
    yield database
    database.close()


def plan(connection: sqlite3.Connection, statement: str) -> str:
    numbers = {int(number) for number in re.findall(r"\?(\d)", statement)}
    values = ["x"] * max(numbers, default=statement.count("?"))
    rows = connection.execute(f"EXPLAIN QUERY PLAN {statement}", values)
    return "; ".join(row[3] for row in rows)


FILL = (
    "INSERT INTO c_sample_notes (tenant, id, version, ord, facets, body, k_status, k_author,"
    " n_weight, n_longitude, n_latitude) WITH RECURSIVE g (n) AS (SELECT 1 UNION ALL"
    " SELECT n + 1 FROM g WHERE n < ?) SELECT 'ann', 'n' || n, 1, n, '[]', '{}',"
    " CASE WHEN n <= 20 THEN 'rare' ELSE 's' || (n % 3) END, 'a' || (n % 2), n, n, 0 FROM g",
    *(
        "INSERT INTO f_sample_notes (tenant, name, value, ord, id, row)"
        f" SELECT tenant, 'topic', {value}, ord, id, row FROM c_sample_notes WHERE {test} AND ?"
        for value, test in FACETS
    ),
)
ABSENT = tuple(f"absent {number}" for number in range(JOINED_MIN))
ALL_WHERES: tuple[dict[str, tuple[str, ...]], ...] = (
    *(where for _, where in WHERES),
    {"topic": ("all",)},
    {"topic": ("t0", "t1")},
    {"topic": (*RARE["topic"], *ABSENT)},
    {"topic": ("t0", "t1", *ABSENT)},
)


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The same rare rows, among 2,000 others and among 20,000."""
    connections = []
    for rows in (2_000, 20_000):
        path = tmp_path_factory.mktemp("filled") / "svc.db"
        migrate_sqlite(path, SAMPLES, epoch=bytes(8))
        connection = sqlite3.connect(path)
        for statement in FILL:
            connection.execute(statement, (rows,))
        connections.append(connection)
    yield connections
    for connection in connections:
        connection.close()


def steps(connection: sqlite3.Connection, usecase: Any) -> tuple[int, Any]:
    """How many steps the machine of SQLite takes for it, and what it finds."""
    count = 0

    def step() -> None:
        nonlocal count
        count += 1

    session = SqliteSession(connection, None)
    documents = SqliteDocuments(session, {NOTES.name: build_table(NOTES)}, "ann")
    connection.set_progress_handler(step, 1)
    answer = drive.run(usecase(documents))
    connection.set_progress_handler(None, 1)
    return count, answer


@pytest.mark.parametrize(("filters", "bounds"), list(product(ALL_WHERES, BOUNDS)))
def test_a_table_that_grows_makes_no_list_and_no_count_of_its_rows_dearer(
    databases: Any, filters: dict[str, tuple[str, ...]], bounds: dict[str, Any]
) -> None:
    how = {"where": filters, **bounds, "limit": 30}
    after = Position(9, "n9")
    for usecase in (
        lambda documents: documents.count(NOTES, **how),
        lambda documents: documents.scan(NOTES, **how),
        lambda documents: documents.scan(NOTES, **how, after=after),
        lambda documents: documents.scan(NOTES, **how, order="weight"),
        lambda documents: documents.scan(NOTES, **how, order="weight", after=after),
    ):
        (few, _), (large, rows) = (steps(connection, usecase) for connection in databases)
        assert rows != 0
        assert large <= 1.5 * few


@pytest.mark.parametrize("how", [{}, {"after": Position(9, "n9")}, {"order": "weight"}], ids=str)
@pytest.mark.parametrize("limit", [18, 30])
def test_few_rows_of_many_values_are_read_by_one_statement(
    databases: Any, how: dict[str, Any], limit: int
) -> None:
    statements: list[str] = []
    where = {"topic": (*RARE["topic"], *ABSENT)}
    few = steps(databases[0], lambda docs: docs.scan(NOTES, where=RARE, limit=limit, **how))[1]
    databases[0].set_trace_callback(statements.append)
    many = steps(databases[0], lambda docs: docs.scan(NOTES, where=where, limit=limit, **how))[1]
    databases[0].set_trace_callback(None)
    assert many == few
    assert len([text for text in statements if text.startswith(("SELECT", "WITH"))]) <= 3


def test_a_row_with_two_of_the_values_is_counted_once(databases: Any) -> None:
    for bounds, rows in (({}, 20), ({"start": 3, "end": 17}, 15)):
        for filters in (RARE, RARE | {"author": ("a0", "a1")}):
            how = {"where": filters, **bounds}
            assert steps(databases[0], lambda docs: docs.count(NOTES, limit=99, **how))[1] == rows  # noqa: B023
            assert steps(databases[0], lambda docs: docs.count(NOTES, limit=9, **how))[1] == 9  # noqa: B023


@pytest.mark.parametrize("collection", [NOTES, NOTICES], ids=["tenant", "global"])
def test_rows_are_found_by_index(
    connection: sqlite3.Connection, collection: Collection[Note]
) -> None:
    table = build_table(collection)
    filters = {"where": {"status": ("a",), "topic": ("t",)}, "ranges": {"weight": (1, 2)}}
    probed = lists(**filters, start=1)
    in_order, rest = probed.walks("weight")
    probe = probed.probe([*in_order, *rest], 9).text
    for statement in (table.get, table.find, table.drop_facet, table.get_many, probe):
        plan_text = plan(connection, statement)
        assert "SEARCH" in plan_text
        assert not re.search(r"SCAN ([cf]\b|[cf]_)", plan_text)


@pytest.mark.parametrize(
    ("collection", "index"), [(NOTES, "a_c_sample_notes"), (SECRETS, "i_c_sample_secrets")]
)
def test_the_workers_view_walks_an_index(
    connection: sqlite3.Connection, collection: Collection[Note], index: str
) -> None:
    criteria = criteria_of(collection, where={"status": ("open",)}, end=9)
    query = SqliteLists(collection, "", criteria).across((1, "t", "x"), 9)
    plan_text = plan(connection, query.text)
    assert index in plan_text
    assert "TEMP B-TREE" not in plan_text


SORT_QUERIES = {
    "acts",
    "read",
    "read_types",
    "holders",
    "opened_by_key",
    "stored",
    "purge",
    "drop",
}
"""Those put few rows in order, which they have read from an index."""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param(name, text, id=f"{file} {name}")
        for file in ("changes", "answers", "ledger")
        for name, text in named_statements("svc_http.stores.sqlite", f"{file}.sql").items()
        if not text.startswith("INSERT")
    ],
)
def test_feeds_answers_and_ledgers_are_read_by_index(
    connection: sqlite3.Connection, name: str, text: str
) -> None:
    plan_text = plan(connection, text)
    assert "SEARCH" in plan_text
    assert not re.search("SCAN (changes|answers|ledger|[cghklnw]\\b)", plan_text)
    assert name in SORT_QUERIES or "TEMP B-TREE" not in plan_text


def test_the_text_index_keeps_every_letter_and_digit_of_unicode_whole(tmp_path: Path) -> None:
    letters = [
        character
        for character in map(chr, range(128, sys.maxunicode + 1))
        if character.isalnum() and character == character.lower()
    ]
    connection = sqlite3.connect(tmp_path / "svc.db")
    connection.close()
    rows = [letters[at : at + 1000] for at in range(0, len(letters), 1000)]
    with asyncio.Runner() as runner:
        sync = SyncStore(
            SqliteStorage.open(tmp_path / "svc.db", SAMPLES, epoch=bytes(8)), runner.run
        )
        for number, row in enumerate(rows):
            text = " ".join(f"a{letter}b" for letter in row)
            sync.put("ann", NOTES, f"n{number}", Note(f"n{number}", text))
        for number, row in enumerate(rows):
            for letter in row[::50]:
                hits = sync.search("ann", NOTES, {f"a{letter}b": 1}).rows
                assert [row.id for row in hits] == [f"n{number}"], hex(ord(letter))
        assert sync.search("ann", NOTES, {"a": 1, "b": 1}).rows == ()
        sync.close()


def test_the_version_with_the_fault_is_known() -> None:
    assert has_wal_reset_fault((3, 40, 1))
    assert has_wal_reset_fault((3, 51, 2))
    assert not has_wal_reset_fault((3, 51, 3))
