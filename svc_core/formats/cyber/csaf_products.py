"""Reads the products of a CSAF document and the status of their versions.

A product is a path in a tree of branches, and may also be made of two others (`relationships`).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from svc_core.formats.cyber import cve_fields as vulnerabilities
from svc_core.formats.cyber.cve_members import ProductMembers
from svc_core.formats.model import Members
from svc_core.formats.reading.values import objects

Product = Mapping[Any, Any]

_AFFECTED_STATUSES = ("known_affected", "first_affected", "last_affected")
_UNAFFECTED_STATUSES = ("fixed", "first_fixed", "known_not_affected", "recommended")
STATUSES = {
    **dict.fromkeys(_AFFECTED_STATUSES, "affected"),
    **dict.fromkeys(_UNAFFECTED_STATUSES, "unaffected"),
    "under_investigation": "unknown",
}

# As CISA writes them: `vers:all/>=V1|<V2`, `>= 1.0 | <= 2.0`, `All versions < V2.0 SP1`.
_RANGE = re.compile(
    r"(?:vers:\w+/|all (?:\w+ )?versions )?(?:>= ?([^<>|,]+?) ?\|? ?)?(<=?) ?([^<>|,]+)",
    re.IGNORECASE,
)


def products_by_id(tree: Mapping[str, Any]) -> dict[Any, Product]:
    """The vendor, product, version or range, and CPE name of each product id."""
    products = dict(_leaf({}, product) for product in objects(tree.get("full_product_names")))
    products |= _leaves(tree.get("branches"), {})
    for relationship in objects(tree.get("relationships")):
        base = products.get(relationship.get("product_reference"), {})
        products |= [_leaf(base, relationship.get("full_product_name") or {})]
    return products


def _leaves(branches: Any, path: Product) -> Iterator[tuple[Any, Product]]:
    for branch in objects(branches):
        below = {**path, branch.get("category"): branch.get("name")}
        yield _leaf(below, branch.get("product") or {})
        yield from _leaves(branch.get("branches"), below)


def _leaf(path: Product, product: Mapping[str, Any]) -> tuple[Any, Product]:
    cpe = (product.get("product_identification_helper") or {}).get("cpe")
    defaults = {"product_name": product.get("name"), "cpe": cpe}
    return product.get("product_id"), defaults | {k: v for k, v in path.items() if v}


def affected_products(
    tree: Mapping[Any, Product], statuses: Mapping[str, Any]
) -> list[ProductMembers] | None:
    """The products that have a status, each once with its versions."""
    return vulnerabilities.products(
        (product.get("vendor"), product["product_name"], product["cpe"], _versions(product, status))
        for name, status in STATUSES.items()
        for product in (tree[id_] for id_ in statuses.get(name) or () if id_ in tree)
    )


def _versions(product: Product, status: str) -> list[Members]:
    name = product.get("product_version_range") or product.get("product_version")
    version = vulnerabilities.stated_name(name)
    match = _RANGE.fullmatch(version or "")
    if match is not None:
        end = "lessThan" if match[2] == "<" else "lessThanOrEqual"
        return [{"version": match[1], "status": status, end: match[3]}]
    return [{"version": version, "status": status}] if version else []
