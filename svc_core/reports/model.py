"""Reports: the row that lists show and the facets that stand beside it (Spec: Report)."""

from datetime import datetime
from typing import Annotated, Literal

from attrs import field, frozen

from svc_core.base.unset import UNSET, Maybe
from svc_core.operation.members import CountryCode, EntityId, ProfileId, ReportId, micros
from svc_core.operation.ports import BASE_V1, Collection, attribute_keys
from svc_core.reports.audio import AudioFacet
from svc_core.wire.constraints import Doc, Example, Ge, Le

# Parts of examples.
_PATH = f"{BASE_V1}/reports/rpt_65f1c0de8badf00d12345678"
_ITEM = "obs_65f1c0de8badf00d12345678"
_INCIDENT = f"incident:{_ITEM}"


Title = Annotated[str, Doc("The headline."), Example("Port strikes: walkouts spread to Antwerp")]
Summary = Annotated[
    str,
    Doc("The most important sentences, plain text."),
    Example("Dockworkers at Antwerp joined the walkout that began in Rotterdam on Monday."),
]
Language = Annotated[str, Doc("BCP 47 tag of the language."), Example("en")]
SourceNumbers = Annotated[
    tuple[Annotated[int, Ge(1)], ...],
    Doc("The numbers of the sources that say it."),
    Example([1]),
]
StoryId = Annotated[
    str,
    Doc("The story that tells it; the same in signals and graph."),
    Example(_ITEM),
]
FirstReportedAt = Annotated[
    datetime,
    Doc("The earliest date of its sources; without one, when the first was read."),
    Example("2026-01-30T16:05:00Z"),
]
LastReportedAt = Annotated[
    datetime,
    Doc("The latest date of its sources; without one, when the last was read."),
    Example("2026-01-31T05:40:00Z"),
]
NodeId = Annotated[str, Doc("Identifier within this graph.")]
Part = Annotated[float, Ge(0), Le(1)]
Count = Annotated[int, Ge(0)]


@frozen
class Period:
    """The time that a report covers: from `start`, up to `end`."""

    start: Annotated[datetime, Example("2026-01-30T07:30:00Z")]
    """The first instant covered."""
    end: Annotated[datetime, Example("2026-01-31T07:30:00Z")]
    """The first instant after it."""


@frozen
class ReportCounts:
    """How much a report rests on and found."""

    sources: Annotated[Count, Example(1)]
    """Items it cites: the rows of `sources`."""
    signals: Annotated[Count, Example(1)]
    """Signals it found."""
    entities: Annotated[Count, Example(1)]
    """Entities in its graph."""
    incidents: Annotated[Count, Example(1)]
    """Incidents in its graph."""
    publishers: Annotated[Maybe[Count], Example(1)] = UNSET
    """Who published these items; left out in reports from before they were counted."""


@frozen
class ReportLinks:
    """Where the report and its facets are."""

    self_: Annotated[str, Example(_PATH)]
    """Path of the report."""
    audio: Annotated[str | None, Example(None)]
    """Path of its audio; null where there is none."""
    graph: Annotated[str, Example(f"{_PATH}/graph")]
    """Path of its graph."""
    signals: Annotated[str, Example(f"{_PATH}/signals")]
    """Path of its signals."""
    text: Annotated[str, Example(f"{_PATH}/text")]
    """Path of its plain text."""


@frozen
class ReportRow:
    """A report as lists show it."""

    id: ReportId
    profile_id: ProfileId
    title: Title
    summary: Summary
    language: Language
    generated_at: Annotated[datetime, Example("2026-01-31T07:30:04Z")]
    """When it was made."""
    period: Period
    status: Literal["ready"]
    """A report is visible once it is whole."""
    has_audio: Annotated[bool, Example(False)]
    """Whether it has audio."""
    counts: ReportCounts
    links: ReportLinks
    method: Annotated[Maybe[Literal["lexical", "hybrid"]], Example("hybrid")] = UNSET
    """How items about the subject were found: by their words, or by words and meaning. Meaning
    needs an embedding model and the vectors of the items, which are computed soon after they come
    in. Left out in reports from before it was recorded."""


@frozen
class ReportSource:
    """One cited item."""

    number: Annotated[int, Ge(1), Example(1)]
    """The number that citations use."""
    id: Annotated[str, Example(_ITEM)]
    """Of the news item, event, incident, vulnerability or signal."""
    title: Annotated[str, Example("Antwerp dockworkers join walkout")]
    """Its headline."""
    url: Annotated[str | None, Example("https://news.example.com/antwerp-dockworkers-join-walkout")]
    """Its address; null where the source gives none."""
    name: Annotated[str, Example("The Quayside Ledger")]
    """Who published it."""
    published_at: Annotated[datetime | None, Example("2026-01-31T05:40:00Z")]
    """When it was published; null where the source does not say."""


@frozen
class Statement:
    """One sentence and the numbers of the sources that say it."""

    text: Annotated[
        str, Example("Dockworkers at Antwerp joined the walkout that began in Rotterdam on Monday.")
    ]
    """The sentence."""
    citations: SourceNumbers
    also_reported_by: Annotated[tuple[Annotated[int, Ge(1)], ...], Example([])] = ()
    """The numbers of sources of other publishers that report it in words of their own."""
    same_event: Annotated[tuple[Annotated[int, Ge(1)], ...], Example([])] = ()
    """The numbers of the other sources on the same event."""


def numbers_of(line: Statement) -> tuple[int, ...]:
    """The numbers of all sources that stand beside a sentence."""
    return (*line.citations, *line.also_reported_by, *line.same_event)


@frozen
class Section:
    """One story of the report; `citations` are all its sources, marked ones or not."""

    id: str
    heading: str
    statements: tuple[Statement, ...]
    citations: tuple[int, ...]
    topics: tuple[str, ...]


@frozen
class SignalConfidence:
    """The parts of a signal's confidence, each from 0 to 1."""

    source_diversity: Annotated[Part, Example(0.5)]
    """How many publishers report it; 1 from three on."""
    trigger_strength: Annotated[Part, Example(1.0)]
    """How plainly the words say it."""
    recency: Annotated[Part, Example(0.9)]
    """How late in the period it was reported."""
    specificity: Annotated[Part, Example(0.667)]
    """How many of who, where and when are told."""


@frozen
class SignalParty:
    """To whom it happened."""

    name: Annotated[str, Example("Port of Antwerp")]
    """The name as the sources write it."""
    type: Annotated[str, Example("organization")]
    """What kind of entity it is."""


@frozen
class SignalPlace:
    """Where it happened."""

    name: Annotated[str, Example("Antwerp")]
    """The place as the sources write it."""
    country_code: CountryCode


@frozen
class ReportSignal:
    """What happened, to whom, when, where, and how sure that is."""

    id: Annotated[str, Example("sig_65f1c0de8badf00d12345678")]
    """Identifier of the signal."""
    type: Annotated[str, Example("strike")]
    """What kind of event it is."""
    title: Annotated[str, Example("Antwerp dockworkers join walkout")]
    """The headline."""
    summary: Annotated[
        str, Example("Dockworkers at Antwerp joined the walkout that began in Rotterdam on Monday.")
    ]
    """The sentence that tells it best."""
    tags: Annotated[tuple[str, ...], Example(["labour"])]
    """Fields it belongs to."""
    direction: Annotated[str, Example("down")]
    """Where such events usually point: `up`, `down` or `none`."""
    entities: tuple[SignalParty, ...]
    """To whom it happened."""
    places: tuple[SignalPlace, ...]
    """Where it happened."""
    occurred_date: Annotated[str | None, Example("2026-01-30")]
    """A date that the text states, else null."""
    first_reported_at: FirstReportedAt
    last_reported_at: LastReportedAt
    confidence: Annotated[Part, Example(0.74)]
    """The weighted sum of its parts."""
    confidence_parts: SignalConfidence
    source_count: Annotated[int, Example(1)]
    """Publishers that report it."""
    story_id: StoryId
    citations: SourceNumbers
    statement: Annotated[
        str, Example("Signal “strike” about Port of Antwerp. Its 74 points ...")
    ] = ""
    """What is signalled, about whom, since when, and what the confidence counts, in words; empty
    for reports of before there was one."""


@frozen
class ReportNode:
    """A thing in the graph: the report, an incident, an entity or a source."""

    id: Annotated[NodeId, Example("entity:antwerp")]
    type: Annotated[str, Example("entity")]
    """`report`, `incident`, `entity` or `source`."""
    kind: Annotated[str | None, Example("place")]
    """What kind of entity; null for other nodes."""
    label: Annotated[str, Example("Antwerp")]
    """What to write beside it."""
    country_code: CountryCode
    degree: Annotated[int, Example(1)]
    """How many edges it has."""
    entity_id: Annotated[EntityId | None, Example(None)] = None
    """The entity that it is, as far as its name tells; null for others."""


@frozen
class ReportEdge:
    """A tie between two nodes of the same graph, with the sources that show it."""

    id: Annotated[NodeId, Example(f"mentions:{_INCIDENT}>entity:antwerp")]
    type: Annotated[str, Example("mentions")]
    """`reports`, `mentions`, `reportedBy` or `coMentioned`."""
    source_id: Annotated[str, Example(_INCIDENT)]
    """The node it starts from."""
    target_id: Annotated[str, Example("entity:antwerp")]
    """The node it leads to."""
    directed: Annotated[bool, Example(True)]
    """False where both ends are equal."""
    weight: Annotated[int, Example(1)]
    """How often the sources show it."""
    citations: SourceNumbers


@frozen
class IncidentAnchor:
    """A story as the place where the graph meets the world: its node, when, and its sources."""

    node_id: Annotated[str, Example(_INCIDENT)]
    """The incident's node."""
    story_id: StoryId
    title: Annotated[str, Example("Antwerp dockworkers join walkout")]
    """The headline."""
    first_reported_at: FirstReportedAt
    last_reported_at: LastReportedAt
    citations: SourceNumbers


@frozen
class GraphCounts:
    """How many of each a graph has."""

    nodes: Annotated[int, Example(1)]
    """Nodes."""
    edges: Annotated[int, Example(1)]
    """Edges."""
    incident_anchors: Annotated[int, Example(1)]
    """Incident anchors."""
    citations: Annotated[int, Example(1)]
    """Cited items."""


Nodes = Annotated[tuple[ReportNode, ...], Doc("The report, incidents, entities and sources.")]
Edges = Annotated[tuple[ReportEdge, ...], Doc("The ties between the nodes.")]
Anchors = Annotated[tuple[IncidentAnchor, ...], Doc("The incidents, with when and by whom.")]
Sources = Annotated[tuple[ReportSource, ...], Doc("The cited items, by number.")]
Signals = Annotated[tuple[ReportSignal, ...], Doc("What happened, the most certain first.")]
Truncated = Annotated[bool, Doc("Whether some nodes or edges were left out."), Example(False)]


@frozen
class ReportGraph:
    """A report-local graph; both ends of every edge are among its nodes."""

    nodes: Nodes
    edges: Edges
    incident_anchors: Anchors
    citations: Sources
    counts: GraphCounts
    truncated: Truncated


@frozen
class ReportContent:
    """The report's text in both markups."""

    html: Annotated[str, Example("<h1>Port strikes</h1>\n<p>...</p>\n")]
    """A fragment of a page, without scripts."""
    markdown: Annotated[str, Example("# Port strikes\n\n...\n")]
    """CommonMark."""


@frozen
class ReportWords:
    """All that a report says below its title, and the sources that its citations number.

    `notes` are what a reader has to know of the sources as a whole, in the report's own words.
    """

    opening: tuple[Statement, ...]
    key_points: tuple[Statement, ...]
    sections: tuple[Section, ...]
    briefs: tuple[Statement, ...]
    sources: tuple[ReportSource, ...]
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    language: str = field(default="en", kw_only=True)


@frozen
class ReportFacets(ReportWords):
    """Everything of a report that is not in its row, stored beside it.

    `signals` and `graph` are null for reports that were made before these were extracted;
    `digest` is the SHA-256 of the words and citations, by which a repetition is recognised.
    `frequencies` is the version of the table of frequencies that it was made with, `embedding` the
    model of meaning, null for words alone: the same items with the same versions give the same
    bytes. They are empty for reports of before there were any.
    """

    report_id: ReportId
    digest: str
    signals: tuple[ReportSignal, ...] | None
    graph: ReportGraph | None
    content: ReportContent
    text: str
    frequencies: str = ""
    embedding: str | None = None


@frozen
class ReportDetail(ReportRow):
    """A report with the expansions that were asked for."""

    content: Maybe[ReportContent] = UNSET
    """With `include=content`."""
    sources: Maybe[tuple[ReportSource, ...]] = UNSET
    """With `include=sources`: the cited items, by number."""
    signals: Maybe[tuple[ReportSignal, ...]] = UNSET
    """With `include=signals`: what happened, the surest first."""
    graph: Maybe[ReportGraph | None] = UNSET
    """With `include=graph`; null for reports made before graphs were."""
    audio: Maybe[AudioFacet | None] = UNSET
    """With `include=audio`; null for a report that has none."""


REPORTS: Collection[ReportRow] = Collection(
    name="reports",
    model=ReportRow,
    prefix="rpt",
    order=lambda report: micros(report.generated_at),
    keys=attribute_keys("profile_id"),
    kind="report",
)

FACETS: Collection[ReportFacets] = Collection(
    name="report_facets", model=ReportFacets, prefix="rpt", order=lambda _: 0
)
