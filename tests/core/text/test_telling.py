"""How a report tells and marks: laws over generated evidence, and what an analyst expects."""

from collections.abc import Iterator, Sequence
from itertools import chain
from string import Formatter

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core import data
from svc_core.reports import render
from svc_core.reports.draft import (
    SOURCES_MAX,
    ReportDraft,
    StorySelection,
    draft_report,
    select_stories,
)
from svc_core.reports.model import Period, Statement, numbers_of
from svc_core.reports.narration import (
    KEY_POINTS_MAX,
    MARKS_MAX,
    Narrator,
    reading_order,
)
from svc_core.text.containment import TextWords
from svc_core.text.evidence import EvidenceTexts, ScoredItem, reading_of
from svc_core.text.extracts import says_anew
from svc_core.text.frequencies import Frequencies
from svc_core.text.query import Query
from svc_core.text.stories import Story
from svc_core.text.wording import frame, wording_of
from svc_core.text.words import terms
from tests.core.items import item
from tests.sampling import examples
from tests.storage.efforts import lines_run

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "sk", "pl", "ru")


def story_of(items: Sequence[EvidenceTexts], score: float = 0.9) -> Story:
    members = tuple(
        ScoredItem(reading_of(item), score) for item in sorted(items, key=lambda i: (i.at, i.id))
    )
    return Story(members[0].evidence.id, members)


def told_of(*groups: Sequence[EvidenceTexts], language: str = "en") -> StorySelection:
    """What is told of some events, the first the most relevant."""
    story = [story_of(group, 2 - at / 1000) for at, group in enumerate(groups)]
    count = sum(map(len, groups))
    return StorySelection(tuple(reading_order(story)), (), count, Frequencies(1000))


def made_of(week: Period, *groups: Sequence[EvidenceTexts], language: str = "en") -> ReportDraft:
    return draft_report("W", "Zeppelin", week, told_of(*groups, language=language), language)


@pytest.mark.parametrize("members", [1, 3])
def test_a_large_story_is_told_in_time_that_grows_with_it(make, members):
    def effort(developments: int) -> int:
        text = "The Zeppelin hangar held oil{0}{1} in crates of pine{0}{1}."
        groups = [
            [
                make(
                    f"Zeppelin burns {at} in hangar",
                    " ".join(text.format(word, at) for word in "abcd"),
                    hours=at + n / 9,
                    source=f"s{at}x{n}",
                )
                for n in range(members)
            ]
            for at in range(developments)
        ]
        story = story_of([item for group in groups for item in group])
        by_id = {member.evidence.id: member for member in story.members}
        parts = tuple(tuple(by_id[item.id] for item in group) for group in groups)
        narrator = Narrator([attrs.evolve(story, developments=parts)], "en", Frequencies(1000))
        return lines_run(narrator.narrate_stories)

    effort(10)  # what is made once
    assert effort(80) < 3 * effort(40)


def statements_of(report: ReportDraft) -> list[Statement]:
    words = report.words
    body = [statement for section in words.sections for statement in section.statements]
    return [*words.opening, *words.key_points, *body, *words.briefs]


def check(report: ReportDraft, items: Sequence[EvidenceTexts]) -> None:
    """The promises that every draft keeps."""
    by_id = {item.id: item for item in items}
    assert sorted(report.numbers) == sorted(by_id)
    assert [source.number for source in report.words.sources] == list(range(1, len(by_id) + 1))
    sources = {n: by_id[id_] for id_, n in report.numbers.items()}
    texts = {n: f"{item.title} {item.text}" for n, item in sources.items()}
    publishers = {n: item.publisher for n, item in sources.items()}
    for statement in statements_of(report):
        assert statement.citations
        assert len(statement.citations) <= MARKS_MAX
        assert all(sources[n].says(TextWords.of(statement.text)) for n in statement.citations)
        assert statement.text.rstrip(".…。") in " ".join(texts[statement.citations[0]].split())
    for statement in statements_of(report):
        names = [publishers[n] for n in statement.also_reported_by]
        assert len({*names}) == len(names)
        assert not {*names} & {publishers[n] for n in statement.citations}
    for section in report.words.sections:
        quoted = [" ".join(texts[n].split()) for line in section.statements for n in line.citations]
        assert any(section.heading.rstrip(".…。") in text for text in quoted)
    citations = {n for line in statements_of(report) for n in numbers_of(line)}
    citations |= {n for section in report.words.sections for n in section.citations}
    listed = set(sources) - citations
    assert not listed or min(listed) > max(citations)
    assert bool(listed) == any("listed last" in note for note in report.words.notes)
    for part in (
        report.words.opening,
        [*report.words.key_points, *report.words.briefs],
        [statement for section in report.words.sections for statement in section.statements],
    ):
        assert len({statement.text for statement in part}) == len(part)
    assert report.words.opening
    assert len(report.words.key_points) <= KEY_POINTS_MAX


VOCABULARY = """Zeppelin lands storm Chile minister resigns copper 1200 market Lyon bakers strike
court opens harbour bridge closed after night talks fail again was in of 7"""
WORDS = st.sampled_from(sorted(VOCABULARY.split()))
SENTENCE = st.lists(WORDS, min_size=1, max_size=14).map(lambda words: " ".join(words) + ".")
ITEM = st.tuples(
    st.one_of(st.lists(WORDS, max_size=9).map(" ".join), st.just("東京都知事選の結果")),
    st.lists(SENTENCE, max_size=4).map("\n".join),
    st.sampled_from(["alpha", "beta", "gamma"]),
    st.one_of(st.none(), st.integers(-90, 0)),
    st.sampled_from([None, "en", "fr", "ja"]),
    st.integers(0, 6),
)


@examples(40)
@given(
    st.lists(ITEM.filter(lambda row: bool(row[0] or row[1])), min_size=1, max_size=24),
    st.randoms(use_true_random=False),
)
def test_every_item_is_a_source_and_every_mark_holds_its_sentence(make, week, rows, chance) -> None:
    groups: dict[int, list[EvidenceTexts]] = {}
    for at, (title, text, source, hours, language, event) in enumerate(rows):
        item = make(title, text, id=f"o{at}", source=source, hours=hours, language=language)
        groups.setdefault(event, []).append(item)
    items = [item for group in groups.values() for item in group]
    permutation = [chance.sample(group, len(group)) for group in groups.values()]
    for make_of in (made_of, of_one_story):
        report, again = make_of(week, *groups.values()), make_of(week, *permutation)
        check(report, items)
        assert (again.title, again.words, again.items) == (report.title, report.words, report.items)


def of_one_story(week: Period, *groups: Sequence[EvidenceTexts]) -> ReportDraft:
    """The draft of one story, each group of which is a development."""
    parts = [story_of(group).members for group in groups]
    parts.sort(key=lambda part: (part[0].evidence.at, part[0].evidence.id))
    rows = sorted(chain(*parts), key=lambda row: (row.evidence.at, row.evidence.id))
    story = Story(rows[0].evidence.id, tuple(rows), tuple(parts))
    return draft_report("W", "t", week, StorySelection((story,), (), len(rows), Frequencies(1000)))


def test_what_matches_is_told_to_a_stated_bound_and_the_rest_is_counted(make, week) -> None:
    items = [make(f"Zeppelin {at} lands", hours=-at % 90, id=f"z{at:04}") for at in range(620)]
    noise = [make(f"Bread {at} rises", id=f"b{at:04}") for at in range(2000)]
    selection = select_stories(Query.of("Zeppelin"), [*items, *noise], Frequencies())
    report = draft_report("W", "Zeppelin", week, selection)
    assert len(report.words.sources) == SOURCES_MAX
    assert {source.title.split()[0] for source in report.words.sources} == {"Zeppelin"}
    assert report.words.notes == ("Of 620 matching items the 500 that match best are told.",)


def test_a_mark_stands_only_behind_what_an_item_holds(make, week) -> None:
    sentence = "The strike at Rotterdam halted 40 container ships on Monday."
    items = [
        make("Strike at Rotterdam halted", f"{sentence} Pilots were asked to wait at sea.", id="a"),
        make("Strike at Rotterdam goes on", "Container ships: 41.", id="b", source="beta"),
        make("Port closed", f"Pilots agree. {sentence}", id="c", source="gamma"),
    ]
    report = made_of(week, items)
    (first, *_) = report.words.opening
    (point,) = report.words.key_points
    assert first.text == sentence
    assert {report.items[n - 1].id for n in first.citations} == {"a", "c"}
    assert {report.items[n - 1].id for n in point.also_reported_by} == {"b"}
    assert report.marks(report.stories[0], sentence) == tuple(sorted(first.citations))
    markdown = render.markdown(report.title, report.words)
    number = report.numbers["b"]
    assert f"\n  Also reported by: [Beta ({number})](<{items[1].url}>)\n" in markdown


@given(st.text(), st.text(), st.text())
def test_whoever_says_a_sentence_holds_it(before: str, sentence: str, after: str) -> None:
    text = f"{before} {sentence} {after}"
    assert TextWords.of(text).holds(TextWords.of(sentence))
    assert item("Title", text).says(TextWords.of(sentence))


CLAIM = "The storm Calvin destroyed seven bridges between Albany and Boston early on Monday."
SAYING = [
    ("The same words", CLAIM, True),
    (
        "Storm Calvin",
        "Early on Monday it destroyed seven bridges. Albany and Boston lost them.",
        True,
    ),
    ("Another name", CLAIM.replace("Calvin", "Sarah"), False),
    ("A name less", CLAIM.replace(" and Boston", ""), False),
    ("Two words less", CLAIM.replace("destroyed seven", "took"), True),
    ("Three words less", CLAIM.replace("storm Calvin destroyed seven", "Calvin took"), False),
    (
        "Words strewn over a text",
        "The storm Calvin came to Albany. It was early. Ships from Boston were destroyed. "
        "Nobody lives between the seven lakes. On Monday all bridges were open.",
        False,
    ),
]


@pytest.mark.parametrize(("title", "text", "expected"), SAYING)
def test_an_item_says_what_one_place_of_it_holds(title: str, text: str, expected: bool) -> None:
    assert item(title, text).says(TextWords.of(CLAIM)) is expected


@pytest.mark.parametrize(
    ("sentence", "text", "expected"),
    [
        ("Talks of the US begin.", "All talks begin. The U.S. is there.", True),
        ("Talks of the US begin.", "All talks begin. The EU is there.", False),
        ("THE TALKS BEGIN.", "The talks begin today.", True),
    ],
)
def test_short_names_are_compared_too(sentence: str, text: str, expected: bool) -> None:
    assert TextWords.of(text).holds(TextWords.of(sentence)) is expected


def test_a_sentence_of_several_items_cites_only_those_that_say_it(make, week) -> None:
    fate = "Storm Calvin destroyed seven old bridges between Albany and Boston on Monday"
    strewn = "Calvin came on Monday. Ships left Boston. Old people of Albany saw seven bridges. "
    items = [
        make(fate, f"{fate}, officials said. Engineers of both towns closed the roads.", id="a"),
        make(fate, f"{fate}, it was said.", id="b", source="beta"),
        make("Storm Calvin in Albany", f"{strewn}Boats were destroyed.", id="c", source="gamma"),
        make(fate.replace("Calvin", "Sarah"), "", id="d", source="delta"),
    ]
    report = made_of(week, items)
    cited = {report.items[n - 1].id for line in report.words.opening for n in line.citations}
    assert cited == {"a", "b"}


def test_the_opening_quotes_what_introduces_the_first_sections(make, week) -> None:
    towns = {
        "Albany": "lost in a storm on Monday night",
        "Boston": "sold to a circus by the mayor",
        "Camden": "painted green for the coming fair",
        "Dallas": "eaten by goats near a small farm",
        "Eugene": "given to pilots of another country",
        "Fresno": "hidden under the bridge since spring",
    }
    groups = [
        [
            make(
                f"Airship of {town} {fate.split()[0]}",
                f"The airship of {town} was {fate}. "
                f"It carried {fate[::-1]} letters. Engineers of {fate[::2]} blamed the ropes.",
            )
        ]
        for town, fate in towns.items()
    ]
    report = made_of(week, *groups)
    check(report, [item for group in groups for item in group])
    assert [statement.text for statement in report.words.opening] == [
        section.statements[0].text for section in report.words.sections
    ][: len(report.words.opening)]
    headings = [section.heading for section in report.words.sections]
    assert [statement.text for statement in report.words.key_points] == [
        f"{heading}." for heading in headings
    ]
    assert all(len(section.statements) == 3 for section in report.words.sections)
    assert len(report.words.briefs) == len(groups) - len(headings)


@pytest.mark.parametrize("others", [0, 1, 2])
def test_a_section_repeats_what_opened_only_below_a_headline_of_all_its_items(
    make, week, others: int
) -> None:
    title, later = "Mast fell at Fjordby", "Engineers of Norland Docks blamed ropes from 1950."
    first = "A red mast fell at Fjordby and killed 12 people of the dock on Monday."
    rows = [
        (
            "Ann Lund wants the museum",
            "Ann Lund wants 40 painted barges for the museum of Norland.",
        ),
        ("Sailors keep away", "All sailors of Norland keep 900 metres away from the lighthouse."),
    ]
    items = [make(title, f"{first} {later}" if not others else first)]
    items += [make(head, text, source=head[:3].casefold()) for head, text in rows[:others]]
    quay = [make("Quay opens in Camden", "A new quay opens in Camden beside 12 painted barges.")]
    report = made_of(week, items, quay)
    check(report, [*items, *quay])
    (section,) = report.words.sections
    assert (report.words.opening[0].text in [line.text for line in section.statements]) is (
        others == 2
    )


def test_a_story_whose_one_sentence_opens_the_report_has_no_section(make, week) -> None:
    groups = [
        [make("Mast falls", "The old mast of the airship dock fell into the sea on Monday.")],
        [make("Quay sinks", "")],
    ]
    report = made_of(week, *groups)
    check(report, [item for group in groups for item in group])
    assert report.words.sections == ()
    assert [statement.text for statement in report.words.key_points] == ["Quay sinks."]


def test_a_lead_with_text_is_preferred_and_an_aside_never_heads(make, week) -> None:
    text = "A Zeppelin burned at Fjordby harbour on Sunday. Nobody was hurt in the fire."
    asks = make("Did you see the Zeppelin burn at Fjordby harbour?", text, id="a")
    bare = make("Zeppelin burns at Fjordby harbour", id="b")
    tells = make("Zeppelin burns at Fjordby harbour", text, id="c")
    (point,) = made_of(week, [asks, bare, tells]).words.key_points
    assert point.text.rstrip(".") == tells.title
    words = made_of(week, [asks, bare]).words  # what introduces it stands for the headline, once
    assert (words.opening[0].text, words.key_points) == (text.partition(" Nobody")[0], ())


def test_a_headline_that_teases_opens_only_where_nothing_else_is(make, week) -> None:
    tease = make("This Zeppelin burns like no other in Boston", hours=5)
    says = make("Zeppelin burns like no other in Boston", hours=4)
    assert opening_of(week, [tease, says]) == ["Zeppelin burns like no other in Boston."]
    other = make("Mayor of Albany buys a Zeppelin")
    assert opening_of(week, [tease], [other]) == ["Mayor of Albany buys a Zeppelin."]
    assert opening_of(week, [tease]) == ["This Zeppelin burns like no other in Boston."]


def test_the_sentence_opens_where_a_headline_is_a_label(make, week) -> None:
    text = "In Boston ist am Freitag ein Luftschiff verbrannt."
    label, news = ("Der Zeppelin und die Folgen", "Zeppelin stürzt am Freitag ab")
    opening = [
        opening_of(week, [make(o, text, language="de")], language="de") for o in (label, news)
    ]
    assert opening == [[text], [f"{news}."]]


def opening_of(week: Period, *groups: Sequence[EvidenceTexts], language: str = "en") -> list[str]:
    return [line.text for line in made_of(week, *groups, language=language).words.opening]


@pytest.mark.parametrize(
    "sizes", [(1, 1), (MARKS_MAX, 1), (3, MARKS_MAX), (MARKS_MAX, 2, MARKS_MAX)]
)
def test_a_headline_that_stories_share_is_told_once_with_all(make, week, sizes) -> None:
    groups: list[list[EvidenceTexts]] = [[] for _ in sizes]
    for at, size in enumerate(sizes):
        for n in range(size):
            item = make("Zeppelin lands", hours=-400 * at, id=f"z{at}{n}", source=f"s{n}")
            groups[at].append(item)
    report = made_of(week, *groups)
    check(report, [item for group in groups for item in group])
    (only,) = statements_of(report)
    assert (only.text, len(only.citations)) == ("Zeppelin lands.", min(MARKS_MAX, sum(sizes)))


def test_one_event_is_told_in_the_readers_language_only(make, week) -> None:
    french = make(
        "Un dirigeable brûle",
        "Un dirigeable a brûlé dimanche dans le port de Fjordby. Personne n'a été blessé hier.",
        source="gamma",
        language="fr",
    )
    english = make("Airship burns", "An airship was burned at the harbour.", hours=-3)
    report = made_of(week, [french, english])
    check(report, [french, english])
    assert {statement.citations for statement in statements_of(report)} == {
        (report.numbers[english.id],)
    }
    assert report.words.notes == ()
    alone = made_of(week, [french])
    assert alone.words.notes == (frame("en")["foreign"],)
    assert alone.words.opening[0].text.startswith("Un dirigeable a brûlé")
    german = made_of(week, [french], [english], language="fr")
    assert german.words.opening[0].citations == (german.numbers[french.id],)


NEWS = "The airship of Fjordby burned at the harbour before dawn on Sunday."
APART = "Officials of Norway call the fire at the harbour the worst in years."
STORM = "Storm sinks two ferries off Fjordby", "Two ferries sank off Fjordby in a storm at noon."
ROBOT = "To go on, a box below has to be ticked, so that no robot reads this page."
QUOTE = "“We have lost all that we had in this fire”"


@pytest.mark.parametrize(
    ("first", "opening", "sections"),
    [
        (("Airship of Fjordby burned", NEWS), [NEWS, STORM[1]], []),
        (("Airship of Fjordby burned", APART), ["Airship of Fjordby burned.", STORM[1]], [[APART]]),
        ((QUOTE, APART), [STORM[1]], []),
        (("Airship of Fjordby burned", ROBOT), ["Airship of Fjordby burned.", STORM[1]], []),
        ((QUOTE, ""), [STORM[1]], []),
    ],
)
def test_a_story_opens_with_a_sentence_that_names_what_its_headline_does(
    make, week, first: tuple[str, str], opening: list[str], sections: list[list[str]]
) -> None:
    report = made_of(week, [make(*first)], [make(*STORM)])
    assert [line.text for line in report.words.opening] == opening
    assert [
        [line.text for line in section.statements] for section in report.words.sections
    ] == sections


def test_a_later_sentence_of_an_item_follows_its_first(make, week) -> None:
    burned = make("Airship of Fjordby burned", NEWS, id="a")
    text = "Owners spoke of ropes on Monday. Engineers had warned of old masts for months."
    follow = "Follow our reports of old airships."
    late = make("Owners of Fjordby airship spoke of ropes", f"{text} {follow}", id="b", hours=-1)
    report = draft_report("W", "t", week, in_developments([burned], [late]))
    (section,) = report.words.sections
    assert [line.text for line in report.words.opening] == [NEWS]
    assert " ".join(line.text for line in section.statements) == text
    hushed = make(late.title, f"Why did owners speak? {text.partition('. ')[2]}", id="b", hours=-1)
    report = draft_report("W", "t", week, in_developments([burned], [hushed]))
    assert [line.text for line in statements_of(report)][:1] == [NEWS]
    assert "Engineers" not in render.markdown(report.title, report.words)


def test_an_undated_item_never_opens_where_a_dated_one_can(make, week) -> None:
    without_date = make(
        "Mast falls", "The old mast of the dock fell into the sea again.", hours=None
    )
    dated = make("Quay sinks", "The new quay of the port was seen sinking all day.", hours=-9)
    report = made_of(week, [without_date], [dated])
    assert [statement.citations for statement in report.words.opening] == [
        (report.numbers[dated.id],)
    ]
    assert report.words.notes == ("Without a date, so of unknown age: 1 of 2 sources.",)
    assert "Alpha, no date\n" in render.markdown(report.title, report.words)
    bare = make("Quay sinks", hours=-9)
    headless = made_of(week, [bare], [without_date])
    assert [statement.citations for statement in headless.words.opening] == [
        (headless.numbers[bare.id],)
    ]


def test_what_a_source_puts_under_every_story_is_not_its_news(make, week) -> None:
    under = "The Alpha desk was founded in the year of the great storm."
    groups = [
        [make(f"{town} votes", f"{under} The people of {town} were asked about the new port.")]
        for town in ("Albany", "Boston", "Camden")
    ]
    report = made_of(week, *groups)
    check(report, [item for group in groups for item in group])
    assert under not in [statement.text for statement in statements_of(report)]


def test_developments_are_told_in_the_order_of_time(make, week) -> None:
    burns = "A Zeppelin was burned at Fjordby harbour before dawn on Sunday."
    ends = "Divers ended their search for the two missing pilots at noon."
    first = make("Zeppelin burns at Fjordby harbour", burns, hours=-30, id="a")
    later = make("Divers ended search for Zeppelin pilots", ends, hours=-2, id="b")
    report = draft_report("W", "t", week, in_developments([first], [later]))
    assert [statement.text for statement in report.words.opening][:2] == [burns, ends]


def test_each_development_that_several_publishers_report_is_a_key_point(make, week) -> None:
    search = "Divers searched for two pilots after the ferry burned at Fjordby harbour."
    court = "Magistrates let the ferry owner go on bail for a week."
    mourning = "A neighbour wept in grief after the ferry burned at Fjordby harbour."
    groups = [
        [
            make("Divers search for ferry pilots", search, id=f"s{at}", source=f"s{at}")
            for at in "123"
        ],
        [make("Neighbour weeps near ferry", mourning, id="m", source="s1")],
        [
            make(
                "Magistrates release ferry owner on bail",
                f"{court} A ferry burned at Fjordby harbour.",
                id=f"c{at}",
                source=f"c{at}",
            )
            for at in "12"
        ],
    ]
    report = draft_report("W", "t", week, in_developments(*groups))
    check(report, [item for group in groups for item in group])
    words = report.words
    assert [point.text for point in words.key_points] == [
        "Divers search for ferry pilots.",
        "Magistrates release ferry owner on bail.",
    ]
    assert [line.text for line in words.opening] == [search, court]


def in_developments(*groups: Sequence[EvidenceTexts]) -> StorySelection:
    """One story of some developments, the first item of which matches best."""
    story = story_of([item for group in groups for item in group])
    best = groups[0][0]
    rows = {
        member.evidence.id: attrs.evolve(member, score=1 + (member.evidence is best))
        for member in story.members
    }
    parts = tuple(tuple(rows[item.id] for item in group) for group in groups)
    story = Story(story.key, tuple(rows.values()), parts)
    return StorySelection((story,), (), len(rows), Frequencies(1000))


FIRE = "A fire in the hall of the airship at Fjordby killed {} people on Sunday night."
COMING = "The minister of Fjordby will open the new hall of the airship at noon on Monday."
OPEN = "The minister of Fjordby opened the new hall of the airship on Monday."
NEWER = {
    "a later number": ("en", FIRE.format(12), FIRE.format(17), True),
    "the same number": ("en", FIRE.format(12), FIRE.format(12), False),
    "what was announced has come": ("en", COMING, OPEN, True),
    "what is announced has not come": ("en", OPEN, COMING, False),
    "something else": ("en", FIRE.format(12), "Three airships left Camden with 40 goats.", False),
    "German": (
        "de",
        "Der Zug wird am Montag in Ulm halten.",
        "Der Zug hielt am Montag in Ulm.",
        True,
    ),
    "French": ("fr", "Le train partira lundi de Lyon.", "Le train est parti lundi de Lyon.", True),
}


@pytest.mark.parametrize("case", NEWER)
def test_a_later_sentence_says_anew_what_one_does(case: str) -> None:
    language, before, after, expected = NEWER[case]
    later, earlier = ((text, {*terms(text, language)}) for text in (after, before))
    assert says_anew(later, earlier, language) is expected


def test_the_newest_state_of_a_development_leads(make, week) -> None:
    rows = [
        (FIRE.format(count), f"Fire kills {count} at Fjordby", at)
        for count, at in ((12, -9), (17, 0))
    ]
    items = [make(title, text, hours=at, source=f"s{at}") for text, title, at in rows]
    report = draft_report("W", "t", week, in_developments(items))
    check(report, items)
    assert [line.text for line in report.words.opening] == [FIRE.format(17)]
    assert [line.text for line in report.words.key_points] == ["Fire kills 17 at Fjordby."]
    apart = draft_report("W", "t", week, in_developments(*([item] for item in items)))
    assert FIRE.format(12) in [line.text for line in statements_of(apart)]


def test_the_newest_of_two_items_of_a_development_leads(make, week) -> None:
    titles = "Airship of Fjordby burns at the dock", "Dock of Fjordby opens for airship owner"
    texts = ("Ropes are to blame.", -9, "s1"), ("Ann Lund pays for it all.", 0, "s2")
    items = [
        make(title, f"{title}. {text}", hours=at, source=source)
        for title, (text, at, source) in zip(titles, texts, strict=True)
    ]
    report = draft_report("W", "t", week, in_developments(items))
    check(report, items)
    assert report.words.opening[0].text == f"{titles[1]}."
    together = [attrs.evolve(item, published_at=items[0].published_at) for item in items]
    check(draft_report("W", "t", week, in_developments(together)), together)


def test_also_reporting_is_another_publisher_of_the_same_development(make, week) -> None:
    text = "The airship of Fjordby was burned at the harbour on Sunday."
    lead = make("Airship burned at Fjordby", text)
    others = [
        make("Airship of Fjordby in flames", id="b", source="beta"),
        make("Flames at Fjordby: airship lost", id="b2", source="beta"),
        make("Fjordby loses airship", id="a2"),
    ]
    apart = make("Airship of Fjordby: mayor resigns", id="c", source="gamma", hours=9)
    report = draft_report("W", "t", week, in_developments([lead, *others], [apart]))
    check(report, [lead, *others, apart])
    (line,) = report.words.key_points
    assert [report.items[n - 1].id for n in line.also_reported_by] == ["b"]
    assert {report.items[n - 1].id for n in line.same_event} == {"b2", "a2", "c"}


def test_an_item_far_from_its_story_is_not_quoted(make, week) -> None:
    text = "The airship of Fjordby was burned at the harbour on Sunday."
    story = [
        make("Airship burns at Fjordby", text, source="alpha"),
        make("Airship of Fjordby burned", text.replace("burned", "lost"), source="beta"),
        make("Cherry harvest", "Growers of cherries in Maule had their best year.", source="gamma"),
    ]
    report = draft_report("W", "t", week, in_developments(*([item] for item in story)))
    check(report, story)
    assert not [line for line in statements_of(report) if "Growers" in line.text]


def test_the_most_reported_story_leads_of_those_that_match(make) -> None:
    large = story_of([make("Quay sinks", source=f"s{at}", id=f"q{at}") for at in range(3)], 0.6)
    near = story_of([make("Mast falls", id="m")], 1.0)
    assert reading_order([near, large]) == [large, near]


def test_a_sentence_that_leans_stands_only_behind_the_one_before(make, week) -> None:
    text = (
        "The Zeppelin hall of the town was closed by the mayor on Monday. "
        "He said that the roof had been unsafe for years. "
        "Ropes were cut. Is it the end? A new hall is planned for the spring of next year."
    )
    report = made_of(week, [make("Hall closed", text)])
    assert report.words.sections == ()
    texts = [statement.text for statement in report.words.opening]
    assert texts[0].startswith("The Zeppelin hall")
    assert texts[1].startswith("He said")
    assert len(texts) == 3


def test_an_item_without_a_headline_is_told_by_its_words(make, week) -> None:
    untitled = make("", "The Zeppelin landed on the meadow near the town. The crew was safe.")
    short = make("", "Zeppelin lands", id="s")
    long = make("", "Zeppelin " * 80, id="l")
    report = made_of(week, [untitled], [short], [long])
    check(report, [untitled, short, long])
    assert {statement.text[:14] for statement in statements_of(report)} >= {
        "Zeppelin lands",
        "The Zeppelin l",
    }
    assert len(max((statement.text for statement in statements_of(report)), key=len)) < 170


def places_of(text: str) -> Iterator[str | None]:
    return (field for _, field, _, _ in Formatter().parse(text))


# -- the report's own words --------------------------------------------------------------------


def test_nothing_matching_says_so_and_names_the_nearest(make, week) -> None:
    near = [make("Quantum bread", "", hours=-3), make("", "Knitting hall of the town", hours=None)]
    selection = StorySelection((), tuple(near), 0, Frequencies())
    report = draft_report("Knots", "quantum knitting", week, selection)
    assert report.items == report.words.sources == report.stories == ()
    assert report.summary == (
        "No matching items were found for “quantum knitting” in the period from 1 March 2026 to "
        "7 March 2026. The nearest items fall short of the subject and are not sources of this "
        "report: “Quantum bread” (Alpha, 5 March 2026); “Knitting hall of the town” (Alpha, no "
        "date)."
    )
    assert [statement.citations for statement in report.words.opening] == [(), ()]
    markdown = render.markdown(report.title, report.words)
    assert "](" not in markdown
    bare = draft_report("K", "quantum knitting " * 20, week, StorySelection(()), "de")
    assert bare.summary.startswith("Zu „quantum")
    assert "…" in bare.summary


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_frame_is_in_the_language_of_the_report(make, week, language: str) -> None:
    english, own = frame("en"), frame(language)
    assert set(english.texts) - set(own.texts) <= {"untranslated"}
    for name, text in own.texts.items():
        fields, english_fields = (
            sorted(filter(None, places_of(wording))) for wording in (text, english[name])
        )
        assert fields == english_fields, name
    assert len(own["months"].split()) == 12
    items = [
        make("Zeppelin seen", "The old Zeppelin was seen over the meadow on Monday.", id="a"),
        make("Zeppelin at sea", "", id="b", hours=None, source="beta"),
        make("Zeppelin lost", "", id="d"),
    ]
    report = made_of(week, items, [make("Bread", "", id="c")], language=language)
    markdown = render.markdown(report.title, report.words)
    for name in ("sources", "key_points", "also", "same_event", "no_date"):
        assert own[name] in markdown
    assert own.day(items[0].at) in markdown


def test_a_report_says_where_little_or_nothing_was_found(make, week) -> None:
    found = told_of([make("Mast falls")])
    scant = attrs.evolve(found, is_scant=True, unmatched=("copper", "bakers in Lyon"))
    notes = draft_report("W", "t", week, scant).words.notes
    assert notes == (frame("en")["scant"], "Nothing was found about: copper; bakers in Lyon.")
    assert draft_report("W", "t", week, found).words.notes == ()


def test_a_language_without_a_frame_has_an_english_one_and_says_so(make, week) -> None:
    assert wording_of("eo") is None
    report = made_of(week, [make("Zeppelin", "", language="eo")], language="eo")
    assert report.words.notes == (frame("en")["untranslated"],)
    empty = draft_report("N", "t", week, StorySelection(()), "eo")
    assert frame("en")["untranslated"] in render.report_text(empty.title, empty.words)


def test_every_table_line_has_its_place() -> None:
    kinds = [line.split("\t") for line in data.table_lines("sentences.tsv")]
    assert all(len(row) == 3 for row in kinds)
    assert len({language for kind, language, _ in kinds if kind == "verb"}) == len(LANGUAGES)
    assert not [
        key
        for key in (line.split("\t")[:2] for line in data.table_lines("frame.tsv"))
        if len(key) < 2
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Le procÃ¨s du Zeppelin s'est ouvert lundi Ã  midi.",
        "The Zeppelin hall of the town, photographed in November.",
        "He said the Zeppelin was his own from the first day.",
        "The Zeppelin club of the town took in forty members ...",
        "a selection of views of the Zeppelin was shown here.",
        "In Albany, on Wednesday.\nIs the dock of the Zeppelin safe at night?",
        "A house of old oak in the middle of the town.",
        'The Zeppelin was "sold (again for a few coins on Monday.',
    ],
)
def test_what_is_no_whole_sentence_of_news_never_opens_a_report(make, week, text: str) -> None:
    winner = "A Zeppelin pilot from the coast won the yearly prize for safety."
    groups = [[make("Zeppelin", text)], [make("Zeppelin prize goes to pilot", winner)]]
    report = made_of(week, *groups)
    check(report, [item for group in groups for item in group])
    assert [statement.text for statement in report.words.opening] == [winner]


def test_a_section_has_a_few_sentences_and_never_begins_in_the_middle(make, week) -> None:
    fates = (
        "lost at sea with eleven pilots",
        "sold to Fjordland",
        "shown in a museum",
        "burned by boys",
        "given away",
    )
    late = "A new mast was raised at the airport before the winter came."
    questions = ["Who built the masts then?", "Who paid for all that?", "And who cares now?", late]
    early = make("Old masts", " ".join(questions), hours=-40)
    lead = make(
        "Mast lost at sea", " ".join(f"One of the masts was {fate} in May." for fate in fates)
    )
    base = story_of([early, lead])
    lone = attrs.evolve(base, developments=tuple((member,) for member in base.members))
    better = attrs.evolve(base.members[1], score=3.0)
    story = attrs.evolve(lone, members=(base.members[0], better))
    split_story = attrs.evolve(story, developments=((base.members[0],), (better,)))
    report = draft_report("W", "t", week, StorySelection((split_story,), (), 2, Frequencies(1000)))
    texts = [statement.text for statement in report.words.opening]
    assert texts[0] == "One of the masts was lost at sea with eleven pilots in May."
    assert 2 <= len(texts) <= 3
    assert late not in texts


def test_common_words_are_those_of_the_store_where_it_has_any(make) -> None:
    items = [make("Zeppelin lands", id="a"), make("Bread rises", id="b")]
    selection = select_stories(Query.of("Zeppelin"), items, Frequencies(10, {"zeppel": 1}))
    assert [story.members[0].evidence.id for story in selection.stories] == ["a"]
    assert selection.frequencies.total == 10


def test_a_page_that_hardly_matches_never_opens_for_its_language_or_date(make, week) -> None:
    about = "Das neue Luftschiff wurde am Montag in der Halle gezeigt."
    near = story_of([make("Luftschiff wird gezeigt", about, language="de", hours=None)], 1.7)
    far = story_of([make("Some tools", "A list of tools was posted for everyone to try.")], 0.8)
    report = draft_report("W", "t", week, StorySelection((near, far), (), 2, Frequencies(1000)))
    assert [statement.text for statement in report.words.opening] == [about]
    assert [statement.text for statement in report.words.key_points] == ["Luftschiff wird gezeigt."]
    tools = "A list of tools was posted for everyone to try."
    assert [statement.text for statement in report.words.briefs] == [tools]
    assert report.words.notes[0] == frame("en")["foreign_opening"]


def test_an_only_story_is_told_once_and_its_section_goes_on(make, week) -> None:
    fates = {
        "Albany": "a circus bought the oldest airship from its mayor.",
        "Boston": "painters were sent with ladders into a hall on Friday.",
        "Camden": "goats of one farm had eaten every rope and sail.",
        "Dallas": "pilots from Fjordby are given free lodging.",
    }
    items = [
        make(f"News of {town}", f"The news of {town} is that {text}", id=town, hours=at)
        for at, (town, text) in enumerate(fates.items())
    ]
    story = story_of(items)
    split_story = attrs.evolve(story, developments=tuple((member,) for member in story.members))
    report = draft_report("W", "t", week, StorySelection((split_story,), (), 4, Frequencies(1000)))
    check(report, items)
    (section,) = report.words.sections
    opening = [statement.text for statement in report.words.opening]
    assert len(opening) == 1, "each of the others is one item's alone"
    assert not {statement.text for statement in section.statements} & set(opening)
    assert len(report.words.key_points) == 1
    first, *rest = fates.values()
    chain = " ".join([first.capitalize(), *(f"It said that {text}" for text in rest)])
    run = made_of(week, [make("Circus bought airship", chain, id=str(at)) for at in range(4)])
    assert run.words.sections == ()
    assert len(run.words.opening) > 3


def test_what_a_source_says_of_everything_but_for_its_numbers_is_never_quoted(make, week) -> None:
    levels = {"Chile": "Green", "Ghana": "Orange", "Samoa": "Green", "Yemen": "Red", "Nepal": "Red"}
    groups = [
        [make(f"Drought alert {level} in {land}", f"At 6:{at} the alert level of it was {level}.")]
        for at, (land, level) in enumerate(levels.items())
    ]
    items = [item for group in groups for item in group]
    selection = select_stories(Query.of("Drought alert"), items, Frequencies(1000))
    report = draft_report("W", "Drought alert", week, selection)
    check(report, [item for group in groups for item in group])
    assert not [
        statement.text for statement in statements_of(report) if statement.text.startswith("At 6")
    ]
    assert len(report.words.opening) == 3
    assert all(statement.text.startswith("Drought alert") for statement in report.words.opening)


def test_without_a_period_the_title_spans_the_dates_of_what_is_told(make) -> None:
    items = [make("Mast falls", hours=-72), make("Quay sinks", hours=-24)]
    without_date = make("Hall burns", hours=None)
    report = draft_report("W", "t", None, told_of(items, [without_date]))
    assert report.title == f"W: {frame('en').span(items[0].at, items[1].at)}"
    assert draft_report("W", "t", None, told_of([without_date])).title == "W"
    empty = draft_report("W", "masts", None, StorySelection(()))
    assert (empty.title, empty.summary) == ("W", "No matching items were found for “masts”.")


def test_a_story_that_hardly_matches_is_no_key_point(make, week) -> None:
    near = story_of([make("Zeppelin lands in Albany")], 1.7)
    far = story_of([make("Bread prices rise in Boston")], 0.8)
    report = draft_report("W", "t", week, StorySelection((near, far), (), 2, Frequencies(1000)))
    assert [statement.text for statement in report.words.opening] == ["Zeppelin lands in Albany."]
    assert report.words.key_points == ()
    assert [statement.text for statement in report.words.briefs] == ["Bread prices rise in Boston."]
    assert report.stories == (near, far)


def test_a_comment_is_told_in_a_line_where_there_is_news(make, week) -> None:
    news, comment = make("Zeppelin lands in Albany"), make("Why Zeppelins came to Boston so late")
    report = made_of(week, [comment], [news])
    assert [statement.text for statement in report.words.opening] == ["Zeppelin lands in Albany."]
    assert [line.text for line in report.words.briefs] == ["Why Zeppelins came to Boston so late."]
    quotation = make(QUOTE, APART)
    assert [line.text for line in made_of(week, [quotation], [news]).words.briefs] == [APART]
    alone = made_of(week, [comment])
    assert [line.text for line in alone.words.opening] == ["Why Zeppelins came to Boston so late."]


@pytest.mark.parametrize(
    ("score", "head", "top", "expected"),
    [
        (0.6, 0.0, 0.0, "large"),  # nothing names what was asked for
        (0.4, 0.0, 0.0, "asked"),
        (0.8, 0.5, 1.0, "large"),
        (0.6, 0.5, 1.0, "asked"),  # headline and lead of one item alone name the side
        (0.4, 1.0, 1.0, "large"),  # all name it
    ],
)
def test_what_leads_a_story_is_the_side_of_it_that_was_asked_for(
    make, week, score: float, head: float, top: float, expected: str
) -> None:
    large = [
        ScoredItem(
            reading_of(make("Hangar fire spreads to Fjordby", id=f"f{at}", source=at)),
            score,
            head=head,
        )
        for at in "123"
    ]
    mayor = reading_of(make("Mayor leaves as hangar fire spreads", source="m"))
    asked = ScoredItem(mayor, 1.0, head=top)
    story = Story("s", (*large, asked), (tuple(large), (asked,)))
    report = draft_report("W", "t", week, StorySelection((story,), (), 4, Frequencies(1000)))
    lead = report.words.sources[0].title
    assert lead == {"large": "Hangar fire spreads to Fjordby"}.get(expected, asked.evidence.title)


def test_a_copy_of_an_item_makes_it_no_closer_to_the_rest_of_its_story(make, week) -> None:
    mourners = "Mourners meet at a lake near Fjordby after the Zeppelin fire"
    main = [make(f"Zeppelin fire at Fjordby harbour kills {at}", id=at, source=at) for at in "345"]
    copies = [make(mourners, id=f"m{at}", source="echo") for at in range(9)]
    alone, among = (made_of(week, [*main, *copies[:count]]) for count in (1, 9))
    assert alone.words.opening[0].text == among.words.opening[0].text
    assert "kills" in among.words.opening[0].text


def test_of_another_development_only_what_is_close_to_the_whole_story_is_quoted(make, week) -> None:
    fire = "The fire of the hangar at Fjordby was put out by Ann Lund on Sunday night."
    burned = [make("Hangar of Fjordby burns down", fire, id=f"f{at}", source=at) for at in "123"]
    near = "Six goats were led to a meadow by children of the village school at night."
    far = "Museums of Camden hung old paintings of a hangar beside new sculptures of marble."
    others = [
        make("Goats led to meadow from hangar fire at Fjordby", near, id="g", source="g"),
        make("Museums of Camden hung old paintings", far, id="m", source="m"),
    ]
    report = draft_report("W", "t", week, in_developments(burned, *([o] for o in others)))
    told = {statement.text for statement in statements_of(report)}
    assert near in told
    assert far not in told
    assert {source.title for source in report.words.sources} >= {o.title for o in others}


@pytest.mark.parametrize(
    ("sureness", "share", "expected"),
    [
        (5.0, 1.0, "section"),
        (0.6, 1.0, "section"),
        (0.4, 1.0, "none"),
        (5.0, 0.5, "line"),
        (2.3, 0.5, "line"),
        (2.2, 0.5, "none"),
    ],
)
def test_only_what_is_surely_about_the_subject_is_told(
    make, week, sureness: float, share: float, expected: str
) -> None:
    near = Story("n", (ScoredItem(reading_of(make("Zeppelin lands in Albany")), 1.0, 9.0),))
    titles = "Bread prices rise in Boston", "Baker in Boston retires"
    items = [ScoredItem(reading_of(make(title)), share, sureness) for title in titles]
    far = tuple(Story(f"f{at}", (item,)) for at, item in enumerate(items))
    words = draft_report(
        "W", "t", week, StorySelection((*far, near), (), 3, Frequencies(1000))
    ).words
    key_points = {line.text.strip(".") for line in (*words.opening, *words.key_points)}
    assert key_points == {"Zeppelin lands in Albany", *(titles if expected == "section" else ())}
    assert {o.text.strip(".") for o in words.briefs} == {*(titles if expected == "line" else ())}
    assert {source.title for source in words.sources} == {"Zeppelin lands in Albany", *titles}
    if expected == "none":
        assert words.sources[0].title == "Zeppelin lands in Albany"
        (note,) = words.notes
        assert note.endswith(", so listed last and not told: 2 of 3 sources.")


@pytest.mark.parametrize(("sureness", "is_told"), [(9.0, True), (-9.0, False)])
def test_each_subject_is_told_or_said_to_have_little(
    make, week, sureness: float, is_told: bool
) -> None:
    """However many stories another subject has."""
    titles = [
        f"Zeppelin number {word} lands" for word in ("one", "two", "three", "four", "five", "six")
    ]
    rows = [(title, "zeppelins", 9.0) for title in titles] + [
        ("Bakers raise the price of bread", "bakers", sureness)
    ]
    stories = tuple(
        Story(title, (ScoredItem(reading_of(make(title)), 1.0, sure, subjects=(subject,)),))
        for title, subject, sure in rows
    )
    words = draft_report("W", "t", week, StorySelection(stories, (), 7, Frequencies(1000))).words
    key_points = [line.text for line in (*words.opening, *words.key_points)]
    assert ("Bakers raise the price of bread." in key_points) == is_told
    note = "Little, and nothing sure, was found about: bakers."
    assert (note in words.notes) != is_told


@pytest.mark.parametrize(
    ("shares", "count"),
    [((1.0, 0.5), 1), ((0.0, 0.0), 2)],  # a story may bring items that match nothing
)
def test_where_nothing_is_surely_about_the_subject_the_best_story_is_told(
    make, week, shares: tuple[float, float], count: int
) -> None:
    titles = "Zeppelin lands in Albany", "Bread prices rise in Boston"
    scores = zip(titles, shares, strict=True)
    items = [ScoredItem(reading_of(make(title)), score, -9.0) for title, score in scores]
    stories = tuple(Story(item.evidence.id, (item,)) for item in items)
    report = draft_report("W", "t", week, StorySelection(stories, (), 2, Frequencies(1000)))
    assert {line.text.strip(".") for line in statements_of(report)} == {*titles[:count]}


def test_an_item_that_is_less_surely_about_the_subject_is_not_quoted(make, week) -> None:
    fire = "The hangar of Fjordby burned down within an hour, said Ann Lund of the brigade."
    goats = "Six goats of the hangar at Fjordby were led to a meadow by children of the village."
    items = [
        ScoredItem(reading_of(make("Hangar of Fjordby burns down", text, id=id_)), 1.0, sureness)
        for id_, text, sureness in (("a", fire, 9.0), ("b", goats, 0.4), ("c", goats, 0.4))
    ]
    report = draft_report(
        "W", "t", week, StorySelection((Story("s", (*items,)),), (), 3, Frequencies(1000))
    )
    lines = statements_of(report)
    assert goats not in {line.text for line in lines}
    assert not any(line.also_reported_by or line.same_event for line in lines)
    assert {item.id for item in report.items} == {"a", "b", "c"}


def test_headlines_that_open_a_report_stay_key_points_where_they_are_many(make, week) -> None:
    towns = ("Albany", "Boston", "Camden", "Dallas", "Eugene", "Fresno", "Geneva", "Hobart")
    report = made_of(week, *([make(f"Airship of {town} sinks", id=town)] for town in towns))
    opening, points = report.words.opening, report.words.key_points
    assert (len(opening), len(points)) == (1, 3)
    texts = [line.text for line in (*opening, *points, *report.words.briefs)]
    assert len({*texts}) == len(towns)
