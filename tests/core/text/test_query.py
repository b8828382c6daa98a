"""What a subject put in words asks for."""

import pytest

from svc_core.text.query import NAME_FACTOR, SYNONYM_FACTOR, Query
from svc_core.text.words import terms


def test_a_name_counts_more_than_a_word_but_not_where_a_sentence_begins() -> None:
    query = Query.of("Strikes at ports of Zedland. Reports by “Acme” wanted", language="en")
    names = dict.fromkeys(["zedlan", "acme"], NAME_FACTOR)
    assert query.factors == dict.fromkeys(["strike", "port", "report", "wanted"], 1.0) | names


def test_quoted_words_and_keywords_raise_and_a_minus_excludes() -> None:
    query = Query.of(
        'the "Bank of Zed" and «Acme works» -football -"press release" pre-war -5', ["Port Zed", ""]
    )
    assert query.phrases == (("bank", "zed"), ("acme", "work"), ("port", "zed"))
    assert query.exclusions == (("footba",), ("press", "releas"))
    assert list(query.factors) == ["bank", "zed", "acme", "work", "pre", "war", "5"]
    assert query.terms == dict(query.factors) | {"port": SYNONYM_FACTOR}


def test_a_dash_between_words_excludes_nothing() -> None:
    assert Query.of("talks of Zedland - Acme - peace").exclusions == ()


@pytest.mark.parametrize(
    ("topic", "run", "synonym"),
    [
        ("War in Syria", ("syria",), ("syrian",)),
        ("Syrian rebels", ("syrian",), ("syria",)),
        ("Wahlen in Deutschland", ("deutsc",), ("allema",)),
        ("élections en Côte d'Ivoire", ("cote", "ivoire"), ("ivory", "coast")),
        ("U.S. tariffs", ("us",), ("united", "state")),
        ("トルコ", ("トル", "ルコ"), ("turkey",)),
    ],
)
def test_a_country_is_asked_for_by_all_its_names(
    topic: str, run: tuple[str, ...], synonym: tuple[str, ...]
) -> None:
    query = Query.of(topic)
    assert synonym in dict(query.synonyms)[run]
    assert set(synonym) <= set(query.terms)


def test_a_name_of_two_countries_means_neither() -> None:
    assert Query.of("Dominican").synonyms == ()


def test_a_topic_of_very_many_subjects_is_parted_into_few_and_none_is_left_out() -> None:
    lines = [", ".join(f"w{line}x{place}" for place in range(12)) for line in range(15)]
    query = Query.of("\n".join(lines))

    def leaves(part: Query) -> list[Query]:
        return [leaf for row in part.parts for leaf in leaves(row)] or [part]

    assert len(leaves(query)) <= 12
    assert {term for part in leaves(query) for term in part.factors} == {*query.factors}


@pytest.mark.parametrize(
    ("topic", "language", "elements"),
    [
        ("Streit vor der Bundestagswahl", "de", ("wahl",)),
        ("Verkehr auf der Bahnstrecke", "de", ("bahn", "streck")),
        ("Die Regierung in Berlin", "de", ()),
        ("Bahnstrecke", "de-AT", ("bahn", "streck")),
        ("Railway bridge", "en", ()),
    ],
)
def test_a_compound_is_sought_by_its_parts_too(
    topic: str, language: str, elements: tuple[str, ...]
) -> None:
    factors = Query.of(topic, (), language).factors
    assert set(elements) == {term for term in factors if term not in terms(topic, language)}
    assert Query.of(topic, (), language, whole=True).factors.keys() == {
        *terms(topic, language, whole=True)
    }
