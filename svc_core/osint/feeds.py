"""The sources that bring situation data, and how every source is doing.

Rule: where a file lies on this machine, and what is secret in an address, is told to nobody.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from attrs import asdict, frozen

from svc_core import wire
from svc_core.constraints import Doc, Example, Ge, MaxLen, Pattern
from svc_core.intake import health
from svc_core.operation import QUERY, Context, Operation
from svc_core.osint.events import READ, VALUES_MAX, Providers
from svc_core.ports import Position
from svc_core.resources.members import Cursor, Limit, SourceId, micros
from svc_core.resources.news import (
    SOURCES,
    HealthError,
    HealthStatus,
    LastRun,
    Source,
    provider_of,
)
from svc_core.result import Page
from svc_core.sources.formats import FORMATS
from svc_core.sources.model import Kind, Rejection
from svc_core.unset import UNSET, Maybe, Unset, given

SCANNED = 200  # sources that are looked at together where only some are shown
SITUATION = frozenset({"osintEvent", "indicator", "country"})
"""The kinds of rows that make a source one of situation data."""

_AGEING = frozenset({"ok", "partial", "staleContent"})
"""What is kept of a source that may be `stale` when somebody looks."""

Formats = Annotated[
    Maybe[tuple[Annotated[str, Pattern("[a-z][a-z0-9-]{0,39}", "a format such as usgs")], ...]],
    QUERY,
    MaxLen(VALUES_MAX),
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
Status = Annotated[HealthStatus, Doc("How it is doing."), Example("ok")]
Instant = Annotated[datetime | None, Example("2026-01-31T05:52:11Z")]
Count = Annotated[int, Ge(0), Example(0)]


# -- requests and rows -------------------------------------------------------------------------


@frozen
class ListFeeds:
    """Sources of situation data."""

    provider: Providers = UNSET
    format: Formats = UNSET
    limit: Limit = 20
    cursor: Cursor = UNSET


@frozen
class ListHealth:
    """How every source is doing."""

    status: Annotated[
        Maybe[tuple[HealthStatus, ...]],
        QUERY,
        MaxLen(VALUES_MAX),
        Doc("Comma list of statuses."),
        Example(["error", "stale"]),
    ] = UNSET
    provider: Providers = UNSET
    format: Formats = UNSET
    limit: Limit = 20
    cursor: Cursor = UNSET


@frozen
class Coverage:
    """What the documents of a source bring."""

    kind: Annotated[
        Kind,
        Doc(
            "`snapshot`: what is absent is gone; `window`: absence says nothing; `delta`: the "
            "document says what is gone."
        ),
        Example("window"),
    ]
    brings: Annotated[tuple[str, ...], Doc("The kinds of rows."), Example(["osintEvent"])]


@frozen
class FeedHealth:
    """How a feed is doing, in short."""

    status: Status
    last_success_at: Annotated[Instant, Doc("When it was last read; null before.")]
    last_content_at: Annotated[Instant, Doc("When it last brought something new; null before.")]


@frozen
class OsintFeed:
    """A source that brings events, indicators or countries."""

    id: SourceId
    provider: Provider
    title: Name
    url: Address
    format: FormatId
    license: Annotated[
        str | None,
        Doc("Under which its data may be used; null where nobody said."),
        Example("Public domain"),
    ]
    attribution: Annotated[
        str | None,
        Doc("How its publisher is to be named; null where nobody said."),
        Example("U.S. Geological Survey"),
    ]
    cadence_seconds: Cadence
    coverage: Coverage
    health: FeedHealth


@frozen
class SourceReport:
    """How a source is doing, and what to do where it is not well."""

    id: SourceId
    name: Name
    provider: Provider
    url: Address
    format: FormatId
    status: Status
    last_attempt_at: Annotated[Instant, Doc("When reading it was last tried.")]
    last_success_at: Annotated[Instant, Doc("When it was last read.")]
    last_content_at: Annotated[Instant, Doc("When it last brought something new.")]
    next_attempt_at: Annotated[Instant, Doc("When it is read next.")]
    cadence_seconds: Cadence
    consecutive_failures: Annotated[Count, Doc("Attempts that failed since the last success.")]
    items_last_run: Annotated[Count, Doc("Rows of its last document.")]
    rejected_last_run: Annotated[Count, Doc("Records of it that could not be used.")]
    rejections: Annotated[
        tuple[Rejection, ...], Doc("Why, how many for each reason, and one of them.")
    ]
    last_run: Annotated[
        LastRun | None, Doc("What became of the rows of its last document; null before.")
    ]
    http_status: Annotated[
        int | None, Doc("What its server answered last; null for a file."), Example(200)
    ]
    etag: Annotated[str | None, Doc("The validator of its last document."), Example(None)]
    error: Annotated[
        HealthError | None, Doc("Why it could not be read; null where it could."), Example(None)
    ]
    resolution: Annotated[
        str | None, Doc("What to do; null where nothing is to be done."), Example(None)
    ]


# -- use cases ---------------------------------------------------------------------------------


async def list_feeds(ctx: Context, request: ListFeeds) -> Page[OsintFeed]:
    """A page of the sources of situation data, the newest first."""
    brought = {one.id for one in FORMATS.values() if not SITUATION.isdisjoint(one.brings)}
    formats = brought.intersection(given(request.format, brought))
    where = _where(request.provider, tuple(sorted(formats)))
    found, next_cursor = await _sources(ctx, request, where, frozenset())
    return Page(tuple(wire.dumps(_feed(source)) for source in found), next_cursor)


async def list_health(ctx: Context, request: ListHealth) -> Page[SourceReport]:
    """A page of every source with its health, the newest first."""
    shown = frozenset(given(request.status, ()))
    kept = shown | _AGEING if "stale" in shown else shown
    if "disabled" in shown:  # whatever was known of it before
        kept = frozenset()
    where = _where(request.provider, request.format, tuple(sorted(kept)) or UNSET)
    found, next_cursor = await _sources(ctx, request, where, shown)
    return Page(tuple(wire.dumps(_report(source)) for source in found), next_cursor)


def _where(
    provider: Maybe[tuple[str, ...]],
    format_: Maybe[tuple[str, ...]],
    status: Maybe[tuple[str, ...]] = UNSET,
) -> dict[str, tuple[str, ...]]:
    asked = {"provider": provider, "format": format_, "status": status}
    return {name: values for name, values in asked.items() if not isinstance(values, Unset)}


async def _sources(
    ctx: Context,
    request: ListFeeds | ListHealth,
    where: Mapping[str, tuple[str, ...]],
    shown: frozenset[str],
) -> tuple[list[Source], str | None]:
    """The sources of a page as they look now; of no statuses all are `shown`."""
    binding = ctx.list_binding({**where, "shown": tuple(shown)})
    after = ctx.open_cursor(request.cursor, binding)
    found: list[Source] = []
    while len(found) <= request.limit:
        part = await ctx.tx.documents.scan(
            SOURCES, where=where, order="created", after=after, limit=SCANNED
        )
        looked = (health.seen(SOURCES.decode(row.raw), ctx.now) for row in part.rows)
        found += [one for one in looked if not shown or one.health.status in shown]
        after = part.end
        if after is None:
            break
    page, end = found[: request.limit], None
    if len(found) > request.limit:
        end = Position(micros(page[-1].created_at), page[-1].id)
    return page, ctx.seal_cursor(end, binding)


def _feed(source: Source) -> OsintFeed:
    format_, told = FORMATS[source.format or ""], source.health
    return OsintFeed(
        id=source.id,
        provider=provider_of(source),
        title=health.shown_name(source),
        url=health.address(source.location),
        format=source.format,
        license=format_.license,
        attribution=format_.attribution,
        cadence_seconds=source.cadence_seconds,
        coverage=Coverage(format_.kind, format_.brings),
        health=FeedHealth(told.status, told.last_success_at, told.last_content_at),
    )


def _report(source: Source) -> SourceReport:
    told = asdict(source.health, recurse=False)
    error = told.pop("error")
    return SourceReport(
        id=source.id,
        name=health.shown_name(source),
        provider=provider_of(source),
        url=health.address(source.location),
        format=source.format,
        cadence_seconds=source.cadence_seconds,
        last_run=source.last_run,
        etag=source.etag,
        error=error and HealthError(error.code, health.shown(source.location, error.message)),
        resolution=health.resolution(source.health),
        **told,
    )


# -- declarations ------------------------------------------------------------------------------

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        id="listOsintFeeds",
        group="osint",
        tag="OSINT",
        verb="feeds",
        columns=("id", "title", "provider", "format", "health.status"),
        method="GET",
        path="/osint/feeds",
        summary="List the OSINT feeds",
        description="The sources that bring events, indicators or countries, the newest first.",
        request=ListFeeds,
        response=Page[OsintFeed],
        run=list_feeds,
        scopes=READ,
    ),
    Operation(
        id="listOsintSources",
        group="osint",
        tag="OSINT",
        verb="health",
        columns=("id", "name", "format", "status", "lastSuccessAt"),
        notes=("error.message", "resolution"),
        method="GET",
        path="/osint/sources",
        summary="List the health of every source",
        description=(
            "How every source is doing, of news and of data, the newest first: `ok`; `partial`, "
            "some records could not be used, or not all of a document is in; `stale`, nobody has "
            "read it since it was due; `staleContent`, it is read and has brought nothing new for "
            "long; `error`, it could not be read; `disabled`; `neverRun`."
        ),
        request=ListHealth,
        response=Page[SourceReport],
        run=list_health,
        scopes=READ,
    ),
)
