"""The operations on sources: add, read, list, disable, reset and remove them.

A source is one location, a file or an http(s) address, read in one format. The host reads it
(`SourceReader`).
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal, Protocol, TypeVar

import attrs
from attrs import field, frozen

from svc_core import wire
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Page
from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.folding.model import (
    SOURCES,
    LastRun,
    RowCounts,
    Source,
    SourceHealth,
    source_id,
)
from svc_core.intel.intake import health, registry
from svc_core.intel.intake import record_intake as readings
from svc_core.intel.intake.registry import CADENCE_SECONDS_MAX, CADENCE_SECONDS_MIN, SourceWish
from svc_core.operation.context import Context
from svc_core.operation.declaration import Operation, local
from svc_core.operation.host import ProgressListener
from svc_core.operation.members import NoMembers, SourceId
from svc_core.operation.ports import SYSTEM
from svc_core.operation.units import WorkContext
from svc_core.wire import InputFault
from svc_core.wire.constraints import Arg, Ge, Le, MaxLen, MinLen, Pattern

SOURCES_MAX = 10_000
"""The most sources of an installation: as many files as one folder may hold."""

BATCH_SOURCES = 100  # in one unit of work: some hundredths of a second

BATCH_ROWS = 32  # withdrawn in one unit of work: about a tenth of a second

T = TypeVar("T")
Req = TypeVar("Req")
Res = TypeVar("Res")

LOCATIONS_MAX = 1_000  # what a shell's argument list carries without trouble


@frozen
class PullOutcome:
    """The outcome of reading one source; `source` is None where it was removed meanwhile."""

    status: Literal["taken", "unchanged", "failed", "removed"]
    source: Source | None
    run: LastRun = LastRun()


class SourceReader(Protocol):
    """Reads documents for these operations; the host implements it."""

    def locations(self, location: str) -> Sequence[str]:
        """The locations that a path or address stands for: a folder for the files in it.

        Raises:
            ValueError: nothing can be read there; the message says why.
        """

    async def pull(
        self, sources: Sequence[Source], tell: ProgressListener, *, force: bool = False
    ) -> Sequence[PullOutcome]:
        """Read sources now, due or not; the fault of one source is its outcome.

        With `force` a document is read though it is known, and a snapshot though it shrank.
        """

    async def read(self, location: str) -> bytes:
        """The document at one location.

        Raises:
            ValueError: it cannot be read; the message says why.
        """


# -- requests and rows -------------------------------------------------------------------------

SourceIds = Annotated[tuple[SourceId, ...], Arg(positional=True), MaxLen(LOCATIONS_MAX)]


@frozen
class AddSources:
    """Locations to read from now on."""

    locations: Annotated[
        tuple[str, ...],
        Arg("location", positional=True, path=True),
        MinLen(1),
        MaxLen(LOCATIONS_MAX),
    ]
    """An http(s) address, a file, or a folder whose files are all added."""
    format: Annotated[str | None, MaxLen(40)] = None
    """One of the formats that are read. Default: what its content shows."""
    name: Annotated[str | None, MinLen(1), MaxLen(200)] = None
    """Display name, when adding one source."""
    topics: tuple[str, ...] | None = None
    """Topics that all its items belong to."""
    cadence_seconds: Annotated[
        int | None, Arg("every"), Ge(CADENCE_SECONDS_MIN), Le(CADENCE_SECONDS_MAX)
    ] = None
    """How often it is read. Default: as often as its format changes."""
    options: Annotated[Mapping[str, Annotated[str, MaxLen(200)]], Arg("option")] = field(
        factory=dict
    )
    """What its documents leave unsaid, as KEY=VALUE; an empty VALUE takes it back."""
    country_code: Annotated[
        str | None, Arg("country"), Pattern("[A-Z]{2}", "an ISO 3166-1 alpha-2 code such as FR")
    ] = None
    """Where they are published, as an ISO 3166-1 alpha-2 code; the option `country`."""
    timezone: str | None = None
    """IANA zone of dates that name none, such as Europe/Paris; the option `timezone`."""
    pull: bool = True
    """Read them at once."""
    keep: bool = False
    """Keep also new ones that cannot be read, to try again."""
    force: bool = False
    """Read a snapshot though it shrank, or is known."""


@frozen
class PullSources:
    """Which sources to read now: these, else all, else those that are due."""

    source_ids: SourceIds = ()
    """Only these."""
    all: bool = False
    """Every source, due or not, but for disabled ones."""
    force: bool = False
    """Read a snapshot though it shrank, or is known."""


@frozen
class ChosenSources:
    """Which sources are meant."""

    source_ids: Annotated[SourceIds, MinLen(1)]
    """The sources, src_..."""


@frozen
class RemoveSources(ChosenSources):
    """Which sources are read no more."""

    withdraw: bool = False
    """Take back what they brought and nobody else brings."""


@frozen(kw_only=True)
class ShownHealth(SourceHealth):
    """How a source is doing, with the validator of its last answer, and what to do."""

    etag: str | None = None
    resolution: str | None = None


@frozen
class SourceRow:
    """One source: where it is, what it brings, how it is doing.

    One that is not `kept` could not be read when it was added, and is forgotten.
    """

    id: SourceId
    location: str
    name: str
    format: str | None
    topics: tuple[str, ...]
    cadence_seconds: int
    options: Mapping[str, str]
    health: ShownHealth
    last_run: LastRun | None
    home_url: str | None
    domain: str
    language: str | None
    country_code: str | None
    timezone: str | None
    created_at: datetime
    kept: bool = True


@frozen
class PulledSource(SourceRow):
    """One source as it is after it was read, and what came of that."""

    status: Literal["taken", "unchanged", "failed", "removed"] = "taken"


@frozen
class RemovedSource:
    """A source that is read no more, and how many rows went with it or lost what it said."""

    id: str
    name: str
    location: str
    removed: bool = True
    items_kept: bool = True
    deleted: int = 0
    updated: int = 0


# -- adding and reading ------------------------------------------------------------------------


async def add_sources(ctx: WorkContext, request: AddSources) -> Page[SourceRow]:
    """Add sources, or change known ones, and read them at once unless the request says not to.

    A new source that cannot be read is removed again, unless the request says to keep it.

    Raises:
        Problem: VALIDATION_FAILED, before any of them is written.
    """
    locations = _locations(ctx.borrow(SourceReader), request.locations)
    if request.name is not None and len(locations) > 1:
        detail = f"/name: is for one source, and these are {len(locations)}; leave it out"
        raise Problem(problem.VALIDATION_FAILED, detail)
    names = attrs.fields_dict(SourceWish).keys() - {"location"}
    members = {name: getattr(request, name) for name in names}
    known_ids = frozenset(source.id for source in await all_sources(ctx))
    sources = await write_sources(ctx, [SourceWish(location, **members) for location in locations])
    if not request.pull:
        return Page(tuple(map(source_row, sources)))
    await _pull(ctx, sources, force=request.force)
    after = await _again(ctx, sources)
    failed_ids = frozenset(source.id for source in after if source.health.status == "error")
    dropped_ids = frozenset() if request.keep else failed_ids - known_ids
    await _forget(ctx, sorted(dropped_ids))
    rows = tuple(source_row(s, is_kept=s.id not in dropped_ids) for s in after)
    return Page(rows, failed=bool(failed_ids))


async def write_sources(ctx: WorkContext, wishes: Sequence[SourceWish]) -> list[Source]:
    """Store sources, in several short units of work.

    Raises:
        Problem: VALIDATION_FAILED, or RESOURCE_CONFLICT where there would be more than
            `SOURCES_MAX`; before any of them is written.
    """
    by_id = {source.id: source for source in await all_sources(ctx)}
    ids = [source_id(wish.location) for wish in wishes]
    for id_, wish in zip(ids, wishes, strict=True):
        registry.check_wish(wish, by_id.get(id_))
    if len(by_id.keys() | set(ids)) > SOURCES_MAX:
        raise problem.conflict(
            f"An installation has at most {SOURCES_MAX:,} sources.", "Remove some sources first."
        )
    sources: list[Source] = []
    for batch in _batches(wishes, BATCH_SOURCES):
        sources += await ctx.work.write(SYSTEM, partial(_add, batch))
    return sources


def _batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))


async def _add(wishes: Sequence[SourceWish], ctx: Context) -> list[Source]:
    return [await registry.register_source(ctx, wish) for wish in wishes]


async def _again(ctx: WorkContext, sources: Sequence[Source]) -> list[Source]:
    """Sources read again from the store, in the same order."""
    by_id = {source.id: source for source in await all_sources(ctx)}
    return [by_id.get(source.id, source) for source in sources]


async def _forget(ctx: WorkContext, ids: Sequence[str]) -> None:
    for part in _batches(ids, BATCH_SOURCES):
        await ctx.work.write(SYSTEM, partial(registry.remove_sources, ids=part))


def _locations(reader: SourceReader, names: Sequence[str]) -> list[str]:
    locations: list[str] = []
    faults: list[InputFault] = []
    for index, location in enumerate(names):
        try:
            locations += reader.locations(location)
        except ValueError as fault:
            faults.append(InputFault(f"/locations/{index}", str(fault).removesuffix(".")))
    problem.refuse(faults)
    return list(dict.fromkeys(locations))


async def pull_sources(ctx: WorkContext, request: PullSources) -> Page[PulledSource]:
    """Read sources now and tell the outcome of each; fails when one of them does.

    Raises:
        Problem: NOT_FOUND; VALIDATION_FAILED for a disabled one.
    """
    by_id = {source.id: source for source in await all_sources(ctx)}
    for id_ in request.source_ids:
        if id_ not in by_id:
            raise _no_source(id_)
        if by_id[id_].is_disabled:
            detail = f"/sourceIds: {id_} is disabled; first: svc sources enable {id_}"
            raise Problem(problem.VALIDATION_FAILED, detail)
    sources = [by_id[id_] for id_ in dict.fromkeys(request.source_ids)] or [
        source
        for source in by_id.values()
        if request.all or (source.health.next_attempt_at or ctx.now) <= ctx.now
    ]
    outcomes = await _pull(ctx, sources, force=request.force)
    rows = [source_row(o.source, status=o.status) for o in outcomes if o.source is not None]
    return Page(tuple(rows), failed=any(outcome.status == "failed" for outcome in outcomes))


async def _pull(
    ctx: WorkContext, sources: Iterable[Source], *, force: bool
) -> Sequence[PullOutcome]:
    enabled = [source for source in sources if not source.is_disabled]
    return await ctx.borrow(SourceReader).pull(enabled, ctx.work.tell, force=force)


# -- letting go --------------------------------------------------------------------------------


async def remove_and_withdraw(ctx: WorkContext, request: RemoveSources) -> Page[RemovedSource]:
    """Remove sources; their rows stay, unless the request says to withdraw them.

    A withdrawal that was cut off goes on when it is requested again.

    Raises:
        Problem: NOT_FOUND, before any of them is forgotten.
    """
    ids = list(dict.fromkeys(request.source_ids))
    by_id = await ctx.work.read(SYSTEM, lambda read: read.find_many(SOURCES, ids))
    for id_ in ids:
        rest = partial(readings.contributions_from, source=id_)
        if id_ not in by_id and not (request.withdraw and (await ctx.work.read(SYSTEM, rest))[0]):
            raise _no_source(id_)
    await _forget(ctx, ids)
    rows = [await _removal(ctx, id_, by_id.get(id_), withdraw=request.withdraw) for id_ in ids]
    return Page(tuple(map(wire.to_bytes, rows)))


async def _removal(
    ctx: WorkContext, id_: str, source: Source | None, *, withdraw: bool
) -> RemovedSource:
    """Reports the removal of a source; with `withdraw` it also withdraws what it brought."""
    counts = await _withdraw(ctx, id_) if withdraw else RowCounts()
    name, location = (source.name, source.location) if source else ("", "")
    return RemovedSource(id_, name, location, True, not withdraw, counts.deleted, counts.updated)


async def _withdraw(ctx: WorkContext, id_: str) -> RowCounts:
    counts, after = RowCounts(), None
    while True:
        scan = partial(readings.contributions_from, source=id_, after=after)
        claims, after = await ctx.work.read(SYSTEM, scan)
        for part in _batches(claims, BATCH_ROWS):
            counts += await ctx.work.write(SYSTEM, partial(_withdraw_part, id_, part))
        if after is None:
            break
    return counts


async def _withdraw_part(id_: str, part: Sequence[Contribution], ctx: Context) -> RowCounts:
    # Somebody may have added it anew meanwhile: what it says then stays.
    if await ctx.find(SOURCES, id_) is not None:
        return RowCounts()
    return await readings.withdraw(ctx, part)


async def reset_sources(ctx: WorkContext, request: ChosenSources) -> Page[SourceRow]:
    """Forget the validators of sources, so that their next documents are processed anew.

    Raises:
        Problem: NOT_FOUND, before any of them is changed.
    """

    def anew(source: Source) -> Source:
        due = attrs.evolve(source.health, next_attempt_at=ctx.now)
        return attrs.evolve(registry.without_validators(source), health=due)

    return await _change(ctx, request, anew)


async def disable_sources(ctx: WorkContext, request: ChosenSources) -> Page[SourceRow]:
    """Keep sources without reading them.

    Raises:
        Problem: NOT_FOUND, before any of them is changed.
    """
    return await _change(ctx, request, partial(attrs.evolve, is_disabled=True))


async def enable_sources(ctx: WorkContext, request: ChosenSources) -> Page[SourceRow]:
    """Read disabled sources again.

    Raises:
        Problem: NOT_FOUND, before any of them is changed.
    """
    return await _change(ctx, request, partial(attrs.evolve, is_disabled=False))


async def _change(
    ctx: WorkContext, request: ChosenSources, change: Callable[[Source], Source]
) -> Page[SourceRow]:
    ids = list(dict.fromkeys(request.source_ids))
    by_id = await ctx.work.read(SYSTEM, lambda read: read.find_many(SOURCES, ids))
    for id_ in ids:
        if id_ not in by_id:
            raise _no_source(id_)
    sources: list[Source] = []
    for part in _batches(ids, BATCH_SOURCES):
        unit = partial(registry.change_sources, ids=part, change=change)
        sources += await ctx.work.write(SYSTEM, unit)
    return Page(tuple(source_row(health.with_staleness(source, ctx.now)) for source in sources))


def _no_source(id_: str) -> Problem:
    return Problem(problem.NOT_FOUND, f"There is no source {id_}; see: svc sources status")


# -- showing -----------------------------------------------------------------------------------


async def list_sources(ctx: Context, _: NoMembers) -> Page[SourceRow]:
    """Every source with its health, by name."""
    sources = await registry.stored_sources(ctx, limit=SOURCES_MAX)
    return Page(tuple(map(source_row, sorted(sources, key=lambda s: (s.name, s.location)))))


async def all_sources(ctx: WorkContext) -> Sequence[Source]:
    """Every source, read in a unit of work of its own."""

    async def unit(read: Context) -> Sequence[Source]:
        return await registry.stored_sources(read, limit=SOURCES_MAX)

    return await ctx.work.read(SYSTEM, unit)


def source_row(source: Source, *, is_kept: bool = True, status: Any = None) -> bytes:
    """The row of a source as operations show it, without members for its reader; `status` is what
    came of reading it now."""
    members = {name: getattr(source, name) for name in _ROW_MEMBERS}
    state = {name: getattr(source.health, name) for name in attrs.fields_dict(SourceHealth)}
    health_row = ShownHealth(**state, etag=source.etag, resolution=health.resolution(source.health))
    members |= {"health": health_row, "kept": is_kept}
    row = PulledSource(**members, status=status) if status else SourceRow(**members)
    return wire.to_bytes(row)


_ROW_MEMBERS = attrs.fields_dict(SourceRow).keys() & attrs.fields_dict(Source).keys()


# -- declarations ------------------------------------------------------------------------------

_COLUMNS = ("id", "name", "format", "health.status", "health.itemsLastRun")
_FAULTS = ("health.error.message", "health.resolution", "health.rejections")
_CHANGES = ("id", "name", "health.status", "location")


def _several(
    verb: str, summary: str, run: Callable[[WorkContext, Req], Awaitable[Res]], **members: Any
) -> Operation[Req, Res]:
    """An operation on sources that has several units of work."""
    usual: Any = {"id_": f"{verb}Sources", "binding": "system"}
    return local(f"sources {verb}", summary, run, **usual, **members)


LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    _several(
        "add",
        "Add sources and read them",
        add_sources,
        description=(
            "The content of a document decides its format. A running server then reads it again at "
            "its own interval. A source that cannot be read is reported and not kept, unless you "
            "ask for that; the exit code is then 1. It is 0 where only rows are refused."
        ),
        columns=(*_COLUMNS, "kept", "location"),
        notes=_FAULTS,
    ),
    _several(
        "pull",
        "Read the sources that are due",
        pull_sources,
        description="The exit code is 1 when one of them cannot be read.",
        columns=(
            "id",
            "name",
            "status",
            *(f"lastRun.{name}" for name in attrs.fields_dict(LastRun)),
        ),
        notes=_FAULTS,
    ),
    _several(
        "remove",
        "Stop reading sources; their rows stay, unless you withdraw them",
        remove_and_withdraw,
        description="A row that another source brings as well stays, as that source has it.",
        columns=("id", "name", "deleted", "updated", "location"),
    ),
    _several(
        "reset",
        "Forget which documents were read, so that they are read again",
        reset_sources,
        columns=_CHANGES,
    ),
    _several("disable", "Keep sources without reading them", disable_sources, columns=_CHANGES),
    _several("enable", "Read disabled sources again", enable_sources, columns=_CHANGES),
    local(
        "sources status",
        "Show how every source is doing",
        list_sources,
        binding="system",
        method="GET",
        columns=(*_COLUMNS, "health.rejectedLastRun", "location", "health.lastSuccessAt"),
        notes=_FAULTS,
    ),
)
