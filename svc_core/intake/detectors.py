"""The table of detectors, and how what they find becomes a row.

Rule 1: what is told apart by the same key has the same id, whoever finds it, and is written once:
        a signal says what was the case when it was found, and stays dismissed.
Rule 2: a strength is `base + slope * measure`, at most 1; the numbers stand in the row. What the
        measure is, each detector says.
Rule 3: of one type there are at most `DAY_MAX` signals a day, by the day on which it was the case;
        what is beyond is left out, so that a change of a whole catalogue drowns nothing.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from attrs import field, frozen

from svc_core import ids, instants, wire
from svc_core.intake.contributions import Contribution
from svc_core.operation import Context
from svc_core.resources.entity import EntityRef
from svc_core.resources.facts import Place, SourceRef
from svc_core.resources.members import micros
from svc_core.resources.signal import (
    SIGNALS,
    Direction,
    Signal,
    SignalDetector,
    SignalEvidence,
    SignalType,
)

DAY_MAX = 500
SOURCES_MAX, OBSERVATIONS_MAX = 10, 50
DIGITS = 4  # of strengths and of what was measured


@frozen
class Detector:
    """How signals of one type are found: of which rows, by which numbers; active for `hours`.

    `base` and `slope` make the strength. Another `version` has other rules.
    """

    type: SignalType
    reads: str
    hours: float
    tags: tuple[str, ...]
    base: float
    slope: float
    numbers: Mapping[str, Any] = field(factory=dict)
    version: str = "1"

    @property
    def parameters(self) -> dict[str, Any]:
        """The numbers that it goes by, as its rows tell them."""
        hours = {"activeHours": self.hours}
        return {**self.numbers, **hours, "strengthBase": self.base, "strengthSlope": self.slope}

    def strength(self, measure: float) -> float:
        """From 0 to 1; the more, the larger the measure."""
        return round(min(1.0, max(0.0, self.base + self.slope * measure)), DIGITS)


_DAY, _WEEK, _MONTH = 24, 24 * 7, 24 * 30

_TABLE = (
    # The measure is 1 where ransomware uses it.
    Detector("kevAdded", "cve", _MONTH, ("cyber", "exploitation"), 0.7, 0.3),
    Detector("kevRansomware", "cve", _MONTH, ("cyber", "exploitation", "ransomware"), 0.9, 0),
    # How far the score moved.
    Detector("epssJump", "cve", _WEEK, ("cyber", "exploitation"), 0.3, 1,
             {"deltaMin": 0.2, "percentileBands": [0.5, 0.9, 0.95, 0.99]}),
    # How far the score is above the least.
    Detector("criticalCve", "cve", 2 * _WEEK, ("cyber", "vulnerability"), 0.5, 0.5,
             {"scoreMin": 9.0, "newDays": 30}),
    Detector("sanctionListed", "entity", _MONTH, ("sanctions",), 0.8, 0),
    Detector("sanctionDelisted", "entity", _MONTH, ("sanctions",), 0.6, 0),
    Detector("filing8k105", "filing", 3 * _MONTH, ("cyber", "disclosure"), 0.9, 0,
             {"item": "1.05"}),
    # How far the probability moved.
    Detector("marketMove", "market", 2 * _DAY, ("markets",), 0, 2,
             {"deltaMin": 0.1, "windowHours": 24, "volumeMin": 1_000}),
    # How many standard deviations the change is off.
    Detector("indicatorSurprise", "indicator", _MONTH, ("economy",), 0, 0.25,
             {"samplesMin": 10, "samplesMax": 60, "thresholds": [1.5, 2, 3]}),
    Detector("toneShift", "newsItem", _DAY, ("news", "sentiment"), 0, 0.25,
             {"windowHours": 24, "baselineDays": 7, "itemsMin": 5, "sourcesMin": 2,
              "samplesMin": 10, "samplesMax": 500, "thresholds": [1.5, 2, 3]}),
    # How many times the threshold was reached.
    Detector("volumeSpike", "newsItem", _DAY, ("news",), 0, 0.25,
             {"windowHours": 2, "baselineDays": 7, "factor": 3, "itemsMin": 5, "sourcesMin": 2,
              "cooldownMinutes": 30, "historyDays": 6}),
    Detector("sourceSilence", "newsItem", _WEEK, ("health",), 0, 0.25,
             {"samplesMin": 10, "samplesMax": 40, "zMin": 3, "longestGapFactor": 2,
              "hoursMin": 6}),
    # How many types of events.
    Detector("convergence", "osintEvent", 2 * _DAY, ("situation",), 0, 0.16,
             {"windowHours": 24, "typesMin": 3, "cellDegrees": 1}),
    # Which of the five severities, counted from 0.
    Detector("escalation", "incident", _WEEK, ("situation",), 0, 0.25),
)  # fmt: skip

DETECTORS: Mapping[SignalType, Detector] = MappingProxyType({one.type: one for one in _TABLE})


@frozen(kw_only=True)
class Finding:
    """What a detector found; `key` tells it apart from all others of its type."""

    type: SignalType
    key: str
    title: str
    measure: float
    evidence: SignalEvidence
    detected_at: datetime
    sources: tuple[SourceRef, ...]
    source_count: int = 1
    direction: Direction = "none"
    summary: str | None = None
    tags: tuple[str, ...] = ()
    entities: tuple[EntityRef, ...] = ()
    incident_ids: tuple[str, ...] = ()
    market_ids: tuple[str, ...] = ()
    observation_ids: tuple[str, ...] = ()
    place: Place | None = None

    @property
    def id(self) -> str:
        """The id of its signal."""
        return ids.derived_id("sig", self.type, "", self.key)

    def signal(self, now: datetime) -> Signal:
        """The row that it makes; what lies in the future was found now."""
        detector = DETECTORS[self.type]
        at = min(self.detected_at, now)
        return Signal(
            id=self.id,
            type=self.type,
            tags=tuple(dict.fromkeys((*detector.tags, *self.tags))),
            title=self.title,
            summary=self.summary,
            direction=self.direction,
            strength=detector.strength(self.measure),
            detector=SignalDetector(self.type, detector.version, detector.parameters),
            evidence=self.evidence,
            entities=self.entities,
            incident_ids=self.incident_ids,
            market_ids=self.market_ids,
            observation_ids=self.observation_ids[:OBSERVATIONS_MAX],
            place=self.place,
            source_count=self.source_count,
            detected_at=at,
            expires_at=at + timedelta(hours=detector.hours),
            sources=self.sources[:SOURCES_MAX],
            created_at=now,
            updated_at=now,
            revision=1,
        )


def source_of(one: Contribution) -> SourceRef:
    """The record that a contribution was read from."""
    told = {**one.ref, "retrievedAt": instants.render(one.read_at)}
    return wire.from_json(SourceRef, told)


async def raised(ctx: Context, findings: Iterable[Finding]) -> int:
    """Write the signals that are not there yet; how many."""
    told = {one.id: one for one in findings}
    known = await ctx.tx.documents.get_many(SIGNALS, list(told))
    room: dict[tuple[SignalType, datetime], int] = {}
    written = 0
    for id_, finding in told.items():
        if id_ in known:
            continue
        signal = finding.signal(ctx.now)
        day = signal.detected_at.replace(hour=0, minute=0, second=0, microsecond=0)
        place = (signal.type, day)
        if place not in room:
            room[place] = DAY_MAX - await _held(ctx, signal.type, day)
        if room[place] > 0:
            room[place] -= 1
            written += 1
            await ctx.save(SIGNALS, id_, signal, before=None)
    return written


async def _held(ctx: Context, type_: SignalType, day: datetime) -> int:
    start, end = micros(day), micros(day + timedelta(days=1)) - 1
    of_type = {"type": (type_,)}
    return await ctx.tx.documents.count(SIGNALS, where=of_type, start=start, end=end, limit=DAY_MAX)
