import random
from collections.abc import Iterable

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from svc_core.analysis.evidence import Evidence
from svc_core.analysis.query import Query
from svc_core.analysis.relevance import Scored, choose, readings
from svc_core.analysis.tokens import search_text


def select(query: Query, evidence: Iterable[Evidence]) -> list[Scored]:
    return choose(query, readings(evidence))


def labels(query: Query) -> list[list[list[str]]]:
    return [
        [["+".join(unit.label for unit in chunk) for chunk in group.chunks] for group in clause]
        for clause in query.clauses
    ]


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        ("Brexit", [[["Brexit"]]]),
        ("Latest news about Brexit", [[["Brexit"]]]),
        ("European Central Bank interest rates", [[["European Central Bank+interest rates"]]]),
        (
            "Follow ransomware attacks against hospitals and health services in Europe",
            [[["ransomware+attacks"], ["hospitals", "health services"], ["Europe"]]],
        ),
        ("Apple, Samsung or Google", [[["Apple", "Samsung", "Google"]]]),
        ("relations between Japan and South Korea", [[["Japan"], ["South Korea"]]]),
        ("US jobs and wages", [[["US+jobs", "US+wages"]]]),
        ("Donald Trump", [[["Donald Trump"]]]),
        ("Bank of England", [[["Bank of England"]]]),
        (
            "Floods in Spain. Wildfires in Chile",
            [[["Floods"], ["Spain"]], [["Wildfires"], ["Chile"]]],
        ),
        ("Please monitor the latest developments", []),
        ("", []),
        ("Wahlen in Frankreich", [[["Wahlen"], ["Frankreich"]]]),
        ("the Fjord Ferry Line", [[["Fjord Ferry Line"]]]),
        ("and Norway", [[["Norway"]]]),
        ("Fjordby Governor Maria Zorblatt", [[["Fjordby+Governor+Maria Zorblatt"]]]),
        ("Marine Le Zorb", [[["Marine Le Zorb"]]]),
        ("Ursula von der Zorb and Norway", [[["Ursula von der Zorb", "Norway"]]]),
        ("Kelvaro de Zorblatt", [[["Kelvaro"], ["Zorblatt"]]]),
        ("watch doping and tell me which runners are banned", [[["doping"]]]),
        ("Tell me what is new about airships, and explain who is late", [[["airships"]]]),
        ("tell me which airships are late", [[["airships"], ["late"]]]),
    ],
)
def test_a_topic_is_read_as_its_subjects(topic: str, expected: list[list[list[str]]]) -> None:
    assert labels(Query.of(topic)) == expected


def test_names_weigh_more_than_words_and_words_of_any_news_least() -> None:
    weights = {
        unit.label: unit.weight for unit in Query.of("Zorblatt turbine company in Peru").units
    }
    assert weights["Peru"] > weights["turbine"] > weights["company"]


def test_a_german_noun_is_no_name_for_its_capital() -> None:
    units = {
        unit.label: unit for unit in Query.of("neue Fähren und Häfen am Rhein", language="de").units
    }
    assert not units["Fähren"].is_name


def test_a_title_in_capitals_tells_no_names() -> None:
    units = Query.of("Turbine Blade Factory Closures").units
    assert not any(unit.is_name for unit in units)


def test_a_long_name_is_known_by_its_initials_and_a_person_by_the_surname() -> None:
    (line,) = Query.of("Fjord Ferry Line").units
    assert ("ffl",) in line.runs
    (person,) = Query.of("Maria Zorblatt").units
    assert ("zorblatt",) in person.runs


def test_search_terms_find_the_items_in_the_index_whatever_their_language() -> None:
    terms = set(Query.of("earthquakes in Chile").terms)
    assert terms & set(search_text("Séisme au Chili", "").split())


def test_a_topic_of_places_or_common_words_alone_still_searches() -> None:
    assert "qqccl" in Query.of("Chile").terms
    assert Query.of("company").terms == ()
    assert Query.of("jobs").terms


@pytest.mark.parametrize(
    ("topic", "keywords", "kept"),
    [
        ("energy policy", ["energy"], 0),
        ("energy policy", ["pipeline"], 1),
        ("energy policy", ["Nordstrand"], 1),
        ("energy policy", ["company"], 0),
        ("energy policy", ["wind farm", "wind farm"], 1),
        ("Nordstrand pipeline", ["Nordstrand"], 1),
        ("energy policy", ["the"], 0),
    ],
)
def test_a_keyword_that_adds_nothing_is_dropped(topic: str, keywords: list[str], kept: int) -> None:
    assert len(Query.of(topic, keywords).keywords) == kept


@given(st.text(max_size=300), st.lists(st.text(max_size=30), max_size=5))
def test_any_text_is_a_question(topic: str, keywords: list[str]) -> None:
    query = Query.of(topic, keywords)
    assert all(chunk for clause in query.clauses for group in clause for chunk in group.chunks)
    assert all(" " not in term for term in query.terms)
    assert select(query, []) == []


CASES = [
    # topic, title, text, selected
    ("Brexit", "Talks on Brexit resume", "", True),
    (
        "Brexit",
        "Cooking for two",
        "The chef once spoke of travel, weather, love, gardens, money, music, dogs, art, "
        "tea, bread, salt, fish and Brexit.",
        False,
    ),
    ("Brexit", "Cooking for two", "Brexit worries the chef.", True),
    ("North Korea", "Pyongyang reopens its border", "", True),
    (
        "North Korea",
        "South Korea votes",
        "Seoul votes in the north of the city and in Korea town.",
        False,
    ),
    ("elections in France", "Élections : la France vote", "", True),
    ("elections in France", "Elections in Ghana", "Voters in Ghana go to the polls.", False),
    ("elections in France", "A walk in France", "Cheese and wine.", False),
    (
        "ransomware attacks against hospitals in Europe",
        "Ransomware hits hospital in Germany",
        "",
        True,
    ),
    (
        "ransomware attacks against hospitals in Europe",
        "Ransomware hits hospital in Canada",
        "",
        False,
    ),
    ("ransomware attacks against hospitals in Europe", "Ransomware hits hospital", "", True),
    ("ransomware attacks against hospitals in Europe", "Hospital opens in Germany", "", False),
    ("Putin", "Russia grows more wheat", "", False),
    ("Putin", "Putin visits a farm", "", True),
    ("football but not transfers", "Football club wins the cup", "", True),
    ("football but not transfers", "Football transfers reach a record", "", False),
    ("Maria Zorblatt", "Zorblatt resigns", "", True),
    ("Fjord Ferry Line", "Fjord Ferry Line sinks", "", True),
    ("Fjord Ferry Line", "Line of ferry in fjord", "", False),
    (
        "Nordstrand refinery strike talks with unions this spring",
        "Nordstrand refinery strike: talks fail",
        "",
        True,
    ),
    ("attacks in Syria", "Syria builds a road", "", False),
    ("attacks in Syria", "Attack in Syria", "", True),
    ("Japan company profits", "Company profits rise in Japan", "", True),
    ("central banks", "Der Leitzins bleibt", "", False),
    ("Krankenhaus", "Reform des Krankenhauses", "", True),
    ("Zeppelin", "Zeppelins über dem See", "", True),
    ("latest news", "Anything at all", "", False),
    ("doping in sport", "Runner suspended for doping", "", True),
    ("Recorder Zorbli drawings", "How to make Zorbli drawings", "", True),
    ("Zorbli Kelvaro crash", "Kelvaro crash on the road to Zorbli", "", True),
    ("Vienna Olympics", "Olympic gold for a rower", "", True),
    ("Vienna Olympics", "Museum opens in Vienna", "", False),
    ("the harvest of Zorbli pears", "Zorbli pears are early", "", True),
]


@pytest.mark.parametrize(("topic", "title", "text", "selected"), CASES)
def test_an_item_is_selected_when_it_is_about_the_subject(
    make, topic, title, text, selected
) -> None:
    found = select(Query.of(topic), [make(title, text)])
    assert bool(found) is selected


def test_a_topic_of_the_catalogue_finds_items_by_their_topics(make) -> None:
    item = make("Quiet title", "Some words here.", topics=("cybersecurity",))
    assert select(Query.of("Cybersecurity"), [item])
    assert not select(Query.of("Cybersecurity"), [make("Quiet title", "Some words here.")])


def test_repetition_makes_up_for_a_late_mention(make) -> None:
    text = (
        "The day was long for all. "
        + "Zeppelin pilots met Zeppelin owners near Zeppelin sheds. Every Zeppelin was old."
    )
    assert select(Query.of("Zeppelin"), [make("A long day", text)])


def test_a_keyword_in_the_headline_selects_by_itself(make) -> None:
    query = Query.of("energy policy in Norway", ["Nordstrand"])
    assert select(query, [make("Nordstrand shuts a valve")])
    assert not select(query, [make("A valve", "Somewhere near Nordstrand a valve was shut.")])


def test_an_advertisement_is_never_chosen(make) -> None:
    assert select(Query.of("Zeppelin"), [make("Sponsor: Zeppelin rides for two")]) == []


def test_better_matches_come_first_and_ids_count_once(make) -> None:
    head = make("Zeppelin lands", "The Zeppelin landed. Zeppelin fans cheered.", id="a")
    lead = make("A landing", "A Zeppelin landed in the meadow.", id="b")
    found = select(Query.of("Zeppelin"), [lead, head, head])
    assert [one.evidence.id for one in found] == ["a", "b"]
    assert found[0].score > found[1].score > 0


def test_the_order_of_the_items_does_not_matter(newsroom) -> None:
    query = Query.of("Chile", ["Northwind Bank"])
    expected = select(query, newsroom)
    for seed in range(5):
        shuffled = list(newsroom)
        random.Random(seed).shuffle(shuffled)
        assert select(query, shuffled) == expected
    assert len(expected) == 7


@pytest.mark.parametrize(
    ("language", "source", "title", "selected"),
    [
        ("en-GB", "alpha", "Riots spread after the match", True),
        ("en", "alpha.co.uk", "Riots spread after the match", True),
        ("en-US", "alpha", "Riots spread after the match", False),
        ("en-GB", "alpha", "Riots spread in Chile after the match", False),
    ],
)
def test_a_country_goes_unsaid_in_its_own_press(make, language, source, title, selected) -> None:
    item = evolve(make(title, language=language), source_domain=source)
    assert bool(select(Query.of("riots in the United Kingdom"), [item])) is selected


def test_a_surname_stands_for_the_name_where_it_mostly_means_it(make) -> None:
    named = [
        make("Orlo Zorblatt opens a shed", id="a"),
        make("Sheds", "Orlo Zorblatt built sheds. Orlo Zorblatt sold sheds.", id="b"),
    ]
    alone = make("Zorblatt leaves the shed", id="c")
    others = [make(f"Tilda Zorblatt sings in {town}", id=town) for town in ("Ayr", "Bonn", "Cork")]
    query = Query.of("Orlo Zorblatt")
    assert {one.evidence.id for one in select(query, [*named, alone])} == {"a", "b", "c"}
    assert {one.evidence.id for one in select(query, [*named, alone, *others])} == {"a", "b"}
