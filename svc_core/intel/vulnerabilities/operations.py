"""The operation that lists vulnerabilities, one row for each CVE id."""

from datetime import UTC, datetime, time
from typing import Annotated, Any, Literal

from attrs import evolve, frozen

from svc_core import wire
from svc_core.base.unset import UNSET, Maybe, Unset, or_default
from svc_core.contract.result import Page
from svc_core.intel.entities import directory
from svc_core.intel.entities.exploitation import full_cve_rows, has_catalogue
from svc_core.intel.entities.render import with_sanctions
from svc_core.intel.entities.vulnerability import (
    CVES,
    SHARE_STEPS,
    WORDS,
    Cve,
    CveState,
    CvssScore,
    CvssVersion,
    folded_product,
)
from svc_core.intel.folding.read_declarations import CYBER, reading
from svc_core.intel.linking.references import id_of
from svc_core.operation.context import Context
from svc_core.operation.declaration import QUERY, Operation
from svc_core.operation.filters import (
    ALTERNATIVES,
    FilterValues,
    Flag,
    Name,
    Range,
    ShareFilter,
    at_least,
    present_ranges,
    sent_filters,
)
from svc_core.operation.members import Cursor, EntityId, Limit, micros
from svc_core.operation.period import Moment, UpdatedSince, parse_moment, range_after
from svc_core.operation.source_members import Severity
from svc_core.search import lists
from svc_core.wire.constraints import Doc, Example, Pattern

Least = Annotated[Maybe[CvssScore], QUERY]
Sort = Literal["updatedAt", "published", "modified", "score", "epss"]

_CATALOGUE_STATES = ("known", "listed")


# -- requests ----------------------------------------------------------------------------------


@frozen
class ListCves:
    """Vulnerabilities with a CVE id."""

    cve_id: Annotated[
        FilterValues[Annotated[str, Pattern("[Cc][Vv][Ee]-[0-9]{4}-[0-9]{4,19}", "a CVE id")]],
        Doc("Comma list of CVE ids."),
        Example(["CVE-2021-44228"]),
    ] = UNSET
    vendor: Annotated[FilterValues[Name], Doc("Comma list of vendors, as anybody writes them.")] = (
        UNSET
    )
    product: Annotated[FilterValues[Name], Doc("Comma list of products, likewise.")] = UNSET
    entity_id: Annotated[
        FilterValues[EntityId], Doc("Comma list of whose product is affected.")
    ] = UNSET
    min_score: Annotated[Least, Doc("The least base score of `score`."), Example(9.0)] = UNSET
    cvss_version: Annotated[FilterValues[CvssVersion], Doc("Comma list of versions of CVSS.")] = (
        UNSET
    )
    severity: Annotated[FilterValues[Severity], Doc("Comma list of severities of `score`.")] = UNSET
    kev: Annotated[
        Flag,
        Doc(
            "Whether CISA's catalogue lists it. `false` finds what one that was read does not list."
        ),
    ] = UNSET
    ransomware: Annotated[Flag, Doc("Whether it tells of use by ransomware; as `kev`.")] = UNSET
    min_epss: Annotated[ShareFilter, Doc("The least EPSS score."), Example(0.5)] = UNSET
    min_epss_percentile: Annotated[
        ShareFilter, Doc("The least EPSS percentile."), Example(0.95)
    ] = UNSET
    cwe: Annotated[
        FilterValues[Annotated[str, Pattern("(?:[Cc][Ww][Ee]-)?[0-9]{1,6}", "a CWE id")]],
        Doc("Comma list of weaknesses."),
        Example(["CWE-502"]),
    ] = UNSET
    state: Annotated[FilterValues[CveState], Doc("Comma list of states.")] = UNSET
    published_from: Annotated[Moment, Doc("Published then or later.")] = UNSET
    published_to: Annotated[Moment, Doc("Published then or before."), Example("2026-01-31")] = UNSET
    modified_since: Annotated[Moment, Doc("Changed after this time, or from this day on.")] = UNSET
    updated_since: UpdatedSince = UNSET
    q: lists.Q = UNSET
    sort: Annotated[Maybe[Sort], QUERY, Doc("The latest, gravest or likeliest is first.")] = UNSET
    include: lists.Include = UNSET
    limit: Limit = 20
    cursor: Cursor = UNSET


# -- rules -------------------------------------------------------------------------------------


def listings(kev: Maybe[bool], ransomware: Maybe[bool], *, is_loaded: bool) -> Maybe[Any]:
    """The catalogue states that both filters admit; none while no catalogue was read."""
    states = {*_CATALOGUE_STATES, "no"}
    if not isinstance(kev, Unset):
        states &= set(_CATALOGUE_STATES) if kev else {"no"}
    if not isinstance(ransomware, Unset):
        states &= {"known"} if ransomware else {"listed", "no"}
    if isinstance(kev, Unset) and isinstance(ransomware, Unset):
        return UNSET
    return tuple(sorted(states)) if is_loaded else ()


def _edge(key: str, text: Maybe[str], *, is_last: bool = False, beyond: bool = False) -> int | None:
    """The first or last microsecond that a bound allows; a bare date is the whole day.

    Raises:
        Problem: INVALID_PARAMETER for a day or time that does not exist.
    """
    instant = parse_moment(key, text)
    if instant is None:
        return None
    if isinstance(instant, datetime):
        return micros(instant) + beyond
    return micros(datetime.combine(instant, time.max if is_last else time.min, UTC))


def _ranges(request: ListCves) -> dict[str, Range]:
    start = _edge("publishedFrom", request.published_from)
    end = _edge("publishedTo", request.published_to, is_last=True)
    modified = _edge("modifiedSince", request.modified_since, beyond=True)
    return present_ranges(
        score=at_least(request.min_score, 10),
        epss=at_least(request.min_epss, SHARE_STEPS),
        percentile=at_least(request.min_epss_percentile, SHARE_STEPS),
        published=None if start is None and end is None else (start, end),
        modified=None if modified is None else (modified, None),
    )


async def _clauses(ctx: Context, request: ListCves) -> dict[str, Any]:
    """The filters, the most selective first: the store walks the first that it can."""
    ids = [id_of(cve_id.upper()) for cve_id in or_default(request.cve_id, ())]
    makers = await directory.entity_references(ctx, or_default(request.entity_id, ()))
    asks = not (isinstance(request.kev, Unset) and isinstance(request.ransomware, Unset))
    is_loaded = asks and await has_catalogue(ctx)
    cwes = [cwe.upper().removeprefix("CWE-") for cwe in or_default(request.cwe, ())]
    filters = {
        "key": (request.cve_id, ids),
        "maker": (request.entity_id, makers),
        "product": (request.product, map(folded_product, or_default(request.product, ()))),
        "cwe": (request.cwe, [f"CWE-{cwe}" for cwe in cwes]),
        "vendor": (request.vendor, map(folded_product, or_default(request.vendor, ()))),
    }
    return {
        **{n: tuple(ids_) for n, (raw, ids_) in filters.items() if raw is not UNSET},
        "kev": listings(request.kev, request.ransomware, is_loaded=is_loaded),
        **sent_filters(request, "severity", "cvss_version", "state"),
    }


def _lookup_filters(request: ListCves) -> dict[str, tuple[str, ...]]:
    """The filters as they were sent, for those whose values depend on other rows."""
    params = {"maker": request.entity_id, "kev": (str(request.kev), str(request.ransomware))}
    return {name: param for name, param in params.items() if not isinstance(param, Unset)}


# -- use case ----------------------------------------------------------------------------------


async def list_cves(ctx: Context, request: ListCves) -> Page[Cve]:
    """A page of CVEs.

    Raises:
        Problem: INVALID_PARAMETER for a day that does not exist.
    """
    order = or_default(request.sort, "updatedAt")
    query = lists.RowQuery[Cve](
        where=await _clauses(ctx, request),
        order=None if order == "updatedAt" else order,
        is_sorted=not isinstance(request.sort, Unset),
        binding=_lookup_filters(request),
        bounds={
            "ranges": _ranges(request),
            "start": (range_after(request.updated_since) or (None,))[0],
        },
    )
    page = await lists.list_page(ctx, CVES, WORDS, request, query)
    rows = list(map(wire.to_bytes, await full_cve_rows(ctx, page.rows)))
    return evolve(page, rows=tuple(await with_sanctions(ctx, rows)))


# -- declarations ------------------------------------------------------------------------------

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    reading(
        "cves list",
        "/cyber/cves",
        list_cves,
        scopes=CYBER,
        columns=("cveId", "score.severity", "score.baseScore", "epss.score", "state", "title"),
        summary="List vulnerabilities",
        description=(
            "One row for each CVE id, from the CVE record, the NVD, CISA's catalogue of exploited "
            f"vulnerabilities, EPSS and advisories. {ALTERNATIVES} Rows without what they are "
            "sorted by come last."
        ),
    ),
)
"""One CVE is read as the entity that it is."""
