"""Incidents: what happened, each once, folded of all events, news items and reports about it."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from attrs import frozen

from svc_core.base.unset import UNSET, Maybe, Unset
from svc_core.intel.events.model import (
    CONFIDENCE_STEPS,
    Cameo,
    Categories,
    Category,
    DatePrecision,
    gravity,
)
from svc_core.intel.news.model import NewsItem
from svc_core.operation.declaration import QUERY
from svc_core.operation.filters import (
    Countries,
    FilterFields,
    FilterValues,
    MinConfidence,
    MinSeverity,
    Providers,
    severities_from,
    sort_orders,
)
from svc_core.operation.members import (
    CreatedAt,
    EntityId,
    IncidentId,
    PageRequest,
    Share,
    UpdatedAt,
    micros,
)
from svc_core.operation.period import AreaFilter, TimeFilter, UpdatedSince
from svc_core.operation.ports import BASE_V2, Collection, Layout
from svc_core.operation.source_members import (
    SEVERITIES,
    Designator,
    Geometry,
    Measurement,
    Place,
    Severity,
    SeverityBasis,
    SourceRef,
    country_at,
    point_at,
)
from svc_core.search import lists
from svc_core.search.field_index import FieldIndex, MatchMember
from svc_core.search.row_names import RowNames
from svc_core.wire.constraints import Example, Ge

Status = Literal["emerging", "active", "monitoring", "closed"]
Role = Literal["actor", "target", "victim", "affected", "mentioned"]


@frozen
class Participant:
    """Who takes part in an incident."""

    entity_id: EntityId | None
    """Who it is; null where nobody looked."""
    role: Annotated[Role, Example("actor")]
    """The part that it plays."""
    name: Annotated[str, Example("Port authority")]
    """As its source names it."""
    reference: Annotated[Maybe[str], Example("name:nato")] = UNSET
    """By what it is known."""


@frozen
class TrackPoint:
    """Where an incident was at a time, and what was measured there."""

    at: Annotated[datetime | None, Example("2026-01-31T00:00:00Z")]
    """When."""
    geometry: Geometry
    measurement: Measurement | None
    """What was measured; null for nothing."""


@frozen(kw_only=True)
class Incident:
    """One incident."""

    id: IncidentId
    title: Annotated[str, Example("M 7.1 earthquake near Esmeraldas, Ecuador")]
    """Of its strongest provider, else the headline that most others resemble."""
    summary: str | None
    """In words of its sources; null where none were given."""
    category: Annotated[Category, Example("disaster")]
    """The group of its type."""
    status: Annotated[Status | None, Example("active")]
    """By the age of its last news: emerging for six hours, active for two days, monitoring for two
    weeks, then closed, which it also is from its end on. Null where no source dates it."""
    severity: Annotated[Severity | None, Example("high")]
    """The gravest harm that a source rates; null where none does."""
    severity_basis: SeverityBasis | None
    """What the severity was read from."""
    confidence: Annotated[Share, Example(0.95)]
    """That one at least of its independent sources is right: 0.9 for those who measure or code
    events, times their own word of certainty; 0.7 for a shared report; 0.5 for each publisher, of
    what a machine read times how sure it was (0.6 where it does not say)."""
    started_at: Annotated[datetime | None, Example("2026-01-31T04:12:09Z")]
    """When it began; of news alone the day of the first report. Null where unknown."""
    last_happened_at: Annotated[datetime | None, Example("2026-01-31T04:12:09Z")] = None
    """The latest time, up to now, to which a source dates it; of news that of the last report. Null
    where none does."""
    ended_at: datetime | None
    """When it ended; null while it lasts or unknown."""
    date_precision: Annotated[DatePrecision | None, Example("instant")]
    """Of `startedAt`; null without one."""
    first_seen_at: Annotated[datetime, Example("2026-01-31T05:52:11Z")]
    """First taken in."""
    last_seen_at: Annotated[datetime, Example("2026-01-31T05:52:11Z")]
    """Last taken in."""
    place: Place | None
    """The most precise that is told; null where none is."""
    measurements: tuple[Measurement, ...]
    """The latest of each metric and provider."""
    cameo: Cameo | None
    """The CAMEO code of its gravest event; null without."""
    designators: tuple[Designator, ...]
    """By which others know it."""
    entities: tuple[Participant, ...]
    """Known entities that take part."""
    article_count: Annotated[int, Ge(0), Example(12)]
    """Addresses of articles about it."""
    source_count: Annotated[int, Ge(1), Example(7)]
    """Registrable domains of what tells of it."""
    observation_count: Annotated[int, Ge(1), Example(14)]
    """Rows that tell of it."""
    observation_ids: tuple[str, ...]
    """Events and news items, the first 100."""
    signal_ids: tuple[str, ...] = ()
    """Signals about it."""
    related_incident_ids: tuple[IncidentId, ...] = ()
    """Incidents of others so near in kind, time and place that they may be the same."""
    merged_ids: tuple[IncidentId, ...] = ()
    """Ids that answer with this row."""
    footprint: Maybe[Geometry] = UNSET
    """With `include=footprint` alone: its area."""
    track: Maybe[tuple[TrackPoint, ...] | None] = UNSET
    """With `include=track` alone: where it was; null where untold."""
    articles: Maybe[tuple[NewsItem, ...]] = UNSET
    """With `include=articles` alone: up to 20, newest first."""
    sources: tuple[SourceRef, ...]
    """What the row was made from, the first 100."""
    created_at: CreatedAt
    updated_at: UpdatedAt
    revision: Annotated[int, Ge(1), Example(1)]
    """Counts its versions from 1."""
    match: MatchMember = UNSET

    @property
    def keys(self) -> tuple[str, ...]:
        """All ids that answer with it, its own first."""
        return self.id, *self.merged_ids


def _references(incident: Incident) -> tuple[str, ...]:
    return tuple(p.reference for p in incident.entities if not isinstance(p.reference, Unset))


def _hazards(incident: Incident) -> tuple[str, ...]:
    """The incidents of hazards to which one of news is related."""
    is_news = any(source.provider == "feed" for source in incident.sources)
    return incident.related_incident_ids if is_news else ()


_RANKS = ("info", None, *SEVERITIES[1:])
"""Severities from the least: what nobody rated is below what was rated low, and may be grave."""
_WEEK = timedelta(weeks=1) // timedelta(milliseconds=1)
_MONDAY = micros(datetime(1, 1, 1, tzinfo=UTC)) // 1_000  # the first day of the calendar was one
_PUBLISHERS_MAX = 999  # more of them order nothing
_RANK_STEP = _WEEK * (_PUBLISHERS_MAX + 1)
_WEEK_STEP = len(_RANKS) * _RANK_STEP


def _order(incident: Incident) -> int:
    """The order of the list: week of the last happening, severity, last happening, publishers.

    An incident of unknown time comes after all others. Times count in milliseconds.
    """
    week = instant = -1
    if incident.last_happened_at is not None:
        elapsed = micros(incident.last_happened_at) // 1_000 - _MONDAY
        week, instant = divmod(elapsed, _WEEK)
    rank = _RANKS.index(incident.severity) * _RANK_STEP
    publishers = min(incident.source_count, _PUBLISHERS_MAX)
    return (week + 1) * _WEEK_STEP + rank + max(instant, 0) * (_PUBLISHERS_MAX + 1) + publishers


WORDS: FieldIndex[Incident] = FieldIndex(
    lambda incident: {
        "title": [incident.title],
        "summary": [incident.summary or ""],
        "place": [] if incident.place is None else [incident.place.name or ""],
        "entities": [participant.name for participant in incident.entities],
    },
    names=lambda incident: RowNames(
        incident.title, (), (item.value for item in incident.designators), prominence=0
    ),
    levels=(0,),
)

_INCIDENT = FilterFields[Incident]()


Extra = Literal["footprint", "track", "articles"]


@frozen
class ListIncidents(PageRequest):
    """Incidents of every kind."""

    category: Categories = _INCIDENT.key(lambda incident: incident.category)
    status: Annotated[FilterValues[Status], Example(["emerging", "active"])] = _INCIDENT.key(
        lambda incident: incident.status
    )
    """Statuses."""
    min_severity: MinSeverity = _INCIDENT.key(
        lambda incident: incident.severity, "severity", choose=severities_from
    )
    min_confidence: MinConfidence = _INCIDENT.at_least(
        lambda incident: incident.confidence, "confidence", CONFIDENCE_STEPS
    )
    entity_id: FilterValues[EntityId] = _INCIDENT.facet(_references, "entity")
    """Comma list of entities that take part."""
    provider: Providers = _INCIDENT.facet(
        lambda incident: [source.provider for source in incident.sources]
    )
    min_sources: Annotated[Maybe[int], QUERY, Ge(1)] = _INCIDENT.at_least(
        lambda incident: incident.source_count, "publishers"
    )
    """Publishers at least."""
    country: Countries = _INCIDENT.key(lambda incident: country_at(incident.place), form=str.upper)
    bbox: AreaFilter = _INCIDENT.area(lambda incident: incident.place)
    datetime: TimeFilter = _INCIDENT.within(lambda incident: incident.started_at, "started")
    updated_since: UpdatedSince = _INCIDENT.later(lambda incident: incident.updated_at, "updated")
    q: lists.Q = UNSET
    sort: Annotated[Maybe[Literal["lastSeenAt", "startedAt", "severity", "updatedAt"]], QUERY] = (
        sort_orders(lastSeenAt="seen", startedAt="started", severity="gravity", updatedAt="updated")
    )
    """The order: latest or most severe first. Without it, incidents of the latest week (from
    Monday, UTC) come first, and in a week the most severe, then the latest, then those that most
    publishers report."""
    include: Annotated[FilterValues[Literal["match", Extra]], Example(["track"])] = UNSET
    """`match` says, with `q`, why each row was found; the others add parts of an incident."""


INCIDENTS: Collection[Incident] = Collection(
    name="incidents",
    model=Incident,
    prefix="inc",
    order=_order,
    scope="global",
    layout=Layout(is_compressed=True),
    **_INCIDENT.indexes(
        ListIncidents,
        facets={"key": lambda incident: incident.keys, "hazard": _hazards},
        numbers={
            "gravity": lambda incident: gravity(incident.severity, incident.last_happened_at),
            "seen": lambda incident: micros(incident.last_seen_at),
        },
    ),
    place=lambda incident: point_at(incident.place),
    search=WORDS,
    form=4,
    kind="incident",
    base=BASE_V2,
)
"""`key` finds a row by any id that it answers to; `entity` holds
references, of which `svc_core.intel.entities.directory` tells whom they mean."""


@frozen
class IncidentDue:
    """An incident that is to be folded again: its members changed, or its status may change."""

    id: IncidentId
    at: datetime


INCIDENTS_DUE: Collection[IncidentDue] = Collection(
    name="incidents_due",
    model=IncidentDue,
    prefix="inc",
    order=lambda due: micros(due.at),
    scope="system",
)
