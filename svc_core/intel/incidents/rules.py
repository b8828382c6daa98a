"""An incident as the fold of its members: pure, and the same in whatever order they came."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import reduce
from typing import Any, TypeVar

import attrs

from svc_core.intel.events.model import MACHINE
from svc_core.intel.incidents.members import PRESS, REPORT, Member
from svc_core.intel.incidents.model import Incident, Participant, Status
from svc_core.operation.facts import SEVERITIES, Place
from svc_core.text.words import terms

T = TypeVar("T")

EMERGING, ACTIVE, MONITORING = timedelta(hours=6), timedelta(days=2), timedelta(days=14)
"""How long after its first news an incident emerges, and how long after its last it is active, or
watched: a story of the press has most of its reports within two days, and is over in two weeks."""

MEASURED, TRUST = 0.9, {REPORT: 0.7, PRESS: 0.5, MACHINE: 0.5}
"""How likely one source is right, `MEASURED` for those who measure or code events themselves.
Stated, not measured: they order incidents by who tells of them."""
SURE = {MACHINE: 0.6}
"""How sure a machine was of what it read, where it does not say."""

HEADLINES_MAX = 50  # that are compared: some 2 ms
SHOWN_MAX = 100
PEOPLE_MAX = 50
TEXTS_MAX = 10

_PRECISIONS = ("exact", "locality", "admin1", "country", "unknown")


def folded(
    group: Sequence[Member], now: datetime, known: Incident | None, **links: Any
) -> tuple[Incident, datetime | None]:
    """The incident that these members make, and when its status changes without news.

    `group` has the strongest first; `known` is the row as it is stored. `links` are its id and
    those of others.
    """
    first = _speaker(group)
    gravest = _gravest(group)
    status, until = status_of(group, now)
    started = _started(group)
    observed = [one.id for one in group if one.observed]
    read_at = [ref.retrieved_at for one in group for ref in one.sources]
    refs = _unique((ref for one in group for ref in one.sources), _whence)
    row = Incident(
        title=first.title,
        summary=first.summary or next((one.summary for one in group if one.summary), None),
        category=_category(group),
        status=status,
        severity=gravest.severity or "info",
        severity_basis=gravest.basis if gravest.severity else None,
        confidence=confidence_of(group),
        started_at=started.started_at,
        ended_at=max((one.ended_at for one in group if one.ended_at), default=None)
        if all(one.ended_at or one.rank > group[0].rank for one in group)
        else None,
        date_precision=started.precision or "day",
        first_seen_at=min(read_at),
        last_seen_at=max(read_at),
        place=_place(group),
        measurements=tuple(_measured(group)),
        cameo=gravest.cameo or next((one.cameo for one in group if one.cameo), None),
        designators=_unique(
            (each for one in group for each in one.designators), lambda one: (one.scheme, one.value)
        )[:SHOWN_MAX],
        entities=_unique(_people(group), lambda one: (one.reference, one.role))[:PEOPLE_MAX],
        article_count=len({article for one in group for article in one.articles}),
        source_count=len({site for one in group for site in one.sites}),
        observation_count=len(group),
        observation_ids=tuple(observed[:SHOWN_MAX]),
        sources=refs[:SHOWN_MAX],
        created_at=now if known is None else known.created_at,
        updated_at=now,
        revision=1 if known is None else known.revision + 1,
        **links,
    )
    return row, until


def says_the_same(row: Incident, known: Incident) -> bool:
    """Whether a row says nothing new."""
    return attrs.evolve(row, updated_at=known.updated_at, revision=known.revision) == known


def _people(group: Sequence[Member]) -> Iterator[Participant]:
    for one in group:
        yield from one.people
    for one in texts(group):
        yield from one.mentioned


def texts(group: Iterable[Member]) -> list[Member]:
    """The items whose names are read."""
    return [one for one in group if one.text][:TEXTS_MAX]


def _whence(ref: Any) -> Hashable:
    return ref.id, ref.record_id, ref.url


def _unique(told: Iterable[T], name: Callable[[T], Hashable]) -> tuple[T, ...]:
    found: dict[Hashable, T] = {}
    for one in told:
        found.setdefault(name(one), one)
    return tuple(found.values())


# -- in whose words ----------------------------------------------------------------------------


def _speaker(group: Sequence[Member]) -> Member:
    """Who gives it its title: the strongest, of the press the headline that others resemble most,
    of what a machine read the gravest."""
    alike = [one for one in group if one.provider == group[0].provider]
    if group[0].provider == MACHINE:
        return _gravest(alike)
    return alike[0] if group[0].provider != PRESS else medoid(alike)


def medoid(told: Sequence[Member]) -> Member:
    """The item whose headline is most like those of the others (Jaccard)."""
    words = [frozenset(terms(one.title)) for one in told[:HEADLINES_MAX]]

    def likeness(at: int) -> float:
        return sum(len(words[at] & one) / (len(words[at] | one) or 1) for one in words)

    return told[max(range(len(words)), key=lambda at: (likeness(at), -at))]


def _gravest(group: Sequence[Member]) -> Member:
    """The member of the highest severity, of equal ones the strongest."""
    return max(group, key=lambda one: SEVERITIES.index(one.severity) if one.severity else -1)


def _category(group: Sequence[Member]) -> Any:
    """The one that the strongest provider tells most often; of equally frequent ones the first."""
    told = [one for one in group if one.categories]
    alike = (one for one in told if one.provider == told[0].provider)
    counts = Counter(each for one in alike for each in one.categories)
    return next(iter(counts.most_common(1)), ("other",))[0]


# -- how sure, and how it goes on --------------------------------------------------------------


def confidence_of(group: Sequence[Member]) -> float:
    """That one at least of the independent sources is right (noisy-or).

    Who measures or codes counts once, as they take over from each other; publishers count each.
    """
    trust: dict[str, float] = {}
    for one in group:
        sure = SURE.get(one.provider, 1.0) if one.certainty is None else one.certainty
        told = TRUST.get(one.provider, MEASURED) * sure
        for site in one.sites if one.provider in TRUST else {""}:
            trust[site] = max(told, trust.get(site, 0.0))
    doubt = reduce(lambda left, one: left * (1 - one), sorted(trust.values()), 1.0)
    return round(1 - doubt, 3)


def status_of(group: Sequence[Member], now: datetime) -> tuple[Status, datetime | None]:
    """The status now, and when it changes without news; None for never."""
    words = {_word(one, now) for one in group}
    for word in ("emerging", "active"):
        if word in words:
            return word, None
    if "closed" in words and not words & {"open", None}:
        return "closed", None
    began = min(now, *(one.began_at for one in group))
    told = min(max(one.told_at for one in group), now)
    steps: tuple[tuple[Status, datetime], ...] = (
        ("emerging", began + EMERGING),
        ("active", told + ACTIVE),
        ("monitoring", told + MONITORING),
    )
    for status, until in steps:
        if now < until:
            return status, until
    return ("monitoring" if "open" in words else "closed"), None


def _word(one: Member, now: datetime) -> str | None:
    return "closed" if one.word is None and one.ended_at and one.ended_at <= now else one.word


# -- when, where and how much ------------------------------------------------------------------


def _started(group: Sequence[Member]) -> Member:
    """Whose word counts for when it began: the strongest who knows, of what a machine read the
    day of most rows, as it dates some by the past that they mention."""
    known = [one for one in group if one.started_at is not None] or [group[0]]
    alike = [one for one in known if one.provider == known[0].provider]
    counts = Counter(one.started_at for one in alike if one.provider == MACHINE)
    return min(alike, key=lambda one: (-counts[one.started_at], one.started_at or one.began_at))


def _place(group: Sequence[Member]) -> Place | None:
    """The most precise that is told, with the country that all others name."""
    told = [one.place for one in group if one.place is not None]
    if not told:
        return None
    counts = Counter(one.name for one in told)
    best = min(told, key=lambda one: (_PRECISIONS.index(one.precision), -counts[one.name]))
    codes = {one.country_code for one in told if one.country_code}
    if best.country_code is None and len(codes) == 1:
        return attrs.evolve(best, country_code=codes.pop())
    return best


def _measured(group: Sequence[Member]) -> Iterable[Any]:
    latest = {
        (str(each.metric), str(each.provider)): each
        for one in sorted(group, key=lambda one: (one.told_at, one.id))
        for each in one.measurements
    }
    return (each for _, each in sorted(latest.items(), key=lambda pair: pair[0]))
