"""Products of CSAF documents, with the status of their versions.

A product is a path in a tree of branches, and may also be made of two others (`relationships`).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from svc_core.sources import vulnerabilities
from svc_core.sources.values import objects

Product = Mapping[str, Any]

STATUSES = {
    status: told
    for told, statuses in {
        "affected": "known_affected first_affected last_affected",
        "unaffected": "fixed first_fixed known_not_affected recommended",
        "unknown": "under_investigation",
    }.items()
    for status in statuses.split()
}

# As CISA writes them: `vers:all/>=V1|<V2`, `>= 1.0 | <= 2.0`, `All versions < V2.0 SP1`.
_RANGE = re.compile(
    r"(?:vers:\w+/|all (?:\w+ )?versions )?(?:>= ?([^<>|,]+?) ?\|? ?)?(<=?) ?([^<>|,]+)",
    re.IGNORECASE,
)


def products(tree: Mapping[str, Any]) -> dict[Any, Product]:
    """What each product id stands for: vendor, product, version or range, CPE."""
    found: dict[Any, Product] = {
        one.get("product_id"): _leaf({}, one) for one in objects(tree.get("full_product_names"))
    }
    found |= dict(_leaves(tree.get("branches")))
    for one in objects(tree.get("relationships")):
        made = one.get("full_product_name") or {}
        base: Product = found.get(one.get("product_reference"), {})
        found[made.get("product_id")] = _leaf(base, made)
    return found


def _leaves(branches: Any) -> Iterator[tuple[Any, Product]]:
    waiting: list[tuple[Any, Product]] = [(branches, {})]
    while waiting:  # no recursion: how deep a tree is, its publisher decides
        here, path = waiting.pop()
        for branch in objects(here):
            below: dict[Any, Any] = {**path, branch.get("category"): branch.get("name")}
            waiting.append((branch.get("branches"), below))
            product = branch.get("product") or {}
            yield product.get("product_id"), _leaf(below, product)


def _leaf(path: Mapping[str, Any], product: Mapping[str, Any]) -> Product:
    cpe = (product.get("product_identification_helper") or {}).get("cpe")
    return {"product_name": product.get("name"), "cpe": cpe} | {k: v for k, v in path.items() if v}


def affected(known: Mapping[Any, Product], statuses: dict[str, Any]) -> list[Any] | None:
    """Each product that has a status, once, with its versions."""
    found: dict[tuple[Any, Any], dict[str, Any]] = {}
    for name, status in STATUSES.items():
        for product in (known[id_] for id_ in statuses.get(name) or () if id_ in known):
            names = {"vendor": product.get("vendor"), "product": product["product_name"]}
            one = found.setdefault(tuple(names.values()), {**names, "cpes": [], "versions": []})
            one["cpes"] += [product["cpe"]] if product["cpe"] else []
            one["versions"] += _versions(product, status)
    return [vulnerabilities.affected(one) for one in found.values()] or None


def _versions(product: Product, status: str) -> list[dict[str, Any]]:
    named = vulnerabilities.told(
        product.get("product_version_range") or product.get("product_version")
    )
    ranged = _RANGE.fullmatch(named or "")
    if ranged is not None:
        end = "lessThan" if ranged[2] == "<" else "lessThanOrEqual"
        return [{"version": ranged[1], "status": status, end: ranged[3]}]
    return [{"version": named, "status": status}] if named else []
