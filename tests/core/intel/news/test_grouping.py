"""Events of news items: an item knows its event, and an event keeps its name."""

from base64 import b64encode
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha512
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_core.base import drive
from svc_core.intel.incidents.story_grouping import (
    BLOCKS_MAX,
    PASSES_MAX,
    QUIET,
    TRIES_MAX,
    Block,
    group_new,
    is_due,
    of_one_model,
    story_names,
)
from svc_core.intel.intake import record_intake as intake
from svc_core.intel.news.model import NEWS_TEXTS, UNGROUPED_ITEMS, UngroupedItem
from svc_core.intel.news.news_corpus import ITEMS
from svc_core.intel.news.vectors import VECTORS, save_vectors
from svc_core.search import corpus
from svc_core.search.vector_likeness import Vector
from svc_core.text.frequencies import Frequencies

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)
STRIKE = "Dockworkers of Fjordby walk out over night shifts"
BLAZE = "Zeppelin burns at Albany meadow"
DAY = timedelta(days=1)
Make = Callable[..., Any]

# -- names -------------------------------------------------------------------------------------


@st.composite
def chains(draw: Any) -> dict[str, str]:
    """Items in the order of their dates, each of which names itself or an earlier one."""
    steps = draw(st.lists(st.integers(0, 3), max_size=9))
    return {f"i{at}": f"i{max(0, at - step)}" for at, step in enumerate(steps)}


@given(chains())
def test_items_have_one_name_where_one_leads_to_the_other(firsts: dict[str, str]) -> None:
    names = story_names(firsts)
    assert names.keys() == firsts.keys()
    for id_, first in firsts.items():
        assert names[id_] == names[first]
        is_alone = first == id_ and [*firsts.values()].count(id_) == 1
        assert (names[id_] is None) == is_alone
    ends = [id_ for id_, first in firsts.items() if id_ == first and names[id_]]
    assert len({names[id_] for id_ in ends}) == len(ends)


@given(chains(), st.data())
def test_an_event_keeps_its_name_as_later_items_come(firsts: dict[str, str], draws: Any) -> None:
    names = story_names(firsts)
    for id_, name in names.items():
        if name is not None:
            assert story_names({**firsts, "new": id_})["new"] == name


@given(chains(), st.randoms())
def test_names_do_not_depend_on_the_order_in_which_items_are_given(
    firsts: dict[str, str], chance: Any
) -> None:
    assert story_names(dict(chance.sample([*firsts.items()], len(firsts)))) == story_names(firsts)


def test_items_that_name_each_other_while_a_pass_is_under_way_end_nothing() -> None:
    assert story_names({"a": "b", "b": "a", "c": "c"}).keys() == {"a", "b", "c"}


# -- passes ------------------------------------------------------------------------------------


class Work:
    """Units of work on the store of a house; `meanwhile` runs before each that writes."""

    def __init__(self, house: Any, meanwhile: Callable[[], Any] | None = None) -> None:
        self.house, self.units, self.meanwhile, self.writes = house, house.hands, meanwhile, 0
        self.blocks: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.units, name)

    async def aside(self, work: Any) -> Any:
        part = getattr(work, "__self__", None)  # what is no part of a pass has no blocks
        if hasattr(part, "blocks"):
            self.blocks.append(len(part.blocks))
        return await self.units.aside(work)

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


def test_a_block_is_concerned_by_what_is_new_near_it_and_in_what_it_is_a_half_of() -> None:
    whole = Block.at(0)
    first, second = whole.halves()
    after = Block.at(whole.span()[1] + 1)
    assert second.is_concerned([whole.start])  # that may be why it is a half
    assert not second.is_concerned([whole.start - 1])
    assert first.is_concerned([whole.start - 1])
    assert after.is_concerned([whole.span()[1]])
    assert not after.is_concerned([whole.start])


TITLES = (
    (STRIKE, "Bread prices rise", f"{STRIKE} again"),
    (f"{STRIKE}, union says", BLAZE, f"{BLAZE}: inquiry opens"),
    ("Airship lost in blaze", f"{BLAZE}: airship lost in blaze", "Comet passes Kelvaro"),
)


@settings(max_examples=30)
@given(st.data())
def test_the_same_documents_make_the_same_events_in_any_order_and_batch(
    house_factory: Any, make_entry: Make, make_document: Make, draws: Any
) -> None:
    """Also where time is cut finely, passes wait, items are dated anew and sources taken back."""
    days = st.none() | st.integers(0, 9)
    dates = draws.draw(st.lists(days, min_size=9, max_size=9))
    block_max, at_once = draws.draw(st.sampled_from((1, 3, 2_000))), draws.draw(st.integers(1, 9))

    def entries(folder: int, days: Sequence[int | None]) -> list[Any]:
        return [
            make_entry(title, title=title, published_at=None if day is None else NOON + DAY * day)
            for title, day in zip(TITLES[folder], days[3 * folder :], strict=False)
        ]

    def settle(house: Any) -> None:
        while waiting(house):
            drive.run(group_new(Work(house), block_max=block_max, at_once=at_once))
            house.clock.advance(60)

    plain = house_factory()
    for folder in range(3):
        place = plain.add(f"https://{folder}.example/feed")
        plain.take(place, make_document(*entries(folder, dates)))
    settle(plain)

    house = house_factory()
    drafts = [day and day - draws.draw(st.integers(0, 9)) for day in dates]
    steps = [(folder, drafts) for folder in draws.draw(st.sets(st.integers(0, 2)))]
    steps += [(folder, dates) for folder in draws.draw(st.permutations(range(3)))]
    for folder, days_ in [(9, drafts), *steps]:
        titles = entries(folder % 3, days_)
        for report in draws.draw(st.permutations(titles)):
            house.take(house.add(f"https://{folder}.example/feed"), make_document(report))
            if draws.draw(st.booleans()):
                drive.run(group_new(Work(house), block_max=block_max, at_once=at_once))
    house.withdraw("https://9.example/feed")
    settle(house)
    assert {row.id: (row.dated_at, row.story_id) for row in house.news()} == {
        row.id: (row.dated_at, row.story_id) for row in plain.news()
    }


def test_a_busy_part_of_time_is_grouped_anew_after_a_while(house: Any, take: Make) -> None:
    take(house, "alpha", STRIKE, "Bread prices rise", "Comet passes Kelvaro", "Senate votes")
    take(house, "delta", "Tulips bloom", "Chess master resigns", "Ferry sails", "Snow in Ostmark")
    assert take(house, "beta", f"{STRIKE}, union says", at_once=2) == 1
    (name,) = stories(house)
    assert take(house, "gamma", f"{STRIKE} at noon", at_once=2) == 0
    assert {name: len(members) for name, members in stories(house).items()} == {name: 2}
    assert take(house, "omega", BLAZE, "Rain", "Fog", "Frost", at_once=2) == 5  # much is new
    assert {name: len(members) for name, members in stories(house).items()} == {name: 3}
    assert take(house, "theta", "Hail", at_once=2) == 0
    house.clock.advance(1)
    assert drive.run(group_new(Work(house), at_once=2)) == 1


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


def test_a_pass_over_a_busy_part_of_time_has_a_bounded_number_of_blocks(
    house_factory: Any, make_entry: Make, make_document: Make
) -> None:
    instants = [NOON - 5 * DAY + timedelta(hours=hours) for hours in range(0, 168, 3)]
    outcomes = []
    for block_max in (1, 2_000):
        house = house_factory()
        for source, title in (("s", f"{STRIKE}, union says"), ("t", STRIKE)):
            entries = [
                make_entry(f"{at} {source}", title=f"{title} {at.hour}", published_at=at)
                for at in instants
            ]
            house.take(house.add(f"https://{source}.example/feed"), make_document(*entries))
        work = Work(house)
        assert drive.run(group_new(work, block_max=block_max)) == 2 * len(instants)
        assert waiting(house) == 0
        outcomes.append(work.blocks)
    assert len(outcomes[0]) > 1
    assert max(outcomes[0]) <= BLOCKS_MAX


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


# -- by meaning --------------------------------------------------------------------------------


OPPOSED = ("Walkout shuts Fjordby gates today", "Dockers strike beside Fjordby quay")
OTHERS = tuple(f"{chr(97 + at % 26)}{chr(97 + at // 26)}lor has sailed {at}x" for at in range(60))
EVERY_TITLE = (*OPPOSED, BLAZE, f"{BLAZE}: inquiry opens", *OTHERS)


def vector_of(title: str) -> bytes:
    """One of a title's own; two have one in common, and of two one is the opposite of the other."""
    own = sha512((BLAZE if BLAZE in title else title).encode()).digest()
    opposite = bytes(-number % 256 for number in sha512(OPPOSED[0].encode()).digest())
    return opposite if title == OPPOSED[1] else own


def test_items_are_grouped_anew_once_when_no_more_vectors_come_and_tell_the_same_in_every_order(
    house_factory: Any, make_entry: Make, make_document: Make
) -> None:
    states: list[dict[str, str | None]] = []
    for titles, are_late in ((EVERY_TITLE, True), (EVERY_TITLE[::-1], False)):
        house = house_factory()
        entries = [make_entry(title, title=title) for title in titles]
        house.take(house.add("https://alpha.example/feed"), make_document(*entries))
        if are_late:
            assert drive.run(group_new(Work(house))) == len(titles)
            assert len(stories(house)) == 2
        for words in house.words():
            base64 = b64encode(vector_of(words.title)).decode()
            version = house.run(
                lambda ctx, id_=words.id: ctx.tx.documents.get(NEWS_TEXTS, id_)
            ).version
            vector = Vector(words.id, NOON, "model", version, base64)
            house.run(lambda ctx, vector=vector: save_vectors(ctx, [vector]))
            house.clock.advance(1)
        if are_late:  # it is not known yet whether more come
            assert drive.run(group_new(Work(house))) == 0
            house.clock.advance(QUIET.total_seconds())
        assert drive.run(group_new(Work(house))) == len(titles)
        assert (len(stories(house)), waiting(house)) == (1, 0)
        states.append({row.id: row.story_id for row in house.news()})
    assert states[0] == states[1]


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ([None], True),
        ([1, None], True),
        ([1], False),
        ([31], True),
        ([1, 300], False),
        ([1, 601], True),
        ([-5], True),
    ],
)
def test_new_vectors_wait_until_none_came_for_a_while_and_not_for_ever(
    seconds: Sequence[int | None], expected: bool
) -> None:
    ages = [age if age is None else NOON - timedelta(seconds=age) for age in seconds]
    markers = [UngroupedItem(f"i{at}", NOON, came) for at, came in enumerate(ages)]
    assert is_due(markers, NOON) == expected


def test_vectors_of_another_model_or_length_are_not_compared() -> None:
    rows = [("a", "old", b"12"), ("b", "new", b"12"), ("c", "new", b"12"), ("d", "new", b"123")]
    vectors = [Vector(id_, NOON, model, 1, b64encode(raw).decode()) for id_, model, raw in rows]
    assert of_one_model(vectors) == {"b": b"12", "c": b"12"}
    assert of_one_model([]) == {}
