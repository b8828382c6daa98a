"""Drafts a report from a subject and its evidence: select, group, order and quote stories.

Rule 1: strictly extractive. Every sentence is a sentence of a cited item (its title or its text,
white space folded, a dateline or byline before it dropped, a full stop put behind a headline).
Rule 2: every chosen item is a source, and nothing else is; those that are less surely about the
subject or on the events that are told are listed last, and a note says so. A mark stands only
behind a sentence that its item holds. Citations count from 1 in the order in which the draft names
the items; the first citation of a sentence is the item that it is taken from.
Rule 3: a story has one place: a section or a brief. The key points are the headlines of the main
stories, or what introduces them where these are vague, and of what else in them several publishers
report; the opening quotes what introduces the first of them.
Rule 4: the same evidence in any order gives the same draft.
Rule 5: where nothing matches, the draft is short: it says so, names what comes nearest, and has no
source.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime
from functools import cached_property
from textwrap import shorten

from attrs import field, frozen

from svc_core.reports.model import Period, ReportSource, ReportWords, Section, Statement, numbers_of
from svc_core.reports.narration import (
    Narration,
    NarrationLine,
    Narrator,
    StoryPlan,
    reading_order,
)
from svc_core.text.containment import TextWords
from svc_core.text.evidence import EvidenceTexts, Reading, ScoredItem, readings
from svc_core.text.frequencies import Frequencies
from svc_core.text.language import primary
from svc_core.text.query import Query
from svc_core.text.ranking import Hit, Nearness, rank
from svc_core.text.stories import Story, group_stories
from svc_core.text.templates import without_templates
from svc_core.text.wording import Wording, days, frame, wording_of

SOURCES_MAX = 500
"""Items of one report: the best matches. People read a tenth of them, programs all."""
LABEL_CHARS = 80  # of the text, where an item has no title: one line of a source list
_TOPIC_QUOTED_MAX = 160


@frozen
class ReportDraft:
    """A report before it is rendered.

    `summary` is the text of the opening, `items` are the items by their numbers, and `stories` are
    those that it covers.
    """

    title: str
    summary: str
    words: ReportWords
    items: tuple[EvidenceTexts, ...] = field(repr=False)
    stories: tuple[Story, ...] = field(repr=False)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each cited item by its id."""
        return {item.id: number for number, item in enumerate(self.items, 1)}

    def citations(self, story: Story) -> tuple[int, ...]:
        """The numbers of a story's cited items."""
        ids, numbers = (member.evidence.id for member in story.members), self.numbers
        return tuple(sorted(numbers[id_] for id_ in ids if id_ in numbers))

    def marks(self, story: Story, *sentences: str) -> tuple[int, ...]:
        """The numbers of those of a story's items that say every one of some sentences."""
        claims = [TextWords.of(text) for text in sentences]
        return tuple(
            number
            for number in self.citations(story)
            if all(map(self.items[number - 1].says, claims))
        )


@frozen
class StorySelection:
    """The stories about a subject in reading order, or the nearest misses where there are none.

    `match_count` counts all matching items, also those beyond the bound of a report. `is_scant` and
    `unmatched` are those of the ranking (`svc_core.text.ranking.Ranking`).
    """

    stories: tuple[Story, ...]
    nearest: tuple[EvidenceTexts, ...] = ()
    match_count: int = 0
    frequencies: Frequencies = field(factory=Frequencies, repr=False)
    is_scant: bool = False
    unmatched: tuple[str, ...] = ()

    @property
    def members(self) -> list[ScoredItem]:
        """The items of its stories."""
        return [member for story in self.stories for member in story.members]

    @property
    def dates(self) -> list[datetime]:
        """The publication dates of its items, where they have one."""
        dates = (member.evidence.published_at for member in self.members)
        return [at for at in dates if at is not None]


def select_stories(
    query: Query,
    evidence: Iterable[EvidenceTexts],
    frequencies: Frequencies,
    *,
    nearness: Mapping[str, Nearness] | None = None,
    window_total: int = 0,
    by_part: Mapping[str, Mapping[str, Nearness]] | None = None,
) -> StorySelection:
    """Rank evidence by a query and group what matches into stories."""
    items = readings(item for item in evidence if item.title.strip() or item.text.strip())
    if not frequencies.total:
        frequencies = Frequencies.of(item.counts for item in items)
    ranking = rank(query, items, frequencies, nearness, window_total=window_total, by_part=by_part)
    hits = _reports(ranking.terms, ranking.hits[:SOURCES_MAX], items)
    return StorySelection(
        tuple(reading_order(group_stories(hits, frequencies))),
        tuple(hit.reading.evidence for hit in ranking.nearest),
        len(ranking.hits),
        frequencies,
        is_scant=ranking.is_scant,
        unmatched=ranking.unmatched,
    )


def _reports(terms: Set[str], hits: Sequence[Hit], pool: Sequence[Reading]) -> list[ScoredItem]:
    """Hits without templates, but those that held the query in nothing else."""
    rest = without_templates([hit.reading for hit in hits], pool)
    return [
        ScoredItem(reading, hit.share, hit.sureness, hit.head, hit.subjects)
        for hit, reading in zip(hits, rest, strict=True)
        if reading is hit.reading or hit.nearness or not terms.isdisjoint(reading.counts)
    ]


def draft_report(
    name: str, topic: str, period: Period | None, selection: StorySelection, language: str = "en"
) -> ReportDraft:
    """The draft of a selection of stories.

    Without a period, its title spans the dates of the items.
    """
    words = frame(language)
    dates = selection.dates
    ends = (min(dates), max(dates)) if dates else None
    span = days(period.start, period.end) if period else ends
    items: tuple[EvidenceTexts, ...] = ()
    stories: tuple[Story, ...] = ()
    if selection.stories:
        content, items, stories = _words_of(selection, language)
    else:
        lines = _no_match(topic, span, words), *_nearest(selection.nearest, words)
        opening = tuple(Statement(text, ()) for text in lines)
        notes = tuple(_language_notes(language))
        content = ReportWords(opening, (), (), (), (), notes=notes, language=language)
    return ReportDraft(
        title=f"{name}: {words.span(*span)}" if span else name,
        summary=" ".join(statement.text for statement in content.opening),
        words=content,
        items=items,
        stories=stories,
    )


def _words_of(
    selection: StorySelection, language: str
) -> tuple[ReportWords, tuple[EvidenceTexts, ...], tuple[Story, ...]]:
    """The text of the stories, the items in the order of their numbers, and what is told."""
    teller = Narrator(selection.stories, language, selection.frequencies)
    narration = teller.narrate_stories()
    numbers = _Numbers()
    opening = numbers.statements(narration.opening)
    key_points = numbers.statements(narration.key_points)
    sections = tuple(numbers.section(plan, lines) for plan, lines in narration.sections)
    briefs = numbers.statements(narration.briefs)
    untold_count = len(numbers.add(narration.apart))
    words = ReportWords(
        opening=opening,
        key_points=key_points,
        sections=sections,
        briefs=briefs,
        sources=tuple(_source(number, item) for number, item in enumerate(numbers.items, 1)),
        notes=tuple(_notes(selection, narration, untold_count, language)),
        language=language,
    )
    return words, tuple(numbers.items), tuple(narration.stories)


class _Numbers:
    """Numbers items in the order in which they are first cited."""

    def __init__(self) -> None:
        self.items: list[EvidenceTexts] = []
        self._numbers: dict[str, int] = {}

    def statements(self, lines: Iterable[NarrationLine]) -> tuple[Statement, ...]:
        return tuple(
            Statement(line.text, *map(self.add, (line.sources, line.also, line.same_event)))
            for line in lines
        )

    def section(self, plan: StoryPlan, lines: Sequence[NarrationLine]) -> Section:
        statements = self.statements(lines)
        numbers = (number for statement in statements for number in numbers_of(statement))
        return Section(
            id=plan.story.key,
            heading=plan.heading_over(lines),
            statements=statements,
            citations=tuple(dict.fromkeys(numbers)),
            topics=plan.lead.evidence.topics,
        )

    def add(self, items: Iterable[EvidenceTexts]) -> tuple[int, ...]:
        """The numbers of some items, which get those that they have not."""
        return tuple(dict.fromkeys(map(self._number, items)))

    def _number(self, item: EvidenceTexts) -> int:
        if item.id not in self._numbers:
            self.items.append(item)
            self._numbers[item.id] = len(self.items)
        return self._numbers[item.id]


def _source(number: int, item: EvidenceTexts) -> ReportSource:
    return ReportSource(
        number=number,
        id=item.id,
        title=_label(item),
        url=item.url or None,
        name=item.source_name,
        published_at=item.published_at,
    )


def _label(item: EvidenceTexts) -> str:
    return " ".join(item.title.split()) or shorten(item.text, LABEL_CHARS, placeholder="…")


def _notes(
    selection: StorySelection, narration: Narration, untold_count: int, language: str
) -> Iterable[str]:
    """Notes on the sources as a whole: language, missing dates, and what was left out."""
    words, own = frame(language), (primary(language), None)
    if selection.is_scant:
        yield words["scant"]
    if selection.unmatched:
        yield words.say("unmatched", subjects="; ".join(selection.unmatched))
    members = selection.members
    told = {subject for story in narration.stories for subject in story.subjects}
    names = sorted({member.subjects[0] for member in members} - told)
    if names:
        yield words.say("untold_subjects", subjects="; ".join(names))
    undated_count = len(members) - len(selection.dates)
    if not any(member.reading.language in own for member in members):
        yield words["foreign"]
    elif not any(line.sources[0].primary_language in own for line in narration.opening):
        yield words["foreign_opening"]
    if untold_count:
        yield words.say("untold", count=untold_count, sources=len(members))
    if undated_count:
        yield words.say("undated", count=undated_count, sources=len(members))
    if selection.match_count > len(members):
        yield words.say("shortened", found=selection.match_count, listed=len(members))
    yield from _language_notes(language)


def _language_notes(language: str) -> Iterable[str]:
    if wording_of(language) is None:
        yield frame(language)["untranslated"]


def _no_match(topic: str, span: tuple[datetime, datetime] | None, words: Wording) -> str:
    """The sentence that nothing matched; a long topic is cut."""
    line = " ".join(topic.split())
    if len(line) > _TOPIC_QUOTED_MAX:
        line = line[: _TOPIC_QUOTED_MAX - 1].rstrip() + "…"
    if span is None:
        return words.say("nothing_ever", topic=line)
    start, end = map(words.day, span)
    return words.say("nothing", topic=line, start=start, end=end)


def _nearest(items: Sequence[EvidenceTexts], words: Wording) -> Iterable[str]:
    """The sentence that names the nearest misses: headline, publisher and date of each."""
    if items:
        lines = (
            words.say("quoted", text=_label(item))
            + f" ({item.source_name}, {words.day(item.published_at)})"
            for item in items
        )
        yield words.say("nearest", items="; ".join(lines))
