import random
from datetime import timedelta

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_core.analysis.stories import stories
from svc_core.reports.draft import STORIES_MAX, Draft, draft, tell
from svc_core.reports.telling import KEY_POINTS_MAX, lead_of
from svc_core.resources.report import Period, Statement
from svc_core.text.evidence import Evidence, Scored, read


def report(
    name: str, topic: str, period: Period, items: list[Evidence], language: str = "en"
) -> Draft:
    return draft(name, topic, period, tell(topic, items, language=language), language)


def spoken(draft: Draft) -> list[Statement]:
    told = [*draft.words.opening, *draft.words.key_points, *draft.words.briefs]
    return told + [sentence for section in draft.words.sections for sentence in section.statements]


def items_of(draft: Draft) -> int:
    return sum(len(story.members) for story in draft.stories)


def texts_of(draft: Draft) -> list[str]:
    return [told.text for told in spoken(draft)]


def check(draft: Draft, items: list[Evidence]) -> None:
    """The promises that every draft keeps."""
    by_id = {item.id: item for item in items}
    held = {}
    for id_, number in draft.numbers.items():
        item = by_id[id_]
        held[number] = " ".join(f"{item.title} {item.text}".split())
    assert list(held) == list(range(1, len(held) + 1))
    texts = texts_of(draft)
    assert len(set(texts)) == len(texts)
    for told in spoken(draft) if draft.cited else ():
        assert told.citations
        assert told.text in held[told.citations[0]]
    cited = {number for told in spoken(draft) for number in told.citations}
    cited |= {number for section in draft.words.sections for number in section.citations}
    assert cited == set(held)
    assert len(draft.words.key_points) <= KEY_POINTS_MAX
    assert len({section.id for section in draft.words.sections}) == len(draft.words.sections)


def test_a_report_tells_each_story_once_with_its_sources(newsroom, week) -> None:
    made = report("Chile watch", "Chile", week, newsroom)
    check(made, newsroom)
    assert made.title == "Chile watch: 1–7 March 2026"
    assert len(made.stories) == 2
    assert items_of(made) == 6
    assert len(made.stories[0].members) == 5
    assert len(made.stories[0].publishers) == 5
    assert "Read more" not in str(made)
    assert len(made.cited) == 6


def test_a_story_is_led_in_the_readers_language(newsroom, week) -> None:
    french = report("Veille", "Chili", week, newsroom, language="fr")
    check(french, newsroom)
    assert french.title == "Veille: 2026-03-01 – 2026-03-07"
    assert lead_of(french.stories[0], "fr").evidence.language == "fr"
    assert french.summary.startswith("Séisme dans le nord du Chili")


def test_nothing_matching_says_so_without_a_source(newsroom, week) -> None:
    made = report("Knots", "quantum knitting", week, newsroom)
    assert not made.cited
    assert "quantum knitting" in made.summary
    assert "1 March 2026" in made.summary
    assert "7 March 2026" in made.summary
    assert spoken(made) == [Statement(made.summary, ())]
    assert made.words.sources == ()
    german = report("Knoten", "quantum knitting " * 20, week, newsroom, language="de")
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
    assert draft("N", "t", period, [], language).title == title


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
    check(made, items)
    chance.shuffle(items)
    assert report("W", "Zeppelin, Chile or Lyon", week, items) == made


def test_a_long_period_is_told_in_bounds_(make, week) -> None:
    letters = [f"{a}{b}" for a in "bcdfghklmn" for b in "aeiouy"] + ["xa", "xe", "xi", "xo"]
    items = [
        make(
            f"Zeppelin {at} {w}rix {w}lumo {w}tesk",
            f"{w}Gorva met {w}pelin {w}sato at {w}quon {at}.",
            hours=-at,
        )
        for at, w in enumerate(letters)
    ]
    made = report("W", "Zeppelin", week, items)
    check(made, items)
    assert len(made.stories) == STORIES_MAX
    assert made.words.briefs


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
    made = report("W", "Zeppelin", week, items)
    check(made, items)
    assert made.summary == "A Zeppelin pilot from the coast won the yearly prize for safety."


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
    made = report("W", "Zeppelin", week, items)
    check(made, items)
    assert len(made.stories) == 2
    assert str(made).count(phrase) == 1


def test_a_section_quotes_a_few_sentences_of_a_long_item(make, week):
    text = " ".join(
        f"{name} built a shed for the airship in {town}."
        for name, town in zip(
            ("Anna", "Berta", "Clara", "Doris", "Emma", "Frida"),
            ("Albany", "Boston", "Camden", "Dallas", "Eugene", "Fresno"),
            strict=True,
        )
    )
    made = report("W", "Zeppelin", week, [make("Zeppelin sheds", text)])
    assert len(made.words.sections[0].statements) == 3


def test_a_headline_may_be_the_summary_when_there_is_nothing_else(make, week) -> None:
    made = report("W", "Zeppelin", week, [make("Zeppelin lands in the meadow")])
    assert made.summary == "Zeppelin lands in the meadow."
    assert [(one.text, one.citations) for one in made.words.opening] == [
        ("Zeppelin lands in the meadow", (1,))
    ]
    assert made.words.key_points == made.words.briefs == ()
    assert made.words.sections == ()


def test_an_item_without_a_headline_is_told_by_its_first_sentence(make, week) -> None:
    items = [
        make("", "The Zeppelin landed on the meadow near the town. The Zeppelin crew was safe.")
    ]
    made = report("W", "Zeppelin", week, items)
    check(made, items)
    assert made.cited


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
    assert item.tongue == "fr"


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
    assert items_of(made) == 2
    alone = report("W", "Zeppelin but not bread", week, [chosen, other, late, far])
    assert items_of(alone) == 1


def told_in(draft: Draft) -> list[str]:
    """The headlines of the stories that the body tells, as often as it tells them."""
    lines = [cited.text for cited in (*draft.words.key_points, *draft.words.briefs)]
    return [*(section.heading for section in draft.words.sections), *lines]


def test_a_story_is_told_in_one_place_of_the_body(newsroom, make, week) -> None:
    towns = ("Ayr", "Bonn", "Cork", "Delft", "Essen", "Fano", "Genk", "Hull", "Imst", "Jena")
    more = [
        make(
            f"Chile {town.lower()}rix {at} of {town}",
            f"A {town}rin in {town} makes {town}quon for Chile. Its {town}pel costs {at} coins.",
            hours=-at,
        )
        for at, town in enumerate(towns)
    ]
    thin = [
        make(f"Chile {town.lower()}mur {at} at {town}gate", hours=-at)
        for at, town in enumerate(towns)
    ]
    made = report("W", "Chile", week, [*newsroom, *more, *thin])
    check(made, [*newsroom, *more, *thin])
    told = told_in(made)
    assert len(set(told)) == len(told)
    assert len(made.words.key_points) == KEY_POINTS_MAX
    assert made.words.sections
    assert made.words.briefs
    headed = {section.heading for section in made.words.sections}
    sources = {" ".join(item.title.split()) for item in made.cited}
    assert headed <= sources
    cited = [number for section in made.words.sections for number in section.citations]
    cited += [
        number for line in (*made.words.key_points, *made.words.briefs) for number in line.citations
    ]
    assert len(set(cited)) == len(cited)


def test_a_summary_has_whole_sentences_only(make, week) -> None:
    items = [
        make("Zeppelin views", "a selection of views from the Zeppelin over the old harbour."),
        make("Zeppelin dock", "In Albany, on Wednesday. A dock for the Zeppelin opened in Albany."),
    ]
    made = report("W", "Zeppelin", week, items)
    check(made, items)
    assert made.summary == "A dock for the Zeppelin opened in Albany."
    assert "on Wednesday" not in str([one.text for one in made.words.opening])
    assert all(not text.startswith(("a selection", "In Albany,")) for text in texts_of(made))


def test_a_summary_is_a_first_sentence_where_none_repeats_the_headline(make, week) -> None:
    item = make(
        "Zeppelin lands",
        "Hundreds of people waved from the roofs of the town. Few went home early.",
    )
    made = report("W", "Zeppelin", week, [item])
    assert made.summary == "Hundreds of people waved from the roofs of the town."


def test_a_story_of_many_items_is_told_by_several_of_them(make, week) -> None:
    facts = ("Divers found the anchor.", "The mayor closed the quay.", "Schools stay shut today.")
    items = [
        make(
            f"Zeppelin falls into Fjordby harbour, says {name}",
            f"The Zeppelin fell into Fjordby harbour at noon. {fact}",
            source=name,
            hours=at,
        )
        for at, (name, fact) in enumerate(zip(("beta", "gamma", "delta"), facts, strict=True))
    ]
    items.append(make("Zeppelin falls into Fjordby harbour", source="alpha"))
    made = report("W", "Zeppelin", week, items)
    check(made, items)
    (section,) = made.words.sections
    assert {sentence.text for sentence in section.statements} == set(facts)


def test_a_question_or_a_comment_never_heads_a_story_that_another_item_tells(make) -> None:
    text = "A Zeppelin burned at Fjordby harbour on Sunday. Nobody was hurt in the fire."
    asks = make("Did you see the Zeppelin burn at Fjordby harbour?", text, id="a")
    says = make("Did luck save the Zeppelin at Fjordby harbour? | Maria Zorb", text, id="b")
    tells = make("Zeppelin burns at Fjordby harbour", text, id="c")
    (found,) = stories([one(asks), one(says), one(tells)])
    assert lead_of(found, "en").evidence is tells


def test_two_tellings_among_few_items_are_one_story(make) -> None:
    left = make(
        "Zorblatt says Fjordland would repay cost of sea wall",
        "President Zorblatt said that Fjordland would repay the money for the wall.",
        id="a",
    )
    right = make(
        "Zorblatt insists Fjordland will pay for wall after work begins",
        "The cost of the wall will be met by Fjordland, President Zorblatt insisted.",
        id="b",
        source="beta",
        hours=3,
    )
    assert len(stories([one(left), one(right)])) == 1


def test_tellings_in_two_languages_are_one_story(make) -> None:
    english = make(
        "Norway says Kelvaro ordered cyberattack on election",
        "Spies of Norway named Kelvaro.",
        id="a",
    )
    french = make(
        "Cyberattaque sur l’élection en Norvège : Kelvaro nie tout",
        "Le ministre se tait depuis dimanche.",
        id="b",
        source="beta",
        language="fr",
        hours=5,
    )
    other = make(
        "Bauern in Norwegen: Kelvaro baut Äpfel an",
        "Die Ernte ist gut.",
        id="c",
        source="gamma",
        language="de",
    )
    found = stories([one(english), one(french), one(other)])
    assert sorted(len(story.members) for story in found) == [1, 2]


NOTES = [
    ("Bank approves 40 million loan to renew schools in Albany", "Pupils get new desks and lamps."),
    ("Bank approves 75 million loan to clean water in Boston", "Pipes and pumps will be laid."),
    ("Bank approves loan to light roads of Norway", "Lamps burn longer and cost less."),
    ("Bank approves loan to plant trees of Chile", "Oaks and elms will grow on hills."),
]


@pytest.mark.parametrize("pair", [NOTES[:2], NOTES[2:]])
def test_notes_of_one_desk_with_other_countries_or_figures_stay_apart(make, pair) -> None:
    left, right = (make(title, text, id=title) for title, text in pair)
    assert len(stories([one(left), one(right)])) == 2
    other = evolve(right, source_domain="beta.example")
    assert len(stories([one(left), one(other)])) == 1


def test_headlines_of_two_countries_are_not_merged_by_their_names(make) -> None:
    left = make("Orla Zorb of Norway sails to the Kelvaro islands", "She has a red boat.", id="x")
    right = make(
        "Kelvaro cup: Chile rowers beat crew of Zorb", "Rain fell at noon.", id="y", source="beta"
    )
    assert len(stories([one(left), one(right)])) == 2


def test_a_briefing_stands_alone(make, week) -> None:
    items = [
        make(
            "Zeppelin, Fjordby harbour, bread: your Tuesday briefing", "What to know today.", id="a"
        ),
        make("Zeppelin falls into Fjordby harbour", "What to know today.", id="b", hours=1),
        make("Zeppelin and bread: your Wednesday briefing", "What to know today.", id="c", hours=2),
        make("Fjordby harbour: your Thursday briefing", "What to know today.", id="d", hours=3),
    ]
    made = report("W", "Zeppelin", week, items)
    assert sorted(story.key for story in made.stories) == ["a", "b", "c"]


def test_a_headline_that_comes_again_after_weeks_is_told_once(make, week) -> None:
    items = [
        make("Zeppelin lands in the meadow", hours=hours, id=f"z{hours}") for hours in (-400, 0)
    ]
    made = report("W", "Zeppelin", week, items)
    check(made, items)
    assert len(made.stories) == 2
    assert texts_of(made) == ["Zeppelin lands in the meadow"]
