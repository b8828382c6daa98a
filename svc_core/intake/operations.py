"""The operations on sources: what is read for news, and how that goes.

A source is one location, a file or an http(s) address. What reads it is the host's.
"""

from collections.abc import Mapping, Sequence, Set
from functools import partial
from typing import Annotated, Any, Literal, Protocol

import attrs
from attrs import frozen

from svc_core import problem, wire
from svc_core.constraints import Arg, Doc, Ge, Le, MaxLen, MinLen, Pattern
from svc_core.host import Tell
from svc_core.intake import health, registry
from svc_core.intake.registry import CADENCE_SECONDS_MAX, CADENCE_SECONDS_MIN, SourceWish
from svc_core.operation import Context, Operation, local
from svc_core.ports import SYSTEM
from svc_core.problem import Problem, describe
from svc_core.resources.members import SourceId
from svc_core.resources.news import SOURCES, LastRun, Source
from svc_core.result import One, Page
from svc_core.wire import Fault

SOURCES_MAX = 10_000
"""Sources of one installation: as many files as one folder may hold."""

BATCH_SOURCES = 100  # in one unit of work: some hundredths of a second

LOCATIONS_MAX = 1_000  # what a shell's argument list carries without trouble


@frozen
class Outcome:
    """What came of pulling one source. `source` is None when it was removed meanwhile."""

    status: Literal["taken", "unchanged", "failed", "removed"]
    source: Source | None
    run: LastRun = LastRun()  # noqa: RUF009  frozen


class SourceReader(Protocol):
    """What reads sources."""

    def locations(self, given: str) -> Sequence[str]:
        """The locations that a path or address stands for: a folder for the files in it.

        Raises:
            ValueError: nothing can be read there; the message says why.
        """
        ...

    async def pull(self, sources: Sequence[Source], tell: Tell) -> Sequence[Outcome]:
        """Read sources now, due or not; what is wrong with one is its outcome."""
        ...


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
        Doc("An http(s) address, a file, or a folder whose files are all added."),
    ]
    name: Annotated[
        str | None, MinLen(1), MaxLen(200), Doc("Display name, when adding one source.")
    ] = None
    topics: Annotated[
        tuple[str, ...] | None, Doc("A topic that all its items belong to; repeatable.")
    ] = None
    cadence_seconds: Annotated[
        int | None,
        Arg("every"),
        Ge(CADENCE_SECONDS_MIN),
        Le(CADENCE_SECONDS_MAX),
        Doc("How often it is read."),
    ] = None
    country_code: Annotated[
        str | None,
        Arg("country"),
        Pattern("[A-Z]{2}", "an ISO 3166-1 alpha-2 code such as FR"),
        Doc("Where they are published, as an ISO 3166-1 alpha-2 code."),
    ] = None
    timezone: Annotated[
        str | None, Doc("IANA zone of their dates that name none, such as Europe/Paris.")
    ] = None
    pull: Annotated[bool, Doc("Read them at once.")] = True
    keep: Annotated[bool, Doc("Keep also new ones that cannot be read, to try again.")] = False


@frozen
class PullSources:
    """Which sources to read now: these, else all, else those that are due."""

    source_ids: Annotated[SourceIds, Doc("Only these, src_...")] = ()
    all: Annotated[bool, Doc("Every source, due or not.")] = False


@frozen
class RemoveSources:
    """Which sources are read no more."""

    source_ids: Annotated[SourceIds, MinLen(1), Doc("The sources, src_...")]


@frozen
class ListSources:
    """Every source there is."""


@frozen
class AddedSource(Source):
    """A source after it was added; one that is not kept could not be read and is forgotten."""

    kept: bool = True


@frozen
class PulledSource:
    """What came of one source."""

    id: str
    name: str
    location: str
    status: str
    created: int
    updated: int
    error: Any


@frozen
class Pulled:
    """What came of pulling sources."""

    sources: int
    failed: int
    created: int
    updated: int
    outcomes: tuple[PulledSource, ...]


@frozen
class RemovedSource:
    """A source that is read no more; the items that were read from it stay."""

    id: str
    name: str
    location: str
    removed: bool = True
    items_kept: bool = True


# -- use cases ---------------------------------------------------------------------------------


async def add_sources(ctx: Context, request: AddSources) -> Page[AddedSource]:
    """The sources, new or changed, read at once unless that is not wanted.

    A new one that cannot be read is forgotten again, unless it is to be kept.

    Raises:
        Problem: VALIDATION_FAILED, before any of them is written.
    """
    found = _locations(ctx.borrow(SourceReader), request.locations)
    if request.name is not None and len(found) > 1:
        detail = f"/name: is for one source, and these are {len(found)}; leave it out"
        raise Problem(problem.VALIDATION_FAILED, detail)
    wishes = [
        SourceWish(
            location,
            request.name,
            request.topics,
            request.cadence_seconds,
            request.country_code,
            request.timezone,
        )
        for location in found
    ]

    for wish in wishes:
        registry.check(wish)
    known = frozenset(source.id for source in await _sources(ctx))
    if len(known | {health.source_id(location) for location in found}) > SOURCES_MAX:
        raise Problem(problem.VALIDATION_FAILED, f"/locations: at most {SOURCES_MAX} sources")
    added: list[Source] = []
    for start in range(0, len(wishes), BATCH_SOURCES):
        batch = wishes[start : start + BATCH_SOURCES]
        added += await ctx.work.write(SYSTEM, partial(_add, batch))
    if not request.pull:
        return Page(tuple(_added(source, frozenset()) for source in added))
    await _pull(ctx, added)
    read = {source.id: source for source in await _sources(ctx)}
    after = [read.get(source.id, source) for source in added]
    failed = frozenset(source.id for source in after if source.health.status == "error")
    unkept = frozenset() if request.keep else failed - known
    await _forget(ctx, sorted(unkept))
    return Page(tuple(_added(source, unkept) for source in after), failed=bool(failed))


async def _forget(ctx: Context, ids: Sequence[str]) -> None:
    for start in range(0, len(ids), BATCH_SOURCES):
        part = ids[start : start + BATCH_SOURCES]
        await ctx.work.write(SYSTEM, partial(registry.remove_sources, ids=part))


def _added(source: Source, unkept: Set[str]) -> bytes:
    members = {name: getattr(source, name) for name in attrs.fields_dict(Source)}
    return _row(AddedSource(**members, kept=source.id not in unkept))


async def _add(wishes: Sequence[SourceWish], ctx: Context) -> list[Source]:
    return [await registry.add_source(ctx, wish) for wish in wishes]


def _locations(reader: SourceReader, given: Sequence[str]) -> list[str]:
    found: list[str] = []
    faults: list[Fault] = []
    for index, location in enumerate(given):
        try:
            found += reader.locations(location)
        except ValueError as refused:
            faults.append(Fault(f"/locations/{index}", str(refused)))
    if faults:
        raise Problem(problem.VALIDATION_FAILED, describe(faults))
    return list(dict.fromkeys(found))


async def pull_sources(ctx: Context, request: PullSources) -> One[Pulled]:
    """Read sources now, and tell what came of each; it fails when one of them does.

    Raises:
        Problem: NOT_FOUND.
    """
    known = {source.id: source for source in await _sources(ctx)}
    for id_ in request.source_ids:
        if id_ not in known:
            raise _no_source(id_)
    chosen = [known[id_] for id_ in dict.fromkeys(request.source_ids)] or [
        source
        for source in known.values()
        if request.all or (source.health.next_attempt_at or ctx.now) <= ctx.now
    ]
    outcomes = await _pull(ctx, chosen)
    told = Pulled(
        sources=len(outcomes),
        failed=sum(one.status == "failed" for one in outcomes),
        created=sum(one.run.created for one in outcomes),
        updated=sum(one.run.updated for one in outcomes),
        outcomes=tuple(_told(one, one.source) for one in outcomes if one.source is not None),
    )
    return One(wire.dumps(told), failed=told.failed > 0)


async def _pull(ctx: Context, sources: Sequence[Source]) -> Sequence[Outcome]:
    return await ctx.borrow(SourceReader).pull(sources, ctx.work.tell)


def _told(outcome: Outcome, source: Source) -> PulledSource:
    error = source.health.error if outcome.status == "failed" else None
    return PulledSource(
        id=source.id,
        name=source.name,
        location=source.location,
        status=outcome.status,
        created=outcome.run.created,
        updated=outcome.run.updated,
        error=wire.to_json(error),
    )


async def remove_sources(ctx: Context, request: RemoveSources) -> Page[RemovedSource]:
    """Forget sources; the items that were taken in from them stay.

    Raises:
        Problem: NOT_FOUND, before any of them is forgotten.
    """
    ids = list(dict.fromkeys(request.source_ids))
    known = await ctx.work.read(SYSTEM, lambda read: read.find_many(SOURCES, ids))
    for id_ in ids:
        if id_ not in known:
            raise _no_source(id_)
    await _forget(ctx, ids)
    gone = (known[id_] for id_ in ids)
    return Page(tuple(wire.dumps(RemovedSource(one.id, one.name, one.location)) for one in gone))


def _no_source(id_: str) -> Problem:
    return Problem(problem.NOT_FOUND, f"There is no source {id_}; see: svc sources status")


async def list_sources(ctx: Context, _: ListSources) -> Page[Source]:
    """Every source with its health, by name."""
    found = await registry.list_sources(ctx, limit=SOURCES_MAX)
    return Page(tuple(map(_row, sorted(found, key=lambda one: (one.name, one.location)))))


async def _sources(ctx: Context) -> Sequence[Source]:
    async def unit(read: Context) -> Sequence[Source]:
        return await registry.list_sources(read, limit=SOURCES_MAX)

    return await ctx.work.read(SYSTEM, unit)


_VALIDATORS = frozenset({"etag", "lastModified", "digest"})


def _row(source: Source) -> bytes:
    """A source without what only its reader needs."""
    members: Mapping[str, Any] = wire.to_json(source)  # type: ignore[assignment]  # an object
    return wire.dumps({name: value for name, value in members.items() if name not in _VALIDATORS})


# -- declarations ------------------------------------------------------------------------------

_COLUMNS = ("id", "name", "health.status", "health.itemsLastRun")
_FAULTS = ("health.error.message", "health.rejections")

LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    local(
        "addSources",
        "sources add",
        "Add sources and read them",
        add_sources,
        unit="several",
        description=(
            "A running server then reads them again at their own intervals. What cannot be read is "
            "told and not kept, unless --keep says so, and the exit code is 1."
        ),
        binding="system",
        columns=(*_COLUMNS, "kept", "location"),
        notes=_FAULTS,
    ),
    local(
        "pullSources",
        "sources pull",
        "Read the sources that are due",
        pull_sources,
        unit="several",
        description="The exit code is 1 when one of them cannot be read.",
        binding="system",
        columns=("id", "name", "status", "created", "updated"),
        notes=("error.message",),
    ),
    local(
        "removeSources",
        "sources remove",
        "Stop reading sources; the items already read from them stay",
        remove_sources,
        unit="several",
        binding="system",
        columns=("id", "name", "location"),
    ),
    local(
        "listSources",
        "sources status",
        "Show how every source is doing",
        list_sources,
        unit="read",
        binding="system",
        columns=(*_COLUMNS, "location", "health.lastSuccessAt"),
        notes=_FAULTS,
    ),
)
