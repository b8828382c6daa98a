"""A search says the same however few or many rows lie between its bounds."""

import asyncio
from itertools import product
from typing import Any

import pytest

from svc_core.base import drive
from svc_core.intel.linking.name_forms import normal_name
from svc_core.operation.ports import Position
from svc_core.search.field_index import FieldIndex, WeightedQuery
from svc_core.search.row_names import RowNames
from svc_core.testing.sample import NOTES, SAMPLES, Note
from svc_core.testing.sync_store import SyncStore
from svc_http.stores import MemoryStorage
from svc_http.stores.postgres import _documents as of_postgres
from svc_http.stores.sqlite import _documents as of_sqlite
from tests.backends import NAMES, store_of

WORDS = ("flood", "köln", "大雨", "o'neil", '"and"', "common")
TERMS = {"flood": 3, "大雨": 2, "o'neil": 2, '"and"': 7 * 10**12, "common": 1, "absent": 9}


def corpus_store(sync: SyncStore) -> SyncStore:
    for number in range(48):
        words = [word for place, word in enumerate(WORDS) if number % (place + 2) == 0]
        note = Note(f"n{number}", " ".join(words), written=number % 12)
        sync.put("ann", NOTES, note.id, note)
        sync.put("bob", NOTES, note.id, Note(note.id, "flood common", written=3))
    return sync


@pytest.mark.parametrize("name", ["sqlite", "postgres"])
@pytest.mark.parametrize("rows_max", [0, 20])
def test_every_way_of_a_search_finds_what_the_plain_one_finds(
    name: str, rows_max: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_postgres, "NARROW_MAX", rows_max)
    monkeypatch.setattr(of_sqlite, "RUN_ROWS_MAX", rows_max)
    plain = corpus_store(SyncStore(MemoryStorage(SAMPLES), drive.run))
    places = (None, Position(5, "n5", 3), Position(0, "n0", 7 * 10**12 + 4))
    with asyncio.Runner() as runner:
        sync = corpus_store(SyncStore(store_of(name, SAMPLES), runner.run))
        for start, end, after, limit in product((None, 4, 99), (None, 7), places, (1, 5, 99)):
            how: dict[str, Any] = {"start": start, "end": end, "after": after, "limit": limit}
            hits = sync.search("ann", NOTES, TERMS, **how)
            assert hits == plain.search("ann", NOTES, TERMS, **how), how
        sync.close()


LONG = "Ab" * 5_000
NAMED = [
    ("a", RowNames("Volt Typhoon")),
    ("b", RowNames("Bronze Silhouette", ["VOLT TYPHOON", LONG], ["0000320193", LONG])),
    ("c", RowNames("Typhoon Volt Ltd", prominence=3)),
    ("d", RowNames("Volt Typhoon of the Many Isles", prominence=3)),
    ("e", RowNames("The doings of Volt Typhoon", prominence=3)),
    ("f", RowNames(f"{LONG} typhoon {'x ' * 3_000}")),
]
QUESTIONS = {
    "volt typhoon": "abcde", "typhoon, volt": "cabed", "cik:320193": "b", "bronze": "b",
    LONG[:300]: "fb", "volt typhoon of": "d",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_rank_alike_in_every_store_and_long_ones_are_stored(name: str) -> None:
    index: FieldIndex[RowNames] = FieldIndex(
        lambda row: {"name": [row.name], "aliases": row.aliases},
        is_names=True,
        bare=normal_name,
        names=lambda row: row,
    )
    with asyncio.Runner() as runner:
        sync = SyncStore(store_of(name, SAMPLES), runner.run)
        for id_, row in NAMED:
            sync.put("ann", NOTES, id_, Note(id_, index(row)))
        for question, ids in QUESTIONS.items():
            query = index.query(question)
            weighed = WeightedQuery(query, dict.fromkeys(query.tokens, 1_000))
            hits = sync.search("ann", NOTES, weighed.store_tokens, limit=len(ids)).rows
            assert "".join(hit.id for hit in hits) == ids, question
        sync.close()
