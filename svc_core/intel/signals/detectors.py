"""The table of signal detectors with their thresholds, and how a finding becomes a signal's row.

Rule 1: a signal's id is derived from its type and key. Its window and times are those of its
        evidence, whose end is `detectedAt`: the same documents give the same signals, in whatever
        order and whenever they are read. A dismissed signal stays dismissed.
Rule 2: the strength is `base + slope * measure`, between 0 and 1. The detector's numbers stand in
        the row; the comments of the table say what each detector measures.
Rule 3: of one type and day at most `DAY_MAX` signals are kept, those whose ids sort first, so that
        a change of a whole catalogue does not bury everything else.
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
from svc_core.operation.members import micros, next_revision
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
             {"deltaMin": 0.2, "percentileBands": [0.5, 0.9, 0.95, 0.99]}, "2"),
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
             {"samplesMin": 10, "samplesMax": 60, "thresholds": [1.5, 2, 3]}, "2"),
    Detector("toneShift", _DAY, ("news", "sentiment"), 0, 0.25,
             {"windowHours": 24, "baselineDays": 7, "itemsMin": 5, "sourcesMin": 2,
              "samplesMin": 10, "samplesMax": 500, "thresholds": [1.5, 2, 3]}, "2"),
    # How many times the threshold was reached.
    Detector("volumeSpike", _DAY, ("news",), 0, 0.25,
             {"windowHours": 2, "baselineDays": 7, "factor": 3, "itemsMin": 5, "sourcesMin": 2,
              "historyDays": [6, 30]}, "2"),
    Detector("sourceSilence", _WEEK, ("health",), 0, 0.25,
             {"samplesMin": 10, "samplesMax": 40, "zMin": 3, "longestGapFactor": 2,
              "hoursMin": 6}),
    # How many types of events.
    Detector("convergence", 2 * _DAY, ("situation",), 0, 0.16,
             {"windowHours": 24, "typesMin": 3, "cellDegrees": 1}, "2"),
    # Which of the five severities, counted from 0.
    Detector("escalation", _WEEK, ("situation",), 0, 0.25, version="2"),
)  # fmt: skip

DETECTORS: Mapping[SignalType, Detector] = MappingProxyType({row.type: row for row in _TABLE})


@frozen
class Judgement:
    """What a detector found where it read all that counts: the signals, and the ids of all that it
    could have found there.
    """

    signals: Sequence[Signal] = ()
    ids: Sequence[str] = ()


def signal_id(type_: SignalType, key: str) -> str:
    """The id of the signal of a type that has this key."""
    return ids.derived_id("sig", type_, "", key)


def signal_of(
    type_: SignalType, key: str, title: str, evidence: SignalEvidence, *,
    measure: float = 1, tags: Iterable[str] = (), sources: Sequence[SourceRef],
    observation_ids: Sequence[str] = (), **members: Any,
) -> Signal:  # fmt: skip
    """A signal of some type, detected at the end of its evidence; `key` identifies it among those
    of its type.
    """
    detector, end = DETECTORS[type_], _window(evidence)[1]
    usual = {"summary": None, "direction": "none", "source_count": 1}
    return Signal(
        id=signal_id(type_, key),
        type=type_,
        tags=tuple(dict.fromkeys((*detector.tags, *tags))),
        title=title,
        strength=detector.strength(measure),
        detector=SignalDetector(type_, detector.version, detector.parameters),
        evidence=evidence,
        observation_ids=tuple(observation_ids[:OBSERVATIONS_MAX]),
        sources=tuple(sources[:SOURCES_MAX]),
        detected_at=end,
        expires_at=end + timedelta(hours=detector.hours),
        created_at=end,
        updated_at=end,
        revision=1,
        **(usual | members),
    )


def signal_evidence(
    reading: float, baseline: float | None, start: datetime | None, end: datetime, *,
    threshold: float | None = None, z_score: float | None = None,
) -> SignalEvidence:  # fmt: skip
    """The evidence of a signal: the value measured in a window, and what it is compared with.

    An open start is that of a change that happened until then, and is known of other documents.
    """
    z_score = None if z_score is None else round(z_score, DIGITS)
    return SignalEvidence(reading, baseline, z_score, SignalWindow(start, end), threshold)


def _window(evidence: SignalEvidence | None) -> tuple[datetime | None, datetime]:
    if evidence is None or evidence.window is None or evidence.window.end is None:
        raise AssertionError("what a detector finds has a window with an end")
    return evidence.window.start, evidence.window.end


def source_of(claim: Contribution) -> SourceRef:
    """The reference to the record that a contribution was read from."""
    members = {**claim.ref, "retrievedAt": instants.render(claim.read_at)}
    return wire.from_json(SourceRef, members)


# -- what is stored ----------------------------------------------------------------------------


async def write_signals(
    ctx: Context, signals: Iterable[Signal], judged_ids: Iterable[str] = ()
) -> int:
    """Write the signals that are new or better known, and return how many were written.

    Those among `judged_ids` were judged over all rows that they depend on: they replace what is
    stored, and what is stored of these ids and not among the signals is removed.
    """
    drafts: dict[str, Signal] = {}
    for signal in signals:
        known = drafts.get(signal.id)
        drafts[signal.id] = signal if known is None else narrowed(known, signal)
    judged = set(judged_ids)
    documents = await ctx.tx.documents.get_many(SIGNALS, sorted(drafts.keys() | judged))
    stored = {id_: SIGNALS.decode(document.raw) for id_, document in documents.items()}
    rows = []
    for id_, draft in drafts.items():
        row = _after(stored.get(id_), draft, ctx.now, is_judged=id_ in judged)
        rows += [] if row is None else [row]
    gone = {id_ for id_, row in stored.items() if id_ not in drafts and row.status != "dismissed"}
    gone |= await _beyond_quota(ctx, [row for row in rows if row.id not in stored])
    rows = [row for row in rows if row.id not in gone]
    for row in rows:
        await ctx.save(SIGNALS, row.id, row, before=documents.get(row.id))
    for id_ in sorted(gone & (await ctx.tx.documents.get_many(SIGNALS, sorted(gone))).keys()):
        await ctx.remove(SIGNALS, id_)
    await index_signals(ctx, rows, gone)
    return len(rows)


def narrowed(first: Signal, second: Signal) -> Signal:
    """One change as two findings show it: it had happened by the earlier of their ends, and not by
    the latest of their starts before that. Of two that end together the stronger counts.
    """
    best = min(first, second, key=lambda signal: (signal.detected_at, -signal.strength))
    sides = [
        (start, signal.evidence.baseline or 0, signal.evidence)
        for signal in (first, second)
        if signal.evidence and (start := _window(signal.evidence)[0])
    ]
    before = [side for side in sides if side[0] <= best.detected_at]
    own = best.evidence
    if own is None:
        raise AssertionError("what a detector finds has evidence")
    start, _, side = max(before, key=lambda side: side[:2], default=(None, 0, own))
    window = SignalWindow(start, best.detected_at)
    return attrs.evolve(best, evidence=attrs.evolve(own, baseline=side.baseline, window=window))


def _after(
    before: Signal | None, draft: Signal, now: datetime, *, is_judged: bool
) -> Signal | None:
    """The row to be stored after a finding; None where nothing changes, or where its start is open
    and no other document shows the change.
    """
    if before is None:
        is_open = _window(draft.evidence)[0] is None
        return None if is_open else attrs.evolve(draft, created_at=now, updated_at=now)
    draft = draft if is_judged else narrowed(before, draft)
    # The same sources differ in nothing but the time of reading.
    is_alike = [ref.id for ref in draft.sources] == [ref.id for ref in before.sources]
    names = (*_OWN_MEMBERS, *["sources"] * is_alike)
    draft = attrs.evolve(draft, **{name: getattr(before, name) for name in names})
    return None if draft == before else next_revision(draft, now)


_OWN_MEMBERS = ("status", "report_id", "created_at", "updated_at", "revision")
"""What a row keeps when the same change is found again."""


async def _beyond_quota(ctx: Context, fresh: Sequence[Signal]) -> set[str]:
    """The ids of new and stored signals that are more than their type may have on their day."""
    slots: dict[tuple[SignalType, datetime], set[str]] = {}
    for row in fresh:
        day = row.detected_at.replace(hour=0, minute=0, second=0, microsecond=0)
        slots.setdefault((row.type, day), set()).add(row.id)
    beyond: set[str] = set()
    for (type_, day), names in slots.items():
        span: Any = {"start": micros(day), "end": micros(day + timedelta(days=1)) - 1}
        page = await ctx.tx.documents.scan(SIGNALS, where={"type": (type_,)}, limit=DAY_MAX, **span)
        beyond |= {*sorted(names.union(row.id for row in page.rows))[DAY_MAX:]}
    return beyond
