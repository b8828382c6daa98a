"""OSINT events: what happened, where and when, as a provider of situation data tells it."""

from datetime import datetime
from typing import Annotated, Any, Literal

from attrs import frozen

from svc_core.constraints import Doc, Example, Ge
from svc_core.ports import Collection
from svc_core.resources.facts import (
    SEVERITIES,
    Confidence,
    Designator,
    Measurement,
    Place,
    Severity,
    SeverityBasis,
    SourceRef,
)
from svc_core.resources.members import (
    CountryCode,
    CreatedAt,
    IncidentId,
    ObservationId,
    UpdatedAt,
    micros,
)

DatePrecision = Literal["instant", "day", "week", "month", "year"]
CONFIDENCE_STEPS = 1_000  # a confidence is kept as a whole number of thousandths


@frozen
class Cameo:
    """A coded event (CAMEO), as GDELT writes it."""

    event_code: Annotated[str, Doc("The full code."), Example("190")]
    root_code: Annotated[str, Doc("Its root."), Example("19")]
    quad_class: Annotated[int | None, Doc("1 and 2 cooperation, 3 and 4 conflict."), Example(4)]
    goldstein: Annotated[float | None, Doc("From -10 to 10."), Example(-10.0)]


@frozen
class EventActor:
    """Somebody who takes part in an event."""

    name: Annotated[str | None, Doc("As the provider writes it."), Example("Government of Ecuador")]
    country_code: CountryCode
    role: Annotated[str | None, Doc("The part that it plays."), Example("actor")]


@frozen
class OsintEvent:
    """One event as its provider tells it."""

    id: ObservationId
    provider: Annotated[str, Doc("Who tells of it."), Example("usgs")]
    type: Annotated[str, Doc("What kind of event it is."), Example("earthquake")]
    title: Annotated[str, Doc("In one line."), Example("M 7.1 earthquake near Esmeraldas")]
    summary: Annotated[str | None, Doc("In more words; null where none were given.")]
    category: Annotated[str | None, Doc("The group of its type."), Example("disaster")]
    occurred_at: Annotated[
        datetime | None,
        Doc("When it happened, or began; null where that is not known."),
        Example("2026-01-31T04:12:09Z"),
    ]
    ended_at: Annotated[datetime | None, Doc("When it ended; null while it lasts or unknown.")]
    date_precision: Annotated[
        DatePrecision | None, Doc("How exactly the time is known."), Example("instant")
    ]
    reported_at: Annotated[
        datetime | None, Doc("When its provider first told of it."), Example("2026-01-31T04:20:00Z")
    ]
    place: Annotated[Place | None, Doc("Where; null where nothing is known of it.")]
    measurements: Annotated[
        tuple[Measurement, ...] | None,
        Doc("What was measured; null where the provider measures nothing."),
    ]
    cameo: Annotated[Cameo | None, Doc("Its CAMEO code; null for other codings.")]
    actors: Annotated[
        tuple[EventActor, ...] | None,
        Doc("Who takes part; null where the provider does not say."),
    ]
    severity: Annotated[
        Severity | None, Doc("How grave it is; null where nothing tells."), Example("high")
    ]
    severity_basis: Annotated[SeverityBasis | None, Doc("What the severity was read from.")]
    confidence: Confidence
    url: Annotated[str | None, Doc("Its page at the provider."), Example(None)]
    incident_id: Annotated[IncidentId | None, Doc("The incident that it is part of; null so far.")]
    designators: Annotated[tuple[Designator, ...], Doc("By which others know it.")]
    sources: Annotated[tuple[SourceRef, ...], Doc("What the row was made from.")]
    created_at: CreatedAt
    updated_at: UpdatedAt
    revision: Annotated[int, Ge(1), Doc("Counts its versions from 1."), Example(1)]

    @property
    def seen_at(self) -> datetime:
        """When it happened, else when it was told of, else when it was taken in."""
        return self.occurred_at or self.reported_at or self.created_at


def _point(event: OsintEvent) -> tuple[float, float] | None:
    geometry: Any = None if event.place is None else event.place.geometry
    if geometry is None or geometry.get("type") != "Point":
        return None
    longitude, latitude, *_ = geometry["coordinates"]
    return longitude, latitude


OSINT_EVENTS: Collection[OsintEvent] = Collection(
    name="osint_events",
    model=OsintEvent,
    prefix="obs",
    order=lambda event: micros(event.seen_at),
    scope="global",
    keys={
        "provider": lambda event: event.provider,
        "type": lambda event: event.type,
        "country": lambda event: None if event.place is None else event.place.country_code,
        "dated": lambda event: None if event.occurred_at is None else "yes",
    },
    numbers={
        "updated": lambda event: micros(event.updated_at),
        "severity": lambda event: (
            None if event.severity is None else SEVERITIES.index(event.severity)
        ),
        "confidence": lambda event: (
            None if event.confidence is None else round(event.confidence * CONFIDENCE_STEPS)
        ),
    },
    place=_point,
    kind="osintEvent",
    path="/osint/events",
)
