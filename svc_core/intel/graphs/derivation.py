"""Derives graph edges from vulnerabilities and incidents, which are not stored as relations.

A vendor is `affectedBy` a vulnerability of its products, a party to an incident is
`mentionedWith` it, and an incident is `locatedIn` its place. The ends are references, as those of
stored relations are; `Neighbours` resolves both.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

from attrs import frozen

from svc_core import wire
from svc_core.base import ids
from svc_core.formats.reading import values
from svc_core.intel.entities.model import EntityType
from svc_core.intel.entities.vulnerability import CVES, Cve, makers
from svc_core.intel.incidents.model import INCIDENTS
from svc_core.intel.linking import plausibility as guard
from svc_core.operation.context import Context
from svc_core.operation.ports import Collection

Row = Mapping[str, Any]

AFFECTED_BY, MENTIONED_WITH, LOCATED_IN = TYPES = ("affectedBy", "mentionedWith", "locatedIn")
EVIDENCE_MAX = 20  # sources of one row: an incident may have a hundred


@frozen(eq=False)
class Facet:
    """An index by which the rows that make edges to entities of some types are found.

    `name` is the facet of the collection, `schemes` are the kinds of names that it indexes.
    """

    collection: Collection[Any]
    name: str
    types: frozenset[str]
    schemes: frozenset[str]

    def takes(self, reference: str) -> bool:
        """Whether the facet may hold such a reference; ids always qualify."""
        scheme, is_name, _ = reference.partition(":")
        return not is_name or scheme in self.schemes


FACETS: Mapping[str, Facet] = {
    AFFECTED_BY: Facet(
        CVES, "maker", frozenset({"company", "organization", "government"}), frozenset({"vendor"})
    ),
    MENTIONED_WITH: Facet(
        INCIDENTS, "entity", frozenset(get_args(EntityType)), frozenset({"name", "firm", "ticker"})
    ),
}
"""Facets by type of edge. `locatedIn` has none: a place is reached from its incident alone."""


async def facet_rows(
    ctx: Context, type_: str, references: Iterable[str], limit: int
) -> tuple[list[Row], bool]:
    """The rows that make edges of a type to entities with these references, and whether there are
    more."""
    facet = FACETS[type_]
    filters = {facet.name: tuple(filter(facet.takes, references))}
    page = await ctx.tx.documents.scan(facet.collection, where=filters, limit=limit)
    return [json.loads(row.raw) for row in page.rows], page.has_more


def row_references(row: Row) -> Iterator[str]:
    """All references that may mean the entity of a row: its ids and its unambiguous names."""
    yield from (row["id"], *row["mergedIds"])
    yield from guard.name_references(row)


def edges(row: Row) -> Iterator[dict[str, Any]]:
    """The edges that follow from the row of a vulnerability or incident; none from others."""
    if "cveId" in row:
        yield from _maker_edges(row)
    elif row["id"].startswith("inc_"):
        yield from _participants(row)
        place = row["place"] and location_id(row["place"])
        if place is not None:
            yield _edge(row, LOCATED_IN, row["id"], place)


def _maker_edges(row: Row) -> Iterator[dict[str, Any]]:
    for reference, vendor in makers(wire.from_json(Cve, dict(row))):
        yield _edge(row, AFFECTED_BY, reference, row["id"], vendor=vendor)


def _participants(row: Row) -> Iterator[dict[str, Any]]:
    times = {"validFrom": row["startedAt"], "validTo": row["endedAt"]}
    for party in [party for party in row["entities"] if party.get("reference")]:
        yield _edge(row, MENTIONED_WITH, party["reference"], row["id"], role=party["role"]) | times


def label_of(place: Row | None) -> str | None:
    """The label of a place: its name, else its region or country; None without any."""
    names = () if place is None else (place["name"], place["admin1Code"], place["countryCode"])
    return next(filter(None, names), None)


def location_id(place: Row) -> str | None:
    """The id of a place; it is derived where the place was stored before places had ids."""
    parts = (place["name"], place["countryCode"], place["admin1Code"], place["geometry"])
    return place["id"] or values.place_id(*parts)


def _edge(row: Row, type_: str, source: str, target: str, **attributes: Any) -> dict[str, Any]:
    providers = sorted({source["provider"] for source in row["sources"]})
    return {
        "id": ids.derived_id("rel", "relation", "", f"{type_}|{source}|{target}"),
        "type": type_,
        "source": source,
        "target": target,
        "directed": type_ != MENTIONED_WITH,
        "confidence": round(len(providers) / (len(providers) + 1), 3),
        "confidenceBasis": "sources",
        "validFrom": None,
        "validTo": None,
        "attributes": attributes,
        "evidence": [
            {"sourceId": source["id"], "observationId": None, "url": source["url"]}
            for source in row["sources"][:EVIDENCE_MAX]
        ],
        "revoked": row.get("state") == "REJECTED",
        "surface": "cyber" if type_ == AFFECTED_BY else "economy",
        "providers": providers,
        "stixId": None,
        **{name: row[name] for name in ("createdAt", "updatedAt")},
    }
