"""Candidates have a score with its reasons: names, numbers, and facts that differ."""

import sys
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from svc_core.formats.model import MissingExtra
from svc_core.intel.linking import similarity
from svc_core.intel.linking.matching import SCORE_MIN, Names, Party, compare, party
from svc_core.intel.linking.screening import NEAREST_MAX, Screening, index_tokens
from svc_core.intel.linking.similarity import comparison_words, likeness, sound_key

PEOPLE_ALIKE = [
    ("Muammar Qadhafi", "Moammar Gaddafi"),
    ("Владимир Примеров", "Vladimir Primerov"),
    ("Primerov, Vladimir", "Vladimir Primerov"),
    ("Mohammed Hasan", "Muhamad Ali Hassan"),
    ("J. Exampleton", "John Exampleton"),
]
BODIES_ALIKE = [
    ("Juniper Networks", "Juniper Network Inc"),
    ("PaloVerde Networks", "Palo Verde Networks"),
    ("Contoso Software", "Contosso Software Ltd"),
]
APART = [
    ("Delta Electronics", "Delta Air Lines"),
    ("Acme Trading", "Acme Shipping"),
    ("First Kestrel Bank", "First Quillwright Bank"),
    ("Progress", "Progress Software"),
    ("J Example", "K Example"),
]


def party_named(name: str, **members: Any) -> Party:
    return Party(Names.of([name]), **members)


def score(query: Party, other: Party) -> float:
    match = compare(query, other)
    return 0.0 if match is None else match.score


@pytest.mark.parametrize(("left", "right"), PEOPLE_ALIKE)
def test_forms_of_a_persons_name_are_alike(left: str, right: str) -> None:
    assert likeness(comparison_words(left), comparison_words(right), is_person=True) > 0.75


@pytest.mark.parametrize(("left", "right"), BODIES_ALIKE)
def test_spellings_of_a_bodys_name_are_alike(left: str, right: str) -> None:
    assert likeness(comparison_words(left), comparison_words(right)) > 0.85


@pytest.mark.parametrize(("left", "right"), APART)
def test_names_that_share_a_word_are_not_alike(left: str, right: str) -> None:
    assert likeness(comparison_words(left), comparison_words(right)) < 0.7


@given(
    st.lists(
        st.sampled_from(["alpha", "beta", "kappa", "trading", "ltd", "jon", "john"]), min_size=1
    ),
    st.lists(st.sampled_from(["alpha", "betta", "gamma", "trading", "jhon", "j"]), min_size=1),
)
def test_likeness_is_the_same_from_both_sides(left: list[str], right: list[str]) -> None:
    for is_person in (False, True):
        forward = likeness(left, right, is_person=is_person)
        assert 0 <= forward <= 1
        assert forward == pytest.approx(likeness(right, left, is_person=is_person))
        assert likeness(left, left[::-1], is_person=is_person) == 1


def test_words_sound_alike_however_they_were_transliterated() -> None:
    assert sound_key("qadhafi") == sound_key("gaddafi") == sound_key("kadafi") != ""
    assert sound_key("mohammed") == sound_key("muhamad")
    assert sound_key("ali") == sound_key("a1b2c3") == ""


CODE_NAMED = ("threatActor", "campaign", "malware", "tool")
CODE_NAMES_APART = [
    ("ZINC", "Snake"),
    ("Violet Typhoon", "Volt Typhoon"),
    ("APT28", "APT29"),
    ("Comment Panda", "Personal Panda"),
    ("Dogfish", "Hogfish"),
    ("LockBit", "LockBit 3.0"),
]


@pytest.mark.parametrize("type_", CODE_NAMED)
@pytest.mark.parametrize("other_type", [*CODE_NAMED, None])
def test_code_names_are_the_same_or_others(type_: str, other_type: str | None) -> None:
    for left, right in CODE_NAMES_APART:
        for names in ((left, right), (right, left), (sound_alike(left), left)):
            mine, theirs = (party_named(name) for name in names)
            assert compare(evolve(mine, type=type_), evolve(theirs, type=other_type)) is None
    if other_type in (type_, None):
        for name in ("muddy water", "MuddyWater", "WATER MUDDY"):
            actor = party_named("Muddy Water", type=type_)
            other = Party(Names.of([name, "Earth Vetala"]), type=other_type)
            assert score(actor, other) == score(other, actor) == 1
    assert sound_key("zinc") == sound_key("snake")


def sound_alike(name: str) -> str:
    """Another word with the same sounds."""
    return name.replace("i", "e").replace("o", "a") + "e"


def test_a_shared_list_of_names_is_a_candidate_with_its_reason() -> None:
    names = ["Volt Typhoon", "Vanguard Panda", "BRONZE SILHOUETTE", "Insidious Taurus", "DEV-0391"]
    mine = Party(Names.of(["G1017", *names, "Dev 0391"]), type="threatActor")
    theirs = Party(Names.of(["Unit", *map(str.lower, names[::-1])]), type="threatActor")
    match = compare(mine, theirs)
    assert match is not None
    assert SCORE_MIN < match.score < 1  # it is the first name of neither
    told = ", ".join(map(repr, names))
    assert match.reasons == (f"both are called {told}: 6 of 7 and of 6 names",)
    assert score(mine, party_named("volt typhoon", type="threatActor")) == 1
    screening = Screening([mine])
    screening.offer("ent_1", theirs)
    assert [id_ for id_, *_ in screening.candidates(0, 5)] == ["ent_1"]


FACTS = [
    ({"countries": {"US"}}, {"countries": {"RU"}}, {"country": -0.2}),
    ({"countries": {"US"}}, {"countries": {"US", "RU"}}, {}),
    ({"birth_dates": {"1960"}}, {"birth_dates": {"1960-05-01"}}, {"birthDate": 0.05}),
    ({"birth_dates": {"1960-06-01"}}, {"birth_dates": {"1960-05-01"}}, {"birthDate": -0.15}),
    ({"birth_dates": {"1961"}}, {"birth_dates": {"1960-05-01"}}, {"birthDate": -0.25}),
    ({"gender": "female"}, {"gender": "male"}, {"gender": -0.2}),
    ({"addresses": {"1 example way"}}, {"addresses": {"1 example way"}}, {"address": 0.1}),
    ({"designators": {"lei:1"}}, {"designators": {"lei:1"}}, {"designator": 1.0}),
    ({"designators": {"bic:1"}}, {"designators": {"bic:1"}}, {}),
    ({}, {}, {}),
]


@pytest.mark.parametrize(("mine", "theirs", "features"), FACTS)
def test_facts_move_the_score_and_say_why(mine: Any, theirs: Any, features: Any) -> None:
    def having(facts: Any, name: str) -> Party:
        members = {k: frozenset(v) if isinstance(v, set) else v for k, v in facts.items()}
        return party_named(name, type="person", **members)

    match = compare(having(mine, "Jane Q Exampleton"), having(theirs, "Jane Exampleton"))
    assert match is not None
    assert {k: v for k, v in match.features.items() if k != "name"} == features
    assert match.score == pytest.approx(min(1, max(0, sum(match.features.values()))), abs=0.002)
    assert len(match.reasons) == len(match.features)


def test_a_number_that_several_may_have_says_less() -> None:
    bic = frozenset(["bic:1"])
    assert score(Party(Names.of([]), designators=bic), party_named("Any", designators=bic)) == 0.85


def test_a_weak_alias_says_less() -> None:
    weak = Party(Names.of(["Other"]), Names.of(["Jane Exampleton"]), "person")
    match = compare(party_named("Jane Exampleton"), weak)
    assert match is not None
    assert match.features == {"weakAlias": 0.8}


def test_a_ship_is_no_person_and_nothing_is_like_nobody() -> None:
    assert compare(party_named("Jane", type="vessel"), party_named("Jane", type="person")) is None
    assert score(party_named("Jane", type="company"), party_named("Jane", type="organization")) == 1
    assert compare(Party(Names.of([])), Party(Names.of([]))) is None


def test_a_row_is_read_as_it_tells() -> None:
    facts = {
        "name": "Example Ltd", "aliases": ["Sample"], "weakAliases": ["Ex"], "type": "person",
        "designators": [{"scheme": "lei", "value": "1"}], "countryCodes": ["US"],
        "birthDates": ["1960"], "gender": "male", "addresses": ["1, Example Way"],
    }  # fmt: skip
    row_party = party(facts)
    assert row_party.names.spellings == ("Example Ltd", "Sample")
    assert row_party.weak.words == (("ex",),)
    assert (row_party.birth_dates, row_party.gender, row_party.addresses) == (
        {"1960"},
        "male",
        {"1 example way"},
    )
    assert party({**facts, "birthDates": None, "addresses": None}).birth_dates == frozenset()


def ids(matches: list[tuple[str, Party, Any]]) -> list[str]:
    return [id_ for id_, *_ in matches]


def test_screening_finds_what_comparing_everything_finds() -> None:
    names = [left for left, _ in [*PEOPLE_ALIKE, *BODIES_ALIKE, *APART]]
    others = [right for _, right in [*PEOPLE_ALIKE, *BODIES_ALIKE, *APART]]
    rows = {f"ent_{at:024x}": party_named(name) for at, name in enumerate(others)}
    screening = Screening([party_named(name) for name in names])
    for id_, row in rows.items():
        screening.offer(id_, row)
    for at, name in enumerate(names):
        every = {id_ for id_, row in rows.items() if score(party_named(name), row) >= SCORE_MIN}
        assert set(ids(screening.candidates(at, 10))) == every


def test_a_number_is_found_under_any_name() -> None:
    query = Party(Names.of([]), designators=frozenset(["lei:1", "lei:2"]))
    screening = Screening([query])
    screening.offer("ent_01", party_named("Example", designators=frozenset(["lei:1"])))
    screening.offer("ent_02", party_named("Example"))
    assert ids(screening.candidates(0, 3)) == ["ent_01"]


def test_the_best_come_first_whatever_the_order() -> None:
    rows = [(f"ent_{at:024x}", party_named("Kestrelmoor")) for at in range(2 * NEAREST_MAX)]
    rows.append((f"ent_{99:024x}", party_named("Kestrelmoor Quillwright")))
    for order in (rows, rows[::-1]):
        screening = Screening([party_named("Kestrelmoor Quillwright")])
        for id_, row in order:
            screening.offer(id_, row)
        assert ids(screening.candidates(0, 3))[0] == f"ent_{99:024x}"
    screening = Screening([party_named("Kestrelmoor")])
    for id_, row in rows[::-1]:
        screening.offer(id_, row)
    assert ids(screening.candidates(0, 2)) == [f"ent_{0:024x}", f"ent_{1:024x}"]


def test_names_are_found_by_how_they_sound() -> None:
    assert (
        index_tokens(party_named("Gaddafi")).keys() == index_tokens(party_named("Qadhafi")).keys()
    )


def test_without_the_extra_its_message_says_how_to_get_it(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)
    similarity._edit_similarity.cache_clear()
    with pytest.raises(MissingExtra, match="server"):
        likeness(["fortra"], ["fortrea"])
    similarity._edit_similarity.cache_clear()
