import random
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_core.analysis.compose import STORIES_MAX, compose, report
from svc_core.analysis.draft import Draft, Period
from svc_core.analysis.evidence import Evidence, read
from svc_core.analysis.grouping import stories
from svc_core.analysis.relevance import Scored
from svc_core.analysis.telling import KEY_POINTS_MAX, language_of, lead_of


def spoken(draft: Draft) -> list[tuple[str, tuple[int, ...]]]:
    told = [*draft.summary_sentences, *draft.key_points, *draft.briefs]
    told += [sentence for section in draft.sections for sentence in section.sentences]
    return [(cited.text, cited.citations) for cited in told]


def check(draft: Draft, items: list[Evidence]) -> None:
    """The promises that every draft keeps."""
    by_id = {item.id: item for item in items}
    held = {}
    for source in draft.sources:
        item = by_id[source.id]
        held[source.number] = " ".join(f"{item.title} {item.text}".split())
    assert list(held) == list(range(1, len(held) + 1))
    texts = [text for text, _ in spoken(draft)]
    assert len(set(texts)) == len(texts)
    for text, citations in spoken(draft):
        assert citations
        assert text in held[citations[0]]
    cited = {number for _, numbers in spoken(draft) for number in numbers}
    cited |= {number for section in draft.sections for number in section.citations}
    assert cited == set(held)
    assert len(draft.key_points) <= KEY_POINTS_MAX
    assert len({section.key for section in draft.sections}) == len(draft.sections)


def test_a_report_tells_each_story_once_with_its_sources(newsroom, week) -> None:
    made = report("Chile watch", "Chile", week, newsroom)
    draft = made.draft
    check(draft, newsroom)
    assert draft.title == "Chile watch: 1–7 March 2026"
    assert len(made.stories) == 2
    assert made.items == 6
    assert len(made.stories[0].members) == 5
    assert len(made.stories[0].publishers) == 5
    assert draft.items_considered == len(newsroom)
    assert not draft.is_empty
    assert "Read more" not in str(draft)
    assert len(draft.evidence_ids) == 6


def test_a_story_is_led_in_the_readers_language(newsroom, week) -> None:
    french = report("Veille", "Chili", week, newsroom, language="fr")
    check(french.draft, newsroom)
    assert french.draft.title == "Veille: 2026-03-01 – 2026-03-07"
    assert lead_of(french.stories[0], "fr").evidence.language == "fr"
    assert french.draft.summary.startswith("Séisme dans le nord du Chili")


def test_nothing_matching_says_so_without_a_source(newsroom, week) -> None:
    draft = report("Knots", "quantum knitting", week, newsroom).draft
    assert draft.is_empty
    assert "quantum knitting" in draft.summary
    assert "1 March 2026" in draft.summary
    assert "7 March 2026" in draft.summary
    assert spoken(draft) == []
    german = report("Knoten", "quantum knitting " * 20, week, newsroom, language="de").draft
    assert german.summary.startswith("Zu „quantum")
    assert "…" in german.summary


@pytest.mark.parametrize(
    ("days", "language", "title"),
    [
        (1, "en", "N: 1 March 2026"),
        (1, "fr", "N: 2026-03-01"),
        (40, "en", "N: 1 March – 9 April 2026"),
        (400, "en-GB", "N: 1 March 2026 – 4 April 2027"),
        (0, "en", "N: 1 March 2026"),
    ],
)
def test_the_title_names_the_days(week, days: int, language: str, title: str) -> None:
    period = Period(week.start, week.start + timedelta(days=days))
    assert compose("N", "t", period, [], language=language).title == title


def test_the_same_evidence_in_any_order_is_the_same_draft(newsroom, week) -> None:
    expected = report("W", "Chile, Lyon or Northwind", week, newsroom)
    for seed in range(8):
        shuffled = list(newsroom)
        random.Random(seed).shuffle(shuffled)
        assert report("W", "Chile, Lyon or Northwind", week, shuffled) == expected


VOCABULARY = """Zeppelin lands storm Chile minister resigns copper market Lyon bakers strike court
opens harbour bridge closed after night talks fail again"""
WORDS = st.sampled_from(sorted(VOCABULARY.split()))
SENTENCE = st.lists(WORDS, min_size=1, max_size=14).map(lambda words: " ".join(words) + ".")
ITEM = st.tuples(
    st.lists(WORDS, max_size=9).map(" ".join),
    st.lists(SENTENCE, max_size=4).map(" ".join),
    st.sampled_from(["alpha", "beta", "gamma"]),
    st.one_of(st.none(), st.integers(-90, 0)),
    st.sampled_from([None, "en", "fr"]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(ITEM, max_size=20), st.randoms(use_true_random=False))
def test_every_report_keeps_the_promises_of_a_draft(make, week, rows, chance) -> None:
    items = [
        make(title, text, id=f"obs_{at}", source=source, hours=hours, language=language)
        for at, (title, text, source, hours, language) in enumerate(rows)
    ]
    made = report("W", "Zeppelin, Chile or Lyon", week, items)
    check(made.draft, items)
    chance.shuffle(items)
    assert report("W", "Zeppelin, Chile or Lyon", week, items) == made


def test_a_long_period_is_told_in_bounds_and_the_rest_counted(make, week) -> None:
    letters = [f"{a}{b}" for a in "bcdfghklmn" for b in "aeiouy"] + ["xa", "xe", "xi", "xo"]
    items = [
        make(
            f"Zeppelin {at} {w}rix {w}lumo {w}tesk",
            f"{w}Gorva met {w}pelin {w}sato at {w}quon {at}.",
            hours=-at,
        )
        for at, w in enumerate(letters)
    ]
    draft = report("W", "Zeppelin", week, items).draft
    check(draft, items)
    assert len(draft.story_keys) == STORIES_MAX
    assert draft.stories_untold == len(items) - STORIES_MAX
    assert draft.briefs


def test_broken_text_and_captions_never_speak_for_the_report(make, week) -> None:
    items = [
        make("Zeppelin trial opens", "Le procÃ¨s du Zeppelin s'est ouvert lundi Ã  midi."),
        make("Zeppelin hall burns", "The Zeppelin hall of the town, photographed in November."),
        make("Zeppelin owner sued", "He said the Zeppelin was his own from the first day."),
        make("Zeppelin club grows", "The Zeppelin club of the old town took in forty members ..."),
        make(
            "Zeppelin prize goes to pilot",
            "A Zeppelin pilot from the coast won the yearly prize for safety.",
        ),
    ]
    draft = report("W", "Zeppelin", week, items).draft
    check(draft, items)
    assert draft.summary == "A Zeppelin pilot from the coast won the yearly prize for safety."


def test_a_phrase_that_two_stories_share_is_quoted_once(make, week):
    phrase = "The owners gave no further comment to anyone."
    items = [
        make("Zeppelin hall burns in the north", f"Flames took the Zeppelin hall. {phrase}"),
        make(
            "Zeppelin prize goes to a pilot",
            f"Pilots cheered a winner for hours. {phrase}",
            hours=-80,
        ),
    ]
    draft = report("W", "Zeppelin", week, items).draft
    check(draft, items)
    assert len(draft.story_keys) == 2
    assert str(draft).count(phrase) == 1


def test_a_section_quotes_a_few_sentences_of_a_long_item(make, week):
    text = " ".join(
        f"{name} built a shed for the airship in {town}."
        for name, town in zip(
            ("Anna", "Berta", "Clara", "Doris", "Emma", "Frida"),
            ("Albany", "Boston", "Camden", "Dallas", "Eugene", "Fresno"),
            strict=True,
        )
    )
    draft = report("W", "Zeppelin", week, [make("Zeppelin sheds", text)]).draft
    assert len(draft.sections[0].sentences) == 3


def test_a_headline_may_be_the_summary_when_there_is_nothing_else(make, week) -> None:
    draft = report("W", "Zeppelin", week, [make("Zeppelin lands in the meadow")]).draft
    assert draft.summary == "Zeppelin lands in the meadow."
    assert [(one.text, one.citations) for one in draft.summary_sentences] == [
        ("Zeppelin lands in the meadow", (1,))
    ]
    assert draft.key_points == draft.briefs == ()
    assert draft.sections == ()


def test_an_item_without_a_headline_is_told_by_its_first_sentence(make, week) -> None:
    items = [
        make("", "The Zeppelin landed on the meadow near the town. The Zeppelin crew was safe.")
    ]
    draft = report("W", "Zeppelin", week, items).draft
    check(draft, items)
    assert not draft.is_empty


def one(item: Evidence) -> Scored:
    return Scored(read(item), 0.5)


def test_stories_are_of_one_window_and_copies_of_a_longer_one(make) -> None:
    first = make(
        "Copper mine collapses near Antofagasta village", "Rescuers dig at the copper mine.", id="a"
    )
    late = make(
        "Antofagasta copper mine collapse",
        "Rescuers dig at the copper mine village.",
        id="b",
        source="beta",
        hours=75,
    )
    copy = make(
        "Copper mine collapses near Antofagasta village", "", id="c", source="gamma", hours=100
    )
    found = stories([one(late), one(copy), one(first)])
    assert {story.key: len(story.members) for story in found} == {"a": 2, "b": 1}
    assert found[0].first_at <= found[0].last_at


def test_alike_stories_that_share_names_are_one(make) -> None:
    filler = [one(make(f"Filler {w}bar {w}lin {w}tor", id=f"f{w}")) for w in "abcdefgh"]
    left = make("Maria Zorblatt sues Fjordline over harbour fire", id="x")
    right = make(
        "Fjordline answers Maria Zorblatt about blaze at harbour quay",
        id="y",
        hours=1,
        source="beta",
    )
    found = stories([*filler, one(left), one(right)])
    assert any(len(story.members) == 2 for story in found)


def test_one_desks_notes_of_one_form_are_many_stories(make) -> None:
    towns = [f"{a}{b}ville" for a in "BDFG" for b in ("al", "or", "un")]
    notes = [
        one(make(f"Bank approves million loan to improve water in {town}", id=town))
        for town in towns
    ]
    assert len(stories(notes)) == len(towns)


def test_the_language_of_an_item_is_guessed_when_it_is_not_stated(make) -> None:
    item = make(
        "Le président", "Il a dit que les ministres sont avec lui dans la ville.", language=None
    )
    assert language_of(one(item)) == "fr"


def test_a_term_of_very_many_stories_is_followed_for_the_latest_only(make) -> None:
    words = [f"{a}{b}{c}" for a in "bdfgklm" for b in "aeiou" for c in "nrstvz"]
    items = [one(make(f"Zeppelin {w}qua {w}lor", id=w)) for w in words]
    background = [read(make(f"{w}pol {at}", id=f"{w}{at}")) for w in words for at in range(4)]
    assert len(stories(items, background)) == len(items) > 200


def test_another_telling_of_a_chosen_story_joins_it_and_never_leads(make, week):
    chosen = make("Zeppelin crash at Fjordby harbour kills two pilots", "Divers search.", id="a")
    other = make(
        "Divers search Fjordby harbour after airship crash kills pilots",
        "Two pilots died at the harbour. Divers search for the wreck of the airship.",
        id="b",
        source="beta",
        hours=2,
    )
    late = make(
        "Fjordby harbour crash: divers end search for pilots", id="c", source="gamma", hours=99
    )
    far = make("Bread prices rise", id="d")
    made = report("W", "Zeppelin", week, [chosen, other, late, far])
    assert [[one.evidence.id for one in story.members] for story in made.stories] == [["a", "b"]]
    assert lead_of(made.stories[0], "en").evidence.id == "a"
    assert made.items == 2
    alone = report("W", "Zeppelin but not bread", week, [chosen, other, late, far])
    assert alone.items == 1
