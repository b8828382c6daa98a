"""The rows of signals: what detectors found in the rows of sources, with the evidence for it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from attrs import frozen

from svc_core.base.unset import UNSET, Maybe
from svc_core.intel.economy.market import MarketId
from svc_core.intel.entities.model import EntityRef
from svc_core.operation.declaration import QUERY
from svc_core.operation.filters import FilterFields, FilterValues, sort_orders
from svc_core.operation.members import (
    CreatedAt,
    EntityId,
    IncidentId,
    PageRequest,
    ReportId,
    Share,
    SignalId,
    UpdatedAt,
    micros,
)
from svc_core.operation.period import TimeFilter, UpdatedSince
from svc_core.operation.ports import BASE_V2, Collection
from svc_core.operation.source_members import Place, SourceRef
from svc_core.search.field_index import FieldIndex
from svc_core.wire.constraints import Example, Ge, IdOf, Pattern

SignalType = Literal[
    "volumeSpike", "toneShift", "convergence", "escalation", "kevAdded", "kevRansomware",
    "epssJump", "criticalCve", "sanctionListed", "sanctionDelisted", "marketMove",
    "indicatorSurprise", "filing8k105", "sourceSilence",
]  # fmt: skip
SignalStatus = Literal["active", "expired", "dismissed"]
Direction = Literal["up", "down", "none"]

STRENGTH_STEPS = 1_000  # a strength is indexed in whole thousandths
NEVER = 2**62  # the end of a dismissed signal in the index that sorts them behind all others


@frozen
class SignalDetector:
    """What found a signal, and by which numbers."""

    name: Annotated[str, Example("epssJump")]
    """The detector."""
    version: Annotated[str, Example("1")]
    """Its version; other rules have another one."""
    parameters: Annotated[Mapping[str, Any], Example({"deltaMin": 0.2})]
    """Its numbers."""


@frozen
class SignalWindow:
    """The time that a signal is about; null is open."""

    start: Annotated[datetime | None, Example("2026-01-30T00:00:00Z")]
    """From when."""
    end: Annotated[datetime | None, Example("2026-01-31T00:00:00Z")]
    """Until when."""


@frozen
class SignalEvidence:
    """What was measured against what; null is what a detector does not measure."""

    observed: Annotated[float | None, Example(0.71)] = None
    """What was measured."""
    baseline: Annotated[float | None, Example(0.04)] = None
    """What it was or usually is."""
    z_score: float | None = None
    """How many standard deviations it is off."""
    window: SignalWindow | None = None
    """The time that it is about."""
    threshold: Annotated[float | None, Example(0.2)] = None
    """What it had to reach."""


@frozen(kw_only=True)
class Signal:
    """Something that stands out, how strongly, and why."""

    id: SignalId
    type: Annotated[SignalType, Example("epssJump")]
    """What was found."""
    tags: Annotated[tuple[str, ...], Example(["cyber"])]
    """Fields, and topics of news."""
    title: Annotated[str, Example("CVE-2026-0001: EPSS 0.04 to 0.71")]
    """In one line."""
    summary: Annotated[str | None, Example(None)] = None
    """In more words; null for none."""
    direction: Annotated[Direction, Example("up")]
    """Where what was measured went."""
    strength: Annotated[Share, Example(0.97)]
    """From 0 to 1, by the formula of its type."""
    detector: SignalDetector
    evidence: SignalEvidence | None
    """Null where nothing was measured."""
    entities: tuple[EntityRef, ...] = ()
    """Who is involved, as far as known."""
    incident_ids: Annotated[tuple[IncidentId, ...], Example([])] = ()
    """The incidents."""
    market_ids: Annotated[tuple[MarketId, ...], Example([])] = ()
    """The prediction markets."""
    observation_ids: Annotated[
        tuple[Annotated[str, IdOf("obs", "fin", noun="observation")], ...], Example([])
    ] = ()
    """The news items, events, filings or values of indicators that it was read from: of one kind,
    which follows from its type."""
    place: Place | None = None
    """Where; null where it is about no place."""
    source_count: Annotated[int, Ge(0), Example(1)]
    """How many sources tell of it."""
    detected_at: Annotated[datetime, Example("2026-01-31T00:00:00Z")]
    """The end of its evidence."""
    expires_at: Annotated[datetime | None, Example("2026-02-07T00:00:00Z")]
    """Until when it is active."""
    status: SignalStatus = "active"
    """`dismissed` by hand, or by `expiresAt`."""
    report_id: ReportId | None = None
    """The report that it was made for."""
    sources: tuple[SourceRef, ...]
    """What it was read from, ten at most."""
    created_at: CreatedAt
    updated_at: UpdatedAt
    revision: Annotated[int, Ge(1), Example(1)]
    """Counts its versions from 1."""


def _end(signal: Signal, dismissed_end: int) -> int | None:
    if signal.status == "dismissed":
        return dismissed_end
    return None if signal.expires_at is None else micros(signal.expires_at)


WORDS: FieldIndex[Signal] = FieldIndex(
    lambda signal: {"title": [signal.title], "summary": [signal.summary or ""]}
)

_SIGNAL = FilterFields[Signal]()
_Tag = Annotated[str, Pattern("[A-Za-z-]{1,40}", "a tag such as cyber")]


@frozen
class ListSignals(PageRequest):
    """Signals of every detector."""

    type: Annotated[FilterValues[SignalType], Example(["kevAdded", "epssJump"])] = _SIGNAL.key(
        lambda signal: signal.type
    )
    """Types."""
    tag: Annotated[FilterValues[_Tag], Example(["cyber", "markets"])] = _SIGNAL.facet(
        lambda signal: signal.tags
    )
    """Tags."""
    min_strength: Annotated[Maybe[Share], QUERY] = _SIGNAL.at_least(
        lambda signal: signal.strength, "strength", STRENGTH_STEPS
    )
    """Only signals of at least this strength."""
    entity_id: FilterValues[EntityId] = _SIGNAL.facet(
        lambda signal: [ref.entity_id for ref in signal.entities], "entity"
    )
    """Comma list of entities."""
    incident_id: FilterValues[IncidentId] = _SIGNAL.facet(
        lambda signal: signal.incident_ids, "incident"
    )
    """Comma list of incidents."""
    status: Annotated[FilterValues[SignalStatus], Example(["active"])] = UNSET
    """States."""
    datetime: TimeFilter = _SIGNAL.within()
    updated_since: UpdatedSince = _SIGNAL.later(lambda signal: signal.updated_at, "updated")
    sort: Annotated[Literal["detectedAt", "strength"], QUERY] = sort_orders(
        "detectedAt", strength="strength"
    )
    """The latest or the strongest come first."""


SIGNALS: Collection[Signal] = Collection(
    name="signals",
    model=Signal,
    prefix="sig",
    order=lambda signal: micros(signal.detected_at),
    scope="global",
    **_SIGNAL.indexes(
        ListSignals,
        numbers={
            "end": lambda signal: _end(signal, NEVER),
            "ended": lambda signal: _end(signal, -NEVER),
        },
    ),
    search=WORDS,
    form=2,
    kind="signal",
    base=BASE_V2,
)
"""A signal has three states, of which two are stored: `active` and `dismissed`. `expired` is an
active one whose end has passed, which every reader tells by the clock, so no job has to rewrite
rows. The number `end` sorts dismissed signals after all others and `ended` before them; so any one
or two of the states are one range of one of the two numbers. Entities are stored as references
(`svc_core.intel.entities.directory`)."""


@frozen
class MarketPoints:
    """The probabilities of one outcome of a market in the last day, the earliest first.

    A point is a time in microseconds since 1970 and a probability from 0 to 1.
    """

    id: str
    label: str | None
    points: tuple[tuple[int, float], ...] = ()


MARKET_POINTS: Collection[MarketPoints] = Collection(
    name="market_points",
    model=MarketPoints,
    prefix="mkt",
    order=lambda _: 0,
    scope="global",
)


@frozen
class DetectionDue:
    """A marker for a topic, series or cell that detectors must read again, as its rows changed."""

    id: str
    subject: str
    key: str


DETECTIONS_DUE: Collection[DetectionDue] = Collection(
    name="detections_due",
    model=DetectionDue,
    prefix="sig",
    order=lambda _: 0,
    scope="global",
)

DETECTION_REVIEWS: Collection[DetectionDue] = Collection(
    name="detection_reviews", model=DetectionDue, prefix="", order=lambda _: 0, scope="system"
)
"""By which rules the signals of this store were reviewed."""
