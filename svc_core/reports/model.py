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
GeneratedAt = Annotated[datetime, Doc("When it was made."), Example("2026-01-31T07:30:04Z")]
Status = Annotated[Literal["ready"], Doc("A report is visible once it is whole.")]
HasAudio = Annotated[bool, Doc("Whether it has audio."), Example(False)]
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

    start: Annotated[datetime, Doc("The first instant covered."), Example("2026-01-30T07:30:00Z")]
    end: Annotated[datetime, Doc("The first instant after it."), Example("2026-01-31T07:30:00Z")]


@frozen
class ReportCounts:
    """How much a report rests on and found."""

    sources: Annotated[Count, Doc("Items it cites: the rows of `sources`."), Example(1)]
    signals: Annotated[Count, Doc("Signals it found."), Example(1)]
    entities: Annotated[Count, Doc("Entities in its graph."), Example(1)]
    incidents: Annotated[Count, Doc("Incidents in its graph."), Example(1)]
    publishers: Annotated[
        Maybe[Count],
        Doc("Who published these items; left out in reports from before they were counted."),
        Example(1),
    ] = UNSET


@frozen
class ReportLinks:
    """Where the report and its facets are."""

    self_: Annotated[str, Doc("Path of the report."), Example(_PATH)]
    audio: Annotated[str | None, Doc("Path of its audio; null where there is none."), Example(None)]
    graph: Annotated[str, Doc("Path of its graph."), Example(f"{_PATH}/graph")]
    signals: Annotated[str, Doc("Path of its signals."), Example(f"{_PATH}/signals")]
    text: Annotated[str, Doc("Path of its plain text."), Example(f"{_PATH}/text")]


@frozen
class ReportRow:
    """A report as lists show it."""

    id: ReportId
    profile_id: ProfileId
    title: Title
    summary: Summary
    language: Language
    generated_at: GeneratedAt
    period: Period
    status: Status
    has_audio: HasAudio
    counts: ReportCounts
    links: ReportLinks


@frozen
class ReportSource:
    """One cited item."""

    number: Annotated[int, Ge(1), Doc("The number that citations use."), Example(1)]
    id: Annotated[
        str, Doc("Of the news item, event, incident, vulnerability or signal."), Example(_ITEM)
    ]
    title: Annotated[str, Doc("Its headline."), Example("Antwerp dockworkers join walkout")]
    url: Annotated[
        str | None,
        Doc("Its address; null where the source gives none."),
        Example("https://news.example.com/antwerp-dockworkers-join-walkout"),
    ]
    name: Annotated[str, Doc("Who published it."), Example("The Quayside Ledger")]
    published_at: Annotated[
        datetime | None,
        Doc("When it was published; null where the source does not say."),
        Example("2026-01-31T05:40:00Z"),
    ]


@frozen
class Statement:
    """One sentence and the numbers of the sources that say it."""

    text: Annotated[
        str,
        Doc("The sentence."),
        Example("Dockworkers at Antwerp joined the walkout that began in Rotterdam on Monday."),
    ]
    citations: SourceNumbers
    also_reported_by: Annotated[
        tuple[Annotated[int, Ge(1)], ...],
        Doc("The numbers of further sources of the same story, which do not say this sentence."),
        Example([]),
    ] = ()


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

    source_diversity: Annotated[
        Part, Doc("How many publishers report it; 1 from three on."), Example(0.5)
    ]
    trigger_strength: Annotated[Part, Doc("How plainly the words say it."), Example(1.0)]
    recency: Annotated[Part, Doc("How late in the period it was reported."), Example(0.9)]
    specificity: Annotated[Part, Doc("How many of who, where and when are told."), Example(0.667)]


@frozen
class SignalParty:
    """To whom it happened."""

    name: Annotated[str, Doc("The name as the sources write it."), Example("Port of Antwerp")]
    type: Annotated[str, Doc("What kind of entity it is."), Example("organization")]


@frozen
class SignalPlace:
    """Where it happened."""

    name: Annotated[str, Doc("The place as the sources write it."), Example("Antwerp")]
    country_code: CountryCode


@frozen
class ReportSignal:
    """What happened, to whom, when, where, and how sure that is."""

    id: Annotated[str, Doc("Identifier of the signal."), Example("sig_65f1c0de8badf00d12345678")]
    type: Annotated[str, Doc("What kind of event it is."), Example("strike")]
    title: Annotated[str, Doc("The headline."), Example("Antwerp dockworkers join walkout")]
    summary: Annotated[
        str,
        Doc("The sentence that tells it best."),
        Example("Dockworkers at Antwerp joined the walkout that began in Rotterdam on Monday."),
    ]
    tags: Annotated[tuple[str, ...], Doc("Fields it belongs to."), Example(["labour"])]
    direction: Annotated[
        str, Doc("Where such events usually point: `up`, `down` or `none`."), Example("down")
    ]
    entities: Annotated[tuple[SignalParty, ...], Doc("To whom it happened.")]
    places: Annotated[tuple[SignalPlace, ...], Doc("Where it happened.")]
    occurred_date: Annotated[
        str | None, Doc("A date that the text states, else null."), Example("2026-01-30")
    ]
    first_reported_at: FirstReportedAt
    last_reported_at: LastReportedAt
    confidence: Annotated[Part, Doc("The weighted sum of its parts."), Example(0.74)]
    confidence_parts: SignalConfidence
    source_count: Annotated[int, Doc("Publishers that report it."), Example(1)]
    story_id: StoryId
    citations: SourceNumbers


@frozen
class ReportNode:
    """A thing in the graph: the report, an incident, an entity or a source."""

    id: Annotated[NodeId, Example("entity:antwerp")]
    type: Annotated[str, Doc("`report`, `incident`, `entity` or `source`."), Example("entity")]
    kind: Annotated[str | None, Doc("What kind of entity; null for other nodes."), Example("place")]
    label: Annotated[str, Doc("What to write beside it."), Example("Antwerp")]
    country_code: CountryCode
    degree: Annotated[int, Doc("How many edges it has."), Example(1)]
    entity_id: Annotated[
        EntityId | None,
        Doc("The entity that it is, as far as its name tells; null for others."),
        Example(None),
    ] = None


@frozen
class ReportEdge:
    """A tie between two nodes of the same graph, with the sources that show it."""

    id: Annotated[NodeId, Example(f"mentions:{_INCIDENT}>entity:antwerp")]
    type: Annotated[
        str,
        Doc("`reports`, `mentions`, `reportedBy` or `coMentioned`."),
        Example("mentions"),
    ]
    source_id: Annotated[str, Doc("The node it starts from."), Example(_INCIDENT)]
    target_id: Annotated[str, Doc("The node it leads to."), Example("entity:antwerp")]
    directed: Annotated[bool, Doc("False where both ends are equal."), Example(True)]
    weight: Annotated[int, Doc("How often the sources show it."), Example(1)]
    citations: SourceNumbers


@frozen
class IncidentAnchor:
    """A story as the place where the graph meets the world: its node, when, and its sources."""

    node_id: Annotated[str, Doc("The incident's node."), Example(_INCIDENT)]
    story_id: StoryId
    title: Annotated[str, Doc("The headline."), Example("Antwerp dockworkers join walkout")]
    first_reported_at: FirstReportedAt
    last_reported_at: LastReportedAt
    citations: SourceNumbers


@frozen
class GraphCounts:
    """How many of each a graph has."""

    nodes: Annotated[int, Doc("Nodes."), Example(1)]
    edges: Annotated[int, Doc("Edges."), Example(1)]
    incident_anchors: Annotated[int, Doc("Incident anchors."), Example(1)]
    citations: Annotated[int, Doc("Cited items."), Example(1)]


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

    html: Annotated[
        str,
        Doc("A fragment of a page, without scripts."),
        Example("<h1>Port strikes</h1>\n<p>...</p>\n"),
    ]
    markdown: Annotated[str, Doc("CommonMark."), Example("# Port strikes\n\n...\n")]


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

    content: Annotated[Maybe[ReportContent], Doc("With `include=content`.")] = UNSET
    sources: Annotated[
        Maybe[tuple[ReportSource, ...]], Doc("With `include=sources`: the cited items, by number.")
    ] = UNSET
    signals: Annotated[
        Maybe[tuple[ReportSignal, ...]],
        Doc("With `include=signals`: what happened, the surest first."),
    ] = UNSET
    graph: Annotated[
        Maybe[ReportGraph | None],
        Doc("With `include=graph`; null for reports made before graphs were."),
    ] = UNSET
    audio: Annotated[
        Maybe[AudioFacet | None],
        Doc("With `include=audio`; null for a report that has none."),
    ] = UNSET


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
