"""What the statements cost, read from their plans; what the text index keeps."""

import asyncio
import re
import sqlite3
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from svc_core.testing.sample import NOTES, NOTICES, SAMPLES, Note
from svc_core.testing.sync_store import SyncStore
from svc_http.storage import SqliteStorage
from svc_http.storage.sqlite import has_wal_reset_fault, ledger, migrate
from svc_http.storage.sqlite.changes import _APPEND, _HEAD, _READ, _READ_TYPE
from svc_http.storage.sqlite.table import Shape, Table, table

DRIVERS = (None, "status", "topic")
CHECKS: tuple[tuple[tuple[str, int], ...], ...] = (
    (),
    (("author", 1),),
    (("author", 3),),
)


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("plans") / "svc.db"
    migrate(path, SAMPLES, epoch=bytes(8))
    made = sqlite3.connect(path)
    yield made
    made.close()


def plan(connection: sqlite3.Connection, statement: str) -> str:
    numbered = {int(number) for number in re.findall(r"\?(\d)", statement)}
    values = ["x"] * max(numbered, default=statement.count("?"))
    rows = connection.execute(f"EXPLAIN QUERY PLAN {statement}", values)
    return "; ".join(row[3] for row in rows)


@pytest.mark.parametrize(
    ("driver", "checks", "has_start", "upper"),
    list(product(DRIVERS, CHECKS, (False, True), (None, "end", "after"))),
)
def test_every_listing_walks_an_index_that_ends_in_the_sort_key(
    connection: sqlite3.Connection,
    driver: str | None,
    checks: tuple[tuple[str, int], ...],
    has_start: bool,
    upper: str | None,
) -> None:
    shape = Shape(
        driver,
        checks,
        has_start=has_start,
        has_end=upper == "end",
        has_after=upper == "after",
    )
    told = plan(connection, table(NOTES).scan(shape))
    assert "SCAN" not in told
    assert "TEMP B-TREE" not in told
    # A bound that is looked at row by row would make the last page dearer than the first.
    assert (
        (upper is None and not has_start) or "ord>" in told or "ord<" in told or "(ord,id)<" in told
    )


@pytest.mark.parametrize("spans", [(), (("weight", False),)])
def test_a_listing_by_a_number_walks_the_index_of_that_number(
    connection: sqlite3.Connection, spans: tuple[tuple[str, bool], ...]
) -> None:
    shape = Shape("weight", (("topic", 1),), spans, has_after=True, order="weight")
    told = plan(connection, table(NOTES).scan(shape))
    assert "i_c_sample_notes_weight" in told
    assert "TEMP B-TREE" not in told
    assert "n_weight" in told


@pytest.mark.parametrize("made", [table(NOTES), table(NOTICES)], ids=["tenant", "global"])
def test_rows_are_found_by_index(connection: sqlite3.Connection, made: Table) -> None:
    for statement in (
        made.get,
        made.find,
        made.drop_facet,
        made.probe("status"),
        made.probe("topic"),
        made.probe("weight"),
        made.get_many,
    ):
        told = plan(connection, statement)
        assert "SEARCH" in told
        assert "SCAN c_" not in told
        assert "SCAN f_" not in told


def test_the_workers_view_walks_an_index(connection: sqlite3.Connection) -> None:
    told = plan(connection, table(NOTES).across((("status", 1),), has_end=True))
    assert "a_c_sample_notes" in told
    assert "TEMP B-TREE" not in told


@pytest.mark.parametrize("statement", [_APPEND, _HEAD, _READ, _READ_TYPE])
def test_feeds_are_read_by_index(connection: sqlite3.Connection, statement: str) -> None:
    told = plan(connection, statement)
    assert "SCAN changes" not in told
    assert "TEMP B-TREE" not in told


LEDGER_STATEMENTS = (
    *("_HEAD", "_NEXT", "_GET", "_LINES", "_SEALS", "_TIME", "_OF_SUBJECT", "_COUNT_OF"),
    *("_OPENED", "_NODES"),
    *("_OPENED_BY_KEY", "_HOLDERS", "_BODY", "_LAST_BODY", "_BLANK", "_POINT", "_CHECKPOINTS"),
    *("_DROP_FROM", "_DROP_KEY"),
)


@pytest.mark.parametrize("name", LEDGER_STATEMENTS)
def test_ledgers_are_read_by_index(connection: sqlite3.Connection, name: str) -> None:
    told = plan(connection, getattr(ledger, name))
    assert "SEARCH" in told
    assert "SCAN" not in told
    # The subjects that hold one designator are put in order; those are few.
    if name not in ("_HOLDERS", "_OPENED_BY_KEY"):
        assert "TEMP B-TREE" not in told


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
                found = sync.search("ann", NOTES, {f"a{letter}b": 1}).rows
                assert [each.id for each in found] == [f"n{number}"], hex(ord(letter))
        assert sync.search("ann", NOTES, {"a": 1, "b": 1}).rows == ()
        sync.close()


def test_the_version_with_the_fault_is_known() -> None:
    assert has_wal_reset_fault((3, 40, 1))
    assert has_wal_reset_fault((3, 51, 2))
    assert not has_wal_reset_fault((3, 51, 3))
