"""The signals of a report: what happened, to whom, where and when, and how sure that is.

Rule 1: at most one signal for each story and kind of event.
Rule 2: the confidence is a sum of four stated parts, so that a reader can see why.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from math import log2

from svc_core import ids
from svc_core.analysis.entities import OTHER, PLACE, mentions
from svc_core.analysis.events import kinds, stated_day
from svc_core.analysis.stories import Story
from svc_core.reports.draft import Draft
from svc_core.resources.report import ReportSignal, SignalConfidence, SignalParty, SignalPlace

SIGNALS_MAX = 50
ENTITIES_MAX = 8

_DIVERSITY_WEIGHT, _TRIGGER_WEIGHT, _RECENCY_WEIGHT, _SPECIFICITY_WEIGHT = 0.3, 0.35, 0.15, 0.2
_RECENT_HALF = timedelta(hours=48)


def extract(
    report_id: str, draft: Draft, until: datetime, language: str
) -> tuple[ReportSignal, ...]:
    """The signals of the stories that a draft tells of a time up to `until`, surest first."""
    found = [
        one for story in draft.stories for one in _of(report_id, draft, story, until, language)
    ]
    found.sort(key=lambda one: (-one.confidence, f"{one.story_id}:{one.type}"))
    return tuple(found[:SIGNALS_MAX])


def _of(
    report_id: str, draft: Draft, story: Story, until: datetime, language: str
) -> Iterable[ReportSignal]:
    told = kinds(story)
    if not told:
        return
    day = stated_day(story)
    named = mentions((member.reading for member in story.members), language)
    places = [one for one in named if one.kind == PLACE][:ENTITIES_MAX]
    entities = [one for one in named if one.kind not in (PLACE, OTHER)][:ENTITIES_MAX]
    title = story.best.headline or next(iter(story.best.sentences), "")
    summary = next(iter(story.best.sentences), "")
    for kind, strength in told:
        parts = SignalConfidence(
            source_diversity=round(min(log2(1 + len(story.publishers)) / 2, 1.0), 3),
            trigger_strength=strength,
            recency=_recency(story.last_at, until),
            specificity=round((bool(entities) + bool(places) + (day is not None)) / 3, 3),
        )
        yield ReportSignal(
            id=ids.derived_id("sig", "report-signal", report_id, f"{story.key}:{kind.name}"),
            type=kind.name,
            title=title,
            summary=summary,
            tags=(kind.tag,),
            direction=kind.direction,
            entities=tuple(SignalParty(who.name, who.kind) for who in entities),
            places=tuple(SignalPlace(where.name, where.country_code) for where in places),
            occurred_date=None if day is None else day.isoformat(),
            first_reported_at=story.first_at,
            last_reported_at=story.last_at,
            confidence=_confidence(parts),
            confidence_parts=parts,
            source_count=len(story.publishers),
            story_id=story.key,
            citations=draft.marks(story, title, summary),
        )


def _confidence(parts: SignalConfidence) -> float:
    """The weighted sum, 0..1, to three places."""
    return round(
        _DIVERSITY_WEIGHT * parts.source_diversity
        + _TRIGGER_WEIGHT * parts.trigger_strength
        + _RECENCY_WEIGHT * parts.recency
        + _SPECIFICITY_WEIGHT * parts.specificity,
        3,
    )


def _recency(at: datetime, until: datetime) -> float:
    """1 at the end of the period, half after two days."""
    age = max(until - at, timedelta())
    return round(float(0.5 ** (age / _RECENT_HALF)), 3)
