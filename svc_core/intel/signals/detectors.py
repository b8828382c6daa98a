"""The table of signal detectors with their thresholds, and how a finding becomes a signal's row.

Rule 1: a signal's id is derived from its type and key, so a finding that is found again has the
        same id and is written once. A row says what was true when it was found, and a dismissed
        signal stays dismissed.
Rule 2: the strength is `base + slope * measure`, between 0 and 1. The detector's numbers stand in
        the row; the comments of the table say what each detector measures.
Rule 3: at most `DAY_MAX` signals of one type are written for one day of detection; the rest is
        dropped, so that a change of a whole catalogue does not bury everything else.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

import attrs
from attrs import field, frozen

from svc_core import wire
from svc_core.base import ids, instants
from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.signals.model import (
    SIGNALS,
    Signal,
    SignalDetector,
    SignalEvidence,
    SignalType,
    SignalWindow,
)
from svc_core.intel.signals.signal_index import index_signals
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.source_members import SourceRef

DAY_MAX = 500
SOURCES_MAX, OBSERVATIONS_MAX = 10, 50
DIGITS = 4  # of strengths and of what was measured


@frozen
class Detector:
    """How signals of one type are found: by which numbers; active for `hours`.

    `base` and `slope` make the strength. Another `version` has other rules.
    """

    type: SignalType
    hours: float
    tags: tuple[str, ...]
    base: float
    slope: float
    numbers: Mapping[str, Any] = field(factory=dict)
    version: str = "1"

    @property
    def parameters(self) -> dict[str, Any]:
        """The detector's numbers as they stand in the rows of its signals."""
        hours = {"activeHours": self.hours}
        return {**self.numbers, **hours, "strengthBase": self.base, "strengthSlope": self.slope}

    def strength(self, measure: float) -> float:
        """The strength of a signal, from 0 to 1, that grows with the measure."""
        return round(min(1.0, max(0.0, self.base + self.slope * measure)), DIGITS)


_DAY, _WEEK, _MONTH = 24, 24 * 7, 24 * 30

_TABLE = (
    # The measure is 1 where ransomware uses it.
    Detector("kevAdded", _MONTH, ("cyber", "exploitation"), 0.7, 0.3),
    Detector("kevRansomware", _MONTH, ("cyber", "exploitation", "ransomware"), 0.9, 0),
    # How far the score moved.
    Detector("epssJump", _WEEK, ("cyber", "exploitation"), 0.3, 1,
             {"deltaMin": 0.2, "percentileBands": [0.5, 0.9, 0.95, 0.99]}),
    # How far the score is above the least.
    Detector("criticalCve", 2 * _WEEK, ("cyber", "vulnerability"), 0.5, 0.5,
             {"scoreMin": 9.0, "newDays": 30}),
    Detector("sanctionListed", _MONTH, ("sanctions",), 0.8, 0),
    Detector("sanctionDelisted", _MONTH, ("sanctions",), 0.6, 0),
    Detector("filing8k105", 3 * _MONTH, ("cyber", "disclosure"), 0.9, 0,
             {"item": "1.05"}),
    # How far the probability moved.
    Detector("marketMove", 2 * _DAY, ("markets",), 0, 2,
             {"deltaMin": 0.1, "windowHours": 24, "volumeMin": 1_000}),
    # How many standard deviations the change is off.
    Detector("indicatorSurprise", _MONTH, ("economy",), 0, 0.25,
             {"samplesMin": 10, "samplesMax": 60, "thresholds": [1.5, 2, 3]}),
    Detector("toneShift", _DAY, ("news", "sentiment"), 0, 0.25,
             {"windowHours": 24, "baselineDays": 7, "itemsMin": 5, "sourcesMin": 2,
              "samplesMin": 10, "samplesMax": 500, "thresholds": [1.5, 2, 3]}),
    # How many times the threshold was reached.
    Detector("volumeSpike", _DAY, ("news",), 0, 0.25,
             {"windowHours": 2, "baselineDays": 7, "factor": 3, "itemsMin": 5, "sourcesMin": 2,
              "cooldownMinutes": 30, "historyDays": 6}),
    Detector("sourceSilence", _WEEK, ("health",), 0, 0.25,
             {"samplesMin": 10, "samplesMax": 40, "zMin": 3, "longestGapFactor": 2,
              "hoursMin": 6}),
    # How many types of events.
    Detector("convergence", 2 * _DAY, ("situation",), 0, 0.16,
             {"windowHours": 24, "typesMin": 3, "cellDegrees": 1}),
    # Which of the five severities, counted from 0.
    Detector("escalation", _WEEK, ("situation",), 0, 0.25),
)  # fmt: skip

DETECTORS: Mapping[SignalType, Detector] = MappingProxyType({row.type: row for row in _TABLE})


def signal_of(
    type_: SignalType, key: str, title: str, at: datetime, *,
    measure: float = 1, tags: Iterable[str] = (), sources: Sequence[SourceRef],
    observation_ids: Sequence[str] = (), **members: Any,
) -> Signal:  # fmt: skip
    """A signal of some type as found `at` a time; `key` identifies it among those of its type."""
    detector = DETECTORS[type_]
    defaults = {"summary": None, "direction": "none", "source_count": 1}
    return Signal(
        id=ids.derived_id("sig", type_, "", key),
        type=type_,
        tags=tuple(dict.fromkeys((*detector.tags, *tags))),
        title=title,
        strength=detector.strength(measure),
        detector=SignalDetector(type_, detector.version, detector.parameters),
        observation_ids=tuple(observation_ids[:OBSERVATIONS_MAX]),
        sources=tuple(sources[:SOURCES_MAX]),
        **(defaults | _times(type_, at, at) | members),
    )


def _times(type_: SignalType, at: datetime, now: datetime) -> dict[str, Any]:
    """The times of a signal's first version; a detection in the future counts as now."""
    at = min(at, now)
    ends = at + timedelta(hours=DETECTORS[type_].hours)
    stamps = {"created_at": now, "updated_at": now, "revision": 1}
    return {"detected_at": at, "expires_at": ends, **stamps}


def signal_evidence(
    reading: float, baseline: float | None, start: datetime | None, end: datetime | None, *,
    threshold: float | None = None, z_score: float | None = None,
) -> SignalEvidence:  # fmt: skip
    """The evidence of a signal: the value measured in a window, and what it is compared with."""
    z_score = None if z_score is None else round(z_score, DIGITS)
    return SignalEvidence(reading, baseline, z_score, SignalWindow(start, end), threshold)


def source_of(claim: Contribution) -> SourceRef:
    """The reference to the record that a contribution was read from."""
    members = {**claim.ref, "retrievedAt": instants.render(claim.read_at)}
    return wire.from_json(SourceRef, members)


async def write_signals(ctx: Context, signals: Iterable[Signal]) -> int:
    """Write the signals that are not stored yet, and return how many were written."""
    drafts = {signal.id: signal for signal in signals}
    present = await ctx.tx.documents.get_many(SIGNALS, list(drafts))
    quota: dict[tuple[SignalType, datetime], int] = {}
    rows: list[Signal] = []
    for id_, draft in drafts.items():
        signal = attrs.evolve(draft, **_times(draft.type, draft.detected_at, ctx.now))
        day = signal.detected_at.replace(hour=0, minute=0, second=0, microsecond=0)
        slot = (signal.type, day)
        if id_ not in present and slot not in quota:
            quota[slot] = DAY_MAX - await _count_of_day(ctx, signal.type, day)
        if id_ not in present and quota[slot] > 0:
            quota[slot] -= 1
            rows.append(signal)
            await ctx.save(SIGNALS, id_, signal, before=None)
    await index_signals(ctx, rows)
    return len(rows)


async def _count_of_day(ctx: Context, type_: SignalType, day: datetime) -> int:
    start, end = micros(day), micros(day + timedelta(days=1)) - 1
    of_type = {"type": (type_,)}
    return await ctx.tx.documents.count(SIGNALS, where=of_type, start=start, end=end, limit=DAY_MAX)
