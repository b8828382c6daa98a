"""Signals: what happened, to whom, where and when, read from the stories of a report.

Rule 1: an event is told by its words ("suicide bombing", "acquires"), from a list, never guessed.
Rule 2: at most one signal for each story and kind of event, and at most two kinds for a story.
Rule 3: the confidence is a sum of four stated parts, so that a reader can see why.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache
from math import log2

from attrs import frozen

from svc_core.analysis._tables import rows
from svc_core.analysis.entities import OTHER, PLACE, Mention, mentions
from svc_core.analysis.grouping import Story
from svc_core.analysis.tokens import runs, tokens

TYPES_PER_STORY_MAX = 2
SIGNALS_MAX = 50
ENTITIES_MAX = 8

_IMPLIED = {
    "attack": frozenset(("death", "conflict", "arrest")),
    "disaster": frozenset(("death", "weather")),
    "ceasefire": frozenset(("conflict", "diplomacy")),
    "corruption": frozenset(("arrest",)),
    "cyberattack": frozenset(("vulnerability",)),
}

_DIVERSITY_WEIGHT, _TRIGGER_WEIGHT, _RECENCY_WEIGHT, _SPECIFICITY_WEIGHT = 0.3, 0.35, 0.15, 0.2
_TITLE_STRONG, _LEAD_STRONG, _TITLE_WEAK = 1.0, 0.8, 0.55
_RECENT_HALF = timedelta(hours=48)
_DATE_SLACK = timedelta(days=60)

_MONTH_NAMES = """
    january jan janvier januar enero|february feb février februar febrero|march mar mars märz marzo|
    april apr avril abril|may mai mayo|june jun juin juni junio|july jul juillet juli julio|
    august aug août agosto|september sep sept septembre septiembre|
    october oct octobre oktober octubre|november nov novembre noviembre|
    december dec décembre dezember diciembre
"""
_MONTHS = {
    month: number
    for number, names in enumerate(_MONTH_NAMES.split("|"), start=1)
    for month in names.split()
}
_MONTH = "|".join(sorted(_MONTHS, key=lambda name: (-len(name), name)))
_DATES = re.compile(
    rf"\b(?:(?P<d1>\d{{1,2}})(?:st|nd|rd|th|\.)?\s(?:de\s)?(?P<m1>{_MONTH})\b\.?"
    rf"|(?P<m2>{_MONTH})\.?\s(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b)(?:,?\s(?:de\s)?(?P<y>\d{{4}}))?",
    re.IGNORECASE,
)


@frozen
class Confidence:
    """The parts of a confidence, each 0..1, to three places."""

    source_diversity: float
    trigger_strength: float
    recency: float
    specificity: float

    @property
    def value(self) -> float:
        """The weighted sum, 0..1, to three places."""
        return round(
            _DIVERSITY_WEIGHT * self.source_diversity
            + _TRIGGER_WEIGHT * self.trigger_strength
            + _RECENCY_WEIGHT * self.recency
            + _SPECIFICITY_WEIGHT * self.specificity,
            3,
        )


@frozen
class SignalDraft:
    """One event of a story, under the story's key and the type.

    `entities` were affected or acted, `places` are where, `occurred_on` is when: a date that the
    text states, else `None`.
    """

    key: str
    story: Story
    type: str
    title: str
    summary: str
    direction: str
    tags: tuple[str, ...]
    parts: Confidence
    entities: tuple[Mention, ...]
    places: tuple[Mention, ...]
    occurred_on: date | None


@frozen
class _Kind:
    name: str
    direction: str
    tag: str
    rank: int


def extract(
    stories: Sequence[Story], until: datetime, *, language: str | None = None
) -> tuple[SignalDraft, ...]:
    """The signals of some stories, surest first, then by key; at most `SIGNALS_MAX`.

    `until` is the end of the period that the stories are told of.
    """
    found = [signal for story in stories for signal in _of(story, until, language)]
    return tuple(sorted(found, key=lambda one: (-one.parts.value, one.key))[:SIGNALS_MAX])


def _of(story: Story, until: datetime, language: str | None) -> Iterable[SignalDraft]:
    strengths = _strengths(story)
    ranked = sorted(strengths, key=lambda kind: (-strengths[kind], kind.rank))
    if not ranked:
        return
    named = mentions((member.reading for member in story.members), language)
    implied = _IMPLIED.get(ranked[0].name, frozenset())
    others = [k for k in ranked[1:] if k.name not in implied and strengths[k] >= _LEAD_STRONG]
    for kind in [ranked[0], *others][:TYPES_PER_STORY_MAX]:
        yield _signal(story, kind, strengths[kind], named, until)


def _signal(
    story: Story, kind: _Kind, strength: float, named: Sequence[Mention], until: datetime
) -> SignalDraft:
    places = tuple(one for one in named if one.kind == PLACE)[:ENTITIES_MAX]
    entities = tuple(one for one in named if one.kind not in (PLACE, OTHER))[:ENTITIES_MAX]
    lead = story.best
    day = _stated_day(story)
    parts = Confidence(
        source_diversity=round(min(log2(1 + len(story.publishers)) / 2, 1.0), 3),
        trigger_strength=strength,
        recency=_recency(story.last_at, until),
        specificity=round((bool(entities) + bool(places) + (day is not None)) / 3, 3),
    )
    return SignalDraft(
        key=f"{story.key}:{kind.name}",
        story=story,
        type=kind.name,
        title=lead.headline or next(iter(lead.sentences), ""),
        summary=next(iter(lead.sentences), ""),
        direction=kind.direction,
        tags=(kind.tag,),
        parts=parts,
        entities=entities,
        places=places,
        occurred_on=day,
    )


def _recency(at: datetime, until: datetime) -> float:
    """1 at the end of the period, half after two days."""
    age = max(until - at, timedelta())
    return round(float(0.5 ** (age / _RECENT_HALF)), 3)


# --- triggers -----------------------------------------------------------------------------------


def _strengths(story: Story) -> dict[_Kind, float]:
    """The kinds of event that the story tells, and how surely."""
    found: dict[_Kind, float] = {}
    for member in story.members:
        title, lead = member.reading.title_terms, member.reading.lead_terms
        for terms, strong, weak in ((title, _TITLE_STRONG, _TITLE_WEAK), (lead, _LEAD_STRONG, 0.0)):
            for run in runs(terms):
                for kind, is_strong in _rules().get(run, ()):
                    found[kind] = max(strong if is_strong else weak, found.get(kind, 0.0))
    return {kind: strength for kind, strength in found.items() if strength}


@cache
def _rules() -> Mapping[tuple[str, ...], tuple[tuple[_Kind, bool], ...]]:
    from svc_core.analysis._triggers import TRIGGERS  # noqa: PLC0415 - read on first use

    rules: dict[tuple[str, ...], list[tuple[_Kind, bool]]] = {}
    for rank, (name, direction, tag, strong, weak) in enumerate(rows(TRIGGERS)):
        for words, is_strong in ((strong, True), (weak, False)):
            for phrase in words.split():
                run = tuple(tokens(phrase.replace("_", " ")))
                if len(run) < 2 and "_" in phrase:
                    continue  # "steps down" without its filler is any step
                known = rules.setdefault(run, [])
                if all(kind.name != name for kind, _ in known):
                    known.append((_Kind(name, direction, tag, rank), is_strong))
    return {run: tuple(kinds) for run, kinds in rules.items() if run}


# --- dates --------------------------------------------------------------------------------------


def _stated_day(story: Story) -> date | None:
    """The first date that the story states and that lies near its publication."""
    for member in story.members:
        for text in (member.reading.headline, *member.reading.sentences):
            for match in _DATES.finditer(text):
                day = _day(match, member.evidence.at)
                if day is not None:
                    return day
    return None


def _day(match: re.Match[str], at: datetime) -> date | None:
    number = int(match["d1"] or match["d2"])
    month = _MONTHS[(match["m1"] or match["m2"]).casefold()]
    years = [int(match["y"])] if match["y"] else [at.year, at.year - 1, at.year + 1]
    for year in years:
        try:
            day = datetime(year, month, number, tzinfo=UTC)
        except ValueError:
            continue
        if abs(day - at) <= _DATE_SLACK:
            return day.date()
    return None
