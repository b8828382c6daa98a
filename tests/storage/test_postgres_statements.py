"""What the statements cost, read from their plans."""

import asyncio
import json
import re
from itertools import product
from typing import Any

import asyncpg
import pytest

from svc_core.operation.ports import GeoBox, Position
from svc_core.operation.ports.selection import criteria_of
from svc_core.testing.sample import NOTES, NOTICES, SAMPLES
from svc_http.stores.postgres._connection import UNIT_SETTINGS
from svc_http.stores.postgres._lists import PostgresLists
from svc_http.stores.postgres._session import number_parameters
from svc_http.stores.postgres._table import PostgresTable
from svc_http.stores.relational.list_statements import WHOLE, IndexWalk, StatementDraft, whole_walk
from svc_http.stores.statement_files import named_statements
from tests.postgres import PostgresServer
from tests.storage.efforts import BOUNDS, FACETS, WHERES, rows_read

AFTER = Position(5, "x")


FILL = (
    "INSERT INTO c_sample_notes (tenant, id, ord, version, shape, body, k_status, k_author,"
    " n_weight, n_longitude, tokens) SELECT 't' || n % 30, 'n' || n, n, 1, 1, '{}', 's' || n % 3,"
    " 'a' || n % 50, n, n, array['w' || n % 999, 'all'] FROM generate_series(1, 30000) AS n",
    "INSERT INTO f_sample_notes (tenant, id, ord, name, value)"
    " SELECT tenant, id, ord, 'topic', 't' || ord % 5 FROM c_sample_notes",
    "ANALYZE",
)


@pytest.fixture(scope="module")
def dsn(postgres: PostgresServer) -> str:
    name = postgres.made_for(SAMPLES).partition("@/")[2].partition("?")[0]
    postgres.do(*FILL, database=name)
    return postgres.dsn(name)


def plan(dsn: str, text: str) -> str:
    """The plan for whatever values."""

    async def main() -> str:
        connection = await asyncpg.connect(dsn, server_settings=UNIT_SETTINGS)
        count = len((await connection.prepare(text)).get_parameters())
        await connection.execute(f"PREPARE asked AS {text}")
        values = ", ".join(["NULL"] * count)
        rows = await connection.fetch(f"EXPLAIN EXECUTE asked({values})")
        await connection.close()
        return "\n".join(row[0] for row in rows)

    return asyncio.run(main())


def lists(**filters: Any) -> PostgresLists:
    return PostgresLists(NOTES, "ann", criteria_of(NOTES, **filters))


def walk_of(query: PostgresLists, name: str | None, order: str | None = None) -> IndexWalk:
    """The walk of a filter or a number, or that of the whole list."""
    walks = [walk for part in query.walks(order) for walk in part]
    return next((walk for walk in walks if walk.name == name), whole_walk(name and order))


def plan_of(dsn: str, query: StatementDraft) -> str:
    return plan(dsn, number_parameters(query.text))


def test_rows_are_found_by_index(dsn: str) -> None:
    for table in (PostgresTable(NOTES), PostgresTable(NOTICES)):
        for statement in (table.get, table.get_many, table.version, table.update, table.remove):
            plan_text = plan(dsn, statement)
            assert "Index" in plan_text
            assert "Seq Scan" not in plan_text
    probe = lists(where={"status": ("a",), "topic": ("t",)}, ranges={"weight": (1, 2)})
    plan_text = plan_of(
        dsn, probe.probe([walk for walks in probe.walks(None) for walk in walks], 9)
    )
    assert "Seq Scan on" not in plan_text
    for name in ("i_c_sample_notes_k_status", "i_f_sample_notes", "i_c_sample_notes_n_weight"):
        assert name in plan_text


def test_words_are_found_by_index_and_a_box_by_its_numbers(dsn: str) -> None:
    for query in (
        lists().search({"flood": 1}, None, 9, is_narrow=False),
        lists(words=("flood",)).count(WHOLE, 9),
        lists(words=("flood",), where={"status": ("open",)}).page(WHOLE, None, AFTER, 9),
        lists(words=("flood",)).page(WHOLE, "weight", AFTER, 9),
    ):
        plan_text = plan_of(dsn, query)
        assert "on i_c_sample_notes_tokens" in plan_text
        # The rows of a search are read by their identifiers, once the best are known.
        assert "Index Scan using" not in plan_text.replace("using c_sample_notes_pkey", "")
    narrow = lists(start=1, end=5).search({"flood": 1}, None, 9, is_narrow=True)
    for query in (narrow, lists(start=1).probe([WHOLE], 9)):
        plan_text = plan_of(dsn, query)
        assert "i_c_sample_notes " in plan_text
        assert "tokens" not in plan_text.replace("c_1.tokens", "").replace("w.tokens", "")
    box = lists(box=GeoBox(1, 1, 2, 2))
    plan_text = plan_of(dsn, box.page(walk_of(box, "longitude"), None, None, 9))
    assert "i_c_sample_notes_n_longitude" in plan_text


GROWTH_ROWS = (
    "INSERT INTO c_sample_notes (tenant, id, ord, version, shape, body, k_status, k_author,"
    " n_weight, n_longitude, tokens) SELECT 'ann', 'n' || n, n, 1, 1, '{{}}',"
    " CASE WHEN n <= 20 THEN 'rare' ELSE 's' || n % 3 END, 'a' || n % 2, n, n,"
    " array['ann w' || n] FROM generate_series(1, {}) AS n",
    *(
        "INSERT INTO f_sample_notes (tenant, id, ord, name, value)"
        f" SELECT tenant, id, ord, 'topic', {value} FROM c_sample_notes WHERE {condition}"
        for value, condition in FACETS
    ),
)


@pytest.fixture(scope="module", params=["", "ANALYZE"])
def table_sizes(request: pytest.FixtureRequest, postgres: PostgresServer) -> list[str]:
    """The same rare rows, among 2,000 others and among 20,000: with statistics and without."""
    databases = [postgres.made_for(SAMPLES) for _ in range(2)]
    for dsn, rows in zip(databases, (2_000, 20_000), strict=True):
        name = dsn.partition("@/")[2].partition("?")[0]
        statements = [*GROWTH_ROWS, *filter(None, [request.param])]
        postgres.do(*(statement.format(rows) for statement in statements), database=name)
    return databases


def pages(dsn: str, queries: list[StatementDraft]) -> list[tuple[int, int]]:
    """How many pages and how many rows of tables each looks at."""

    async def main() -> list[tuple[int, int]]:
        connection = await asyncpg.connect(dsn, server_settings=UNIT_SETTINGS)
        counts = []
        for query in queries:
            text = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {number_parameters(query.text)}"
            (row,) = await connection.fetch(text, *query.values)
            plan = json.loads(row[0])[0]["Plan"]
            counts.append((plan["Shared Hit Blocks"] + plan["Shared Read Blocks"], rows_read(plan)))
        await connection.close()
        return counts

    return asyncio.run(main())


@pytest.mark.parametrize(("filters", "bounds"), list(product(WHERES, BOUNDS)))
def test_a_table_that_grows_makes_no_list_and_no_count_of_its_rows_dearer(
    table_sizes: list[str], filters: tuple[str, dict[str, tuple[str, ...]]], bounds: dict[str, Any]
) -> None:
    driver, keys = filters
    query = lists(where=keys, **bounds)
    walk, by_weight = walk_of(query, driver), walk_of(query, driver, "weight")
    after = Position(9, "n9")
    queries = [
        query.count(walk, 30),
        query.page(walk, None, None, 31),
        query.page(walk, None, after, 31),
        query.page(by_weight, "weight", None, 31),
        query.page(by_weight, "weight", after, 31),
        query.probe([walk], 200),
    ]
    few, large = (pages(dsn, queries) for dsn in table_sizes)
    for at, ((read, rows), (read_of_many, rows_of_many)) in enumerate(zip(few, large, strict=True)):
        # An index of ten times the rows is one level higher.
        assert read_of_many <= 1.6 * read + 10, at
        assert rows_of_many <= 1.5 * rows + 10, at


def test_the_workers_view_walks_an_index(dsn: str) -> None:
    plan_text = plan_of(dsn, lists(where={"status": ("due",)}, end=5).across((1, "", ""), 9))
    assert "using a_c_sample_notes on" in plan_text
    assert "Sort" not in plan_text


SORT_QUERIES = {
    "acts",
    "holders",
    "opened_by_key",
    "of_subjects",
    "read",
    "read_types",
    "counts_of",
    "checkpoints",
    "purge",
}
"""Those put few rows in order."""


@pytest.mark.parametrize(
    ("file", "name"),
    [
        (file, name)
        for file in ("ledger.sql", "changes.sql", "answers.sql")
        for name, text in named_statements("svc_http.stores.postgres", file).items()
        if not text.startswith("INSERT") and name != "epoch"
    ],
)
def test_feeds_answers_and_ledgers_are_read_by_index(dsn: str, file: str, name: str) -> None:
    plan_text = plan(dsn, named_statements("svc_http.stores.postgres", file)[name])
    assert "Index" in plan_text
    assert not re.search(r"Seq Scan on (changes|answers|ledger)", plan_text)
    assert name in SORT_QUERIES or "Sort" not in plan_text
