"""What a report says, from a profile's subject and its evidence: select, group, order, tell.

Rule 1: strictly extractive. Every sentence is a sentence of a cited item (its title or its text,
white space folded, a dateline or byline before it dropped); no sentence stands twice.
Rule 2: citations count from 1 in the order in which the draft cites the items; the first citation
of a sentence is the item that holds it verbatim.
Rule 3: a story is told in one place: in a section, as a key point or as a brief. The opening takes
a sentence of the best stories, and their sections go on from there without it.
Rule 4: the same evidence in any order gives the same draft.
Rule 5: nothing matching gives a short draft that says so, with no source and no citation.

How it reads: `opening` (two or three whole sentences) begins it, `key_points` are the headlines
of up to seven stories that need no more, `sections` tell the best stories under their headlines,
`briefs` are the headlines of the remaining ones.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cached_property
from textwrap import shorten

from attrs import field, frozen

from svc_core.analysis.stories import Story, stories
from svc_core.analysis.wording import MONTHS, days, frame
from svc_core.reports.telling import KEY_POINTS_MAX, Teller, in_order
from svc_core.resources.report import Period, ReportSource, ReportWords, Statement
from svc_core.retrieval import Query, rank
from svc_core.text.evidence import Evidence, Scored, readings
from svc_core.text.frequencies import Frequencies
from svc_core.text.language import primary

STORIES_MAX = 60  # a report is read by people; stories beyond this are not told
LABEL_CHARS = 80  # of the text, where an item has no title: one line of a source list
_TOPIC_QUOTED_MAX = 160
_ENDS = tuple(".!?…。！？।۔\"'”’»)」』")


@frozen
class Draft:
    """A report before it is rendered.

    `summary` is the text of the opening, a headline in it with a full stop; where nothing matched
    both say so. `cited` are the items by their numbers, `stories` what is told.
    """

    title: str
    summary: str
    words: ReportWords
    cited: tuple[Evidence, ...] = field(repr=False)
    stories: tuple[Story, ...] = field(repr=False)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each cited item by its id."""
        return {item.id: number for number, item in enumerate(self.cited, 1)}

    def citations(self, story: Story) -> tuple[int, ...]:
        """The numbers of a story's items; those that are not cited have none."""
        ids, numbers = (member.evidence.id for member in story.members), self.numbers
        return tuple(sorted(numbers[id_] for id_ in ids if id_ in numbers))


@frozen
class Told:
    """What is about a subject: its stories in the order of their telling, or the nearest misses."""

    stories: tuple[Story, ...]
    nearest: tuple[Evidence, ...] = ()


def tell(
    query: Query,
    evidence: Iterable[Evidence],
    frequencies: Frequencies,
    *,
    language: str = "en",
    likeness: Mapping[str, float] | None = None,
) -> Told:
    """What some items tell about a subject."""
    held = readings(evidence)
    if not frequencies.total:
        frequencies = Frequencies.of((*one.title, *one.lead, *one.rest) for one in held)
    ranking = rank(query, held, frequencies, likeness)
    found = stories(Scored(hit.reading, hit.score) for hit in ranking.chosen)
    nearest = tuple(hit.reading.evidence for hit in ranking.nearest)
    return Told(tuple(in_order(found, language)), nearest)


def draft(name: str, topic: str, period: Period, told: Told, language: str = "en") -> Draft:
    """The draft of stories that are already in the order of their telling."""
    teller = Teller(language)
    plans = [teller.plan(story) for story in told.stories[:STORIES_MAX]]
    start, end = days(period.start, period.end)
    opening = teller.summarise(plans) or [Statement(_nothing(topic, start, end, language), ())]
    sections = teller.sections(plans)
    headlines = teller.headlines(plans)
    words = ReportWords(
        opening=tuple(opening),
        key_points=tuple(headlines[:KEY_POINTS_MAX]),
        sections=tuple(sections),
        briefs=tuple(headlines[KEY_POINTS_MAX:]),
        sources=tuple(_source(number, item) for number, item in enumerate(teller.cited, 1)),
    )
    return Draft(
        title=f"{name}: {_span(start, end, language)}",
        summary=" ".join(map(_ended, opening)),
        words=words,
        cited=tuple(teller.cited),
        stories=tuple(told.stories[:STORIES_MAX]),
    )


def _source(number: int, item: Evidence) -> ReportSource:
    return ReportSource(
        number=number,
        id=item.id,
        title=" ".join(item.title.split()) or shorten(item.text, LABEL_CHARS, placeholder="…"),
        url=item.url or None,
        name=item.source_name,
        published_at=item.published_at,
    )


def _nothing(topic: str, start: datetime, end: datetime, language: str) -> str:
    """The sentence that says that nothing matched; a long topic is cut."""
    folded = " ".join(topic.split())
    if len(folded) > _TOPIC_QUOTED_MAX:
        folded = folded[: _TOPIC_QUOTED_MAX - 1].rstrip() + "…"
    words = frame(language)
    day = _day if words is frame("en") else _iso
    return words.nothing.format(topic=folded, start=day(start), end=day(end))


def _ended(statement: Statement) -> str:
    """A sentence with a full stop where it has no end of its own, as a headline has none."""
    return statement.text if statement.text.endswith(_ENDS) else f"{statement.text}."


def _span(start: datetime, end: datetime, language: str) -> str:
    """The days from the first to the last, as a title names them."""
    if primary(language) != "en":
        return " – ".join(dict.fromkeys((_iso(start), _iso(end))))
    if start.date() == end.date():
        return _day(start)
    if start.year != end.year:
        return f"{_day(start)} – {_day(end)}"
    if start.month != end.month:
        return f"{start.day} {MONTHS[start.month - 1]} – {_day(end)}"
    return f"{start.day}–{_day(end)}"


def _iso(at: datetime) -> str:
    return at.date().isoformat()


def _day(at: datetime) -> str:
    return f"{at.day} {MONTHS[at.month - 1]} {at.year}"
