"""Extracts the signals of a report: what happened, to whom, where and when, and how sure that is.

Rule 1: at most one signal for each story, in the words of a cited item that reports the event and
        is no comment, in the reader's language where it can be; of two signals of one event, the
        surer.
Rule 2: who and where are named as far as the cited items name them.
Rule 3: the confidence is a sum of four stated parts, so that a reader can see why.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from math import log2
from operator import mul

from attrs import astuple, evolve

from svc_core.base import ids
from svc_core.reports.draft import ReportDraft
from svc_core.reports.model import ReportSignal, SignalConfidence, SignalParty, SignalPlace
from svc_core.text.containment import TextWords
from svc_core.text.evidence import Reading
from svc_core.text.language import primary
from svc_core.text.name_mentions import OTHER, PLACE, Mention
from svc_core.text.sentences import is_aside
from svc_core.text.stories import Story
from svc_core.text.story_events import StoryEvent, event_of, stated_day
from svc_core.text.wording import frame

SIGNALS_MAX = 50
ENTITIES_MAX = 8

_WEIGHTS = (0.3, 0.35, 0.15, 0.2)  # of the parts of a confidence, in their order
_RECENT_HALF = timedelta(hours=48)
_SAME_MIN, _SAME_WORDS_MIN = 0.5, 6  # of the words of a headline; a short one shares by chance


def extract(
    report_id: str, draft: ReportDraft, names: Mapping[str, Sequence[Mention]], until: datetime
) -> tuple[ReportSignal, ...]:
    """The signals of a draft's stories in the time up to `until`, the surest first.

    `names` are the mentions of each story by its key (`entities.names_of`).
    """
    signals: list[ReportSignal] = []
    for story in draft.stories:
        event = event_of(story)
        readings = [
            o
            for o in (event.readings if event else ())
            if o.evidence.id in draft.numbers and not is_aside(o.evidence.title, o.language)
        ]
        if event and readings:
            key = f"{story.key}:{event.kind.name}"
            id_ = ids.derived_id("sig", "report-signal", report_id, key)
            own = [o for o in readings if o.language in (primary(draft.words.language), None)]
            readings = own or readings
            reading = story.best_reading if story.best_reading in readings else readings[0]
            signal = _signal(
                draft, story, event, reading, id_=id_, mentions=names[story.key], until=until
            )
            signals.append(evolve(signal, statement=_statement(signal, story, draft)))
    signals.sort(key=lambda signal: (-signal.confidence, signal.story_id))
    picks: list[ReportSignal] = []
    for signal in signals[:SIGNALS_MAX]:
        if not any(_is_same_event(signal, pick) for pick in picks):
            picks.append(signal)
    return tuple(picks)


def _is_same_event(first: ReportSignal, second: ReportSignal) -> bool:
    """Whether two signals of a kind share half of a headline and no number differs."""
    if first.type != second.type:
        return False
    pairs = [
        (TextWords.of(signal.title), TextWords.of(f"{other.title} {other.summary}"))
        for signal, other in ((first, second), (second, first))
    ]
    return all(head.numbers <= text.numbers for head, text in pairs) and any(
        len(head.words & text.words) >= _SAME_MIN * max(len(head.words), _SAME_WORDS_MIN)
        for head, text in pairs
    )


def _signal(
    draft: ReportDraft,
    story: Story,
    event: StoryEvent,
    reading: Reading,
    *,
    id_: str,
    mentions: Sequence[Mention],
    until: datetime,
) -> ReportSignal:
    """The signal of a story in the words of one item."""
    kind = event.kind
    day = stated_day(story)
    first = next(iter(reading.sentences), "")
    title = reading.headline or first
    citations = draft.marks(story, title, first)
    mentions = [name for name in mentions if {*draft.marks(story, name.name)} & {*citations}]
    places = [mention for mention in mentions if mention.kind == PLACE][:ENTITIES_MAX]
    hits = [mention for mention in mentions if mention.kind not in (PLACE, OTHER)][:ENTITIES_MAX]
    age = max(until - story.last_at, timedelta())  # 1 at the end of the period, half after two days
    parts = SignalConfidence(
        source_diversity=round(min(log2(1 + len(story.publishers)) / 2, 1.0), 3),
        trigger_strength=event.strength,
        recency=round(0.5 ** (age / _RECENT_HALF), 3) if story.is_dated else 0.0,
        specificity=round((bool(hits) + bool(places) + (day is not None)) / 3, 3),
    )
    return ReportSignal(
        id=id_,
        type=kind.name,
        title=title,
        summary=first,
        tags=(kind.tag,),
        direction=kind.direction,
        entities=tuple(SignalParty(party.name, party.kind) for party in hits),
        places=tuple(SignalPlace(place.name, place.country_code) for place in places),
        occurred_date=None if day is None else day.isoformat(),
        first_reported_at=story.first_at,
        last_reported_at=story.last_at,
        confidence=round(sum(map(mul, _WEIGHTS, astuple(parts))), 3),
        confidence_parts=parts,
        source_count=len(story.publishers),
        story_id=story.key,
        citations=citations,
    )


def _statement(signal: ReportSignal, story: Story, draft: ReportDraft) -> str:
    """A signal in words: what, about whom, since when, and what its confidence counts."""
    words = frame(draft.words.language)
    names = ", ".join(party.name for party in signal.entities or signal.places)
    about = f" {words.say('signal_about', names=names)}" if names else ""
    since = words.say("signal_since", since=words.day(story.first_at)) if story.is_dated else ""
    points = round(100 * signal.confidence)
    sure = words.say("sure", points=points, publishers=signal.source_count)
    return f"{words.say('signal', kind=signal.type)}{about}{since}. {sure}"
