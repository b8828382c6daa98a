"""What can be read, and lists of what is: formats, presets, subscriptions from and for others."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any

import attrs
from attrs import frozen

from svc_core import data, wire
from svc_core.contract import problem
from svc_core.contract.media import Representation
from svc_core.contract.problem import Problem
from svc_core.contract.result import Content, Page
from svc_core.formats.feeds import opml
from svc_core.formats.feeds.news import FEEDS
from svc_core.formats.model import DocumentRefused
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import Format
from svc_core.formats.reading.packed import unpacked
from svc_core.formats.table import TABLE
from svc_core.intel.folding.model import HealthError, Source
from svc_core.intel.intake import health, operations, registry
from svc_core.intel.intake.operations import SourceReader
from svc_core.intel.intake.registry import SourceWish
from svc_core.operation.context import Context
from svc_core.operation.declaration import Operation, local
from svc_core.operation.units import WorkContext
from svc_core.text.topics import named
from svc_core.wire.constraints import Arg, Doc, MaxLen

OPML = Representation("opml", "text/x-opml")
OPML_BYTES = 10 * 2**20  # ten thousand feeds of a kilobyte each

# -- formats -----------------------------------------------------------------------------------

SURFACES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "newsItem": ("/news", "/news/feeds", "/news/recaps"),
        "osintEvent": ("/osint/events", "/osint/feeds", "/osint/regional"),
        "country": ("/osint/countries",),
        "indicator": ("/osint/finint", "/finint"),
        "market": ("/markets",),
    }
)
"""The lists that show each kind of row; of the other kinds there are none yet."""


@frozen
class ListFormats:
    """Every format that is read."""


@frozen
class FormatRow:
    """One format: what its documents bring, where that is shown, and what they leave unsaid.

    Of a `snapshot` what is absent is gone, of a `window` absence says nothing, a `delta` says
    itself what is gone. `required` are the options that it does not do without.
    """

    id: str
    title: str
    kind: str
    provider: str | None
    brings: tuple[str, ...]
    surfaces: tuple[str, ...]
    options: Mapping[str, str]
    required: tuple[str, ...]
    license: str | None
    attribution: str | None
    cadence_seconds: int


async def list_formats(_: Context, __: ListFormats) -> Page[FormatRow]:
    """The formats in the order in which they are tried."""
    return Page(tuple(wire.dumps(shown(one)) for one in TABLE))


def shown(format_: Format) -> FormatRow:
    """A format as its operation tells it."""
    surfaces = [path for kind in format_.brings for path in SURFACES.get(kind, ())]
    told: dict[str, Any] = {one: getattr(format_, one, ()) for one in attrs.fields_dict(FormatRow)}
    told |= {"surfaces": tuple(surfaces), "required": tuple(sorted(format_.required))}
    return FormatRow(**told)


# -- presets -----------------------------------------------------------------------------------


@frozen
class ListPresets:
    """Which presets to show, and which of them to read from now on."""

    names: Annotated[
        tuple[str, ...], Arg(positional=True), MaxLen(1_000), Doc("Only these. Default: all.")
    ] = ()
    add: Annotated[
        tuple[str, ...], Arg("add"), MaxLen(1_000), Doc("A preset to read from now on; repeatable.")
    ] = ()
    pull: Annotated[bool, Doc("Read at once what is added.")] = True


@frozen
class Preset:
    """A public address that is well known. Nothing is read from it until somebody adds it."""

    name: str
    format: str
    location: str
    options: Mapping[str, str]
    topics: tuple[str, ...]
    license: str
    note: str


@frozen
class PresetRow(Preset):
    """A preset, the source that reads it, if any, and why that could not be read."""

    source_id: str | None = None
    status: str | None = None
    error: HealthError | None = None
    resolution: str | None = None


def presets() -> Mapping[str, Preset]:
    """Every preset by its name."""
    return {preset.name: preset for preset in map(_preset, data.lines("presets.tsv"))}


def _preset(line: str) -> Preset:
    name, format_, location, options, topics, license_, note = line.split("\t")
    pairs = dict(pair.split("=", 1) for pair in options.split(",") if pair)
    tags = tuple(filter(None, topics.split(",")))
    return Preset(name, format_, location, pairs, tags, license_, note)


async def list_presets(ctx: WorkContext, request: ListPresets) -> Page[PresetRow]:
    """Presets by name, with the sources that read them; those to be added are kept, and read.

    Raises:
        Problem: VALIDATION_FAILED for an unknown one, before any of them is added.
    """
    known = presets()
    for name in (*request.names, *request.add):
        if name not in known:
            detail = f"/names: there is no preset {name!r}; see: svc sources presets"
            raise Problem(problem.VALIDATION_FAILED, detail)
    chosen = [known[name] for name in dict.fromkeys((*request.names, *request.add))]
    wanted = [known[name] for name in dict.fromkeys(request.add)]
    added = await operations.write_sources(ctx, [_wish(one) for one in wanted])
    if request.pull and added:
        read = [one for one in added if not one.is_disabled]
        await ctx.borrow(SourceReader).pull(read, ctx.work.tell)
    sources = {source.location: source for source in await operations.all_sources(ctx)}
    rows = [_with(one, sources.get(one.location)) for one in chosen or known.values()]
    is_failed = any(row.error for row in rows if row.name in request.add)
    return Page(tuple(map(wire.dumps, rows)), failed=is_failed)


def _wish(preset: Preset) -> SourceWish:
    return SourceWish(
        preset.location,
        name=preset.note.partition(":")[0],
        topics=preset.topics or None,
        format=preset.format,
        options=preset.options,
    )


def _with(preset: Preset, source: Source | None) -> PresetRow:
    row = PresetRow(**attrs.asdict(preset, recurse=False))
    if source is None:
        return row
    told, todo = source.health, health.resolution(source.health)
    return attrs.evolve(
        row, source_id=source.id, status=told.status, error=told.error, resolution=todo
    )


# -- subscriptions -----------------------------------------------------------------------------


@frozen
class ImportSources:
    """A list of feeds to read from now on."""

    location: Annotated[
        str,
        Arg("location", positional=True, path=True),
        MaxLen(4_096),
        Doc("An OPML file, or its http(s) address."),
    ]
    pull: Annotated[bool, Doc("Read them at once, instead of when a server finds them due.")] = (
        False
    )


@frozen
class ImportedSource:
    """One feed of a list: `added`, `known` before, or `refused` for a reason."""

    id: str | None
    name: str | None
    location: str
    topics: tuple[str, ...]
    status: str
    reason: str | None = None


async def import_sources(ctx: WorkContext, request: ImportSources) -> Page[ImportedSource]:
    """The feeds of an OPML list, kept as sources; labels that name topics become theirs.

    Only a list of this machine may name files.

    Raises:
        Problem: VALIDATION_FAILED where it is no such list, or has no feed that can be read.
    """
    reader = ctx.borrow(SourceReader)
    listed = await _outlines(reader, request.location)
    is_local = "://" not in request.location or request.location.startswith("file:")
    wishes, refused = _wishes(reader, listed, is_local=is_local)
    if not wishes:
        reason = f": {refused[0].reason}" if refused else ""
        detail = f"/location: the list has no feed that can be read{reason}"
        raise Problem(problem.VALIDATION_FAILED, detail)
    known = {source.id for source in await operations.all_sources(ctx)}
    added = await operations.write_sources(ctx, wishes)
    if request.pull:
        await reader.pull([one for one in added if not one.is_disabled], ctx.work.tell)
    names = ("added", "known")
    rows = [
        ImportedSource(one.id, one.name, one.location, one.topics, names[one.id in known])
        for one in added
    ]
    return Page(tuple(map(wire.dumps, (*rows, *refused))))


async def _outlines(reader: SourceReader, location: str) -> Sequence[opml.Outline]:
    try:
        found = unpacked(await reader.read(location), OPML_BYTES)
        if len(found) > OPML_BYTES:
            raise ValueError(f"The list is larger than {OPML_BYTES} bytes.")
        return opml.outlines(Body(found))
    except ValueError as refused:
        reason = refused.reason if isinstance(refused, DocumentRefused) else refused
        raise Problem(problem.VALIDATION_FAILED, f"/location: {reason}") from refused


def _wishes(
    reader: SourceReader, listed: Sequence[opml.Outline], *, is_local: bool
) -> tuple[list[SourceWish], list[ImportedSource]]:
    wishes: list[SourceWish] = []
    refused: list[ImportedSource] = []
    for one in listed:
        topics = tuple(sorted(named(one.labels)))
        try:
            if not is_local and not one.url.lower().startswith(("http://", "https://")):
                raise ValueError("a list from elsewhere may name web addresses only")
            (location,) = reader.locations(one.url)
            wishes.append(SourceWish(location, one.name, topics or None))
        except ValueError as fault:
            row = ImportedSource(None, one.name, one.url, topics, "refused", str(fault))
            refused.append(row)
    return wishes, refused


@frozen
class ExportSources:
    """The feeds that are read."""


async def export_sources(ctx: Context, _: ExportSources) -> Content:
    """The news feeds among the sources, as a list that feed readers take."""
    found = await registry.list_sources(ctx, limit=operations.SOURCES_MAX)
    feeds = [
        opml.Outline(one.location, one.name or None, one.topics, one.home_url)
        for one in sorted(found, key=lambda one: (one.name, one.location))
        if one.format is None or one.format in _FEEDS
    ]
    return Content(OPML.media_type, opml.written("Sources", feeds).encode())


_FEEDS = frozenset(one.id for one in FEEDS)

# -- declarations ------------------------------------------------------------------------------

LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    local(
        "sources formats",
        "Show the formats that are read",
        list_formats,
        method="GET",
        binding="system",
        columns=("id", "title", "kind", "brings", "surfaces", "license"),
        notes=("options",),
    ),
    local(
        "sources presets",
        "Show well-known public addresses, and add some",
        list_presets,
        description="Nothing is read from any of them until it is added.",
        binding="system",
        columns=("name", "format", "status", "license", "note", "location"),
        notes=("error.message", "resolution"),
    ),
    local(
        "sources import",
        "Add the feeds of an OPML list",
        import_sources,
        description="A running server reads them when it finds them due, that is at once.",
        binding="system",
        columns=("id", "name", "status", "topics", "location"),
        notes=("reason",),
    ),
    local(
        "sources export",
        "Write the feeds among the sources as an OPML list",
        export_sources,
        method="GET",
        binding="system",
        media=(OPML,),
    ),
)
