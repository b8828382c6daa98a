"""Sources and their documents in the store: all or nothing, once and for all."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_core import problem, wire
from svc_core.operation import Context
from svc_core.ports import Collection, Document
from svc_core.problem import Problem
from svc_core.resources.news import NEWS, NEWS_TEXTS, SOURCES, TOPIC_ACTIVITY, Source
from svc_core.sources import Rejection

Make = Callable[..., Any]

# -- sources -----------------------------------------------------------------------------------


def test_a_new_source_has_never_run_and_is_due_at_once(house: Any) -> None:
    source = house.add()
    assert source.health.status == "neverRun"
    assert (source.name, source.domain, source.cadence_seconds) == ("", "pier.org", 900)
    assert source.created_at == house.clock.now()
    assert SOURCES.order(source) == 0
    assert house.run(lambda ctx: ctx.find(SOURCES, source.id)) == source


def test_adding_a_source_again_changes_nothing(house: Any) -> None:
    first = house.add(name="Pier", topics=("world",), cadence_seconds=60)
    house.clock.advance(60)
    assert house.add() == first
    stored = house.run(lambda ctx: ctx.load(SOURCES, first.id))
    assert stored.version == 1


@pytest.mark.parametrize(
    ("wish", "keeps_copy"),
    [
        ({"name": "Quay"}, False),
        ({"topics": ("energy",)}, False),
        ({"country_code": "FR"}, False),
        ({"timezone": "Europe/Paris"}, False),
        ({"cadence_seconds": 3_600}, True),
    ],
)
def test_what_is_said_anew_is_changed(house: Any, wish: dict[str, Any], keeps_copy: bool) -> None:
    first = house.add(name="Pier", topics=("world",))
    house.run(lambda ctx: intake.save_source(ctx, attrs.evolve(first, etag='"1"', digest="d")))
    changed = house.add(**wish)
    assert {name: getattr(changed, name) for name in wish} == wish
    assert (changed.etag, changed.digest) == (('"1"', "d") if keeps_copy else (None, None))


def test_every_fault_of_a_wish_is_told(house: Any) -> None:
    with pytest.raises(Problem) as caught:
        house.add(topics=("world", "gossip", "fun"), cadence_seconds=1, timezone="Mars/Base")
    assert caught.value.type is problem.VALIDATION_FAILED
    for word in ("gossip", "fun", "cadenceSeconds", "timezone"):
        assert word in (caught.value.detail or "")
    assert house.run(lambda ctx: intake.list_sources(ctx, limit=10)) == ()


@pytest.mark.parametrize("seconds", [0, 59, 604_801, -5])
def test_a_cadence_has_bounds(house: Any, seconds: int) -> None:
    with pytest.raises(Problem):
        house.add(cadence_seconds=seconds)


def _seen(house: Any, source: Source) -> Document[Source]:
    found: Document[Source] = house.run(lambda ctx: ctx.load(SOURCES, source.id))
    return found


def test_a_claim_puts_the_source_off_and_is_given_once(house: Any) -> None:
    seen = _seen(house, house.add())
    until = house.clock.now() + timedelta(minutes=5)
    [claimed] = house.run(lambda ctx: intake.claim(ctx, [seen], until))
    assert claimed.health.next_attempt_at == until
    assert house.run(lambda ctx: intake.claim(ctx, [seen], until)) == ()


def test_what_was_claimed_and_not_read_is_due_at_once_when_it_is_released(house: Any) -> None:
    read, left = house.add(), house.add("https://other.example/feed")
    until = house.clock.now() + timedelta(minutes=5)
    rows = [_seen(house, source) for source in (read, left)]
    assert len(house.run(lambda ctx: intake.claim(ctx, rows, until))) == 2
    house.run(lambda ctx: intake.note_run(ctx, read.id, lambda now: rules.unchanged(now, ctx.now)))
    after = house.run(lambda ctx: ctx.find(SOURCES, read.id))
    house.run(lambda ctx: intake.release(ctx, [read.id, left.id, "src_gone"], until))
    assert house.run(lambda ctx: ctx.find(SOURCES, read.id)) == after
    due = house.run(lambda ctx: ctx.find(SOURCES, left.id))
    assert due.health.next_attempt_at == house.clock.now()


def test_a_removed_source_is_neither_claimed_nor_noted(house: Any) -> None:
    source = house.add()
    seen = _seen(house, source)
    house.run(lambda ctx: ctx.tx.documents.delete(SOURCES, source.id))
    assert house.run(lambda ctx: intake.claim(ctx, [seen], ctx.now)) == ()
    assert house.run(lambda ctx: intake.note_run(ctx, source.id, lambda found: found)) is None
    assert house.run(lambda ctx: ctx.find(SOURCES, source.id)) is None


def test_a_run_is_noted_on_the_source_as_it_is_now(house: Any) -> None:
    source = house.add()
    house.add(name="Quay")
    noted = house.run(
        lambda ctx: intake.note_run(
            ctx, source.id, lambda now: rules.failed(now, ctx.now, "timeout", "Late.", None)
        )
    )
    assert (noted.name, noted.health.status) == ("Quay", "error")
    assert house.run(lambda ctx: intake.list_sources(ctx, limit=10)) == (noted,)


# -- documents ---------------------------------------------------------------------------------


def test_a_document_is_written_with_everything_that_follows_from_it(
    house: Any, make_document: Make, make_entry: Make
) -> None:
    source = house.add(topics=("world",))
    lost = (Rejection("noTitle", 1, "x"),)
    taken = house.take(source, make_document(make_entry("a"), make_entry("b"), rejections=lost))
    assert taken == intake.Taken(created=2, updated=0, unchanged=0)
    assert sorted(item.id for item in house.news()) == sorted(words.id for words in house.words())
    assert [(c.change_type, c.resource_type, c.everybody) for c in house.recorded()] == [
        ("created", "newsItem", True)
    ] * 2
    after = house.run(lambda ctx: ctx.find(SOURCES, source.id))
    assert (after.health.status, after.health.items_last_run, after.digest) == ("partial", 2, "d")
    activity = house.run(lambda ctx: ctx.load(TOPIC_ACTIVITY, "world"))
    assert TOPIC_ACTIVITY.decode(activity.raw).sources == (source.id,)


def test_a_document_again_writes_no_item_and_no_change(
    house: Any, make_document: Make, make_entry: Make
) -> None:
    source = house.add()
    parsed = make_document(make_entry("a"), make_entry("b"))
    house.take(source, parsed)
    told = house.recorded()
    house.clock.advance(60)
    assert house.take(source, parsed) == intake.Taken(0, 0, 2)
    assert house.recorded() == told
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
    assert [change.change_type for change in house.recorded()] == ["created", "updated"]
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
    parsed = make_document(*(make_entry(key) for key in "abc"))
    rows = rules.incoming(source, parsed, house.clock.now())
    batch = intake.prepared(rows)

    async def unit(ctx: Context) -> None:
        await intake.take_in(ctx, batch.rows, news=batch.news, texts=batch.texts)
        raise BrokenDiskError

    with pytest.raises(BrokenDiskError):
        house.run(unit)
    assert (house.news(), house.words(), house.recorded()) == ([], [], [])


def test_only_what_is_not_stored_as_it_is_counts_as_unseen(
    house: Any, make_document: Make, make_entry: Make
) -> None:
    source = house.add()
    house.take(source, make_document(make_entry("a"), make_entry("b")))
    house.clock.advance(60)
    parsed = make_document(make_entry("a"), make_entry("b", title="New"), make_entry("c"))
    described = rules.described(source, parsed)
    rows = rules.incoming(described, parsed, house.clock.now())
    unseen = house.run(lambda ctx: intake.unseen(ctx, rows))
    assert unseen == rows[1:]


def test_a_document_of_which_only_the_new_is_handed_in_counts_the_rest_as_known(
    house: Any, make_document: Make, make_entry: Make
) -> None:
    source = house.add()
    house.take(source, make_document(make_entry("a"), make_entry("b")))
    parsed = make_document(make_entry("a"), make_entry("b"), make_entry("c"))
    rows = rules.incoming(rules.described(source, parsed), parsed, house.clock.now())
    batch, copy = intake.prepared(rows[2:]), intake.Copy('"2"', "then", "e")
    taken = house.run(lambda ctx: intake.take_document(ctx, source.id, parsed, batch, copy))
    assert taken == intake.Taken(created=1, updated=0, unchanged=2)
    after = house.run(lambda ctx: ctx.find(SOURCES, source.id))
    assert (after.etag, after.last_modified, after.digest) == ('"2"', "then", "e")
    assert after.health.items_last_run == 3


# -- records made beforehand -------------------------------------------------------------------


def test_a_prepared_row_is_stored_as_if_it_were_not_prepared(
    house: Any, make_document: Make, make_entry: Make
) -> None:
    source = house.add()
    (row,) = rules.incoming(
        source, make_document(make_entry("a", text="port strike")), source.created_at
    )
    batch = intake.prepared([row])
    assert batch.news.record(row.item) == NEWS.record(row.item)
    words = batch.rows[0].words
    assert words == row.words.read()
    assert batch.texts.record(words) == NEWS_TEXTS.record(words)
    assert batch.texts.record(words) is batch.texts.record(words)


def test_a_changed_row_is_never_stored_as_the_prepared_one(
    house: Any, make_document: Make, make_entry: Make
) -> None:
    source = house.add()
    (row,) = rules.incoming(source, make_document(make_entry("a")), source.created_at)
    batch = intake.prepared([row])
    other = attrs.evolve(row.item, title="Other")
    stranger = attrs.evolve(row.item, id="obs_" + "0" * 24)
    for value in (other, stranger):
        assert batch.news.record(value) == NEWS.record(value)


def test_a_prepared_collection_declares_what_the_collection_declares() -> None:
    batch = intake.prepared([])
    for made, declared in ((batch.news, NEWS), (batch.texts, NEWS_TEXTS)):
        for member in attrs.fields(Collection):
            assert getattr(made, member.name) == getattr(declared, member.name)


# -- laws --------------------------------------------------------------------------------------

_ENTRIES = st.dictionaries(st.sampled_from("abcde"), st.sampled_from(["One", "Two"]), max_size=5)


@given(st.lists(_ENTRIES, max_size=6))
@settings(max_examples=40)
def test_the_store_holds_the_last_that_was_said_of_each_item_and_tells_each_change_once(
    house_factory: Make, make_document: Make, make_entry: Make, documents: list[dict[str, str]]
) -> None:
    house = house_factory()
    source = house.add()
    said: dict[str, str] = {}
    changes = 0
    for entries in documents:
        changes += sum(said.get(key) != title for key, title in entries.items())
        said |= entries
        house.take(
            source,
            make_document(*(make_entry(key, title=title) for key, title in entries.items())),
        )
        house.clock.advance(60)
    assert sorted(item.title for item in house.news()) == sorted(said.values())
    assert len(house.recorded()) == changes
    assert {w.id: w.title for w in house.words()} == {n.id: n.title for n in house.news()}
    assert all(wire.dumps(item) for item in house.news())
