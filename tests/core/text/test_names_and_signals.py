from datetime import date, timedelta

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from svc_core.reports.draft import StorySelection, draft_report
from svc_core.reports.graph import EDGES_MAX, NODES_MAX, build_graph
from svc_core.reports.report_signals import SIGNALS_MAX, extract
from svc_core.text.evidence import ScoredItem, reading_of, readings
from svc_core.text.name_mentions import Case, mentions_in, names_of
from svc_core.text.stories import Story
from svc_core.text.story_events import event_of


def draft_of(topic, period, items):
    """A draft of every item that has a word of the topic; items of one `story` are one."""
    matches = [item for item in items if topic in f"{item.title} {item.text}"]
    groups = {}
    for reading in readings(matches):
        key = reading.evidence.story or reading.evidence.id
        groups.setdefault(key, []).append(ScoredItem(reading, 1.0))
    composition = StorySelection(
        tuple(Story(key, tuple(members)) for key, members in groups.items())
    )
    return draft_report("W", topic, period, composition)


def signals_of(topic, period, items):
    draft_ = draft_of(topic, period, items)
    return extract("rpt_1", draft_, names_of(draft_.stories), period.end)


def graph_of(topic, period, items):
    draft_ = draft_of(topic, period, items)
    return build_graph(draft_, names_of(draft_.stories)), draft_


def test_a_country_has_its_code_and_counts_every_time(make) -> None:
    reading = reading_of(make("Chile votes", "People in Chile vote. Others in Chile do not."))
    (chile,) = mentions_in([reading])
    assert (chile.name, chile.country_code, chile.count) == ("Chile", "CL", 3)


def test_a_capital_letter_proves_nothing_at_the_start_or_in_german(make) -> None:
    assert mentions_in([reading_of(make("", "Fjordline grew. Nobody saw it."))]) == ()
    german = make("", "Gestern fuhr die Fähre. Alle sahen die Fähre im Hafen.", language="de")
    assert mentions_in([reading_of(german)]) == ()
    mentions = mentions_in(
        [reading_of(make("Fjordline grew", "Last year Fjordline shrank by half."))]
    )
    assert [mention.count for mention in mentions] == [2]


def test_what_other_items_show_of_a_word_counts(make) -> None:
    lone = reading_of(make("", "Fjordline grew last year."))
    capitals = reading_of(make("", "Nobody saw how Fjordline grew."))
    lowers = reading_of(make("", "A fjordline and a fjordline grew on Fjordline."))
    assert [mention.name for mention in mentions_in([lone], Case.of([lone, capitals]))] == [
        "Fjordline"
    ]
    assert mentions_in([lone], Case.of([lone, lowers])) == ()


@given(st.text(max_size=200))
def test_any_text_has_names_with_positive_counts(make, text) -> None:
    mentions = mentions_in([reading_of(make(text[:60], text))])
    assert all(mention.count > 0 and mention.key and mention.name for mention in mentions)
    assert len({mention.key for mention in mentions}) == len(mentions)


def one_quake(items):
    """The items with those of the earthquake and its aftershock as one story."""
    words = ("Iquique", "aftershock")
    return [
        evolve(item, story="quake" if any(word in item.title for word in words) else None)
        for item in items
    ]


def test_a_signal_says_what_whom_where_and_when(newsroom, week) -> None:
    signals = signals_of("Chil", week, one_quake(newsroom))
    (quake,) = [
        signal for signal in signals if signal.type == "disaster" and signal.source_count == 5
    ]
    assert quake.direction == "down"
    assert "Chile" in {place.name for place in quake.places}
    assert quake.occurred_date == "2026-03-04"
    assert 1 <= len(quake.citations) <= 5
    assert quake.first_reported_at < quake.last_reported_at
    assert signals[0] == quake


def test_the_confidence_is_the_weighted_sum_of_its_parts(newsroom, week) -> None:
    signals = signals_of("", week, newsroom)
    assert "acquisition" in {signal.type for signal in signals}
    for signal in signals:
        parts = signal.confidence_parts
        values = (parts.source_diversity, parts.trigger_strength, parts.recency, parts.specificity)
        assert all(0 <= value <= 1 for value in values)
        assert signal.confidence == round(
            0.3 * values[0] + 0.35 * values[1] + 0.15 * values[2] + 0.2 * values[3], 3
        )


def story_of(make, *items) -> Story:
    return Story("s", tuple(ScoredItem(reading_of(make(*item)), 1.0) for item in items))


def test_items_that_agree_make_a_signal_surer_and_a_lone_one_none(make) -> None:
    quake, garden = ("Earthquake hits Zeppelin town", ""), ("Zeppelin opens a garden", "")
    alone, twice = event_of(story_of(make, quake)), event_of(story_of(make, quake, quake))
    assert twice.strength > alone.strength
    assert event_of(story_of(make, quake, *[garden] * 4)) is None


@pytest.mark.parametrize(
    ("title", "text", "language", "kind"),
    [
        ("Gunman attacks a mosque", "", "en", "attack"),
        ("Blast hits the fort", "Troops were near.", "en", "attack"),
        ("Blast hits the fort over its policy", "Critics want a new plan.", "en", None),
        ("Anschlag auf Kaserne", "", "de", "attack"),
        ("Anschlag auf die Demokratie", "Scharfe Kritik an dem Gesetz.", "de", None),
        ("Owner arrested? The paper was wrong", "", "en", None),
        ("Owner arrested: was it a mistake?", "", "en", "arrest"),
        ("Mutins à la caserne", "Un soulèvement dans la rue selon la police.", "fr", "unrest"),
        ("Firefighters save a dog", "", "en", None),
        ("Users unable to download security patches", "", "en", None),
        ("Data breach hits the depot", "", "en", "cyberattack"),
        ("Startup launches data breach alert platform", "It is now available.", "en", "launch"),
        ("Squirrels invade the station", "", "en", "conflict"),  # a figure of speech: known limit
        ("Squirrels invade the station", "They look for nuts.", "en", None),
        ("Covid-19 cases at the school", "Teachers help.", "en", None),
        ("Covid-19 cases rise in the north", "The ministry counts them.", "en", "outbreak"),
    ],
)
def test_a_kind_is_what_headline_and_lead_assert(make, title, text, language, kind) -> None:
    item = reading_of(make(title, text, language=language))
    event = event_of(Story("s", (ScoredItem(item, 1.0),)))
    assert (event and event.kind.name) == kind


@given(st.text(max_size=200), st.sampled_from(["en", "de", "ru", "zh", None]))
def test_any_text_tells_one_kind_or_none(make, text, language) -> None:
    event = event_of(
        Story("s", (ScoredItem(reading_of(make(text[:90], text, language=language)), 1.0),))
    )
    assert event is None or 0.5 <= event.strength <= 1


def test_a_signal_is_told_by_an_item_that_tells_the_event(make, week) -> None:
    lines = [
        make("Zeppelin opens a garden", source="a"),
        make("Zeppelin owner arrested", source="b"),
    ]
    (signal,) = signals_of("Zeppelin", week, [evolve(line, story="s") for line in lines])
    assert (signal.title, signal.citations) == ("Zeppelin owner arrested", (2,))


def test_one_story_gives_one_signal(make, week) -> None:
    (signal,) = signals_of("Zeppelin", week, [make("Zeppelin owner arrested over bribery charges")])
    assert signal.type in {"arrest", "corruption"}


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
    english = "Earthquake hits Zeppelin town", "en"
    german = "Erdbeben erschüttert die Stadt Zeppelin", "de"
    title, language = german if text.startswith("Es") else english
    item = make(title, text, language=language)
    (signal,) = signals_of("Zeppelin", week, [item])
    assert signal.occurred_date == (day and day.isoformat())


def test_a_report_from_the_new_year_may_mean_the_old_one(make, week) -> None:
    item = make("Earthquake hits Zeppelin town", "It began on 28 December in town.", hours=-60 * 24)
    (signal,) = signals_of("Zeppelin", week, [item])
    assert signal.occurred_date == "2025-12-28"


def crowd(make, count):
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
    assert len(signals_of("Zeppelin", week, crowd(make, 70))) == SIGNALS_MAX


def test_every_edge_of_a_graph_ends_in_nodes(newsroom, week) -> None:
    graph, draft_ = graph_of("Chil", week, one_quake(newsroom))
    ids = {node.id for node in graph.nodes}
    assert len(ids) == len(graph.nodes)
    assert all({edge.source_id, edge.target_id} <= ids for edge in graph.edges)
    assert len({edge.id for edge in graph.edges}) == len(graph.edges)
    assert {anchor.node_id for anchor in graph.incident_anchors} == {
        f"incident:{story.key}" for story in draft_.stories
    }
    assert graph.counts.incident_anchors == 2
    assert graph.counts.nodes == len(graph.nodes)
    assert graph.counts.edges == len(graph.edges)
    citations = {number for edge in graph.edges for number in edge.citations}
    assert citations <= set(draft_.numbers.values())
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
    graph, _ = graph_of("Zeppelin", week, items)
    ties = [edge for edge in graph.edges if edge.type == "coMentioned"]
    assert [(tie.source_id, tie.target_id, tie.directed, tie.weight) for tie in ties] == [
        ("entity:chile", "entity:norway", False, 2)
    ]


def test_the_sources_of_a_graph_are_those_of_cited_items(make, week) -> None:
    lines = [make("Zeppelin lands in the meadow", source=f"s{at}") for at in range(15)]
    items = [evolve(item, story="landing") for item in lines]
    graph, draft_ = graph_of("Zeppelin", week, items)
    assert len(draft_.stories[0].members) == 15
    assert sum(node.type == "source" for node in graph.nodes) == len(draft_.items)


def test_a_large_graph_is_cut_and_says_so(make, week) -> None:
    graph, _ = graph_of("Zeppelin", week, crowd(make, 70))
    assert graph.truncated
    assert len(graph.nodes) <= NODES_MAX
    assert len(graph.edges) <= EDGES_MAX
    ids = {node.id for node in graph.nodes}
    assert all({edge.source_id, edge.target_id} <= ids for edge in graph.edges)


def test_an_empty_report_has_a_graph_of_itself(newsroom, week) -> None:
    graph, draft_ = graph_of("quantum knitting", week, newsroom)
    assert [node.type for node in graph.nodes] == ["report"]
    assert graph.edges == ()
    assert extract("rpt_1", draft_, {}, week.end) == ()


def test_recency_fades_with_the_age_of_a_story(make, week) -> None:
    end = week.end
    fresh, old = (
        signals_of("Zeppelin", week, [make("Earthquake hits Zeppelin town", hours=h)])[0]
        for h in (40, -60)
    )
    assert fresh.confidence_parts.recency > old.confidence_parts.recency
    assert end - fresh.first_reported_at < timedelta(days=2)


def test_one_event_in_two_stories_is_one_signal_unless_numbers_part_them(make, week) -> None:
    hit = make("Earthquake hits Zeppelin town in northern Chile", id="a")
    again = make("Northern Chile: earthquake hits Zeppelin town, cables fall", id="b", hours=-2)
    stronger = make("Earthquake of 7.9 hits Zeppelin town in northern Chile", id="c")
    comment = make("Comment: earthquake hits Zeppelin town in the north", id="d")
    assert len(signals_of("Zeppelin", week, [hit, again])) == 1
    assert len(signals_of("Zeppelin", week, [hit, stronger])) == 2
    assert signals_of("Zeppelin", week, [comment]) == ()
    (without_date,) = signals_of("Zeppelin", week, [make(hit.title, hours=None)])
    assert without_date.confidence_parts.recency == 0
