"""Sources and their documents in the store: all or nothing, once and for all."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core import wire
from svc_core.formats.model import Rejection
from svc_core.intel.folding.model import SOURCES, RowCounts
from svc_core.intel.intake import record_intake as intake
from svc_core.intel.news.model import TOPIC_ACTIVITY
from svc_core.operation.context import Context
from tests.core.feeds import document_of
from tests.sampling import examples

Make = Callable[..., Any]


def test_a_document_is_written_with_everything_that_follows_from_it(
    house: Any, make_document: Make, make_entry: Make
) -> None:
    source = house.add(topics=("world",))
    rejections = (Rejection("noTitle", 1, "x"),)
    counts = house.take(
        source, make_document(make_entry("a"), make_entry("b"), rejections=rejections)
    )
    assert counts == RowCounts(created=2, updated=0, unchanged=0)
    assert sorted(item.id for item in house.news()) == sorted(words.id for words in house.words())
    assert [(c.change_type, c.resource_type, c.everybody) for c in house.change_records()] == [
        ("created", "newsItem", True)
    ] * 2
    after = house.run(lambda ctx: ctx.find(SOURCES, source.id))
    assert (after.health.status, after.health.items_last_run) == ("partial", 2)
    activity = house.run(lambda ctx: ctx.load(TOPIC_ACTIVITY, "world"))
    assert TOPIC_ACTIVITY.decode(activity.raw).sources == (source.id,)


def test_a_document_again_writes_no_item_and_no_change(
    house: Any, make_document: Make, make_entry: Make
) -> None:
    source = house.add()
    document = make_document(make_entry("a"), make_entry("b"))
    house.take(source, document)
    changes = house.change_records()
    house.clock.advance(60)
    assert house.take(source, document) == RowCounts(0, 0, 2)
    assert house.change_records() == changes
    after = house.run(lambda ctx: ctx.find(SOURCES, source.id))
    assert after.health.last_content_at == house.clock.now() - timedelta(seconds=60)


def test_a_correction_updates_row_and_words_and_is_not_counted_as_activity(
    house: Any, make_document: Make, make_entry: Make
) -> None:
    source, first = house.add(topics=("world",)), house.clock.now()
    house.take(source, make_document(make_entry("a", title="Old")))
    house.clock.advance(60)
    assert house.take(source, make_document(make_entry("a", title="New"))).updated == 1
    (item,), (words,) = house.news(), house.words()
    assert (item.title, words.title) == ("New", "New")
    assert item.retrieved_at == words.taken_at == first
    assert [change.change_type for change in house.change_records()] == ["created", "updated"]
    activity = house.run(lambda ctx: ctx.load(TOPIC_ACTIVITY, "world"))
    assert activity.version == 1


def test_a_document_of_a_removed_source_brings_nothing(
    house: Any, make_document: Make, make_entry: Make
) -> None:
    source = house.add()
    house.run(lambda ctx: ctx.tx.documents.delete(SOURCES, source.id))
    assert house.take(source, make_document(make_entry("a"))) is None
    assert house.news() == []


class BrokenDiskError(Exception):
    pass


def test_a_failure_half_way_leaves_nothing(
    house: Any, make_document: Make, make_entry: Make
) -> None:
    source = house.add()
    parts = make_document(*(make_entry(key) for key in "abc"))
    document = document_of(parts)

    async def unit(ctx: Context) -> None:
        await intake.take_document(ctx, source.id, document)
        raise BrokenDiskError

    with pytest.raises(BrokenDiskError):
        house.run(unit)
    assert (house.news(), house.words(), house.change_records()) == ([], [], [])


# -- laws --------------------------------------------------------------------------------------

_ENTRIES = st.dictionaries(st.sampled_from("abcde"), st.sampled_from(["One", "Two"]), max_size=5)


@given(st.lists(_ENTRIES, max_size=6))
@examples(40)
def test_the_store_holds_the_last_that_was_said_of_each_item_and_tells_each_change_once(
    house_factory: Make, make_document: Make, make_entry: Make, documents: list[dict[str, str]]
) -> None:
    house = house_factory()
    source = house.add()
    titles: dict[str, str] = {}
    changes = 0
    for entries in documents:
        changes += sum(titles.get(key) != title for key, title in entries.items())
        titles |= entries
        house.take(
            source,
            make_document(*(make_entry(key, title=title) for key, title in entries.items())),
        )
        house.clock.advance(60)
    assert sorted(item.title for item in house.news()) == sorted(titles.values())
    assert len(house.change_records()) == changes
    assert {w.id: w.title for w in house.words()} == {n.id: n.title for n in house.news()}
    assert all(wire.to_bytes(item) for item in house.news())
