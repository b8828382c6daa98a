"""Evidence for a report beside the news: events, incidents, vulnerabilities and signals.

Rule 1: an incident is covered by its OSINT events and its news items, which are evidence
        themselves; one that has neither is evidence by its own text. So is a signal that is no
        measure over items: what is measured over many is no statement of one of them.
Rule 2: what a source reports late is no news: a window of intake has an earliest date of its own.
Rule 3: a row without a date may be of any time. It is in no period, but where an earlier report
        has told what was there before, it is new and of unknown age.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, time
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

from attrs import frozen

from svc_core.intel.entities.vulnerability import CVES, Cve
from svc_core.intel.events.model import OSINT_EVENTS, OsintEvent
from svc_core.intel.incidents.model import INCIDENTS, Incident
from svc_core.intel.signals.model import SIGNALS, Signal
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.ports import Collection, StoredRow
from svc_core.operation.source_members import SourceRef
from svc_core.search.lists import COUNTED_MAX
from svc_core.text.evidence import EvidenceTexts

T = TypeVar("T")
Times = tuple[datetime | None, datetime]
"""Start, or None for any earlier time, and end."""

ROWS_MAX = 200  # of each kind: those that match the query best
EVENTS_MAX = 5  # of one incident: they report the same


@frozen
class _Kind(Generic[T]):
    """One kind of row: its collection, its own date, and its title and text."""

    collection: Collection[T]
    at: Callable[[T], datetime | None]
    words: Callable[[T], tuple[str, str | None]]


def _day(cve: Cve) -> datetime | None:
    """When it was published, or, where that is later, found to be exploited."""
    times = [cve.published_at] if cve.published_at else []
    if cve.entry:
        times.append(datetime.combine(cve.entry.date_added, time(), UTC))
    return max(times, default=None)


_INCIDENTS = _Kind[Incident](
    INCIDENTS, lambda row: row.started_at, lambda row: (row.title, row.summary)
)
_EVENTS = _Kind[OsintEvent](
    OSINT_EVENTS,
    lambda row: row.occurred_at or row.reported_at,
    lambda row: (row.title, row.summary),
)
_SIGNALS = _Kind[Signal](SIGNALS, lambda row: row.detected_at, lambda row: (row.title, row.summary))
_KINDS: tuple[_Kind[Any], ...] = (
    _INCIDENTS,
    _Kind[Cve](
        CVES,
        _day,
        lambda row: (f"{row.cve_id}: {row.title}" if row.title else row.cve_id, row.description),
    ),
    _SIGNALS,
)


def is_measure(signal: Signal) -> bool:
    """Whether a signal is measured over many items; a silence names the last of these alone."""
    return len(signal.observation_ids) > 1 or signal.type == "sourceSilence"


async def observed_evidence(
    ctx: Context, weights: Mapping[str, int], times: Times, *, since: datetime | None
) -> list[EvidenceTexts]:
    """The rows that hold any of the weighed terms and lie in these times.

    The times are those of intake where there is an earliest date, `since`, else the rows' own.
    """
    evidence: list[EvidenceTexts] = []
    start = since or times[0]
    earliest = None if start is None else micros(start)
    for kind in _KINDS:
        rows = await _holding(ctx, kind.collection, weights, earliest)
        items = [kind.collection.decode(row.raw) for row in rows]
        if kind is _INCIDENTS:
            evidence += await _events(ctx, items, times, since)
            items = [item for item in items if not (item.article_count or item.observation_ids)]
        elif kind is _SIGNALS:
            items = [item for item in items if not is_measure(item)]
        evidence += _within(kind, items, times, since)
    return evidence


async def _holding(
    ctx: Context, collection: Collection[T], weights: Mapping[str, int], start: int | None
) -> tuple[StoredRow[T], ...]:
    """The rows that hold any of the terms, or where none is rare enough, the latest rows.

    Terms that very many rows hold are left out: to look through these would keep others waiting.
    """
    documents = ctx.tx.documents
    holding = {
        term: await documents.count(collection, words=(term,), limit=COUNTED_MAX)
        for term in weights
    }
    rare = {term: weights[term] for term, count in holding.items() if count < COUNTED_MAX}
    if weights and not any(holding[term] for term in rare):
        return (await documents.scan(collection, start=start, limit=ROWS_MAX)).rows
    return (await documents.search(collection, rare, start=start, limit=ROWS_MAX)).rows


async def _events(
    ctx: Context, incidents: list[Incident], times: Times, since: datetime | None
) -> Iterator[EvidenceTexts]:
    """The OSINT events of incidents; news items are found by their own words."""
    ids = [id_ for incident in incidents for id_ in incident.observation_ids[:EVENTS_MAX]]
    events = await ctx.find_many(OSINT_EVENTS, ids)
    return _within(_EVENTS, events.values(), times, since)


def _within(
    kind: _Kind[T], rows: Any, times: Times, since: datetime | None
) -> Iterator[EvidenceTexts]:
    for row in rows:
        if is_in_times(kind.at(row), row.created_at, times, since):
            yield _evidence(kind, row)


def is_in_times(
    at: datetime | None, created_at: datetime, times: Times, since: datetime | None
) -> bool:
    """Whether a row with this date and intake time lies in these times."""
    start, end = times
    is_new = since is None or ((start is None or start < created_at) and created_at <= end)
    return is_new and is_published_in(at, times, since)


def is_published_in(at: datetime | None, times: Times, since: datetime | None) -> bool:
    """Whether a date is from `since` on, or lies in these times where they are of dates.

    Without a date nothing lies in a period; see Rule 3 for times of intake.
    """
    start, end = times
    if since is not None:
        return since != start if at is None else since <= at
    return at is not None and (start is None or start <= at) and at <= end


def evidence_of_row(row: Any) -> EvidenceTexts:
    """The evidence that an event, incident, vulnerability or signal is by its own text."""
    kinds = (*_KINDS, _EVENTS)
    return _evidence(next(kind for kind in kinds if isinstance(row, kind.collection.model)), row)


def _evidence(kind: _Kind[T], row: Any) -> EvidenceTexts:
    title, text = kind.words(row)
    source: SourceRef = row.sources[0]
    url = next((source.url for source in row.sources if source.url), "")
    return EvidenceTexts(
        id=row.id,
        title=title,
        text=text or "",
        url=url,
        source_id=source.id,
        source_name=source.name,
        source_domain=urlsplit(url).hostname or "",
        published_at=kind.at(row),
        retrieved_at=row.created_at,
    )
