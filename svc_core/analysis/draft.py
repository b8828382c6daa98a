"""The report as a structure, before anything renders it.

Rule 1: strictly extractive. Every sentence is a sentence of a cited item (its title or its text,
white space folded, a dateline or byline before it dropped); no sentence stands twice.
Rule 2: a citation is a number of `Draft.sources`, which are numbered from 1 in the order in which
the draft cites them; the first citation of a sentence is the item that holds it verbatim.

Rule 3: a story is told in one place: in a section, as a key point or as a brief. The summary takes
a sentence of the best stories, and their sections go on from there without it.

How a draft reads: `summary` (two or three whole sentences) opens it, `key_points` are the headlines
of up to seven stories that need no more, `sections` tell the best stories under their headlines,
`briefs` are the headlines of the remaining ones, and `sources` close it.
"""

from datetime import datetime

from attrs import field, frozen

from svc_core.analysis.grouping import Story


@frozen
class Period:
    """The reported time, `start` inclusive and `end` exclusive, aware UTC."""

    start: datetime
    end: datetime


@frozen
class Cited:
    """One sentence and the numbers of the sources that say it, the one quoted first."""

    text: str
    citations: tuple[int, ...]


@frozen
class Source:
    """One cited item: its number in the report and what a reader needs to find it."""

    number: int
    id: str
    title: str
    url: str
    name: str
    domain: str
    source_id: str
    published_at: datetime | None
    language: str | None


@frozen
class Section:
    """One story. `citations` are all its sources, `corroborating` those not quoted in it."""

    key: str
    heading: str
    sentences: tuple[Cited, ...]
    citations: tuple[int, ...]
    corroborating: tuple[int, ...]
    topics: tuple[str, ...]
    language: str | None
    at: datetime
    score: float


@frozen
class Draft:
    """A report before it is rendered.

    `summary` is the text of `summary_sentences` (a headline among them is given a full stop), or
    the sentence that says that nothing matched. `story_keys` names the told stories in the order of
    their telling; `stories_untold` counts those beyond the bound; `items_considered` is how many
    items were looked at.
    """

    title: str
    summary: str
    summary_sentences: tuple[Cited, ...]
    key_points: tuple[Cited, ...]
    sections: tuple[Section, ...]
    briefs: tuple[Cited, ...]
    sources: tuple[Source, ...]
    language: str
    period: Period
    story_keys: tuple[str, ...] = ()
    stories_untold: int = 0
    items_considered: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing in the period matched."""
        return not self.sources

    @property
    def evidence_ids(self) -> tuple[str, ...]:
        """The ids of the cited items, in the order of their numbers."""
        return tuple(source.id for source in self.sources)


@frozen
class Report:
    """A draft with the stories it tells, for signals and the graph; `items` counts the matches."""

    draft: Draft
    stories: tuple[Story, ...] = field(repr=False)
    items: int = 0
