"""The operations on formats and presets, and the import of feed lists (OPML)."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any

import attrs
from attrs import frozen

from svc_core import data, wire
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Page
from svc_core.formats.feeds import opml
from svc_core.formats.model import DocumentRefused
from svc_core.formats.reading.compression import unpack_document
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import Format
from svc_core.formats.table import TABLE
from svc_core.intel.folding.model import HealthError, Source
from svc_core.intel.intake import health, operations
from svc_core.intel.intake.operations import SourceReader
from svc_core.intel.intake.registry import SourceWish
from svc_core.operation.context import Context
from svc_core.operation.declaration import Operation, local
from svc_core.operation.members import NoMembers
from svc_core.operation.units import WorkContext
from svc_core.text.topics import topics_of_labels
from svc_core.wire.constraints import Arg, MaxLen

OPML_BYTES = 10 * 2**20  # ten thousand feeds of a kilobyte each

# -- formats -----------------------------------------------------------------------------------

SURFACES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "newsItem": ("/news", "/news/feeds", "/news/recaps", "/incidents"),
        "osintEvent": ("/osint/events", "/osint/feeds", "/osint/regional", "/incidents"),
        "country": ("/osint/countries",),
        "indicator": ("/osint/finint", "/finint"),
        "market": ("/markets",),
        "entity": ("/entities",),
        "relation": ("/entities/{entityId}/graph",),
        "cve": ("/cyber/cves", "/entities"),
        "incident": ("/incidents",),
        "mention": ("/incidents",),
        "financialObservation": ("/entities/{entityId}/financial-observations",),
        "filing": ("/entities/{entityId}/fusion",),
        **dict.fromkeys(("attack", "stix", "misp-galaxy"), ("/cyber/actors", "/cyber/graph")),
    }
)
"""The routes that show each kind of row, and what single formats have beside them; places are part
of other rows."""


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


async def list_formats(_: Context, __: NoMembers) -> Page[FormatRow]:
    """The formats in the order in which they are tried."""
    return Page(tuple(wire.to_bytes(_format_row(format_)) for format_ in TABLE))


def _format_row(format_: Format) -> FormatRow:
    """A format as the list of formats shows it."""
    names = (*format_.resources, format_.id)
    surfaces = dict.fromkeys(path for name in names for path in SURFACES.get(name, ()))
    members: dict[str, Any] = {n: getattr(format_, n, ()) for n in attrs.fields_dict(FormatRow)}
    members |= {"brings": format_.resources, "surfaces": tuple(surfaces)}
    members |= {"required": tuple(sorted(format_.required))}
    return FormatRow(**members)


# -- presets -----------------------------------------------------------------------------------


@frozen
class ListPresets:
    """Which presets to show, and which of them to read from now on."""

    names: Annotated[tuple[str, ...], Arg(positional=True), MaxLen(1_000)] = ()
    """Only these. Default: all."""
    add: Annotated[tuple[str, ...], Arg("add"), MaxLen(1_000)] = ()
    """Presets to read from now on."""
    pull: bool = True
    """Read at once what is added."""


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
    """All presets by name."""
    return {preset.name: preset for preset in map(_preset, data.table_lines("presets.tsv"))}


def _preset(line: str) -> Preset:
    name, format_, location, options, topics, license_, note = line.split("\t")
    pairs = dict(pair.split("=", 1) for pair in options.split(",") if pair)
    tags = tuple(filter(None, topics.split(",")))
    return Preset(name, format_, location, pairs, tags, license_, note)


async def list_presets(ctx: WorkContext, request: ListPresets) -> Page[PresetRow]:
    """Presets by name, with their sources; adds those that the request names, and reads them.

    Raises:
        Problem: VALIDATION_FAILED for an unknown one, before any of them is added.
    """
    by_name = presets()
    for name in (*request.names, *request.add):
        if name not in by_name:
            detail = f"/names: there is no preset {name!r}; see: svc sources presets"
            raise Problem(problem.VALIDATION_FAILED, detail)
    requested = [by_name[name] for name in dict.fromkeys((*request.names, *request.add))]
    additions = [by_name[name] for name in dict.fromkeys(request.add)]
    added = await operations.write_sources(ctx, [_wish(p) for p in additions])
    if request.pull and added:
        readable = [source for source in added if not source.is_disabled]
        await ctx.borrow(SourceReader).pull(readable, ctx.work.tell)
    by_location = {source.location: source for source in await operations.all_sources(ctx)}
    rows = [_preset_row(p, by_location.get(p.location)) for p in requested or by_name.values()]
    is_failed = any(row.error for row in rows if row.name in request.add)
    return Page(tuple(map(wire.to_bytes, rows)), failed=is_failed)


def _wish(preset: Preset) -> SourceWish:
    return SourceWish(
        preset.location,
        name=preset.note.partition(":")[0],
        topics=preset.topics or None,
        format=preset.format,
        options=preset.options,
    )


def _preset_row(preset: Preset, source: Source | None) -> PresetRow:
    row = PresetRow(**attrs.asdict(preset, recurse=False))
    if source is None:
        return row
    state, next_step = source.health, health.resolution(source.health)
    return attrs.evolve(
        row, source_id=source.id, status=state.status, error=state.error, resolution=next_step
    )


# -- subscriptions -----------------------------------------------------------------------------


@frozen
class ImportSources:
    """A list of feeds to read from now on."""

    location: Annotated[str, Arg("location", positional=True, path=True), MaxLen(4_096)]
    """An OPML file, or its http(s) address."""
    local: bool = False
    """Let a list that is a file name other files of this machine, too."""
    pull: bool = False
    """Read them at once, instead of when a server finds them due."""


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
    """Adds the feeds of an OPML list as sources; labels that name topics become their topics.

    A list names web addresses; one of this machine names files as well where the operator says so.

    Raises:
        Problem: VALIDATION_FAILED where it is no such list, or has no feed that can be read.
    """
    reader = ctx.borrow(SourceReader)
    outlines = await _outlines(reader, request.location)
    is_file = "://" not in request.location or request.location.startswith("file:")
    wishes, refusals = _wishes(reader, outlines, is_local=is_file and request.local)
    if not wishes:
        reason = f": {refusals[0].reason}" if refusals else ""
        detail = f"/location: the list has no feed that can be read{reason}"
        raise Problem(problem.VALIDATION_FAILED, detail)
    known_ids = {source.id for source in await operations.all_sources(ctx)}
    sources = await operations.write_sources(ctx, wishes)
    if request.pull:
        await reader.pull([s for s in sources if not s.is_disabled], ctx.work.tell)
    names = ("added", "known")
    rows = [
        ImportedSource(s.id, s.name, s.location, s.topics, names[s.id in known_ids])
        for s in sources
    ]
    return Page(tuple(map(wire.to_bytes, (*rows, *refusals))))


async def _outlines(reader: SourceReader, location: str) -> Sequence[opml.Outline]:
    try:
        body = unpack_document(await reader.read(location), OPML_BYTES)
        if len(body) > OPML_BYTES:
            raise ValueError(f"The list is larger than {OPML_BYTES} bytes.")
        return opml.opml_outlines(Body(body))
    except ValueError as fault:
        reason = fault.reason if isinstance(fault, DocumentRefused) else fault
        raise Problem(problem.VALIDATION_FAILED, f"/location: {reason}") from fault


def _wishes(
    reader: SourceReader, outlines: Sequence[opml.Outline], *, is_local: bool
) -> tuple[list[SourceWish], list[ImportedSource]]:
    wishes: list[SourceWish] = []
    refusals: list[ImportedSource] = []
    for outline in outlines:
        topics = tuple(sorted(topics_of_labels(outline.labels)))
        try:
            if not is_local and not outline.url.lower().startswith(("http://", "https://")):
                step = "a list of this machine may name files: svc sources import FILE --local"
                raise ValueError(f"a list may name web addresses only; {step}")
            (location,) = reader.locations(outline.url)
            wishes.append(SourceWish(location, outline.name, topics or None))
        except ValueError as fault:
            row = ImportedSource(None, outline.name, outline.url, topics, "refused", str(fault))
            refusals.append(row)
    return wishes, refusals


# -- declarations ------------------------------------------------------------------------------

LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    local(
        "sources formats",
        "Show the formats that are read",
        list_formats,
        binding="system",
        method="GET",
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
        description="A running server reads them at once.",
        binding="system",
        columns=("id", "name", "status", "topics", "location"),
        notes=("reason",),
    ),
)
