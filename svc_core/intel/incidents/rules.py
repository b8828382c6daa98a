"""Folds an incident of its members: a pure function, the same in whatever order they came."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import reduce
from typing import Any, TypeVar

import attrs

from svc_core.formats.reading.severities import severity_level
from svc_core.intel.entities.vulnerability import Cve
from svc_core.intel.events.model import MACHINE
from svc_core.intel.incidents.incident_members import EARLIEST, PRESS, REPORT, Member
from svc_core.intel.incidents.model import Incident, Participant, Status
from svc_core.intel.incidents.text_places import place_in_texts
from svc_core.operation.source_members import SEVERITIES, Place, Severity, SeverityBasis
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


Rating = tuple[Severity | None, SeverityBasis | None]
"""How grave something is, and what that was read from."""


def fold_members(
    group: Sequence[Member],
    now: datetime,
    before: Incident | None,
    *,
    ratings: Iterable[Rating] = (),
    **links: Any,
) -> tuple[Incident, datetime | None]:
    """The incident that members make, and when its status next changes without news.

    `group` is sorted, the strongest first; `before` is the row as it is stored; `ratings` are those
    of its vulnerabilities, and `links` its id and the ids of other incidents. None for a status
    that only news can change.
    """
    first = _speaker(group)
    severity, basis = max([*((m.severity, m.basis) for m in group), *ratings], key=_rank)
    status, until = incident_status(group, now)
    started_at, precision = _start(group)
    observation_ids = [member.id for member in group if member.is_observed]
    read_at = [ref.retrieved_at for member in group for ref in member.sources]
    refs = _unique((ref for member in group for ref in member.sources), _ref_key)
    row = Incident(
        title=first.title,
        summary=first.summary or next((member.summary for member in group if member.summary), None),
        category=incident_category(group),
        status=status,
        severity=severity,
        severity_basis=basis,
        confidence=noisy_or_confidence(group),
        started_at=started_at,
        last_happened_at=_last_sign(group, now),
        ended_at=max((member.ended_at for member in group if member.ended_at), default=None)
        if all(member.ended_at or member.rank > group[0].rank for member in group)
        else None,
        date_precision=precision,
        first_seen_at=min(read_at),
        last_seen_at=max(read_at),
        place=incident_place(group),
        measurements=tuple(_measurements(group)),
        cameo=next((member.cameo for member in group if member.cameo), None),
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


def named_references(group: Sequence[Member]) -> set[str]:
    """By what the participants of an incident are known."""
    return {p.reference for p in _people(group) if isinstance(p.reference, str)}


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
    resemble most."""
    of_strongest = [member for member in group if member.provider == group[0].provider]
    return of_strongest[0] if group[0].provider != PRESS else medoid(of_strongest)


def medoid(items: Sequence[Member]) -> Member:
    """The item whose headline is most like those of the others, by Jaccard of their terms."""
    words = [frozenset(terms(item.title)) for item in items[:HEADLINES_MAX]]

    def likeness(index: int) -> float:
        return sum(len(words[index] & other) / (len(words[index] | other) or 1) for other in words)

    return items[max(range(len(words)), key=lambda index: (likeness(index), -index))]


def incident_category(group: Sequence[Member]) -> Any:
    """The category that the strongest provider gives most often; of equal counts the first."""
    members = [member for member in group if member.categories]
    strongest = (m for m in members if m.provider == members[0].provider)
    counts = Counter(category for member in strongest for category in member.categories)
    return next(iter(counts.most_common(1)), ("other",))[0]


# -- how grave ---------------------------------------------------------------------------------


def _rank(rating: Rating) -> int:
    """A sort key; of equally grave ones the first is taken, which is the strongest member's."""
    return SEVERITIES.index(rating[0]) if rating[0] else -1


def vulnerability_ratings(cve: Cve) -> Iterator[Rating]:
    """How grave the use of a vulnerability is: by its entry in KEV, and by its CVSS score."""
    if cve.entry is not None:
        use = str(cve.entry.known_ransomware_campaign_use).casefold()
        level: Any = severity_level("kev", use) or severity_level("kev", "listed")
        yield level, SeverityBasis("cisa-kev", "kev", cve.cve_id)
    if cve.score is not None and cve.score.base_score is not None:
        level = severity_level("cvss", cve.score.base_score)
        yield level, SeverityBasis(str(cve.score.provider), "cvss", cve.score.base_score)


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


def incident_status(
    group: Sequence[Member], now: datetime
) -> tuple[Status | None, datetime | None]:
    """The status now, and when it next changes without news; None for never.

    Without a date there is no status but that of a provider which has not closed it.
    """
    is_open = any(member.is_open for member in group)
    if all(member.ended_at is not None and member.ended_at <= now for member in group):
        return "closed", None
    signs = [sign for member in group for sign in member.signs]
    if not signs:
        return ("monitoring" if is_open else None), None
    began_at, latest_at = min(now, *signs), min(now, max(signs))
    steps: tuple[tuple[Status, datetime], ...] = (
        ("emerging", began_at + EMERGING),
        ("active", latest_at + ACTIVE),
        ("monitoring", latest_at + MONITORING),
    )
    for status, until in steps:
        if now < until:
            return status, until
    return ("monitoring" if is_open else "closed"), None


# -- when, where and how much ------------------------------------------------------------------


def _start(group: Sequence[Member]) -> tuple[datetime | None, Any]:
    """The start that the strongest provider gives which has one, and how exactly it is known.

    Machine-coded events are counted by day, as a machine dates some by a past event that the text
    mentions.
    """
    starts = [(m.provider, m.started_at, m.precision) for m in group if m.started_at is not None]
    alike = [start for start in starts if start[0] == starts[0][0]]
    counts = Counter(at for provider, at, _ in alike if provider == MACHINE)
    if not alike:
        return None, None
    _, started_at, precision = min(alike, key=lambda start: (-counts[start[1]], start[1]))
    return started_at, precision


def _last_sign(group: Sequence[Member], now: datetime) -> datetime | None:
    """The latest time that a member gives; those to come, which are forecasts, do not count."""
    return max((at for member in group for at in member.signs if at <= now), default=None)


def incident_place(group: Sequence[Member]) -> Place | None:
    """The most precise place of all members; without a country, the one that all others give.

    Of news alone it is the place that its texts name.
    """
    places = [member.place for member in group if member.place is not None]
    if not places:
        return place_in_texts([(member.text, member.language) for member in incident_texts(group)])
    counts = Counter(place.name for place in places)
    best = min(places, key=lambda place: (_PRECISIONS.index(place.precision), -counts[place.name]))
    codes = {place.country_code for place in places if place.country_code}
    if best.country_code is None and len(codes) == 1:
        return attrs.evolve(best, country_code=codes.pop())
    return best


def _measurements(group: Sequence[Member]) -> Iterable[Any]:
    latest = {
        (str(measurement.metric), str(measurement.provider)): measurement
        for member in sorted(
            group, key=lambda member: (max(member.signs, default=EARLIEST), member.id)
        )
        for measurement in member.measurements
    }
    return (measurement for _, measurement in sorted(latest.items(), key=lambda pair: pair[0]))
