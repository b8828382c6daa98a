"""What a store takes for what it took in: rows are kept compressed, and read as they were."""

import asyncio
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from pkgutil import get_data
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from svc_core import catalog, wire
from svc_core.formats.model import DocumentRefused, Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import FORMATS, read_document, recognise_format
from svc_core.intel.folding.contributions import CONTRIBUTIONS
from svc_core.operation.ports import Collection, Layout
from svc_core.testing.sample import NOTES, Note
from svc_http.stores.sqlite.row_compression import compress_row, expand_row
from tests.core.conftest import House
from tests.core.formats import golden
from tests.storage.test_migrations import File, fill

LAYOUT = Layout(is_compressed=True, is_filtered=True, beside=("status",), distinctive=("author",))
TIGHT: Collection[Note] = evolve(NOTES, layout=LAYOUT)


@pytest.fixture
def file(tmp_path: Path) -> Iterator[File]:
    with asyncio.Runner() as runner:
        yield File(tmp_path / "svc.db", runner)


# -- compressed rows ---------------------------------------------------------------------------


@given(st.binary(max_size=2_000).filter(lambda raw: raw[:1] != b"\1"), st.text(max_size=90))
def test_what_is_compressed_is_read_as_it_was(raw: bytes, id_: str) -> None:
    assert expand_row(compress_row(raw, id_), id_) == raw
    assert expand_row(raw, id_) == raw


def test_the_dictionary_of_compressed_rows_never_changes() -> None:
    words = get_data("svc_http.stores.sqlite", "row_words.txt") or b""
    assert len(words) <= 32_768  # no compressor finds what lies farther back
    assert sha256(words).hexdigest()[:12] == "1cf210165587"
    body = bytes.fromhex("0183a608084709be262a233527275fa91600")
    assert expand_row(body, "note_1") == b'{"id":"note_1","text":"hello"}'


@pytest.mark.parametrize("format_id", sorted(FORMATS))
def test_what_a_format_says_takes_less_than_half_of_its_json(format_id: str) -> None:
    house = House()
    for place, cases in enumerate(golden.stored_cases(format_id).values()):
        for number, case in enumerate(cases):
            text = (
                wire.to_bytes(case["json"]) if "json" in case else "\n".join(case["text"]).encode()
            )
            body = Body(text)
            try:
                document = read_document(
                    body, recognise_format(body), Origin(**case.get("origin", {}))
                )
            except DocumentRefused:
                continue
            house.take(house.add(f"https://{number}.example.org/{place}"), document)
    rows = [(wire.to_bytes(claim), claim.id) for claim in house.stored(CONTRIBUTIONS)]
    assert sum(len(compress_row(*row)) for row in rows) < sum(len(raw) for raw, _ in rows) / 2


# -- indexes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("collection", catalog.COLLECTIONS, ids=lambda each: each.name)
def test_a_layout_names_filters_of_its_collection(collection: Collection[Any]) -> None:
    layout = collection.layout
    assert {*layout.beside} <= {*collection.keys, *collection.number_names}
    assert {*layout.distinctive} <= {*collection.keys} - {*layout.beside}
    assert not {*layout.beside} & {*sum(collection.rankings.values(), ())}


# -- a store that is there ---------------------------------------------------------------------

QUESTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"start": 3, "end": 900},
    {"where": {"status": ("open",)}},
    {"where": {"status": ("open",), "topic": ("t",)}},
    {"where": {"author": ("ann",)}},
    {"order": "weight"},
    {"words": ("word77",)},
    {"ranges": {"weight": (5, 500)}, "where": {"author": ("ann", "bob")}},
)


def pages(sync: Any, collection: Collection[Note]) -> list[Any]:
    """All rows of every question, page after page."""
    answers: list[Any] = []
    for question in QUESTIONS:
        rows, after = [], None
        while True:
            page = sync.scan("ann", collection, after=after, limit=170, **question)
            rows += page.rows
            after = page.end
            if after is None:
                break
        answers.append((question, rows))
    return answers


def test_a_file_of_the_version_before_becomes_small_and_says_the_same(file: File) -> None:
    fill(file, NOTES)
    sync = file.open(NOTES)
    for number, author in enumerate(("ann", "bob", "ann", "eve")):
        sync.put("ann", NOTES, f"a{number}", Note(f"a{number}", "by one", number, author=author))
    before = pages(sync, NOTES)
    sync.close()
    size = file.path.stat().st_size
    assert file.status(TIGHT).pending == ("collection sample_notes: compressed rows",)
    file.migrate([TIGHT])
    assert file.path.stat().st_size < size
    sync = file.open(TIGHT)
    assert pages(sync, TIGHT) == before
    sync.put("ann", TIGHT, "a1", Note("a1", "another", 1, author="ann"))
    sync.delete("ann", TIGHT, "a2")
    after = pages(sync, TIGHT)
    sync.close()
    sync = file.open(NOTES)
    assert pages(sync, NOTES) == after
    sync.close()
    filtered = evolve(NOTES, layout=Layout(is_filtered=True))
    assert file.status(filtered).pending == ("collection sample_notes: filters rearranged",)
