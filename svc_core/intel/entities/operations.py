"""The operation that lists entities of every kind, CVEs among them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from svc_core.base.unset import Unset, or_default
from svc_core.contract.result import Page
from svc_core.formats.cyber.cve_fields import CVE_ID
from svc_core.intel.entities import directory, render
from svc_core.intel.entities.model import ENTITIES, WORDS, EntityType, ListEntities
from svc_core.intel.entities.render import EntityRow
from svc_core.intel.entities.vulnerability import CVES
from svc_core.intel.entities.vulnerability import WORDS as CVE_WORDS
from svc_core.intel.folding.read_declarations import EXPLORER, reading
from svc_core.intel.linking.references import id_of
from svc_core.operation.context import Context
from svc_core.operation.declaration import Operation
from svc_core.operation.filters import Selection, list_selection
from svc_core.operation.ports import Collection, Position, RowBounds, StoredRow
from svc_core.search import lists
from svc_core.search.lists import Listing
from svc_core.search.ranked_rows import SearchKind

Clauses = dict[str, tuple[str, ...]]


# -- rules -------------------------------------------------------------------------------------


def _cves(request: ListEntities, where: Clauses) -> Clauses | None:
    """The same filters for the collection of CVEs; None where no CVE can match."""
    is_other = bool(where.keys() & {"country", "topic"})
    is_listed = where.get("sanctioned", ("no",))[0] != "no"
    if is_other or is_listed or "vulnerability" not in or_default(request.type, _VULNERABILITY):
        return None
    names = where.get("designator")
    return {} if names is None else {"key": tuple(id_of(cve.removeprefix("cve:")) for cve in names)}


_VULNERABILITY: tuple[EntityType, ...] = ("vulnerability",)
_BY_NAME = {CVES.name: "name"}
"""The number that is the order by name where that is not the order of the collection."""


# -- use cases ---------------------------------------------------------------------------------


async def _if_read(ctx: Context, statuses: tuple[str, ...]) -> tuple[str, ...]:
    """These sanction statuses; one that no row has while no list was read."""
    return statuses if "yes" in statuses or await render.has_lists(ctx) else ("unknown",)


LISTING = Listing(
    ENTITIES, WORDS, look_ups={"sanctioned": _if_read}, rarest=("designator", "country", "topic")
)
_CVE_LISTING = Listing(CVES, CVE_WORDS)
_SHOWN = "getEntity", "name", "type countryCodes", "ent"
ENTITY_SEARCH: Final = SearchKind("entity", attrs.evolve(LISTING, complete=render.whole), *_SHOWN)


async def list_entities(ctx: Context, request: ListEntities) -> Page[EntityRow]:
    """Companies, people, states, vessels, threat actors, malware and what else takes part in
    events. The values of one filter are alternatives; different filters must all match. They are
    sorted by name, indicators last, and with `q` by how many of its words their names contain. A
    CVE id as `q` finds that vulnerability.

    Raises:
        Problem: INVALID_PARAMETER for a designator that cannot be one.
    """
    choice = list_selection(request)
    where = await LISTING.resolve(ctx, choice.where)
    cves = _cves(request, where)
    page: Page[Any]
    if isinstance(request.q, Unset):
        page = await _merge_page(ctx, request, choice, {ENTITIES.name: where, CVES.name: cves})
    elif cves is not None and CVE_ID.fullmatch(request.q.strip().upper()):
        cves["key"] = (id_of(request.q.strip().upper()),)
        page = await _CVE_LISTING.page(ctx, request, choice._replace(where=cves))
    else:
        page = await LISTING.page(ctx, request, choice)

    async def answer(_: Context, rows: Sequence[bytes]) -> Page[EntityRow]:
        return Page(tuple(rows), page.next_cursor)

    rows = await render.whole(ctx, page.rows)
    return await render.page_with_candidates(ctx, rows, request.include, answer)


async def _merge_page(
    ctx: Context, request: ListEntities, choice: Selection, filters: Mapping[str, Clauses | None]
) -> Page[Any]:
    """A page over both collections of entities, by name or by the number that is asked for."""
    bounds: RowBounds = {**choice.bounds, "ranges": choice.ranges}
    form = max(collection.form for collection in directory.HOLDERS)
    binding = ctx.list_binding(choice.where, choice.order, form=form, **bounds)
    start, has_more = ctx.open_cursor(request.cursor, binding), False
    rows: list[tuple[Position, StoredRow[Any]]] = []
    for collection in directory.HOLDERS:
        clauses = filters[collection.name]
        order = choice.order or _BY_NAME.get(collection.name)
        if clauses is not None:
            part = await ctx.tx.documents.scan(
                collection, order=order, where=clauses, after=start, limit=request.limit, **bounds
            )
            rows += [(_position(collection, row, order), row) for row in part.rows]
            has_more |= part.has_more
    rows.sort(key=lambda pair: (pair[0].order, pair[0].id), reverse=True)
    visible = rows[: request.limit]
    is_last = not has_more and len(rows) == len(visible)
    end = None if is_last else visible[-1][0]
    raws = tuple(row.raw for _, row in visible)
    if "match" in or_default(request.include, ()):
        raws = tuple(lists.with_match(raw, None) for raw in raws)
    return Page(raws, ctx.seal_cursor(end, binding))


def _position(collection: Collection[Any], row: StoredRow[Any], order: str | None) -> Position:
    """The place of a row in a list that is ordered by this number, or by the collection's order."""
    if order is None:
        return Position(row.order, row.id)
    read: Any = collection.numbers[order]
    return Position(read(collection.decode(row.raw)), row.id)


# -- declarations ------------------------------------------------------------------------------

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    reading(
        "entities list",
        "/entities",
        list_entities,
        scopes=EXPLORER,
        columns=("id", "name", "type", "countryCodes", "status"),
        summary="List entities",
    ),
)
