"""Incidents: what happened, each once, folded of all events, news items and reports about it."""

from datetime import datetime
from typing import Annotated, Literal

from attrs import frozen

from svc_core.base.unset import UNSET, Maybe, Unset
from svc_core.intel.events.model import (
    CONFIDENCE_STEPS,
    SEVERITY_STEP,
    Cameo,
    Categories,
    Category,
    DatePrecision,
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
from svc_core.operation.ports import BASE_V2, Collection
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
from svc_core.wire.constraints import Doc, Example, Ge

Status = Literal["emerging", "active", "monitoring", "closed"]
Role = Literal["actor", "target", "victim", "affected", "mentioned"]


@frozen
class Participant:
    """Who takes part in an incident."""

    entity_id: Annotated[EntityId | None, Doc("Who it is; null where nobody looked.")]
    role: Annotated[Role, Doc("The part that it plays."), Example("actor")]
    name: Annotated[str, Doc("As its source names it."), Example("Port authority")]
    reference: Annotated[Maybe[str], Doc("By what it is known."), Example("name:nato")] = UNSET


@frozen
class TrackPoint:
    """Where an incident was at a time, and what was measured there."""

    at: Annotated[datetime | None, Doc("When."), Example("2026-01-31T00:00:00Z")]
    geometry: Geometry
    measurement: Annotated[Measurement | None, Doc("What was measured; null for nothing.")]


@frozen(kw_only=True)
class Incident:
    """One incident."""

    id: IncidentId
    title: Annotated[
        str,
        Doc("Of its strongest provider, else the headline that most others resemble."),
        Example("M 7.1 earthquake near Esmeraldas, Ecuador"),
    ]
    summary: Annotated[str | None, Doc("In words of its sources; null where none were given.")]
    category: Annotated[Category, Doc("The group of its type."), Example("disaster")]
    status: Annotated[
        Status,
        Doc(
            "By its provider's own word, else by the age of its last news: emerging for six hours, "
            "active for two days, monitoring for two weeks, then closed."
        ),
        Example("active"),
    ]
    severity: Annotated[Severity, Doc("The gravest told; `info` for none."), Example("high")]
    severity_basis: Annotated[SeverityBasis | None, Doc("What the severity was read from.")]
    confidence: Annotated[
        Share,
        Doc(
            "That one at least of its independent sources is right: 0.9 for those who measure or "
            "code events, times their own word of certainty; 0.7 for a shared report; 0.5 for each "
            "publisher, of what a machine read times how sure it was (0.6 where it does not say)."
        ),
        Example(0.95),
    ]
    started_at: Annotated[
        datetime | None,
        Doc("When it began; of news alone the day of the first report. Null where unknown."),
        Example("2026-01-31T04:12:09Z"),
    ]
    ended_at: Annotated[datetime | None, Doc("When it ended; null while it lasts or unknown.")]
    date_precision: Annotated[DatePrecision, Doc("Of `startedAt`."), Example("instant")]
    first_seen_at: Annotated[datetime, Doc("First taken in."), Example("2026-01-31T05:52:11Z")]
    last_seen_at: Annotated[datetime, Doc("Last taken in."), Example("2026-01-31T05:52:11Z")]
    place: Annotated[Place | None, Doc("The most precise that is told; null where none is.")]
    measurements: Annotated[tuple[Measurement, ...], Doc("The latest of each metric and provider.")]
    cameo: Annotated[Cameo | None, Doc("The CAMEO code of its gravest event; null without.")]
    designators: Annotated[tuple[Designator, ...], Doc("By which others know it.")]
    entities: Annotated[tuple[Participant, ...], Doc("Known entities that take part.")]
    article_count: Annotated[int, Ge(0), Doc("Addresses of articles about it."), Example(12)]
    source_count: Annotated[int, Ge(1), Doc("Registrable domains of what tells of it."), Example(7)]
    observation_count: Annotated[int, Ge(1), Doc("Rows that tell of it."), Example(14)]
    observation_ids: Annotated[tuple[str, ...], Doc("Events and news items, the first 100.")]
    signal_ids: Annotated[tuple[str, ...], Doc("Signals about it.")] = ()
    related_incident_ids: Annotated[
        tuple[IncidentId, ...],
        Doc("Incidents of others so near in kind, time and place that they may be the same."),
    ] = ()
    merged_ids: Annotated[tuple[IncidentId, ...], Doc("Ids that answer with this row.")] = ()
    footprint: Annotated[Maybe[Geometry], Doc("With `include=footprint` alone: its area.")] = UNSET
    track: Annotated[
        Maybe[tuple[TrackPoint, ...] | None],
        Doc("With `include=track` alone: where it was; null where untold."),
    ] = UNSET
    articles: Annotated[
        Maybe[tuple[NewsItem, ...]], Doc("With `include=articles` alone: up to 20, newest first.")
    ] = UNSET
    sources: Annotated[tuple[SourceRef, ...], Doc("What the row was made from, the first 100.")]
    created_at: CreatedAt
    updated_at: UpdatedAt
    revision: Annotated[int, Ge(1), Doc("Counts its versions from 1."), Example(1)]
    match: MatchMember = UNSET

    @property
    def keys(self) -> tuple[str, ...]:
        """All ids that answer with it, its own first."""
        return self.id, *self.merged_ids


def _references(incident: Incident) -> tuple[str, ...]:
    return tuple(p.reference for p in incident.entities if not isinstance(p.reference, Unset))


def _gravity(incident: Incident) -> int:
    """The order by severity, then by the last news."""
    return SEVERITIES.index(incident.severity) * SEVERITY_STEP + micros(incident.last_seen_at)


WORDS: FieldIndex[Incident] = FieldIndex(
    lambda incident: {
        "title": [incident.title],
        "summary": [incident.summary or ""],
        "place": [] if incident.place is None else [incident.place.name or ""],
        "entities": [participant.name for participant in incident.entities],
    }
)

_INCIDENT = FilterFields[Incident]()


@frozen
class ListIncidents(PageRequest):
    """Incidents of every kind."""

    category: Categories = _INCIDENT.key(lambda incident: incident.category)
    status: Annotated[FilterValues[Status], Doc("Statuses."), Example(["emerging", "active"])] = (
        _INCIDENT.key(lambda incident: incident.status)
    )
    min_severity: MinSeverity = _INCIDENT.key(
        lambda incident: incident.severity, "severity", choose=severities_from
    )
    min_confidence: MinConfidence = _INCIDENT.at_least(
        lambda incident: incident.confidence, "confidence", CONFIDENCE_STEPS
    )
    entity_id: Annotated[FilterValues[EntityId], Doc("Comma list of entities that take part.")] = (
        _INCIDENT.facet(_references, "entity")
    )
    provider: Providers = _INCIDENT.facet(
        lambda incident: [source.provider for source in incident.sources]
    )
    min_sources: Annotated[Maybe[int], QUERY, Ge(1), Doc("Publishers at least.")] = (
        _INCIDENT.at_least(lambda incident: incident.source_count, "publishers")
    )
    country: Countries = _INCIDENT.key(lambda incident: country_at(incident.place), form=str.upper)
    bbox: AreaFilter = _INCIDENT.area(lambda incident: incident.place)
    datetime: TimeFilter = _INCIDENT.within(lambda incident: incident.started_at, "started")
    updated_since: UpdatedSince = _INCIDENT.later(lambda incident: incident.updated_at, "updated")
    q: lists.Q = UNSET
    sort: Annotated[
        Maybe[Literal["lastSeenAt", "startedAt", "severity", "updatedAt"]],
        QUERY,
        Doc("What comes first: the latest, or the gravest."),
    ] = sort_orders(startedAt="started", severity="gravity", updatedAt="updated")
    include: lists.Include = UNSET


INCIDENTS: Collection[Incident] = Collection(
    name="incidents",
    model=Incident,
    prefix="inc",
    order=lambda incident: micros(incident.last_seen_at),
    scope="global",
    **_INCIDENT.indexes(
        ListIncidents,
        facets={"key": lambda incident: incident.keys},
        numbers={"gravity": _gravity},
    ),
    place=lambda incident: point_at(incident.place),
    search=WORDS,
    kind="incident",
    base=BASE_V2,
)
"""Ordered by the last news. `key` finds a row by any id that it answers to; `entity` holds
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
