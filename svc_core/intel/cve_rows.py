"""What is looked up when CVEs are read: their makers, who exploits them, what no catalogue lists.

A row is stored as its sources tell of it. Which entity a vendor was, or belonged to, when the
vulnerability was published may become known later, and so may who exploits it.
"""

import json
from collections.abc import Sequence
from typing import Any

import attrs

from svc_core import directory, instants, wire
from svc_core.linking.references import of_vendor
from svc_core.operation import Context
from svc_core.resources.cve import CVES, CveFacet, day_of
from svc_core.resources.relation import RELATIONS
from svc_core.resources.source import SOURCES

Row = dict[str, Any]

EXPLOITERS_MAX = 1_000
"""Relations of the vulnerabilities of a page that are looked at; graphs show all of them."""

_FACET = [wire.camel(member.name) for member in attrs.fields(CveFacet)]


async def whole(ctx: Context, rows: Sequence[bytes]) -> list[Row]:
    """Rows of CVEs with all that is looked up."""
    made = [json.loads(row) for row in rows]
    makers = [_makers(row) for row in made]
    known = await directory.named(ctx, (one for each in makers for refs in each for one in refs))
    exploiters = await _exploiters(ctx, made)
    is_loaded = any("kev" not in row for row in made) and await has_catalogue(ctx)
    for row, each in zip(made, makers, strict=True):
        for one, refs in zip(row["affected"], each, strict=True):
            one["entityId"] = next((known[ref].id for ref in refs if ref in known), None)
        row["exploitedBy"] = exploiters[row["id"]]
        if is_loaded:
            row.setdefault("kev", None)
    return made


def nested(row: Row) -> Row:
    """The row of a CVE as `/entities` shows it: what other entities lack stands under `cve`."""
    facet = {name: row[name] for name in _FACET if name in row}
    return {name: value for name, value in row.items() if name not in facet} | {"cve": facet}


async def has_catalogue(ctx: Context) -> bool:
    """Whether a catalogue of exploited vulnerabilities was read."""
    for listing in ("known", "listed"):
        if await ctx.tx.documents.count(CVES, where={"kev": (listing,)}, limit=1):
            return True
    read = await ctx.tx.documents.scan(SOURCES, where={"format": ("kev",)}, limit=100)
    return any(SOURCES.decode(one.raw).last_run is not None for one in read.rows)


def _makers(row: Row) -> list[tuple[str, ...]]:
    """References to the maker of each affected product."""
    published = row["publishedAt"]
    day = day_of(row["cveId"], published and instants.parse(published))
    refs = {vendor: of_vendor(vendor, day) for one in row["affected"] if (vendor := one["vendor"])}
    return [refs.get(one["vendor"], ()) for one in row["affected"]]


async def _exploiters(ctx: Context, rows: Sequence[Row]) -> dict[str, list[Row]]:
    """What exploits or targets each, every entity once; what is revoked does not."""
    owners = {key: row["id"] for row in rows for key in (row["id"], *row["mergedIds"])}
    told = await ctx.tx.documents.scan(
        RELATIONS, where={"target": tuple(owners)}, limit=EXPLOITERS_MAX
    )
    ties = [RELATIONS.decode(one.raw) for one in told.rows]
    ties = [one for one in ties if one.type in {"exploits", "targets"} and not one.revoked]
    known = await directory.named(ctx, [one.source for one in ties]) if ties else {}
    found: dict[str, dict[str, Row]] = {row["id"]: {} for row in rows}
    for one in ties:
        entity: Row | None = json.loads(known[one.source].raw) if one.source in known else None
        if entity is not None and not entity["revoked"]:
            made = {"entityId": entity["id"], "name": entity["name"]}
            found[owners[one.target]][entity["id"]] = made
    return {id_: list(each.values()) for id_, each in found.items()}
