from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.analysis.entities import mentions, name_terms
from svc_core.analysis.events import KINDS_MAX
from svc_core.reports.draft import draft, tell
from svc_core.reports.graph import EDGES_MAX, NODES_MAX, build
from svc_core.reports.signals import SIGNALS_MAX, extract
from svc_core.reports.telling import CITATIONS_MAX
from svc_core.text.evidence import read


def signals_of(topic, period, items):
    made = draft("W", topic, period, tell(topic, items))
    return extract("rpt_1", made, period.end, "en")


def drawn(topic, period, items):
    made = draft("W", topic, period, tell(topic, items))
    return build(made, "en"), made


NAMES = [
    (
        "",
        "The minister met Angela Merkel and Emmanuel Macron in Paris.",
        {"Angela Merkel": "person", "Emmanuel Macron": "person", "Paris": "place"},
    ),
    (
        "",
        "Then President Maria J. Zorblatt spoke. Later Zorblatt left.",
        {"Maria Zorblatt": "person"},
    ),
    (
        "",
        "A flaw, CVE-2026-12345, was found by NASA and the Bank of England.",
        {
            "CVE-2026-12345": "vulnerability",
            "NASA": "organization",
            "Bank of England": "organization",
        },
    ),
    (
        "",
        "Talks in South Korea and the U.S. went on near Lake Fjord.",
        {"South Korea": "place", "United States": "place", "Lake Fjord": "place"},
    ),
    (
        "Ministers Meet In Chile To Discuss Apple And New York",
        "",
        {"Chile": "place", "Apple": "organization", "New York": "place"},
    ),
    ("", "Yesterday rain fell on Monday.", {}),
    ("", "It was Norway's Fjordline that paid.", {"Norway": "place", "Fjordline": "other"}),
    ("", "In the end Nishida of Japan won.", {"Nishida": "other", "Japan": "place"}),
    ("", "A man called New or X was there with A B C D E F.", {}),
    ("", "An American and a Kyiv court.", {"Kyiv": "place"}),
    ("", "They sang A Very Long Name Of Many Capital Words Here today.", {}),
]


@pytest.mark.parametrize(("title", "text", "expected"), NAMES)
def test_names_are_found_with_their_kind(make, title, text, expected) -> None:
    found = {mention.name: mention.kind for mention in mentions([read(make(title, text))])}
    assert found == expected


def test_a_country_has_its_code_and_counts_every_time(make) -> None:
    reading = read(make("Chile votes", "People in Chile vote. Others in Chile do not."))
    (chile,) = mentions([reading])
    assert (chile.name, chile.country_code, chile.count) == ("Chile", "CL", 3)


def test_a_capital_letter_proves_nothing_at_the_start_or_in_german(make) -> None:
    assert mentions([read(make("", "Fjordline grew. Nobody saw it."))]) == ()
    assert (
        mentions(
            [
                read(
                    make(
                        "", "Gestern fuhr die Fähre. Alle sahen die Fähre im Hafen.", language="de"
                    )
                )
            ]
        )
        == ()
    )
    known = mentions([read(make("Fjordline grew", "Last year Fjordline shrank by half."))])
    assert [mention.count for mention in known] == [2]


def test_headline_names_are_terms_and_countries_concepts(make) -> None:
    assert name_terms(read(make("A deal between Fjordline and Chile"))) == {
        "fjordlin",
        "chile",
        "qqccl",
    }
    assert name_terms(read(make("Great Deal Between Fjordline And Chile"))) == {"qqccl"}


@given(st.text(max_size=200))
def test_any_text_has_names_with_positive_counts(make, text) -> None:
    found = mentions([read(make(text[:60], text))])
    assert all(mention.count > 0 and mention.key and mention.name for mention in found)
    assert len({mention.key for mention in found}) == len(found)


def test_a_signal_says_what_whom_where_and_when(newsroom, week) -> None:
    signals = signals_of("Chile", week, newsroom)
    (quake,) = [one for one in signals if one.type == "disaster" and one.source_count == 5]
    assert quake.direction == "down"
    assert "Chile" in {place.name for place in quake.places}
    assert quake.occurred_date == "2026-03-04"
    assert len(quake.citations) == 5
    assert quake.first_reported_at < quake.last_reported_at
    assert signals[0] == quake


def test_the_confidence_is_the_weighted_sum_of_its_parts(newsroom, week) -> None:
    signals = signals_of("Northwind or Chile", week, newsroom)
    assert "acquisition" in {one.type for one in signals}
    for one in signals:
        parts = one.confidence_parts
        values = (parts.source_diversity, parts.trigger_strength, parts.recency, parts.specificity)
        assert all(0 <= value <= 1 for value in values)
        assert one.confidence == round(
            0.3 * values[0] + 0.35 * values[1] + 0.15 * values[2] + 0.2 * values[3], 3
        )


@pytest.mark.parametrize(
    ("title", "text", "types"),
    [
        ("Zeppelin owner arrested over bribery", "", {"arrest", "corruption"}),
        ("Zeppelin bombing kills two", "", {"attack"}),
        ("Zeppelin talks", "", {"diplomacy"}),
        ("Zeppelin garden", "Bees and flowers near the Zeppelin.", set()),
        ("Zeppelin garden", "An earthquake shook the Zeppelin hall.", {"disaster"}),
    ],
)
def test_events_are_told_by_their_words(make, week, title, text, types) -> None:
    signals = signals_of("Zeppelin", week, [make(title, text)])
    assert {one.type for one in signals} == types
    assert len(signals) <= KINDS_MAX


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("It began on 2 March in town.", date(2026, 3, 2)),
        ("It began on March 2nd, 2026 in town.", date(2026, 3, 2)),
        ("Es begann am 2. März im Ort.", date(2026, 3, 2)),
        ("It began on 28 December in town.", None),
        ("It began on 2 March 1999 in town.", None),
        ("It began on 31 February in town.", None),
        ("It began on 20 January in town.", date(2026, 1, 20)),
    ],
)
def test_a_stated_date_near_the_publication_is_when_it_happened(make, week, text, day) -> None:
    item = make("Zeppelin earthquake", text)
    (signal,) = signals_of("Zeppelin", week, [item])
    assert signal.occurred_date == (day and day.isoformat())


def test_a_report_from_the_new_year_may_mean_the_old_one(make, week) -> None:
    item = make("Zeppelin earthquake", "It began on 28 December in town.", hours=-60 * 24)
    (signal,) = signals_of("Zeppelin", week, [item])
    assert signal.occurred_date == "2025-12-28"


def many(make, count):
    syllables = [f"{a}{b}{c}" for a in "bdfgklm" for b in "aeiou" for c in "nrst"]
    return [
        make(
            f"Zeppelin arrested {w}ork at {w}ville",
            f"On that day {w.title()}ia Maria{w} and Rolf{w} Stern{w} met "
            f"Karl{w} Blum{w} in Peru and Chile. "
            f"Then {w.title()}corp Group and Otto{w} Land{w} left "
            f"with Fritz{w} Berg{w} and Hugo{w} Tal{w}.",
            hours=-at / 10,
            source=f"s{at}",
        )
        for at, w in enumerate(syllables[:count])
    ]


def test_signals_are_bounded(make, week) -> None:
    assert len(signals_of("Zeppelin", week, many(make, 70))) == SIGNALS_MAX


def test_every_edge_of_a_graph_ends_in_nodes(newsroom, week) -> None:
    graph, made = drawn("Chile", week, newsroom)
    ids = {node.id for node in graph.nodes}
    assert len(ids) == len(graph.nodes)
    assert all({edge.source_id, edge.target_id} <= ids for edge in graph.edges)
    assert len({edge.id for edge in graph.edges}) == len(graph.edges)
    assert {one.node_id for one in graph.incident_anchors} == {
        f"incident:{story.key}" for story in made.stories
    }
    assert graph.counts.incident_anchors == 2
    assert graph.counts.nodes == len(graph.nodes)
    assert graph.counts.edges == len(graph.edges)
    shown = {number for edge in graph.edges for number in edge.citations}
    assert shown <= set(made.numbers.values())
    assert not graph.truncated
    assert sum(node.degree for node in graph.nodes) == 2 * len(graph.edges)


def test_names_that_meet_in_two_incidents_are_tied(make, week) -> None:
    items = [
        make(
            "Zeppelin sold",
            "The owners in Chile signed papers while buyers in Norway counted money.",
            source="alpha",
            hours=-120,
        ),
        make(
            "Zeppelin hall on fire",
            "Firemen of Norway fought flames until dawn; engines rolled out of Chile.",
            source="beta",
        ),
    ]
    graph, _ = drawn("Zeppelin", week, items)
    ties = [edge for edge in graph.edges if edge.type == "coMentioned"]
    assert [(tie.source_id, tie.target_id, tie.directed, tie.weight) for tie in ties] == [
        ("entity:chile", "entity:norway", False, 2)
    ]


def test_a_copy_that_is_not_cited_is_no_part_of_the_graph(make, week) -> None:
    items = [make("Zeppelin lands in the meadow", source=f"s{at}") for at in range(15)]
    graph, made = drawn("Zeppelin", week, items)
    assert len(made.stories[0].members) == 15
    assert sum(node.type == "source" for node in graph.nodes) == len(made.cited) == CITATIONS_MAX


def test_a_large_graph_is_cut_and_says_so(make, week) -> None:
    graph, _ = drawn("Zeppelin", week, many(make, 70))
    assert graph.truncated
    assert len(graph.nodes) <= NODES_MAX
    assert len(graph.edges) <= EDGES_MAX
    ids = {node.id for node in graph.nodes}
    assert all({edge.source_id, edge.target_id} <= ids for edge in graph.edges)


def test_an_empty_report_has_a_graph_of_itself(newsroom, week) -> None:
    graph, made = drawn("quantum knitting", week, newsroom)
    assert [node.type for node in graph.nodes] == ["report"]
    assert graph.edges == ()
    assert extract("rpt_1", made, week.end, "en") == ()


def test_recency_fades_with_the_age_of_a_story(make, week) -> None:
    end = week.end
    fresh, old = (
        signals_of("Zeppelin", week, [make("Zeppelin earthquake", hours=h)])[0] for h in (40, -60)
    )
    assert fresh.confidence_parts.recency > old.confidence_parts.recency
    assert end - fresh.first_reported_at < timedelta(days=2)
