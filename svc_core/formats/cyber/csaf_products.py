"""Products of CSAF documents, with the status of their versions.

A product is a path in a tree of branches, and may also be made of two others (`relationships`).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from svc_core.formats.cyber import vulnerabilities
from svc_core.formats.reading.values import objects

Product = Mapping[Any, Any]

_AFFECTED = ("known_affected", "first_affected", "last_affected")
_UNAFFECTED = ("fixed", "first_fixed", "known_not_affected", "recommended")
STATUSES = {
    **dict.fromkeys(_AFFECTED, "affected"),
    **dict.fromkeys(_UNAFFECTED, "unaffected"),
    "under_investigation": "unknown",
}

# As CISA writes them: `vers:all/>=V1|<V2`, `>= 1.0 | <= 2.0`, `All versions < V2.0 SP1`.
_RANGE = re.compile(
    r"(?:vers:\w+/|all (?:\w+ )?versions )?(?:>= ?([^<>|,]+?) ?\|? ?)?(<=?) ?([^<>|,]+)",
    re.IGNORECASE,
)


def named(tree: Mapping[str, Any]) -> dict[Any, Product]:
    """What each product id stands for: vendor, product, version or range, CPE."""
    found = dict(_leaf({}, one) for one in objects(tree.get("full_product_names")))
    found |= _leaves(tree.get("branches"), {})
    for one in objects(tree.get("relationships")):
        base = found.get(one.get("product_reference"), {})
        found |= [_leaf(base, one.get("full_product_name") or {})]
    return found


def _leaves(branches: Any, path: Product) -> Iterator[tuple[Any, Product]]:
    for branch in objects(branches):
        below = {**path, branch.get("category"): branch.get("name")}
        yield _leaf(below, branch.get("product") or {})
        yield from _leaves(branch.get("branches"), below)


def _leaf(path: Product, product: Mapping[str, Any]) -> tuple[Any, Product]:
    cpe = (product.get("product_identification_helper") or {}).get("cpe")
    told = {"product_name": product.get("name"), "cpe": cpe}
    return product.get("product_id"), told | {k: v for k, v in path.items() if v}


def affected(known: Mapping[Any, Product], statuses: Mapping[str, Any]) -> list[Any] | None:
    """Each product that has a status, once, with its versions."""
    return vulnerabilities.products(
        (one.get("vendor"), one["product_name"], one["cpe"], _versions(one, status))
        for name, status in STATUSES.items()
        for one in (known[id_] for id_ in statuses.get(name) or () if id_ in known)
    )


def _versions(product: Product, status: str) -> list[vulnerabilities.Told]:
    name = product.get("product_version_range") or product.get("product_version")
    version = vulnerabilities.told(name)
    ranged = _RANGE.fullmatch(version or "")
    if ranged is not None:
        end = "lessThan" if ranged[2] == "<" else "lessThanOrEqual"
        return [{"version": ranged[1], "status": status, end: ranged[3]}]
    return [{"version": version, "status": status}] if version else []
