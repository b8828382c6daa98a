"""The corpus: counts are exact whatever happened, and the telling terms find the candidates."""

from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.intel.news.model import NEWS_TEXTS
from svc_core.intel.news.news_corpus import ITEMS, count_texts, news_evidence, uncounted_texts
from svc_core.operation.host import Host
from svc_core.search import corpus
from svc_core.search.corpus import FAN, Tables, TermState
from svc_core.text.evidence import reading_of
from svc_core.text.frequencies import Frequencies
from tests.sampling import examples

Make = Callable[..., Any]

WORDS = ("harbour", "strike", "Antwerp", "pay", "crane")
documents = st.dictionaries(
    st.sampled_from("abcde"), st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join), min_size=1
)


@pytest.fixture(scope="session")
def take(house_factory: Any, make_document: Make, make_entry: Make) -> Callable[..., Any]:
    """Takes texts by their keys into a house, new or given."""

    def taking(*texts: dict[str, str], house: Any = None) -> Any:
        house = house or house_factory()
        source = house.add()
        for batch in texts:
            entries = (make_entry(key, title=text, text=text) for key, text in batch.items())
            house.take(source, make_document(*entries))
        return house

    return taking


def scratch(house: Any) -> dict[str, int]:
    """How many stored items hold each term, counted now."""
    return dict(Frequencies.of(set(row.terms.split()) for row in house.words()).counts)


def table(house: Any, tables: Tables | None = None) -> Frequencies:
    """The table as a process with these remembered ones sees it."""
    host = Host() if tables is None else Host(providers={Tables: tables})
    counts: Frequencies = house.run(
        lambda ctx: corpus.term_frequencies(attrs.evolve(ctx, host=host), ITEMS), "wsp_a"
    )
    return counts


def tidy(house: Any) -> None:
    while merge := house.run(lambda ctx: corpus.next_merge(ctx, ITEMS)):
        assert house.run(lambda ctx, merge=merge: corpus.apply_merge(ctx, merge, merge.sum_lines()))


@given(st.lists(st.lists(documents, min_size=1, max_size=5), max_size=8), st.data())
@examples(15)
def test_counts_are_those_of_the_stored_items_whatever_happened(
    take: Any, runs: list[list[dict[str, str]]], data: st.DataObject
) -> None:
    house, tables = take(), Tables()
    for run in runs:
        take(*run, house=house)
        if data.draw(st.booleans()):
            tidy(house)
        current = table(house, tables)
        assert (dict(current.counts), current.total) == (scratch(house), len(house.words()))
        assert current == table(house)
    again = take({key: text for run in runs for batch in run for key, text in batch.items()})
    assert table(again).version == table(house).version


def test_units_leave_few_segments_and_no_orphans(take: Any) -> None:
    house = take(*({str(number): f"pier{number} strike"} for number in range(FAN)))
    before = table(house)
    tidy(house)
    state: TermState = house.run(lambda ctx: ctx.find(ITEMS.state, "terms"))
    assert [segment.level for segment in state.segments] == [1]
    page = house.run(lambda ctx: ctx.tx.documents.scan(ITEMS.counts, limit=99))
    assert [row.id for row in page.rows] == [segment.id for segment in state.segments]
    assert table(house) == before
    assert (before.total, before.counts["strike"]) == (FAN, FAN)


def test_of_two_who_merge_the_second_changes_nothing(take: Any) -> None:
    house = take(*({str(number): "strike"} for number in range(FAN)))
    merge = house.run(lambda ctx: corpus.next_merge(ctx, ITEMS))
    assert house.run(lambda ctx: corpus.apply_merge(ctx, merge, merge.sum_lines()))
    assert not house.run(lambda ctx: corpus.apply_merge(ctx, merge, merge.sum_lines()))
    assert table(house).counts == {"strike": FAN}
    assert house.run(lambda ctx: corpus.next_merge(ctx, ITEMS)) is None


def test_a_process_remembers_few_tables_and_reads_what_is_new_alone(take: Any) -> None:
    house, tables = take({"a": "strike"}), Tables()
    tables.by_owner.update({("old", str(number)): ({}, Frequencies()) for number in range(20)})
    first = table(house, tables)
    assert table(house, tables) is first
    assert len(tables.by_owner) < 20
    take({"b": "strike"}, house=house)
    assert (first.counts, table(house, tables).counts) == ({"strike": 1}, {"strike": 2})


# -- stores of before --------------------------------------------------------------------------


def forget(house: Any) -> None:
    """Have the store as it was before terms were kept and counted."""

    words = house.words()

    async def unit(ctx: Any) -> None:
        for row in words:
            await ctx.save(NEWS_TEXTS, row.id, attrs.evolve(row, terms=None))
        for collection in (ITEMS.state, ITEMS.counts):
            for row in (await ctx.tx.documents.scan(collection, limit=99)).rows:
                await ctx.remove(collection, row.id)

    house.run(unit)


async def _titles(ctx: Any, *terms: str, limit: int = 9, **how: Any) -> list[str]:
    counts = how.pop("counts", None) or await corpus.term_frequencies(ctx, ITEMS)
    rows = await corpus.candidate_ids(
        ctx, dict.fromkeys(terms, 1.0), counts, texts=NEWS_TEXTS, limit=limit, **how
    )
    return [item.title for item in await news_evidence(ctx, rows)]


def test_items_of_before_are_found_read_and_counted_later(take: Any) -> None:
    texts = {str(number): f"pier{number} strike" for number in range(3)}
    house = take(texts)
    now = table(house)
    readings = house.run(_read_all)
    forget(house)
    assert table(house) == Frequencies(version="0" * 16)
    assert house.run(lambda ctx: _titles(ctx, "pier1")) == ["pier1 strike"]
    assert house.run(_read_all) == readings
    uncounted = house.run(uncounted_texts)
    take({"1": "pier1 strike ends"}, house=house)
    house.run(lambda ctx: count_texts(ctx, uncounted))
    assert house.run(uncounted_texts) == ()
    assert (table(house).total, scratch(house)) == (3, dict(table(house).counts))
    take(texts, house=house)
    assert table(house).version == now.version


async def _read_all(ctx: Any) -> list[Any]:
    rows = (await ctx.tx.documents.scan(NEWS_TEXTS, limit=9)).rows
    readings = map(reading_of, await news_evidence(ctx, rows))
    read_ = sorted(readings, key=lambda reading: reading.evidence.id)
    return [(reading.evidence.id, reading.title, reading.lead, reading.rest) for reading in read_]


def test_kept_terms_read_as_the_words_do(take: Any) -> None:
    house = take({"a": "Dockworkers' pay: WHO said 12,000 strike " + "at the crane " * 70})
    (words,) = house.words()
    rows = house.run(lambda ctx: ctx.tx.documents.scan(NEWS_TEXTS, limit=9)).rows
    (item,) = house.run(lambda ctx: news_evidence(ctx, rows))
    assert item.terms == words.terms is not None
    from_terms, from_text = reading_of(item), reading_of(attrs.evolve(item, terms=None))
    assert (from_terms.title, from_terms.lead, from_terms.rest) == (
        from_text.title,
        from_text.lead,
        from_text.rest,
    )
    assert len(from_terms.lead) == 60
    assert from_terms.rest


# -- candidates --------------------------------------------------------------------------------


def test_the_most_telling_terms_come_first_and_unknown_ones_find_nothing(take: Any) -> None:
    house = take({"a": "strike pay", "b": "strike crane", "c": "strike", "d": "Antwerp"})
    assert house.run(lambda ctx: _titles(ctx, "strike", "crane", "moon"))[0] == "strike crane"
    assert house.run(lambda ctx: _titles(ctx, "moon")) == []
    assert house.run(_titles) == []
    assert take().run(lambda ctx: _titles(ctx, "strike", start=0)) == []
    assert len(house.run(lambda ctx: _titles(ctx, "strike", limit=2))) == 2


def test_common_terms_are_left_out_where_rarer_ones_find_enough(take: Any) -> None:
    house = take({"a": "strike crane", "b": "strike", "c": "pay"})
    counts = Frequencies(100_000, {"strike": 60_000, "crane": 300, "pay": 400})
    titles = house.run(lambda ctx: _titles(ctx, "strike", "crane", "pay", counts=counts))
    assert sorted(titles) == ["pay", "strike crane"]
    alone = house.run(lambda ctx: _titles(ctx, "strike", counts=counts))
    assert sorted(alone) == ["strike", "strike crane"]
    # A period has as many of them as is its share of all items.
    within = house.run(lambda ctx: _titles(ctx, "strike", "pay", counts=counts, start=0))
    assert sorted(within) == ["pay", "strike", "strike crane"]
