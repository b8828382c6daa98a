"""Events of news items: an item knows its event, and an event keeps its name."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base import drive
from svc_core.intel.incidents.story_grouping import PASSES_MAX, TRIES_MAX, group_new, story_names
from svc_core.intel.intake import record_intake as intake
from svc_core.intel.news.model import UNGROUPED_ITEMS
from svc_core.intel.news.news_corpus import ITEMS
from svc_core.intel.news.vectors import VECTORS
from svc_core.search import corpus
from svc_core.search.vector_likeness import Vector
from svc_core.text.evidence import EvidenceTexts
from svc_core.text.frequencies import Frequencies

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)
STRIKE = "Dockworkers of Fjordby walk out over night shifts"
BLAZE = "Zeppelin burns at Albany meadow"
Make = Callable[..., Any]

# -- names -------------------------------------------------------------------------------------


def item(id_: str, story: str | None = None, hours: int = 0) -> EvidenceTexts:
    at = NOON + timedelta(hours=hours)
    return EvidenceTexts(id_, id_, "", "", "src_a", "A", "a.example", at, at, story=story)


@st.composite
def events(draw: Any) -> list[list[EvidenceTexts]]:
    """Events of items, of which some have been in other events before."""
    rows = draw(
        st.lists(
            st.tuples(
                st.integers(0, 3), st.sampled_from((None, "inc_a", "inc_b")), st.integers(0, 3)
            ),
            max_size=9,
        )
    )
    by_event: dict[int, list[EvidenceTexts]] = {}
    for at, (event, story, hours) in enumerate(rows):
        by_event.setdefault(event, []).append(item(f"i{at}", story, hours))
    return list(by_event.values())


@given(events())
def test_those_of_one_event_have_one_name_of_their_own(groups: list[list[EvidenceTexts]]) -> None:
    names = story_names(groups)
    assert set(names) == {report.id for event in groups for report in event}
    report = [{names[name_sets.id] for name_sets in event} for event in groups]
    assert all(len(name_set) == 1 for name_set in report)
    of_many = [
        name_set.pop() for name_set, event in zip(report, groups, strict=True) if len(event) > 1
    ]
    assert None not in of_many
    assert len(set(of_many)) == len(of_many)
    assert all(names[event[0].id] is None for event in groups if len(event) == 1)


@given(events())
def test_an_event_keeps_its_name_as_later_items_come(groups: list[list[EvidenceTexts]]) -> None:
    names = story_names(groups)
    growth = [[*event, item(f"new{at}", hours=9)] for at, event in enumerate(groups)]
    after = story_names(growth)
    for event in groups:
        if len(event) > 1:
            assert after[event[0].id] == names[event[0].id]


@given(events(), st.integers(0, 400))
def test_a_name_depends_on_no_day_of_reading(groups: list[list[EvidenceTexts]], days: int) -> None:
    later = [[evolve(report, retrieved_at=NOON + timedelta(days=days)) for report in event]
             for event in groups]  # fmt: skip
    assert story_names(later) == story_names(groups)


@given(events(), st.randoms())
def test_names_do_not_depend_on_the_order_in_which_events_are_given(
    groups: list[list[EvidenceTexts]], chance: Any
) -> None:
    shuffle = [chance.sample(event, len(event)) for event in chance.sample(groups, len(groups))]
    assert story_names(shuffle) == story_names(groups)


def test_a_name_is_that_of_the_earliest_item_and_the_undated_are_earlier() -> None:
    dated = [item(id_, hours=hours) for id_, hours in (("a", 3), ("b", 1), ("c", 2))]
    first = story_names([dated])["a"]
    assert first == story_names([dated[1:]])["b"]
    assert first != story_names([[dated[0], dated[2]]])["a"]
    assert first != story_names([[*dated, evolve(item("z"), published_at=None)]])["a"]


# -- passes ------------------------------------------------------------------------------------


class Work:
    """Units of work on the store of a house; `meanwhile` runs before each that writes."""

    def __init__(self, house: Any, meanwhile: Callable[[], Any] | None = None) -> None:
        self.house, self.units, self.meanwhile, self.writes = house, house.hands, meanwhile, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.units, name)

    async def write(self, tenant: str, usecase: Any) -> Any:
        if self.meanwhile is not None:
            await self.meanwhile()
        self.writes += 1
        return await self.units.write(tenant, usecase)


@pytest.fixture
def take(make_entry: Make, make_document: Make) -> Make:
    """Take headlines in from a source, and group what is new."""

    def intake(house: Any, source: str, *titles: str, **limits: Any) -> int:
        location = f"https://{source}.example/feed"
        document = make_document(*(make_entry(title, title=title) for title in titles))
        house.take(house.add(location), document)
        count: int = drive.run(group_new(Work(house), **limits))
        return count

    return intake


def stories(house: Any) -> dict[str, set[str]]:
    """The publishers of each event."""
    by_story: dict[str, set[str]] = {}
    for row in house.news():
        if row.story_id is not None:
            by_story.setdefault(row.story_id, set()).add(f"{row.title} {row.source.id}")
    return by_story


def waiting(house: Any) -> int:
    return len(house.stored(UNGROUPED_ITEMS))


def test_an_item_names_its_event_from_the_second_telling_on(house: Any, take: Make) -> None:
    assert take(house, "alpha", STRIKE, BLAZE) == 2
    assert (stories(house), waiting(house)) == ({}, 0)
    assert take(house, "beta", f"{STRIKE}, union says") == 1
    (members,) = stories(house).values()
    assert len(members) == 2
    changes = [(change.change_type, change.version) for change in house.change_records()[3:]]
    assert changes == [("updated", 2), ("updated", 2)]
    (name,) = stories(house)
    items = house.rows("listNews", f"storyId={name}")
    assert {row["title"] for row in items} == {STRIKE, f"{STRIKE}, union says"}
    assert [row["storyId"] for row in house.rows("listNews") if row not in items] == [None]


def test_what_a_source_takes_back_leaves_no_word_and_no_event_behind(
    house: Any, take: Make
) -> None:
    take(house, "alpha", STRIKE, BLAZE)
    take(house, "beta", f"{STRIKE}, union says")
    source = house.add("https://beta.example/feed")
    (taken_back,) = (item for item in house.news() if item.source.id == source.id)
    vector = Vector(taken_back.id, taken_back.retrieved_at, "model", 1, "")
    house.run(lambda ctx: ctx.save(VECTORS, vector.id, vector))
    removals, _ = house.run(lambda ctx: intake.absent_contributions(ctx, source.id, set()))
    house.run(lambda ctx: intake.withdraw(ctx, removals))
    assert {row.id for row in house.words()} == {row.id for row in house.news()}
    assert taken_back.id not in {row.id for row in house.news()}
    assert house.run(lambda ctx: ctx.find(VECTORS, vector.id)) is None
    table = house.run(lambda ctx: corpus.term_frequencies(ctx, ITEMS))
    terms = [set((text.terms or "").split()) for text in house.words()]
    scratch = Frequencies.of(terms)
    assert (dict(table.counts), table.total) == (dict(scratch.counts), len(terms))
    assert drive.run(group_new(Work(house))) == 1
    assert (stories(house), waiting(house)) == ({}, 0)


def test_an_event_goes_on_when_another_document_tells_it(house: Any, take: Make) -> None:
    take(house, "alpha", STRIKE)
    take(house, "beta", f"{STRIKE}, union says")
    (members,) = stories(house).values()
    assert len(members) == 2
    house.clock.advance(30 * 86_400)  # the day of reading says nothing
    take(house, "gamma", f"{STRIKE} again", BLAZE)
    (members,) = stories(house).values()
    assert len(members) == 3


def test_what_is_known_of_an_item_changes_and_its_event_stays(
    house: Any, take: Make, make_entry: Make, make_document: Make
) -> None:
    take(house, "alpha", STRIKE)
    take(house, "beta", STRIKE)
    before = stories(house).keys()
    update = make_document(make_entry(STRIKE, title=STRIKE, authors=("Ann",)))
    house.take(house.add("https://beta.example/feed"), update)
    assert stories(house).keys() == before
    assert waiting(house) == 1


def test_documents_in_any_order_make_the_same_events(house_factory: Any, take: Make) -> None:
    documents = {
        "alpha": (STRIKE, "Bread prices rise"),
        "beta": (f"{STRIKE}, union says", BLAZE),
        "gamma": ("Airship lost in blaze", f"{BLAZE}: airship lost in blaze"),
    }
    outcomes = []
    for order in (documents, documents, reversed(documents)):
        house = house_factory()
        for source in order:
            take(house, source, *documents[source])
        outcomes.append(stories(house))
    assert outcomes[0] == outcomes[1]
    assert sorted(map(sorted, outcomes[0].values())) == sorted(map(sorted, outcomes[2].values()))
    assert sorted(map(len, outcomes[0].values())) == [2, 3]


def test_in_a_large_window_an_item_meets_its_event_through_the_index(
    house: Any, take: Make
) -> None:
    take(house, "alpha", STRIKE, "Bread prices rise", "Comet passes Kelvaro", "Senate votes")
    take(house, "delta", "Tulips bloom", "Chess master resigns", "Ferry sails", "Snow in Ostmark")
    take(house, "beta", f"{STRIKE}, union says", at_once=2)
    (name,) = stories(house)
    take(house, "gamma", f"{STRIKE} at noon", BLAZE, at_once=2)
    assert {name: len(members) for name, members in stories(house).items()} == {name: 3}
    assert waiting(house) == 0


def test_a_large_window_of_what_is_new_is_grouped_as_a_whole(
    house_factory: Any, make_entry: Make, make_document: Make
) -> None:
    titles = (STRIKE, BLAZE, "Bread prices rise", f"{STRIKE}, union says", f"{BLAZE}: no survivors")
    outcomes = []
    for at_once in (2, 100):
        house = house_factory()
        for at, title in enumerate(titles):
            house.take(
                house.add(f"https://s{at}.example/feed"),
                make_document(make_entry(title, title=title)),
            )
        drive.run(group_new(Work(house), at_once=at_once))
        outcomes.append(stories(house))
    assert outcomes[0] == outcomes[1]
    assert sorted(map(len, outcomes[0].values())) == [2, 2]


def test_more_new_items_than_a_window_holds_are_grouped_in_parts(
    house_factory: Any, make_entry: Make, make_document: Make
) -> None:
    others = [
        f"Bread {first}{second}zk rises" for first in "abcdefghijkl" for second in "mnopqrstuv"
    ]
    titles = (STRIKE, *others, f"{STRIKE}, union says")
    outcomes = []
    for at_once in (11, 200):
        house = house_factory()
        entries = [make_entry(title, title=title) for title in titles]
        house.take(house.add("https://s.example/feed"), make_document(*entries[:-1]))
        house.take(house.add("https://t.example/feed"), make_document(entries[-1]))
        drive.run(group_new(Work(house), at_once=at_once))
        outcomes.append(stories(house))
        assert waiting(house) == 0
    assert outcomes[0] == outcomes[1]


def test_a_pass_begins_again_where_another_wrote(
    house: Any, take: Make, make_entry: Make, make_document: Make
) -> None:
    take(house, "alpha", STRIKE)
    house.take(house.add("https://beta.example/feed"), make_document(make_entry("b", title=STRIKE)))
    rivals: list[int] = []

    async def meanwhile() -> None:
        if not rivals:
            rivals.append(0)
            rivals.append(await group_new(Work(house)))

    assert drive.run(group_new(Work(house, meanwhile))) == 0
    assert rivals == [0, 1]
    assert [len(members) for members in stories(house).values()] == [2]


def test_an_item_that_is_written_anew_while_a_pass_looks_at_it_is_looked_at_again(
    house: Any, make_entry: Make, make_document: Make
) -> None:
    def write(title: str) -> None:
        house.take(house.add("https://s.example/feed"), make_document(make_entry("x", title=title)))

    async def meanwhile() -> None:
        if not work.writes:
            write(STRIKE)

    write(BLAZE)
    work = Work(house, meanwhile)
    assert drive.run(group_new(work)) == 2
    assert (work.writes, waiting(house)) == (2, 0)


def test_a_pass_that_others_always_outrun_leaves_the_items_to_them(
    house: Any, make_entry: Make, make_document: Make
) -> None:
    def write(number: int) -> None:
        house.take(house.add(f"https://s{number}.example/feed"), make_document(make_entry("x")))

    async def meanwhile() -> None:
        write(work.writes + 1)
        await group_new(Work(house))
        write(work.writes + 100)

    write(0)
    work = Work(house, meanwhile)
    assert drive.run(group_new(work)) == 0
    assert (work.writes, waiting(house)) == (TRIES_MAX, 1)
    assert drive.run(group_new(Work(house))) == 1


def test_a_pass_ends_though_items_come_without_end(
    house: Any, make_entry: Make, make_document: Make
) -> None:
    def write(number: int) -> None:
        house.take(house.add(f"https://s{number}.example/feed"), make_document(make_entry("x")))

    class EndlessFeed(Work):
        async def read(self, tenant: str, usecase: Any) -> Any:
            write(waiting(house) + len(house.news()))
            return await self.units.read(tenant, usecase)

    assert PASSES_MAX <= drive.run(group_new(EndlessFeed(house))) <= 2 * PASSES_MAX
    assert waiting(house) == 1
