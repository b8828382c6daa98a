"""Stories: what tells one event is together, nothing else is, and nothing is lost on the way."""

import json
import os
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from svc_core.text.evidence import EvidenceTexts, ScoredItem, reading_of
from svc_core.text.frequencies import Frequencies
from svc_core.text.grouping import SPAN
from svc_core.text.stories import Story, group_stories

NOUNS = ["zeppelin", "harbour", "volcano", "senate", "glacier", "orchard", "railway", "comet"]


def score_all(items: list[EvidenceTexts]) -> list[ScoredItem]:
    return [ScoredItem(reading_of(item), 0.5) for item in items]


def partition_of(items: list[EvidenceTexts]) -> set[frozenset[str]]:
    return {ids_of(story) for story in group_stories(score_all(items))}


def ids_of(story: Story) -> frozenset[str]:
    return frozenset(member.evidence.id for member in story.members)


def developments_of(story: Story) -> list[list[str]]:
    return [[item.evidence.id for item in part] for part in story.developments]


@st.composite
def newsrooms(draw, make) -> list[EvidenceTexts]:
    """Items of a few words each, some of which are told by several publishers."""
    rows = draw(
        st.lists(st.tuples(st.sets(st.sampled_from(NOUNS), min_size=1, max_size=4)), max_size=12)
    )
    hours = draw(st.lists(st.sampled_from((None, -300.0, 0.0, 9.0)), min_size=12, max_size=12))
    return [
        make(" ".join(sorted(words)), id=f"i{at}", source=f"s{at % 3}", hours=hours[at])
        for at, (words,) in enumerate(rows)
    ]


@given(draws=st.data())
def test_a_story_holds_only_items_that_were_found_for_one_subject(make, draws) -> None:
    rows = draws.draw(newsrooms(make))
    subjects = st.permutations("abc").map(lambda names: tuple(names[:2]))
    items = [evolve(row, subjects=draws.draw(subjects)) for row in score_all(rows)]
    groups = group_stories(items)
    assert Counter(item.evidence.id for story in groups for item in story.members) == Counter(
        row.id for row in rows
    )
    assert all(story.subjects for story in groups)
    assert len({story.key for story in groups}) == len(groups)


@given(data=st.data())
def test_every_item_is_in_exactly_one_story_and_development(make, data) -> None:
    items = data.draw(newsrooms(make))
    groups = group_stories(score_all(items))
    assert Counter(item.evidence.id for story in groups for item in story.members) == Counter(
        item.id for item in items
    )
    for story in groups:
        parts = [item for part in story.developments for item in part]
        assert Counter(map(id, parts)) == Counter(map(id, story.members))


@given(data=st.data())
def test_the_order_of_the_items_does_not_matter(make, data) -> None:
    items = data.draw(newsrooms(make))
    again = group_stories(score_all(data.draw(st.permutations(items))))
    assert [(story.key, developments_of(story)) for story in again] == [
        (story.key, developments_of(story)) for story in group_stories(score_all(items))
    ]


@given(data=st.data())
def test_an_unrelated_item_is_alone(make, data) -> None:
    items = data.draw(newsrooms(make))
    stranger = make("Quizmaster yodels", id="other")
    assert frozenset({"other"}) in partition_of([*items, stranger])


def test_tellings_of_one_event_are_one_story_though_two_of_them_share_no_word(make) -> None:
    items = [
        make("Zeppelin burns at Fjordby", id="a"),
        make("Zeppelin burns at Fjordby: airship lost in blaze", id="b", source="beta"),
        make("Airship lost in blaze", id="c", source="gamma"),
        make("Bread prices rise in Albany", id="d"),
    ]
    assert partition_of(items) == {frozenset("abc"), frozenset("d")}


STORES = {"new": None, "large": Frequencies(100_000)}
"""A store that holds these items alone, and one in which each of their words is rare."""


@pytest.mark.parametrize("store", STORES)
def test_a_quarter_of_the_window_may_be_one_event(make, store) -> None:
    words = ["blaze", "airship", "fire", "wreck", "pilots", "crowd", "smoke", "rescue", "hangar"]
    items = [
        make(f"Zeppelin burns at Fjordby meadow: {left} and {right}", id=f"{left} {right}")
        for left in words
        for right in words
    ]
    noise = [make(f"{town} greets {town[::-1]}", id=town) for town in towns()]
    groups = group_stories(score_all([*items, *noise]), STORES[store])
    assert frozenset(item.id for item in items) in set(map(ids_of, groups))


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("count", [30, 60, 112])
def test_a_name_that_is_everywhere_joins_nothing(make, count, store) -> None:
    notes = [make(f"Zorblatt speaks about {town} {town}ians", id=town) for town in towns()[:count]]
    groups = group_stories(score_all(notes), STORES[store])
    assert len(groups) == count


def towns() -> list[str]:
    """Names of places, no two alike in their first letters."""
    ends = ("al", "ert", "ic", "os", "ur", "ip", "em", "ant")
    return [f"{a}{b}{c}ville" for c in ("", "o") for a in "BDFGKLMNPRSTVZ" for b in ends]


def test_two_items_alone_may_be_one_story(make) -> None:
    left = make("Zorblatt says Fjordland would repay cost of sea wall", id="a")
    right = make("Zorblatt insists Fjordland will repay the sea wall", id="b", source="beta")
    assert partition_of([left, right]) == {frozenset("ab")}


def test_an_event_is_told_by_its_developments(make) -> None:
    first = "Zorblatt dockers of Fjordby walk out for higher wages"
    later = "Strike of Fjordby dockers ends as owners agree to pay more"
    items = [
        make(first, id="a"),
        make(f"{first} on Monday", id="b", source="beta", hours=1),
        make(later, id="c", hours=50),
        make(f"{later} and hire", id="d", source="beta", hours=51),
    ]
    (story,) = group_stories(score_all(items))
    assert developments_of(story) == [["a", "b"], ["c", "d"]]
    assert (story.key, story.first_at, story.last_at) == ("a", items[0].at, items[3].at)
    assert story.best_reading.evidence.id == "d"


@pytest.mark.parametrize("count", [2, 60, 250])
def test_what_many_carry_in_the_same_words_is_one_event(make, count) -> None:
    copies = [make("Port strike at Fjordby grows again", id=f"{n}") for n in range(count)]
    assert partition_of(copies) == {frozenset(map(str, range(count)))}


@pytest.mark.parametrize(("days", "together"), [(4.9, True), (5.1, False)])
def test_the_same_headline_after_a_week_is_another_event(make, days, together) -> None:
    items = [
        make("Bank of Fjordby holds rates", id=id_, hours=at)
        for id_, at in zip("ab", (0, 24 * days), strict=True)
    ]
    assert (partition_of(items) == {frozenset("ab")}) is together


def test_an_item_without_a_date_is_of_the_time_when_it_was_taken_in(make) -> None:
    dated = make("Bank of Fjordby holds rates", id="a", hours=-9_000)
    without_date = make("Bank of Fjordby holds rates", id="b", hours=None, source="beta")
    assert partition_of([dated, without_date]) == {frozenset("ab")}
    late = evolve(without_date, retrieved_at=dated.retrieved_at + SPAN + timedelta(hours=1))
    assert partition_of([dated, late]) == {frozenset("a"), frozenset("b")}


def test_items_of_a_stored_event_are_apart_where_their_own_words_do_not_witness_it(make) -> None:
    items = [
        evolve(make("Zeppelin burns at Fjordby", id="b"), story="inc_1"),
        evolve(make("Bread prices rise in Albany", id="a"), story="inc_1"),
        evolve(make("Zeppelin of Fjordby lost", id="c", source="beta"), story="inc_1"),
        evolve(make("Zeppelin burns at Fjordby", id="d", source="gamma"), story="inc_2"),
        make("Comet passes Albany", id="e"),
        make("Comet passes Albany", id="f", source="beta"),
    ]
    groups = {story.key: ids_of(story) for story in group_stories(score_all(items))}
    assert groups == {"inc_1": {*"bc"}, "a": {"a"}, "inc_2": {"d"}, "e": {*"ef"}}


@pytest.mark.needs("SVC_REAL_DATA")
@pytest.mark.parametrize(
    ("name", "precision", "recall"), [("uci_stories", 0.86, 0.7), ("ecbplus", 0.9, 0.85)]
)
def test_real_events_are_found(make, name, precision, recall) -> None:
    root = Path(os.environ["SVC_REAL_DATA"])  # noqa: TID251 - what the tests are given
    lines = (root / "text" / name / "items.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    gold = {row["id"]: row["cluster"] for row in rows}
    items = [make(row["title"], row.get("text", ""), id=row["id"]) for row in rows]
    right = together = 0
    for story in group_stories(score_all(items)):
        ids = sorted(ids_of(story))
        pairs = [(a, b) for at, a in enumerate(ids) for b in ids[at + 1 :]]
        together += len(pairs)
        right += sum(gold[a] == gold[b] for a, b in pairs)
    pairs_total = sum(size * (size - 1) // 2 for size in Counter(gold.values()).values())
    assert right / together >= precision
    assert right / pairs_total >= recall
