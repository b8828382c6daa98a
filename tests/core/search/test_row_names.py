"""A row of the very name that was asked for comes before all that only hold its words."""

import re
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from svc_core.intel.linking.name_forms import normal_name
from svc_core.search.field_index import TOKENS_MAX, WEIGHT, FieldIndex, WeightedQuery
from svc_core.search.row_names import PROMINENCE_MAX, RowNames, name_tokens, name_weights
from svc_core.text.frequencies import Frequencies
from svc_core.text.words import LENGTH_MAX, split_words

INDEX: FieldIndex[RowNames] = FieldIndex(
    lambda row: {"name": [row.name], "aliases": row.aliases},
    is_names=True,
    bare=normal_name,
    names=lambda row: row,
)
TEXTS: FieldIndex[str] = FieldIndex(lambda text: {"title": [text]})
STORED: FieldIndex[str] = FieldIndex(
    lambda text: {"title": [text]}, terms=lambda text: {"title": text.split()}
)


def weighed(index: FieldIndex[Any], question: str) -> WeightedQuery:
    """The question where one row of a thousand holds each of its words."""
    query = index.query(question)
    idf = Frequencies(1000, dict.fromkeys(query.shares, 1), base=None).idf
    return WeightedQuery(
        query, {token: round(share * idf(token) * WEIGHT) for token, share in query.shares.items()}
    )


def ranking(question: str, rows: list[RowNames]) -> list[RowNames]:
    """The rows that match, the best first."""
    query = weighed(INDEX, question)
    matches = [row for row in rows if INDEX.match(row, query)]
    return sorted(matches, key=lambda row: -INDEX.rank(row, query))


TIERS = [
    RowNames("Volt Typhoon"),
    RowNames("An Actor", codes=["VOLT TYPHOON"]),
    RowNames("Bronze Silhouette", ["Vanguard Panda", "Volt Typhoon"]),
    RowNames("Typhoon Volt"),
    RowNames("Another Actor", ["Typhoon, Volt"]),
    RowNames("Volt Typhoon Group Two"),
    RowNames("Report of some days on the doings of Volt Typhoon"),
]


@pytest.mark.parametrize(
    "question", ["volt typhoon", '"volt typhoon"', "VOLT  TYPHOON", "Völt Typhoon", "volttyphoon"]
)
def test_tiers_come_in_their_order(question: str) -> None:
    kept = ranking(question, TIERS[::-1])
    ranks = [TIERS.index(row) for row in kept]
    if question == "volttyphoon":  # the words of a name in one: no other order, no words
        assert ranks == [0, 1, 2, 5]
    elif '"' in question:  # which must stand side by side
        assert ranks == [0, 2, 5, 6]
    else:
        assert ranks == [0, 1, 2, 3, 4, 5, 6] or ranks == [0, 1, 2, 4, 3, 5, 6]


def test_of_rows_named_alike_the_more_prominent_is_first_and_a_carrier_last() -> None:
    for name, alias in (("Apple", ()), ("Other", ("Apple",)), ("Apple Hospitality", ())):
        rows = [RowNames(name, alias, prominence=level) for level in range(PROMINENCE_MAX + 1)]
        assert [row.prominence for row in ranking("apple", rows)] == [3, 2, 1, 0]
    host = RowNames("apple.cmdnetview.example", prominence=0)
    rest = [RowNames("Apple of the Isles Sports Group"), RowNames("Apple Holdings One")]
    assert ranking("apple", [host, *rest]) == [*rest[::-1], host]


NAMES = [
    ("Microsoft", "MICROSOFT CORPORATION"),
    ("Procter and Gamble", "PROCTER & GAMBLE Co"),
    ("Telefonica", "Telefónica S.A."),
    ("deripaska oleg", "Oleg DERIPASKA"),
    ("apt 28", "APT28"),
    ("muddywater", "Muddy Water"),
    ("al shabaab", "AL-SHABAAB"),
    ("北京银行", "北京银行"),
    ("who", "WHO"),
    ("the who", "The Who"),
]


@pytest.mark.parametrize(("question", "name"), NAMES)
def test_a_name_is_known_however_it_is_written(question: str, name: str) -> None:
    other = RowNames(f"{name} Northern Branch", prominence=PROMINENCE_MAX)
    assert ranking(question, [other, RowNames(name)])[0].name == name


@pytest.mark.parametrize(
    ("question", "code"),
    [("MSFT", "MSFT"), ("brk-b", "BRK-B"), ("lei:INR2EJN1ERAN0W5ZP974", "INR2EJN1ERAN0W5ZP974"),
     ("cik:320193", "0000320193"), ("320193", "0000320193"), ("T1560.001", "T1560.001"),
     ("0", "000")],
)  # fmt: skip
def test_a_code_finds_its_row_with_and_without_its_scheme(question: str, code: str) -> None:
    [row] = ranking(question, [RowNames("Something", codes=[code]), RowNames("Else", codes=["1"])])
    assert row.name == "Something"
    match = INDEX.match(row, weighed(INDEX, question))
    assert match is not None
    assert (match.score, match.fields) == (1.0, ("designators",))


def test_a_name_of_no_words_names_nothing() -> None:
    assert not any(name_tokens(RowNames("--", ["…"], [":"]), "name", str).values())
    assert name_weights("--", str) == {}
    assert ranking("--", [RowNames("--")]) == []


def test_the_very_legal_form_comes_before_others_of_the_name() -> None:
    names = [
        "Harbour Light Shipping",
        "HARBOUR LIGHT SHIPPING CO., LTD.",
        "Harbour Light Shipping AG",
    ]
    for name in names[1:]:
        rows = [RowNames(other, prominence=1 + (other != name)) for other in names]
        assert ranking(name.casefold(), rows)[0].name == name


def test_what_a_question_excludes_is_no_part_of_the_name() -> None:
    rows = [RowNames("Harbour Cafe Ltd"), RowNames("Old Harbour"), RowNames("Harbour")]
    assert [row.name for row in ranking("harbour -cafe", rows)] == ["Harbour", "Old Harbour"]


def test_of_rows_that_hold_the_same_words_the_more_prominent_is_first() -> None:
    words = ["xenon", "yacht", "zebra", "wharf"]
    rows = [RowNames(f"A {word} Apple Isle", prominence=at) for at, word in enumerate(words)]
    assert [row.prominence for row in ranking("apple isle", rows)] == [3, 2, 1, 0]
    assert [row.prominence for row in ranking("isle apple -yacht", rows)] == [3, 2, 0]
    host = RowNames("www.apple-isle-update.example", prominence=0)
    assert ranking("apple update", [host, RowNames("Great Apple Update")])[-1] == host
    match = INDEX.match(rows[3], weighed(INDEX, "apple isle"))
    assert match is not None
    assert {term.term for term in match.terms} == {"apple", "isle"}


# -- laws --------------------------------------------------------------------------------------


@given(st.sampled_from([question for question, _ in NAMES]))
def test_a_tier_weighs_more_than_all_lower_ones_and_all_words_together(question: str) -> None:
    weights = sorted(name_weights(question, normal_name).items(), key=lambda item: item[1])
    tiers: dict[str, list[int]] = {}
    for token, weight in weights:
        tiers.setdefault(re.findall("=+|>.|[#@%]", token)[0], []).append(weight)
    assert {len(tier) for tier in tiers.values()} == {PROMINENCE_MAX + 1}
    words = 4 * TOKENS_MAX * round(WEIGHT * Frequencies(10**6, {}, base=None).idf("")) / 2
    lower = words
    for tier in tiers.values():
        assert min(tier) > lower
        lower += max(tier)
    assert all(low < high for low, high in pairwise(weight for _, weight in weights))


WORD = st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=1, max_size=80)
NAME = st.lists(WORD, min_size=1, max_size=12).map(" ".join)


@given(
    NAME, st.lists(NAME, max_size=4), st.lists(st.text(max_size=99), max_size=4), st.integers(0, 3)
)
def test_tokens_are_few_and_short_whatever_a_row_says(
    name: str, aliases: list[str], codes: list[str], level: int
) -> None:
    row = RowNames(name, aliases, codes, level)
    tokens = [token for run in name_tokens(row, "name", str).values() for token in run]
    assert len(tokens) <= 11 + 4 * len(aliases) + 3 * len(codes)
    assert all(len(token) <= LENGTH_MAX + 3 for token in INDEX(row).split(" "))


@given(NAME, st.lists(NAME, max_size=5))
def test_the_row_of_the_very_name_is_first_among_any_others(name: str, others: list[str]) -> None:
    words = "".join(split_words(normal_name(name)))[:LENGTH_MAX]
    assume(words)
    rest = [o for o in others if "".join(split_words(normal_name(o)))[:LENGTH_MAX] != words]
    query = weighed(INDEX, name)
    own = RowNames(name, prominence=0)
    for other, alias in combinations([*rest, "x"], 2) if rest else ():
        row = RowNames(other, [alias, name], prominence=PROMINENCE_MAX)
        assert INDEX.rank(own, query) > INDEX.rank(row, query)
    assert INDEX.match(own, query) is not None


# -- words of short questions ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "question", "tokens", "synonyms"),
    [
        (INDEX, "volt typhoon", {"volt", "typhoon"}, set()),
        (INDEX, "the who", {"who"}, set()),
        (INDEX, "what was the bank of england", {"bank", "england"}, set()),
        (TEXTS, "volt typhoon", {"volt", "typhoo", "typhoon"}, set()),
        (TEXTS, "the volcano", {"volcan", "volcano"}, {"the"}),
        (TEXTS, "the who", {"the", "who"}, set()),
        (TEXTS, "what of the red volcano", {"red", "volcan", "volcano"}, set()),
        (STORED, "volt typhoon", {"typhoo"}, {"volt"}),
        (STORED, "it was this and that", set(), set()),
    ],
)
def test_no_word_of_a_short_question_is_a_stop_word(
    index: FieldIndex[Any], question: str, tokens: set[str], synonyms: set[str]
) -> None:
    query = index.query(question)
    assert query.tokens.keys() == tokens
    assert query.synonyms.keys() == synonyms


@pytest.mark.parametrize("index", [INDEX, TEXTS])
def test_words_in_quotation_marks_are_taken_as_they_stand(index: FieldIndex[Any]) -> None:
    rows = ["Bank of England", "Bank and England"]
    question = '"bank of england"'
    kept = [
        row
        for row in rows
        if index.match(RowNames(row) if index is INDEX else row, weighed(index, question))
    ]
    assert kept == rows[:1]


def test_a_part_of_a_word_is_found_that_its_writing_shows() -> None:
    for text, question in (("Apache Log4j2 flaw", "log4j"), ("MuddyWater campaign", "muddy")):
        assert TEXTS.match(text, weighed(TEXTS, question)) is not None
        assert INDEX.match(RowNames(text), weighed(INDEX, question)) is not None
    assert TEXTS.match("Apache Log4j2 flaw", weighed(TEXTS, "log")) is None
