"""The operation that lists vulnerabilities, one row for each CVE id."""

from collections.abc import Sequence
from typing import Any, Final

from svc_core import wire
from svc_core.contract.result import Page
from svc_core.intel.entities import directory
from svc_core.intel.entities.exploitation import full_cve_rows, has_catalogue
from svc_core.intel.entities.render import with_sanctions
from svc_core.intel.entities.vulnerability import CVES, WORDS, Cve, ListCves
from svc_core.intel.folding.read_declarations import CYBER, reading
from svc_core.intel.vulnerabilities.cve_vectors import CVE_VECTORS
from svc_core.operation.context import Context
from svc_core.operation.declaration import Operation
from svc_core.search.lists import Listing
from svc_core.search.ranked_rows import SearchKind

# -- use case ----------------------------------------------------------------------------------


async def _if_loaded(ctx: Context, states: tuple[str, ...]) -> tuple[str, ...]:
    """These states of the catalogue; none while no catalogue was read."""
    return states if await has_catalogue(ctx) else ()


async def _complete(ctx: Context, rows: Sequence[bytes]) -> list[bytes]:
    return await with_sanctions(ctx, list(map(wire.to_bytes, await full_cve_rows(ctx, rows))))


LISTING = Listing(
    CVES,
    WORDS,
    look_ups={"maker": directory.entity_references, "kev": _if_loaded},
    rarest=("key", "maker", "product", "cwe", "vendor", "kev"),
    complete=_complete,
)
CVE_SEARCH: Final = SearchKind(
    "cve", LISTING, "getEntity", "cveId", "title description", vectors=CVE_VECTORS
)


async def list_cves(ctx: Context, request: ListCves) -> Page[Cve]:
    """One row for each CVE id, from the CVE record, the NVD, CISA's catalogue of exploited
    vulnerabilities, EPSS and advisories. The values of one filter are alternatives; different
    filters must all match. Rows without a value to sort by come last.

    Raises:
        Problem: INVALID_PARAMETER for a day that does not exist.
    """
    return await LISTING.page(ctx, request)


# -- declarations ------------------------------------------------------------------------------

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    reading(
        "cves list",
        "/cyber/cves",
        list_cves,
        scopes=CYBER,
        columns=("cveId", "title", "score.severity", "score.baseScore", "epss.score", "state"),
        summary="List vulnerabilities",
    ),
)
"""One CVE is read as the entity that it is."""
