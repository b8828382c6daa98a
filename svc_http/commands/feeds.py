"""The commands for the sources of news: add them, take them in, see how they do."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from attrs import frozen

from svc_core import problem, wire
from svc_core.constraints import Ge, Le, MaxLen, MinLen
from svc_core.news import intake
from svc_core.news.intake import CADENCE_SECONDS_MAX, CADENCE_SECONDS_MIN
from svc_core.operation import Context
from svc_core.ports import SYSTEM
from svc_core.problem import Problem, describe
from svc_core.resources.news import Source
from svc_core.wire import Fault, Json
from svc_http.commands.command import Command, short, table
from svc_http.commands.progress import Progress, Tell
from svc_http.fetch import Fetcher, FetchRefused, locations
from svc_http.service import Service
from svc_http.workers import Outcome, add_source, pull_all

SOURCES_MAX = 10_000
"""Sources of one installation: as many files as one folder may hold."""

LOCATIONS_MAX = 1_000  # what a shell's argument list carries without trouble

MakeFetcher = Callable[[], Fetcher]


@frozen
class AddFeeds:
    """Addresses, absolute paths of files, or of folders that stand for the files in them."""

    locations: Annotated[tuple[str, ...], MinLen(1), MaxLen(LOCATIONS_MAX)]
    name: Annotated[str, MinLen(1), MaxLen(200)] | None = None
    topics: tuple[str, ...] | None = None
    cadence_seconds: Annotated[int, Ge(CADENCE_SECONDS_MIN), Le(CADENCE_SECONDS_MAX)] | None = None
    pull: bool = True


@frozen
class PullFeeds:
    """Which sources to take in now: these, else all, else those that are due."""

    source_ids: tuple[str, ...] = ()
    all: bool = False


@frozen
class RemoveFeeds:
    """Which sources are read no more."""

    source_ids: Annotated[tuple[str, ...], MinLen(1), MaxLen(LOCATIONS_MAX)]


@frozen
class FeedsStatus:
    """No arguments."""


def adder(make_fetcher: MakeFetcher) -> Command[AddFeeds]:
    """The command that adds sources and takes them in at once, unless that is not wanted."""

    async def add(service: Service, args: AddFeeds, tell: Tell) -> Json:
        added = await _added(service, args)
        if args.pull:
            async with make_fetcher() as fetcher:
                await _pulled(service, added, fetcher, tell)
        known = {source.id: source for source in await _sources(service)}
        return [described(known.get(source.id, source)) for source in added]

    return Command("feeds add", AddFeeds, add, founds=True)


async def _added(service: Service, args: AddFeeds) -> list[Source]:
    """The sources, new or changed; all locations are looked at before any is written."""
    found = _locations(args.locations)
    if args.name is not None and len(found) > 1:
        raise Problem(
            problem.VALIDATION_FAILED,
            f"/name: is for one source, and these are {len(found)}; leave it out",
        )
    return [
        await add_source(
            service,
            location,
            name=args.name,
            topics=args.topics,
            cadence_seconds=args.cadence_seconds,
        )
        for location in found
    ]


def _locations(given: Sequence[str]) -> list[str]:
    found: list[str] = []
    faults: list[Fault] = []
    for index, location in enumerate(given):
        try:
            found += locations(location)
        except FetchRefused as refused:
            faults.append(Fault(f"/locations/{index}", refused.message))
    if faults:
        raise Problem(problem.VALIDATION_FAILED, describe(faults))
    return list(dict.fromkeys(found))


def puller(make_fetcher: MakeFetcher) -> Command[PullFeeds]:
    """The command that takes sources in, through a fetcher of its own."""

    async def pull(service: Service, args: PullFeeds, tell: Tell) -> Json:
        sources = await _chosen(service, args)
        async with make_fetcher() as fetcher:
            return _told(await _pulled(service, sources, fetcher, tell))

    return Command("feeds pull", PullFeeds, pull)


async def _pulled(
    service: Service, sources: Sequence[Source], fetcher: Fetcher, tell: Tell
) -> tuple[Outcome, ...]:
    outcomes: list[Outcome] = []

    def heard(outcome: Outcome) -> None:
        outcomes.append(outcome)
        location = "" if outcome.source is None else outcome.source.location
        tell(Progress(len(outcomes), len(sources), location))

    return await pull_all(service, sources, fetcher, heard)


async def _chosen(service: Service, args: PullFeeds) -> list[Source]:
    known = {source.id: source for source in await _sources(service)}
    missing = [id_ for id_ in args.source_ids if id_ not in known]
    if missing:
        raise _no_source(missing[0])
    if args.source_ids:
        return [known[id_] for id_ in dict.fromkeys(args.source_ids)]
    now = service.now()
    return [
        source
        for source in known.values()
        if args.all or (source.health.next_attempt_at or now) <= now
    ]


async def _sources(service: Service) -> tuple[Source, ...]:
    async def unit(ctx: Context) -> tuple[Source, ...]:
        return await intake.list_sources(ctx, limit=SOURCES_MAX)

    return await service.read(SYSTEM, unit)


def _told(outcomes: Sequence[Outcome]) -> Json:
    rows: list[Json] = [
        {
            "id": outcome.source.id,
            "name": outcome.source.name,
            "location": outcome.source.location,
            "status": outcome.status,
            "created": outcome.created,
            "updated": outcome.updated,
            "error": wire.to_json(outcome.source.health.error)
            if outcome.status == "failed"
            else None,
        }
        for outcome in outcomes
        if outcome.source is not None
    ]
    return {
        "sources": len(outcomes),
        "failed": sum(outcome.status == "failed" for outcome in outcomes),
        "created": sum(outcome.created for outcome in outcomes),
        "updated": sum(outcome.updated for outcome in outcomes),
        "outcomes": rows,
    }


def _no_source(id_: str) -> Problem:
    return Problem(problem.NOT_FOUND, f"There is no source {id_}; see: svc feeds status")


async def remove(service: Service, args: RemoveFeeds) -> Json:
    """Forget sources, all of them or none; the items that were taken in from them stay."""

    async def unit(ctx: Context) -> list[Source]:
        gone: list[Source] = []
        for id_ in dict.fromkeys(args.source_ids):
            source = await intake.remove_source(ctx, id_)
            if source is None:
                raise _no_source(id_)
            gone.append(source)
        return gone

    return [
        {
            "id": source.id,
            "name": source.name,
            "location": source.location,
            "removed": True,
            "itemsKept": True,
        }
        for source in await service.system(unit)
    ]


async def status(service: Service, _: FeedsStatus) -> Json:
    """Every source with its health, by name."""
    found = sorted(await _sources(service), key=lambda source: (source.name, source.location))
    return [described(source) for source in found]


_VALIDATORS = frozenset({"etag", "lastModified", "digest"})


def described(source: Source) -> Json:
    """A source without what only the fetcher needs."""
    members: Mapping[str, Any] = wire.to_json(source)  # type: ignore[assignment]  # an object
    return {name: value for name, value in members.items() if name not in _VALIDATORS}


def commands(make_fetcher: MakeFetcher) -> Mapping[str, Command[Any]]:
    """The commands, with the way out that they may use."""
    return table(
        adder(make_fetcher),
        puller(make_fetcher),
        short("feeds remove", RemoveFeeds, remove),
        short("feeds status", FeedsStatus, status),
    )
