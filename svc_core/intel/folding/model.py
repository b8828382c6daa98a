"""Sources: the addresses and files that documents are read from, with the health of each."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

import attrs
from attrs import field, frozen

from svc_core.base import ids
from svc_core.formats.model import Rejection
from svc_core.formats.table import FORMATS
from svc_core.operation.members import SourceId, micros
from svc_core.operation.ports import Collection
from svc_core.wire.constraints import Doc, Example, Ge

HealthStatus = Literal["ok", "stale", "staleContent", "partial", "error", "disabled", "neverRun"]


@frozen
class HealthError:
    """Why a source could not be taken in the last time."""

    code: Annotated[str, Example("notFound")]
    """A stable word for it."""
    message: Annotated[str, Example("The server answered 404 Not Found.")]
    """In one sentence."""


Status = Annotated[HealthStatus, Doc("How it is doing."), Example("ok")]
Instant = Annotated[datetime | None, Example("2026-01-31T05:52:11Z")]
Count = Annotated[int, Ge(0), Example(0)]


@frozen(kw_only=True)
class SourceHealth:
    """How a source is doing."""

    status: Status = "neverRun"
    last_attempt_at: Instant = None
    """When reading it was last tried."""
    last_success_at: Instant = None
    """When it was last read."""
    last_content_at: Instant = None
    """When it last brought something new."""
    consecutive_failures: Count = 0
    """Attempts that failed since the last success."""
    items_last_run: Count = 0
    """Rows of its last document."""
    rejected_last_run: Count = 0
    """Records of it that could not be used."""
    rejections: tuple[Rejection, ...] = ()
    """Why, how many for each reason, and one of them."""
    http_status: Annotated[int | None, Example(200)] = None
    """What its server answered last; null for a file."""
    next_attempt_at: Instant = None
    """When it is read next."""
    error: Annotated[HealthError | None, Example(None)] = None
    """Why it could not be read; null where it could."""


@frozen
class RowCounts:
    """The rows of a document, or of a part of it, by what became of them."""

    created: Annotated[int, Ge(0), Example(0)] = 0
    """Rows that are new."""
    updated: Annotated[int, Ge(0), Example(0)] = 0
    """Rows that say something new."""
    unchanged: Annotated[int, Ge(0), Example(0)] = 0
    """Rows that say what is known."""
    deleted: Annotated[int, Ge(0), Example(0)] = 0
    """Rows that are gone."""

    def __add__(self, other: "RowCounts") -> "RowCounts":
        """The sums of both."""
        left, right = attrs.astuple(self), attrs.astuple(other)
        return RowCounts(*map(sum, zip(left, right, strict=True)))


@frozen
class LastRun(RowCounts):
    """The rows of the last document that was taken in, by what became of them."""

    rejected: Annotated[int, Ge(0), Example(0)] = 0
    """Records that could not be used."""

    @classmethod
    def of(cls, counts: RowCounts, rejected: int) -> "LastRun":
        """The run of a document with these rows, and some records that could not be used."""
        return cls(**attrs.asdict(counts), rejected=rejected)


@frozen(kw_only=True)
class Source:
    """One location that is read in one format: where it is, what it brings, how it is doing.

    `location` is an http(s) URL or a file path; `timezone` (IANA) is that of its dates that name
    none; `options` say what its documents leave unsaid; `every_seconds` is the cadence that its
    owner wants, None where that of its format serves; `etag` and `last_modified` are the
    validators of the last answer, for conditional requests; `stamp` is that of its newest document,
    by the document's own word; `deltas` tell the deltas that were taken in, the newest last. One
    that `is_disabled` is kept and not read.
    """

    id: SourceId
    location: str
    name: str = ""
    home_url: str | None = None
    domain: str
    format: str | None = None
    language: str | None = None
    country_code: str | None = None
    topics: tuple[str, ...] = ()
    cadence_seconds: int
    created_at: datetime
    etag: str | None = None
    last_modified: str | None = None
    digest: str | None = None
    timezone: str | None = None
    options: Mapping[str, str] = field(factory=dict)
    every_seconds: int | None = None
    is_disabled: bool = False
    stamp: datetime | None = None
    deltas: tuple[str, ...] = ()
    last_run: LastRun | None = None
    health: SourceHealth = field(factory=SourceHealth)


def source_id(location: str) -> str:
    """The id of the source at `location`; the same for the same location."""
    return ids.derived_id("src", "source", _PROVIDER, location)


_PROVIDER = "feed"  # what ids of sources are made of since the first ones were feeds


def provider_of(source: Source) -> str | None:
    """Who publishes a source's data; None where only each document says so."""
    format_ = FORMATS.get(source.format or "")
    return source.options.get("provider") or (format_ and format_.provider) or None


_NEVER = 2**62


def _next_attempt(source: Source) -> int:
    upcoming = source.health.next_attempt_at
    if source.is_disabled:
        return _NEVER
    return 0 if upcoming is None else micros(upcoming)


SOURCES: Collection[Source] = Collection(
    name="sources",
    model=Source,
    prefix="src",
    order=_next_attempt,
    scope="global",
    keys={
        "format": lambda source: source.format,
        "provider": provider_of,
        "status": lambda source: "disabled" if source.is_disabled else source.health.status,
    },
    numbers={"created": lambda source: micros(source.created_at)},
)
"""Ordered by the next attempt, so that the fetcher reads the sources that are due first."""
