"""Folds an incident of its members: a pure function, the same in whatever order they came."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import reduce
from typing import Any, TypeVar

import attrs

from svc_core.intel.events.model import MACHINE
from svc_core.intel.incidents.incident_members import PRESS, REPORT, Member
from svc_core.intel.incidents.model import Incident, Participant, Status
from svc_core.operation.source_members import SEVERITIES, Place
from svc_core.text.words import terms

T = TypeVar("T")

EMERGING, ACTIVE, MONITORING = timedelta(hours=6), timedelta(days=2), timedelta(days=14)
"""How long after its first news an incident is emerging, and how long after its last it is active,
then monitored: a press story has most of its reports within two days, and is over in two weeks."""

INSTRUMENT_TRUST, TRUST = 0.9, {REPORT: 0.7, PRESS: 0.5, MACHINE: 0.5}
"""How likely one source is right; `INSTRUMENT_TRUST` is for those who measure or code events
themselves. Stated, not measured: they order incidents by their sources."""
SURE = {MACHINE: 0.6}
"""How sure a machine is of what it read, where it does not say."""

HEADLINES_MAX = 50  # that are compared: some 2 ms
SHOWN_MAX = 100
PEOPLE_MAX = 50
TEXTS_MAX = 10

_PRECISIONS = ("exact", "locality", "admin1", "country", "unknown")


def fold_members(
    group: Sequence[Member], now: datetime, before: Incident | None, **links: Any
) -> tuple[Incident, datetime | None]:
    """The incident that members make, and when its status next changes without news.

    `group` is sorted, the strongest first; `before` is the row as it is stored; `links` are its id
    and the ids of other incidents. None for a status that only news can change.
    """
    first = _speaker(group)
    gravest = _gravest(group)
    status, until = incident_status(group, now)
    dated_member = _dated_member(group)
    observation_ids = [member.id for member in group if member.is_observed]
    read_at = [ref.retrieved_at for member in group for ref in member.sources]
    refs = _unique((ref for member in group for ref in member.sources), _ref_key)
    row = Incident(
        title=first.title,
        summary=first.summary or next((member.summary for member in group if member.summary), None),
        category=_category(group),
        status=status,
        severity=gravest.severity or "info",
        severity_basis=gravest.basis if gravest.severity else None,
        confidence=noisy_or_confidence(group),
        started_at=dated_member.started_at,
        ended_at=max((member.ended_at for member in group if member.ended_at), default=None)
        if all(member.ended_at or member.rank > group[0].rank for member in group)
        else None,
        date_precision=dated_member.precision or "day",
        first_seen_at=min(read_at),
        last_seen_at=max(read_at),
        place=_place(group),
        measurements=tuple(_measurements(group)),
        cameo=gravest.cameo or next((member.cameo for member in group if member.cameo), None),
        designators=_unique(
            (d for member in group for d in member.designators), lambda d: (d.scheme, d.value)
        )[:SHOWN_MAX],
        entities=_unique(_people(group), lambda p: (p.reference, p.role))[:PEOPLE_MAX],
        article_count=len({article for member in group for article in member.articles}),
        source_count=len({site for member in group for site in member.sites}),
        observation_count=len(group),
        observation_ids=tuple(observation_ids[:SHOWN_MAX]),
        sources=refs[:SHOWN_MAX],
        created_at=now if before is None else before.created_at,
        updated_at=now,
        revision=1 if before is None else before.revision + 1,
        **links,
    )
    return row, until


def says_the_same(row: Incident, before: Incident) -> bool:
    """Whether two rows differ in nothing but their revision and time of change."""
    return attrs.evolve(row, updated_at=before.updated_at, revision=before.revision) == before


def _people(group: Sequence[Member]) -> Iterator[Participant]:
    for member in group:
        yield from member.people
    for member in incident_texts(group):
        yield from member.mentions


def incident_texts(group: Iterable[Member]) -> list[Member]:
    """The members whose texts are searched for names, at most `TEXTS_MAX`."""
    return [member for member in group if member.text][:TEXTS_MAX]


def _ref_key(ref: Any) -> Hashable:
    return ref.id, ref.record_id, ref.url


def _unique(items: Iterable[T], key: Callable[[T], Hashable]) -> tuple[T, ...]:
    by_key: dict[Hashable, T] = {}
    for item in items:
        by_key.setdefault(key(item), item)
    return tuple(by_key.values())


# -- in whose words ----------------------------------------------------------------------------


def _speaker(group: Sequence[Member]) -> Member:
    """The member that gives the title: the strongest; of press items the one whose headline others
    resemble most, of machine-coded events the gravest."""
    of_strongest = [member for member in group if member.provider == group[0].provider]
    if group[0].provider == MACHINE:
        return _gravest(of_strongest)
    return of_strongest[0] if group[0].provider != PRESS else medoid(of_strongest)


def medoid(items: Sequence[Member]) -> Member:
    """The item whose headline is most like those of the others, by Jaccard of their terms."""
    words = [frozenset(terms(item.title)) for item in items[:HEADLINES_MAX]]

    def likeness(index: int) -> float:
        return sum(len(words[index] & other) / (len(words[index] | other) or 1) for other in words)

    return items[max(range(len(words)), key=lambda index: (likeness(index), -index))]


def _gravest(group: Sequence[Member]) -> Member:
    """The member of the highest severity, of equal ones the strongest."""
    return max(group, key=lambda m: SEVERITIES.index(m.severity) if m.severity else -1)


def _category(group: Sequence[Member]) -> Any:
    """The category that the strongest provider gives most often; of equal counts the first."""
    members = [member for member in group if member.categories]
    strongest = (m for m in members if m.provider == members[0].provider)
    counts = Counter(category for member in strongest for category in member.categories)
    return next(iter(counts.most_common(1)), ("other",))[0]


# -- how sure, and how it goes on --------------------------------------------------------------


def noisy_or_confidence(group: Sequence[Member]) -> float:
    """The probability that at least one of the independent sources is right (noisy-or).

    All who measure or code count as one source, as they copy each other; each publisher counts.
    """
    trust: dict[str, float] = {}
    for member in group:
        certainty = SURE.get(member.provider, 1.0) if member.certainty is None else member.certainty
        p = TRUST.get(member.provider, INSTRUMENT_TRUST) * certainty
        for site in member.sites if member.provider in TRUST else {""}:
            trust[site] = max(p, trust.get(site, 0.0))
    doubt = reduce(lambda doubt, p: doubt * (1 - p), sorted(trust.values()), 1.0)
    return round(1 - doubt, 3)


def incident_status(group: Sequence[Member], now: datetime) -> tuple[Status, datetime | None]:
    """The status now, and when it next changes without news; None for never."""
    words = {_word(member, now) for member in group}
    for word in ("emerging", "active"):
        if word in words:
            return word, None
    if "closed" in words and not words & {"open", None}:
        return "closed", None
    began_at = min(now, *(member.first_sign_at for member in group))
    latest_at = min(max(member.last_sign_at for member in group), now)
    steps: tuple[tuple[Status, datetime], ...] = (
        ("emerging", began_at + EMERGING),
        ("active", latest_at + ACTIVE),
        ("monitoring", latest_at + MONITORING),
    )
    for status, until in steps:
        if now < until:
            return status, until
    return ("monitoring" if "open" in words else "closed"), None


def _word(member: Member, now: datetime) -> str | None:
    is_over = member.ended_at is not None and member.ended_at <= now
    return "closed" if member.word is None and is_over else member.word


# -- when, where and how much ------------------------------------------------------------------


def _dated_member(group: Sequence[Member]) -> Member:
    """The member whose start counts: of the strongest provider that has one. Machine-coded events
    are counted by day, as a machine dates some by a past event that the text mentions."""
    with_start = [member for member in group if member.started_at is not None] or [group[0]]
    alike = [member for member in with_start if member.provider == with_start[0].provider]
    counts = Counter(m.started_at for m in alike if m.provider == MACHINE)
    return min(alike, key=lambda m: (-counts[m.started_at], m.started_at or m.first_sign_at))


def _place(group: Sequence[Member]) -> Place | None:
    """The most precise place of all members; without a country, the one that all others give."""
    places = [member.place for member in group if member.place is not None]
    if not places:
        return None
    counts = Counter(place.name for place in places)
    best = min(places, key=lambda place: (_PRECISIONS.index(place.precision), -counts[place.name]))
    codes = {place.country_code for place in places if place.country_code}
    if best.country_code is None and len(codes) == 1:
        return attrs.evolve(best, country_code=codes.pop())
    return best


def _measurements(group: Sequence[Member]) -> Iterable[Any]:
    latest = {
        (str(measurement.metric), str(measurement.provider)): measurement
        for member in sorted(group, key=lambda member: (member.last_sign_at, member.id))
        for measurement in member.measurements
    }
    return (measurement for _, measurement in sorted(latest.items(), key=lambda pair: pair[0]))
