"""What happened in a story: its kinds of event, and the day that it states.

Rule 1: an event is told by its words ("suicide bombing", "acquires"), from a list, never guessed.
Rule 2: at most two kinds for a story; what one kind implies ("attack", a death) is no second one.
"""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from functools import cache

from attrs import frozen

from svc_core.analysis.stories import Story
from svc_core.analysis.tokens import runs, tokens
from svc_core.text.tables import rows

KINDS_MAX = 2

_IMPLIED = {
    "attack": frozenset(("death", "conflict", "arrest")),
    "disaster": frozenset(("death", "weather")),
    "ceasefire": frozenset(("conflict", "diplomacy")),
    "corruption": frozenset(("arrest",)),
    "cyberattack": frozenset(("vulnerability",)),
}

_TITLE_STRONG, _LEAD_STRONG, _TITLE_WEAK = 1.0, 0.8, 0.55
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
class Kind:
    """A kind of event: the way it usually points, its field, and its rank among kinds."""

    name: str
    direction: str
    tag: str
    rank: int


def kinds(story: Story) -> list[tuple[Kind, float]]:
    """The kinds of event that a story tells, and how surely (0..1), the surest first."""
    found: dict[Kind, float] = {}
    for member in story.members:
        title = tokens(member.reading.headline)
        lead = tokens(next(iter(member.reading.sentences), ""))
        for terms, strong, weak in ((title, _TITLE_STRONG, _TITLE_WEAK), (lead, _LEAD_STRONG, 0.0)):
            for run in runs(terms):
                for kind, is_strong in _rules().get(run, ()):
                    found[kind] = max(strong if is_strong else weak, found.get(kind, 0.0))
    told = [(kind, strength) for kind, strength in found.items() if strength]
    told.sort(key=lambda one: (-one[1], one[0].rank))
    implied = _IMPLIED.get(told[0][0].name, frozenset()) if told else frozenset()
    others = [one for one in told[1:] if one[0].name not in implied and one[1] >= _LEAD_STRONG]
    return [*told[:1], *others][:KINDS_MAX]


@cache
def _rules() -> Mapping[tuple[str, ...], tuple[tuple[Kind, bool], ...]]:
    from svc_core.analysis._triggers import TRIGGERS  # noqa: PLC0415 - read on first use

    rules: dict[tuple[str, ...], list[tuple[Kind, bool]]] = {}
    for rank, (name, direction, tag, strong, weak) in enumerate(rows(TRIGGERS)):
        for words, is_strong in ((strong, True), (weak, False)):
            for phrase in words.split():
                run = tuple(tokens(phrase.replace("_", " ")))
                if len(run) < 2 and "_" in phrase:
                    continue  # "steps down" without its filler is any step
                known = rules.setdefault(run, [])
                if all(kind.name != name for kind, _ in known):
                    known.append((Kind(name, direction, tag, rank), is_strong))
    return {run: tuple(kinds) for run, kinds in rules.items() if run}


def stated_day(story: Story) -> date | None:
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
