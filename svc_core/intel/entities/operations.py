"""The operation that lists entities of every kind, CVEs among them."""

from collections.abc import Mapping
from typing import Annotated, Any

from attrs import evolve, frozen

from svc_core.base.unset import UNSET, Unset, or_default
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Page
from svc_core.formats.cyber.cve_fields import CVE_ID
from svc_core.formats.reading.entity_keys import FORM_HINTS, normal_form
from svc_core.intel.entities import directory, render
from svc_core.intel.entities.model import ENTITIES, WORDS, EntityType
from svc_core.intel.entities.render import EntityRow
from svc_core.intel.entities.vulnerability import CVES
from svc_core.intel.entities.vulnerability import WORDS as CVE_WORDS
from svc_core.intel.folding.read_declarations import EXPLORER, reading
from svc_core.intel.linking.references import id_of
from svc_core.operation.context import Context
from svc_core.operation.declaration import Operation
from svc_core.operation.filters import (
    ALTERNATIVES,
    Countries,
    FilterValues,
    Flag,
    IncludeRevoked,
    LatestFirst,
    Name,
    sent_filters,
)
from svc_core.operation.members import Cursor, Limit
from svc_core.operation.period import UpdatedSince, range_after
from svc_core.operation.ports import Position, RowBounds, StoredRow
from svc_core.search import lists
from svc_core.wire.constraints import Doc, Example, Pattern

Clauses = dict[str, tuple[str, ...]]


@frozen
class ListEntities:
    """Entities of every kind."""

    type: Annotated[FilterValues[EntityType], Doc("Comma list of types."), Example(["company"])] = (
        UNSET
    )
    designator: Annotated[
        FilterValues[Annotated[str, Pattern("[a-z0-9-]{2,20}:.{1,200}", "`scheme:value`")]],
        Doc(
            "Comma list of designators, exactly as others write them. Check digits are verified; "
            "a CIK may lack its zeros."
        ),
        Example(["cik:0000789019"]),
    ] = UNSET
    country: Countries = UNSET
    topic: Annotated[FilterValues[Name], Doc("Comma list of what others file it under.")] = UNSET
    sanctioned: Annotated[
        Flag, Doc("Whether a sanctions list has it now; `false` finds nothing while none was read.")
    ] = UNSET
    include_revoked: IncludeRevoked = False
    updated_since: UpdatedSince = UNSET
    q: lists.Q = UNSET
    sort: LatestFirst = UNSET
    include: lists.Include = UNSET
    limit: Limit = 20
    cursor: Cursor = UNSET


# -- rules -------------------------------------------------------------------------------------


def _designator(designator: str) -> str:
    """A designator in the form in which rows hold it.

    Raises:
        Problem: INVALID_PARAMETER for one that cannot be of its scheme.
    """
    scheme, _, value = designator.partition(":")
    normal_value = normal_form(scheme, value)
    if normal_value is None:
        detail = f"designator: {value!r} is no {scheme}: {FORM_HINTS[scheme]}"
        raise Problem(problem.INVALID_PARAMETER, detail)
    return f"{scheme}:{normal_value}"


def _cves(request: ListEntities, clauses: Clauses, *, has_lists: bool) -> Clauses | None:
    """The same filters for the collection of CVEs; None where no CVE can match."""
    is_other = "country" in clauses or "topic" in clauses or or_default(request.sanctioned, False)
    if is_other or "vulnerability" not in or_default(request.type, ("vulnerability",)):
        return None
    if request.sanctioned is False and not has_lists:
        return None
    names = clauses.get("designator")
    return {} if names is None else {"key": tuple(id_of(cve.removeprefix("cve:")) for cve in names)}


# -- use cases ---------------------------------------------------------------------------------


async def list_entities(ctx: Context, request: ListEntities) -> Page[EntityRow]:
    """A page of entities.

    Raises:
        Problem: INVALID_PARAMETER for a designator that cannot be one.
    """
    clauses: Clauses = sent_filters(request, "designator", "country", "topic", "type")
    if not isinstance(request.designator, Unset):
        clauses["designator"] = tuple(map(_designator, request.designator))
    has_lists = request.sanctioned is False and await render.has_lists(ctx)
    if not isinstance(request.sanctioned, Unset):
        other_statuses = ("no", "delisted") if has_lists else ()
        clauses["sanctioned"] = ("yes",) if request.sanctioned else other_statuses or ("unknown",)
    if not request.include_revoked:
        clauses["revoked"] = ("no",)
    bounds: RowBounds = {"start": (range_after(request.updated_since) or (None,))[0]}
    cves = _cves(request, clauses, has_lists=has_lists)
    page: Page[Any]
    if isinstance(request.q, Unset):
        page = await _merge_page(ctx, request, {ENTITIES.name: clauses, CVES.name: cves}, bounds)
    elif cves is not None and CVE_ID.fullmatch(request.q.strip().upper()):
        only = {**cves, "key": (id_of(request.q.strip().upper()),)}
        page = await lists.list_page(ctx, CVES, CVE_WORDS, request, _query(request, only, bounds))
    else:
        page = await lists.list_page(
            ctx, ENTITIES, WORDS, request, _query(request, clauses, bounds)
        )
    return evolve(page, rows=tuple(await render.whole(ctx, page.rows)))


def _query(request: ListEntities, clauses: Clauses, bounds: RowBounds) -> lists.RowQuery[Any]:
    is_sorted = not isinstance(request.sort, Unset)
    return lists.RowQuery(where=clauses, is_sorted=is_sorted, bounds=bounds)


async def _merge_page(
    ctx: Context, request: ListEntities, filters: Mapping[str, Clauses | None], bounds: RowBounds
) -> Page[Any]:
    """A page over both collections of entities, which are ordered alike."""
    params = sent_filters(request, "designator", "country", "topic", "type")
    flags = {"flags": (str(request.sanctioned), str(request.include_revoked))}
    binding = ctx.list_binding(params | flags, **bounds)
    start, rows, has_more = ctx.open_cursor(request.cursor, binding), list[StoredRow[Any]](), False
    for collection in directory.HOLDERS:
        clauses = filters[collection.name]
        if clauses is not None:
            part = await ctx.tx.documents.scan(
                collection, where=clauses, after=start, limit=request.limit, **bounds
            )
            rows += part.rows
            has_more |= part.has_more
    rows.sort(key=lambda row: (row.order, row.id), reverse=True)
    visible = rows[: request.limit]
    is_last = not has_more and len(rows) == len(visible)
    end = None if is_last else Position(visible[-1].order, visible[-1].id)
    raws = tuple(row.raw for row in visible)
    if not isinstance(request.include, Unset):
        raws = tuple(lists.with_match(raw, None) for raw in raws)
    return Page(raws, ctx.seal_cursor(end, binding))


# -- declarations ------------------------------------------------------------------------------

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    reading(
        "entities list",
        "/entities",
        list_entities,
        scopes=EXPLORER,
        columns=("id", "name", "type", "countryCodes", "status"),
        summary="List entities",
        description=(
            "Companies, people, states, vessels, threat actors, malware and what else takes part "
            f"in events. {ALTERNATIVES} The row that was written last comes first, with `q` the "
            "one whose names hold most of its words, written as they are. Of vulnerabilities with "
            "a CVE id `q` finds the one whose id it is."
        ),
    ),
)
