"""Reports: the row that lists show and the facets that stand beside it (Spec: Report)."""

from datetime import datetime
from typing import Annotated, Literal

from attrs import frozen

from svc_core.constraints import Doc, Ge, Le
from svc_core.operation import Context
from svc_core.ports import Collection
from svc_core.resources.members import ProfileId, ReportId, micros
from svc_core.unset import UNSET, Maybe


@frozen
class Period:
    """The time that a report covers: from `start`, up to `end`."""

    start: datetime
    end: datetime


@frozen
class ReportCounts:
    """How much a report rests on and found."""

    sources: Annotated[int, Ge(0)]
    signals: Annotated[int, Ge(0)]
    entities: Annotated[int, Ge(0)]
    incidents: Annotated[int, Ge(0)]


@frozen
class ReportLinks:
    """Where the report and its facets are."""

    self_: str
    audio: str | None
    graph: str
    signals: str
    text: str


@frozen
class ReportRow:
    """A report as lists show it."""

    id: ReportId
    profile_id: ProfileId
    title: str
    summary: str
    language: str
    generated_at: datetime
    period: Period
    status: Annotated[Literal["ready"], Doc("A report is visible once it is whole.")]
    has_audio: bool
    counts: ReportCounts
    links: ReportLinks


@frozen
class ReportSource:
    """One cited item."""

    number: Annotated[int, Ge(1), Doc("The number that citations use.")]
    id: str
    title: str
    url: str | None
    name: str
    published_at: datetime | None


@frozen
class Statement:
    """One sentence and the numbers of the sources that say it."""

    text: str
    citations: tuple[int, ...]


@frozen
class Section:
    """One story of the report; `citations` are all its sources, quoted ones or not."""

    id: str
    heading: str
    statements: tuple[Statement, ...]
    citations: tuple[int, ...]
    topics: tuple[str, ...]


@frozen
class SignalConfidence:
    """The parts of a signal's confidence, each from 0 to 1."""

    source_diversity: Annotated[float, Ge(0), Le(1)]
    trigger_strength: Annotated[float, Ge(0), Le(1)]
    recency: Annotated[float, Ge(0), Le(1)]
    specificity: Annotated[float, Ge(0), Le(1)]


@frozen
class SignalParty:
    """To whom it happened."""

    name: str
    type: str


@frozen
class SignalPlace:
    """Where it happened."""

    name: str
    country_code: str | None


@frozen
class ReportSignal:
    """What happened, to whom, when, where, and how sure that is."""

    id: str
    type: str
    title: str
    summary: str
    tags: tuple[str, ...]
    direction: str
    entities: tuple[SignalParty, ...]
    places: tuple[SignalPlace, ...]
    occurred_date: Annotated[str | None, Doc("A date that the text states, else null.")]
    first_reported_at: datetime
    last_reported_at: datetime
    confidence: Annotated[float, Ge(0), Le(1), Doc("The weighted sum of its parts.")]
    confidence_parts: SignalConfidence
    source_count: int
    story_id: str
    citations: tuple[int, ...]


@frozen
class ReportNode:
    """A thing in the graph: the report, an incident, an entity or a source."""

    id: str
    type: str
    kind: Annotated[str | None, Doc("What kind of entity; null for other nodes.")]
    label: str
    country_code: str | None
    degree: int


@frozen
class ReportEdge:
    """A tie between two nodes of the same graph, with the sources that show it."""

    id: str
    type: str
    source_id: str
    target_id: str
    directed: bool
    weight: int
    citations: tuple[int, ...]


@frozen
class IncidentAnchor:
    """A story as the place where the graph meets the world: its node, when, and its sources."""

    node_id: str
    story_id: str
    title: str
    first_reported_at: datetime
    last_reported_at: datetime
    citations: tuple[int, ...]


@frozen
class GraphCounts:
    """How many of each a graph has."""

    nodes: int
    edges: int
    incident_anchors: int
    citations: int


@frozen
class ReportGraph:
    """A report-local graph; both ends of every edge are among its nodes."""

    nodes: tuple[ReportNode, ...]
    edges: tuple[ReportEdge, ...]
    incident_anchors: tuple[IncidentAnchor, ...]
    citations: tuple[ReportSource, ...]
    counts: GraphCounts
    truncated: Annotated[bool, Doc("Whether some nodes or edges were left out.")]


@frozen
class ReportContent:
    """The report's text in both markups."""

    html: str
    markdown: str


@frozen
class ReportFacets:
    """Everything of a report that is not in its row, stored beside it.

    `signals` and `graph` are null for reports that were made before these were extracted;
    `digest` is the SHA-256 of the words and citations, by which a repetition is recognised.
    """

    report_id: ReportId
    digest: str
    opening: tuple[Statement, ...]
    key_points: tuple[Statement, ...]
    sections: tuple[Section, ...]
    briefs: tuple[Statement, ...]
    sources: tuple[ReportSource, ...]
    signals: tuple[ReportSignal, ...] | None
    graph: ReportGraph | None
    content: ReportContent
    text: str


@frozen
class ReportDetail:
    """A report with the expansions that were asked for."""

    id: ReportId
    profile_id: ProfileId
    title: str
    summary: str
    language: str
    generated_at: datetime
    period: Period
    status: Literal["ready"]
    has_audio: bool
    counts: ReportCounts
    links: ReportLinks
    content: Maybe[ReportContent] = UNSET
    sources: Maybe[tuple[ReportSource, ...]] = UNSET
    signals: Maybe[tuple[ReportSignal, ...]] = UNSET
    graph: Annotated[
        Maybe[ReportGraph | None], Doc("Null for reports made before graphs were.")
    ] = UNSET
    audio: Annotated[Maybe[None], Doc("Null: this report has no audio.")] = UNSET


REPORTS: Collection[ReportRow] = Collection(
    name="reports",
    model=ReportRow,
    prefix="rpt",
    order=lambda report: micros(report.generated_at),
    keys={"profile_id": lambda report: report.profile_id},
    kind="report",
    path="/api/v1/reports/{id}",
)

FACETS: Collection[ReportFacets] = Collection(
    name="report_facets", model=ReportFacets, prefix="rpt", order=lambda _: 0
)

FORGET_AT_ONCE = 100  # rows read at a time while a profile's reports are removed


async def forget(ctx: Context, profile_id: str) -> None:
    """Remove every report of a profile, each with a tombstone in the change feed."""
    while True:
        found = await ctx.tx.documents.scan(
            REPORTS, where={"profile_id": (profile_id,)}, limit=FORGET_AT_ONCE
        )
        for row in found.rows:
            await ctx.remove(REPORTS, row.id)
            await ctx.remove(FACETS, row.id)
        if not found.more:
            return
