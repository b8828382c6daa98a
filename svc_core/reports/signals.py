"""The signals of a report: what happened, to whom, where and when, and how sure that is.

Rule 1: at most one signal for each story, in the words of a cited item that tells the event and
        is no comment; of two that tell one event, the surer.
Rule 2: the confidence is a sum of four stated parts, so that a reader can see why.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from math import log2

from svc_core.base import ids
from svc_core.reports.draft import Draft
from svc_core.reports.model import ReportSignal, SignalConfidence, SignalParty, SignalPlace
from svc_core.text.entities import OTHER, PLACE, Mention
from svc_core.text.events import Event, event_of, stated_day
from svc_core.text.evidence import Reading
from svc_core.text.marks import Words
from svc_core.text.sentences import is_aside
from svc_core.text.stories import Story

SIGNALS_MAX = 50
ENTITIES_MAX = 8

_DIVERSITY_WEIGHT, _TRIGGER_WEIGHT, _RECENCY_WEIGHT, _SPECIFICITY_WEIGHT = 0.3, 0.35, 0.15, 0.2
_RECENT_HALF = timedelta(hours=48)
_SAME_MIN, _SAME_WORDS_MIN = 0.5, 6  # of the words of a headline; a short one shares by chance


def extract(
    report_id: str, draft: Draft, names: Mapping[str, Sequence[Mention]], until: datetime
) -> tuple[ReportSignal, ...]:
    """The signals of the stories that a draft tells of a time up to `until`, surest first.

    `names` are those of each story by its key (`entities.names_of`).
    """
    found: list[ReportSignal] = []
    for story in draft.stories:
        event = event_of(story)
        cited = [
            one
            for one in (event.told_by if event else ())
            if one.evidence.id in draft.numbers and not is_aside(one.evidence.title)
        ]
        if event and cited:
            id_ = ids.derived_id(
                "sig", "report-signal", report_id, f"{story.key}:{event.kind.name}"
            )
            told = story.best if story.best in cited else cited[0]
            named = names[story.key]
            found.append(_signal(draft, story, event, id_=id_, told=told, named=named, until=until))
    found.sort(key=lambda one: (-one.confidence, one.story_id))
    kept: list[ReportSignal] = []
    for signal in found[:SIGNALS_MAX]:
        if not any(_tell_the_same(signal, other) for other in kept):
            kept.append(signal)
    return tuple(kept)


def _tell_the_same(one: ReportSignal, other: ReportSignal) -> bool:
    """Whether two signals of a kind share half of a headline, and no number parts them."""
    if one.type != other.type:
        return False
    said = [Words.of(f"{signal.title} {signal.summary}") for signal in (one, other)]
    heads = [Words.of(signal.title) for signal in (one, other)]
    if any(head.numbers - told.numbers for head, told in zip(heads, reversed(said), strict=True)):
        return False
    return any(
        len(head.words & told.words) >= _SAME_MIN * max(len(head.words), _SAME_WORDS_MIN)
        for head, told in zip(heads, reversed(said), strict=True)
    )


def _signal(
    draft: Draft,
    story: Story,
    event: Event,
    *,
    id_: str,
    told: Reading,
    named: Sequence[Mention],
    until: datetime,
) -> ReportSignal:
    """The signal of a story in the words of the item `told`."""
    kind = event.kind
    day = stated_day(story)
    places = [one for one in named if one.kind == PLACE][:ENTITIES_MAX]
    entities = [one for one in named if one.kind not in (PLACE, OTHER)][:ENTITIES_MAX]
    parts = SignalConfidence(
        source_diversity=round(min(log2(1 + len(story.publishers)) / 2, 1.0), 3),
        trigger_strength=event.strength,
        recency=_recency(story.last_at, until) if story.is_dated else 0.0,
        specificity=round((bool(entities) + bool(places) + (day is not None)) / 3, 3),
    )
    first = next(iter(told.sentences), "")
    title = told.headline or first
    return ReportSignal(
        id=id_,
        type=kind.name,
        title=title,
        summary=first,
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
        citations=draft.marks(story, title, first),
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
