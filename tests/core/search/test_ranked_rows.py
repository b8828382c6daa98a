"""Rows of many kinds in one order: names before words, whatever their kind and writing."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base import drive
from svc_core.search.ranked_rows import (
    COUNTED_MAX,
    MEANING,
    POSTINGS_MAX,
    RankedRow,
    _sought,
)
from svc_http.stores import MemoryStorage
from tests.core.search.ranked import (
    COLLECTIONS,
    FOREIGN,
    ITEMS,
    KINDS,
    PAPERS,
    PEOPLE,
    Line,
    ask,
    fill,
)

LINES = {
    PEOPLE: [
        Line("apple", "APPLE INC.", codes=("HWUPKR0MPOU8FGXBT394", "AAPL", "0000320193")),
        Line("alphabet", "Alphabet Inc.", aliases=("Google",)),
        Line("hussein", "HUSSEIN, Ali"),
        Line("aliyev", "Ali Hussein Aliyev"),
        Line("storm", "Volt Typhoon", aliases=("Bronze Silhouette",), prominence=3),
        Line("host", "volt-typhoon.example", prominence=0),
        Line("muller", "Müller Logistik GmbH"),
    ],
    PAPERS: [
        Line("launch", "Will Apple announce a phone?", "It closes at the end of the month."),
        Line(
            "strike", "Port strikes in Antwerp", "Dockers of the port stop work.", codes=("PS-1",)
        ),
        Line("ship", "A ship at anchor", "It waits for the port to open, for strikes go on."),
    ],
    ITEMS: [
        Line("typhoon", "Typhoon hits the islands", "A volt is no wind."),
        Line("wahl", "Wahl in Island", "Die Wahl ist gewonnen."),
        Line("dock", "Dockers in Antwerp return", "The strike at the port ended."),
    ],
}


@pytest.fixture(scope="module")
def find() -> Callable[..., list[RankedRow]]:
    store = MemoryStorage(COLLECTIONS)
    fill(store, drive.run, LINES)

    def answer(question: str, **how: Any) -> list[RankedRow]:
        return ask(store, drive.run, question, **how)

    return answer


Find = Callable[..., list[RankedRow]]
FIRST = [
    ("apple inc", "apple", "name"),
    ("AAPL", "apple", "code"),
    ("320193", "apple", "code"),
    ("google", "alphabet", "alias"),
    ("ALI HUSSEIN", "hussein", "anyOrder"),
    ("hussein ali", "hussein", "name"),
    ("What is the LEI of Apple Inc.?", "apple", "name"),
    ("whom does ali hussein work for", "hussein", "anyOrder"),
    ("which sectors does bronze silhouette go after", "storm", "alias"),
    ("Wem gehört Muller Logistik?", "muller", "name"),
    ("ps-1", "strike", "code"),
    ("müller", "muller", "start"),
    ("strikes of the port", "strike", "none"),
    ("wer hat die wahl in island gewonnen", "wahl", "none"),
    ("huelga de los estibadores en el puerto", "strike", "none"),
]


@pytest.mark.parametrize(("question", "id_", "named"), FIRST)
def test_the_best_row_of_all_kinds_comes_first_and_says_how_it_is_named(
    find: Find, question: str, id_: str, named: str
) -> None:
    row = find(question)[0]
    assert (row.id, row.named) == (id_, named)


def test_a_share_is_that_of_the_words_and_nothing_is_cut_off(find: Find) -> None:
    rows = {row.id: row for row in find("port strikes hit antwerp hard")}
    assert rows["strike"].share >= rows["dock"].share > rows["ship"].share > 0
    assert rows["typhoon"].share < 0.5
    assert find("port strikes antwerp")[0].share == pytest.approx(1, abs=0.003)
    assert find("zzz qqq") == find("…") == []


WORDS = "Apple Inc Ali HUSSEIN Volt Typhoon What is the LEI of Port strikes in Antwerp"
QUESTIONS = st.lists(st.sampled_from(WORDS.split(" ")), min_size=1, max_size=9).map(" ".join)


@given(QUESTIONS)
def test_case_accents_and_marks_make_no_difference(find: Find, question: str) -> None:
    rows = find(question)
    for other in (question.lower(), question.upper() + "?", f"  {question} . "):
        assert find(other) == rows


@given(QUESTIONS, st.integers(1, 12))
def test_a_shorter_answer_is_the_beginning_of_a_longer_one(
    find: Find, question: str, limit: int
) -> None:
    rows = find(question)
    assert find(question, limit=limit) == rows[:limit]
    assert [row.rank for row in rows] == sorted((row.rank for row in rows), reverse=True)
    assert all(0 <= row.share <= 1 for row in rows)


IDS = [line.id for line in LINES[ITEMS]]
NEARNESS = st.dictionaries(st.sampled_from([*IDS, "gone"]), st.floats(0.01, 1))


@given(QUESTIONS, NEARNESS)
def test_rows_near_in_meaning_come_first_among_those_of_the_same_words(
    find: Find, question: str, near: dict[str, float]
) -> None:
    rows, plain = find(question, near={"items": near}), {row.id: row for row in find(question)}
    assert {row.id for row in rows} == (plain.keys() | near.keys()) - {"gone"}
    for row in rows:
        assert row.near == near.get(row.id, 0.0)
        assert row.score == pytest.approx(
            getattr(plain.get(row.id), "score", 0) + MEANING * row.near
        )
    assert [row.score for row in rows] == sorted((row.score for row in rows), reverse=True)


def test_a_row_of_the_name_comes_before_rows_of_the_meaning(find: Find) -> None:
    assert (
        find("apple inc", near={"items": dict.fromkeys(IDS, 1.0)})[0].id == find("apple inc")[0].id
    )
    assert find("qqq", near={"items": {IDS[0]: 0.1}, "papers": {}})[0].id == IDS[0]


def test_rows_of_another_tenant_are_never_found(find: Find) -> None:
    near = {"papers": dict.fromkeys([line.id for line in LINES[PAPERS]], 1.0)}
    assert len(find("zzz", near=near)) == len(near["papers"])
    assert not find("zzz", tenant=FOREIGN, near=near)
    rows = find("port strikes", tenant=FOREIGN, near=near)
    assert {KINDS[row.place].name for row in rows} == {"items"}


def test_where_every_word_is_common_the_newest_rows_are_told_apart() -> None:
    store = MemoryStorage(COLLECTIONS)
    lines = [Line(f"i{at}", f"Storm {at}", "wind", written=at) for at in range(COUNTED_MAX + 5)]
    lines.append(Line("last", "Storm", "storm and wind", written=COUNTED_MAX + 5))
    fill(store, drive.run, {ITEMS: lines, PEOPLE: LINES[PEOPLE]})
    rows = ask(store, drive.run, "storm wind storm")
    assert rows[0].share == pytest.approx(1, abs=0.003)
    assert rows[0].id == "last"


@given(st.dictionaries(st.tuples(st.integers(0, 3), st.sampled_from("abcd")),
                       st.integers(0, COUNTED_MAX)))  # fmt: skip
def test_rows_are_sought_by_the_rarest_words_within_a_bound(counts: dict[Any, int]) -> None:
    sought = {(place, word) for place, words in _sought(counts).items() for word in words}
    cost = [number if number < COUNTED_MAX else POSTINGS_MAX // 3 for number in counts.values()]
    costs = dict(zip(counts, cost, strict=True))
    assert sum(costs[key] for key in sought) <= POSTINGS_MAX
    left_out = {key for key, number in counts.items() if number} - sought
    assert all(counts[a] <= counts[b] for a in sought for b in left_out)
    assert not left_out or sum(cost) > POSTINGS_MAX


def test_a_word_beyond_the_bound_is_not_sought() -> None:
    assert len(_sought({(0, word): COUNTED_MAX for word in "abcde"})[0]) == 3
