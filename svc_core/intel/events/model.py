"""The rows of OSINT events: what happened, where and when, as reported by a data provider."""

from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any, Literal

from attrs import frozen

from svc_core.base import ids
from svc_core.base.unset import UNSET, Maybe
from svc_core.intel.linking.articles import incident_of_article
from svc_core.operation.declaration import QUERY
from svc_core.operation.filters import (
    Countries,
    FilterFields,
    FilterValues,
    MinConfidence,
    MinSeverity,
    Providers,
    Types,
    severities_from,
    sort_orders,
)
from svc_core.operation.members import (
    CountryCode,
    CreatedAt,
    IncidentId,
    ObservationId,
    PageRequest,
    UpdatedAt,
    micros,
    micros_or_undated,
)
from svc_core.operation.period import AreaFilter, Since, TimeFilter, Until, UpdatedSince
from svc_core.operation.ports import Collection
from svc_core.operation.source_members import (
    SEVERITIES,
    Confidence,
    Designator,
    Measurement,
    Place,
    Severity,
    SeverityBasis,
    SourceRef,
    country_at,
    point_at,
)
from svc_core.search.field_index import FieldIndex
from svc_core.wire.constraints import Doc, Example, Ge, MaxLen

Category = Literal[
    "conflict",
    "unrest",
    "terrorism",
    "disaster",
    "accident",
    "crime",
    "cyber",
    "political",
    "economic",
    "health",
    "infrastructure",
    "other",
]
Categories = Annotated[
    FilterValues[Category], Doc("Comma list of categories."), Example(["disaster", "conflict"])
]
IncludeRaw = Annotated[
    Maybe[tuple[Literal["raw"], ...]],
    QUERY,
    MaxLen(1),
    Doc("`raw`: with the record that the strongest source of the event published."),
]
DatePrecision = Literal["instant", "day", "week", "month", "year"]
MACHINE = "gdelt"
"""The provider that codes news by machine and so reports one event in many rows."""
CONFIDENCE_STEPS = 1_000_000  # a confidence is kept as a whole number of millionths
_SEVERITY_STEP = 10**18  # more than the microseconds of all years


@frozen
class Cameo:
    """A coded event (CAMEO), as GDELT writes it."""

    event_code: Annotated[str, Example("190")]
    """The full code."""
    root_code: Annotated[str, Example("19")]
    """Its root."""
    quad_class: Annotated[int | None, Example(4)] = None
    """1 and 2 are cooperation, 3 and 4 conflict."""
    goldstein: Annotated[float | None, Example(-10.0)] = None
    """From -10 to 10."""


@frozen
class EventActor:
    """Somebody who takes part in an event."""

    name: Annotated[str | None, Example("Port authority")] = None
    """As the provider writes it."""
    country_code: CountryCode = None
    role: Annotated[str | None, Example("actor")] = None
    """The part that it plays."""


@frozen(kw_only=True)
class OsintEvent:
    """One event as its provider tells it."""

    id: ObservationId
    provider: Annotated[str, Example("usgs")]
    """Who tells of it."""
    type: Annotated[str, Example("earthquake")]
    """What kind of event it is."""
    title: Annotated[str, Example("M 7.1 earthquake near Esmeraldas, Ecuador")]
    """In one line."""
    summary: Annotated[str | None, Example(None)] = None
    """In more words; null where none were given."""
    category: Annotated[Category | None, Example("disaster")] = None
    """The group of its type."""
    occurred_at: Annotated[datetime | None, Example("2026-01-31T04:12:09Z")] = None
    """When it happened, or began; null where that is not known."""
    ended_at: Annotated[datetime | None, Example(None)] = None
    """When it ended; null while it lasts or unknown."""
    date_precision: Annotated[DatePrecision | None, Example("instant")] = None
    """How exactly the time is known."""
    reported_at: Annotated[datetime | None, Example("2026-01-31T04:20:00Z")] = None
    """When its provider first told of it."""
    place: Place | None = None
    """Where; null where nothing is known of it."""
    measurements: tuple[Measurement, ...] | None = None
    """What was measured; null where the provider measures nothing."""
    cameo: Annotated[Cameo | None, Example(None)] = None
    """Its CAMEO code; null for other codings."""
    actors: Annotated[tuple[EventActor, ...] | None, Example(None)] = None
    """Who takes part; null where the provider does not say."""
    severity: Annotated[Severity | None, Example("high")] = None
    """How grave it is; null where nothing tells."""
    severity_basis: SeverityBasis | None = None
    """What the severity was read from."""
    confidence: Confidence = None
    url: Annotated[
        str | None, Example("https://earthquake.usgs.gov/earthquakes/eventpage/us7000abcd")
    ] = None
    """Its page at the provider; null where it has none."""
    incident_id: Annotated[IncidentId | None, Example(None)] = None
    """The incident that it is part of; null for none."""
    designators: tuple[Designator, ...] = ()
    """By which others know it."""
    sources: tuple[SourceRef, ...]
    """What the row was made from."""
    created_at: CreatedAt
    updated_at: UpdatedAt
    revision: Annotated[int, Ge(1), Example(1)]
    """Counts its versions from 1."""
    raw: Maybe[Any] = UNSET
    """With `include=raw` alone: the record that its strongest source published."""

    @property
    def seen_at(self) -> datetime:
        """When it happened, else when it was reported, else when it was stored here."""
        return self.occurred_at or self.reported_at or self.created_at


# -- which incident an event belongs to --------------------------------------------------------


def incident_of(id_: str, provider: str, url: str | None, *coding: str | None) -> str:
    """The id of the incident that an event forms on its own.

    Machine-coded news takes the id of its article, as one article yields several rows of one
    event; without an article, that of its `coding`, which is day, CAMEO root and country, as many
    articles tell of one event. Every other event has an incident id of its own.
    """
    if provider != MACHINE:
        return ids.derived_id("inc", "osintEvent", "", id_)
    code = "|".join(str(part) for part in coding)
    return incident_of_article(url) or ids.derived_id("inc", "coding", "", code)


def home_incident(event: OsintEvent) -> str:
    """The id of the incident that a stored event forms on its own."""
    day = event.occurred_at.date().isoformat() if event.occurred_at else None
    root = event.cameo.root_code if event.cameo else None
    return incident_of(event.id, event.provider, event.url, day, root, country_at(event.place))


def mark(*parts: object) -> str:
    """A short hash of some values: equal where the values are equal."""
    return sha256(repr(parts).encode("utf-8", "replace")).hexdigest()[:24]


def marks_of(event: OsintEvent) -> Iterator[str]:
    """The marks by which events are recognised as one incident, the event's own mark first.

    Events that share a mark belong together. The marks are designators; of machine-coded news they
    are what the event says: who does what to whom, where, on which day.
    """
    yield home_incident(event)
    if event.provider != MACHINE:
        yield from (mark(designator.scheme, designator.value) for designator in event.designators)
        return
    names = {actor.role: actor.name for actor in event.actors or ()}
    place, time = event.place, event.occurred_at
    is_near = place is not None and place.precision not in {"country", "unknown"}
    if event.cameo and time and is_near and {"actor", "target"} <= names.keys():
        day, name = time.date().isoformat(), place and place.name
        yield mark(event.cameo.event_code, names["actor"], names["target"], day, name)


def gravity(severity: Severity | None, at: datetime | None) -> int | None:
    """A sort key by severity, and by time among what is equally severe: the undated comes last."""
    if severity is None:
        return None
    return SEVERITIES.index(severity) * _SEVERITY_STEP + (
        -_SEVERITY_STEP // 2 if at is None else micros(at)
    )


_EVENT = FilterFields[OsintEvent]()


@frozen
class ListEvents(PageRequest):
    """Events of every provider."""

    provider: Providers = _EVENT.key(lambda event: event.provider)
    type: Types = _EVENT.key(lambda event: event.type)
    category: Categories = _EVENT.key(lambda event: event.category)
    country: Countries = _EVENT.key(lambda event: country_at(event.place), form=str.upper)
    severity: Annotated[FilterValues[Severity], Example(["high", "critical"])] = _EVENT.key(
        lambda event: event.severity
    )
    """Comma list of severities."""
    min_severity: MinSeverity = _EVENT.key(index="severity", choose=severities_from)
    min_confidence: MinConfidence = _EVENT.at_least(
        lambda event: event.confidence, "confidence", CONFIDENCE_STEPS
    )
    bbox: AreaFilter = _EVENT.area(lambda event: event.place)
    datetime: TimeFilter = _EVENT.within(
        lambda event: event.occurred_at, "occurred", is_ordered=True
    )
    updated_since: UpdatedSince = _EVENT.later(lambda event: event.updated_at, "updated")
    sort: Annotated[Literal["occurredAt", "updatedAt", "severity"], QUERY] = sort_orders(
        "occurredAt", updatedAt="updated", severity="gravity"
    )
    """The order: latest or most severe first. Undated events come last."""
    include: IncludeRaw = UNSET


@frozen
class ListRegional(PageRequest):
    """Events of an area and a time, the latest first."""

    bbox: AreaFilter = _EVENT.area()
    datetime: TimeFilter = _EVENT.within(index="occurred", is_ordered=True)
    since: Since = UNSET
    until: Until = UNSET
    provider: Providers = _EVENT.key()
    type: Types = _EVENT.key()
    country: Countries = _EVENT.key(form=str.upper)
    min_severity: MinSeverity = _EVENT.key(index="severity", choose=severities_from)


WORDS: FieldIndex[OsintEvent] = FieldIndex(
    lambda event: {
        "title": [event.title],
        "summary": [event.summary or ""],
        "type": [event.type],
        "place": [] if event.place is None else [event.place.name or ""],
        "actors": [actor.name or "" for actor in event.actors or ()],
    }
)

OSINT_EVENTS: Collection[OsintEvent] = Collection(
    name="osint_events",
    model=OsintEvent,
    prefix="obs",
    order=lambda event: micros_or_undated(event.occurred_at),
    scope="global",
    **_EVENT.indexes(
        ListEvents,
        facets={"marks": marks_of},
        numbers={"gravity": lambda event: gravity(event.severity, event.occurred_at)},
    ),
    place=lambda event: point_at(event.place),
    search=WORDS,
    form=3,
    kind="osintEvent",
    path="/osint/events",
)
