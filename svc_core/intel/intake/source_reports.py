"""The public lists of situation data feeds, and of the health of every source.

Rule: paths of files on this machine and secrets in addresses are never shown.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

from attrs import asdict, frozen

from svc_core import wire
from svc_core.base.unset import or_default
from svc_core.contract.result import Page
from svc_core.formats.reading.format import Kind
from svc_core.formats.table import FORMATS
from svc_core.intel.folding.model import (
    SOURCES,
    HealthError,
    HealthStatus,
    Instant,
    LastRun,
    Source,
    SourceHealth,
    Status,
    provider_of,
)
from svc_core.intel.folding.read_declarations import osint
from svc_core.intel.intake import health
from svc_core.operation.context import Context
from svc_core.operation.declaration import Operation
from svc_core.operation.filters import (
    FilterFields,
    FilterValues,
    Providers,
    Selection,
    list_selection,
)
from svc_core.operation.members import PageRequest, SourceId
from svc_core.search.lists import Listing
from svc_core.wire.constraints import Doc, Example, Ge, Pattern

SITUATION = frozenset({"osintEvent", "indicator", "country"})
"""A source is one of situation data if it brings rows of one of these kinds."""

_AGEING = frozenset({"ok", "partial", "staleContent"})
"""The stored statuses of sources that may turn out `stale` when they are shown."""

_SOURCE = FilterFields[Source]()


def _stored_statuses(statuses: Iterable[HealthStatus]) -> frozenset[str]:
    """The statuses that sources may be stored with that have one of these when they are shown."""
    shown = frozenset(statuses)
    return shown | _AGEING if "stale" in shown else shown


Formats = Annotated[
    FilterValues[Annotated[str, Pattern("[a-z][a-z0-9-]{0,39}", "a format such as usgs")]],
    Doc("Comma list of formats."),
    Example(["usgs", "gdacs"]),
]
Name = Annotated[str, Doc("What it is called."), Example("USGS earthquakes, past day")]
FormatId = Annotated[str | None, Doc("How it is read; null until that is known."), Example("usgs")]
Provider = Annotated[
    str | None,
    Doc("Who publishes the data; null where only each document says so."),
    Example("usgs"),
]
Address = Annotated[
    str | None,
    Doc("Where it is read, without what is secret in it; null for a file."),
    Example("https://earthquake.usgs.gov/earthquakes/feed/v1.0/summary/all_day.geojson"),
]
Cadence = Annotated[int, Ge(1), Doc("How often it is read."), Example(3_600)]


# -- requests and rows -------------------------------------------------------------------------


@frozen
class ListFeeds(PageRequest):
    """Sources of situation data."""

    provider: Providers = _SOURCE.key()
    source_format: Formats = _SOURCE.key(index="format")


@frozen
class ListHealth(PageRequest):
    """How every source is doing."""

    status: Annotated[FilterValues[HealthStatus], Example(["error", "stale"])] = _SOURCE.key(
        choose=_stored_statuses
    )
    """Comma list of statuses."""
    provider: Providers = _SOURCE.key()
    source_format: Formats = _SOURCE.key(index="format")


@frozen
class Coverage:
    """What the documents of a source bring."""

    kind: Annotated[Kind, Example("window")]
    """`snapshot`: what is absent is gone; `window`: absence says nothing; `delta`: the document
    says what is gone."""
    brings: Annotated[tuple[str, ...], Example(["osintEvent"])]
    """The kinds of rows."""


@frozen
class FeedHealth:
    """How a feed is doing, in short."""

    status: Status
    last_success_at: Instant
    """When it was last read; null before."""
    last_content_at: Instant
    """When it last brought something new; null before."""


@frozen
class OsintFeed:
    """A source that brings events, indicators or countries."""

    id: SourceId
    provider: Provider
    title: Name
    url: Address
    format: FormatId
    license: Annotated[str | None, Example("Public domain")]
    """Under which its data may be used; null if unknown."""
    attribution: Annotated[str | None, Example("U.S. Geological Survey")]
    """How its publisher is to be named; null if unknown."""
    cadence_seconds: Cadence
    coverage: Coverage
    health: FeedHealth


@frozen(kw_only=True)
class SourceReport(SourceHealth):
    """How a source is doing, and what to do where it is not well."""

    id: SourceId
    name: Name
    provider: Provider
    url: Address
    format: FormatId
    cadence_seconds: Cadence
    last_run: LastRun | None
    """What became of the rows of its last document; null before."""
    etag: Annotated[str | None, Example(None)]
    """The validator of its last document."""
    resolution: Annotated[str | None, Example(None)]
    """What to do; null where nothing is to be done."""


# -- use cases ---------------------------------------------------------------------------------


async def list_osint_feeds(ctx: Context, request: ListFeeds) -> Page[OsintFeed]:
    """The sources that bring events, indicators or countries, the newest first."""
    choice = _newest_first(request)
    ids = {f.id for f in FORMATS.values() if not SITUATION.isdisjoint(f.resources)}
    formats = tuple(sorted(ids.intersection(choice.where.get("format", ids))))
    choice = choice._replace(where={**choice.where, "format": formats})
    return await _listing(_feed).page(ctx, request, choice)


async def list_osint_sources(ctx: Context, request: ListHealth) -> Page[SourceReport]:
    """How every source is doing, of news and of data, the newest first: `ok`; `partial`, some
    records could not be used, or not all of a document is in; `stale`, nobody has read it since it
    was due; `staleContent`, it is read and has brought nothing new for long; `error`, it could not
    be read; `disabled`; `neverRun`.
    """
    statuses = or_default(request.status, ())

    def is_shown(source: Source) -> bool:
        return health.with_staleness(source, ctx.now).health.status in statuses

    return await _listing(_report).page(
        ctx,
        request,
        _newest_first(request),
        keep=is_shown if statuses else None,
        binding={"shown": statuses},
    )


def _newest_first(request: ListFeeds | ListHealth) -> Selection:
    return list_selection(request)._replace(order="created")


def _listing(render: Callable[[Source], Any]) -> Listing[Any]:
    """A list of sources as `render` shows each, with their status as of now."""

    async def complete(ctx: Context, rows: Sequence[bytes]) -> list[bytes]:
        sources = (health.with_staleness(SOURCES.decode(row), ctx.now) for row in rows)
        return [wire.to_bytes(render(source)) for source in sources]

    return Listing(SOURCES, complete=complete)


def _shared(source: Source) -> dict[str, Any]:
    """The members that both lists show of a source."""
    return {
        "id": source.id,
        "provider": provider_of(source),
        "url": health.public_address(source.location),
        "format": source.format,
        "cadence_seconds": source.cadence_seconds,
    }


def _feed(source: Source) -> OsintFeed:
    format_, state = FORMATS[source.format or ""], source.health
    return OsintFeed(
        **_shared(source),
        title=health.public_name(source),
        license=format_.license,
        attribution=format_.attribution,
        coverage=Coverage(format_.kind, format_.resources),
        health=FeedHealth(state.status, state.last_success_at, state.last_content_at),
    )


def _report(source: Source) -> SourceReport:
    state = asdict(source.health, recurse=False)
    if error := state["error"]:
        state["error"] = HealthError(error.code, health.public_text(source.location, error.message))
    return SourceReport(
        **_shared(source),
        **state,
        name=health.public_name(source),
        last_run=source.last_run,
        etag=source.etag,
        resolution=health.resolution(source.health),
    )


# -- declarations ------------------------------------------------------------------------------

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    osint(
        "osint feeds",
        "/osint/feeds",
        list_osint_feeds,
        columns=("id", "title", "provider", "format", "health.status"),
        summary="List the OSINT feeds",
    ),
    osint(
        "osint health",
        "/osint/sources",
        list_osint_sources,
        columns=("id", "name", "format", "status", "lastSuccessAt"),
        notes=("error.message", "resolution"),
        summary="List the health of every source",
    ),
)
