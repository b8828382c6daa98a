"""Security advisories and VEX documents in CSAF 2.0 and 2.1: vendors, products, versions and CVEs.

A product is a path in a tree of branches, and may also be made of two others (`relationships`).
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from svc_core.sources.body import Body
from svc_core.sources.model import About, Format, Given, Record, Told
from svc_core.sources.values import designator, moment, records, text, web
from svc_core.sources.vulnerabilities import (
    affected,
    cve_id,
    listed,
    references,
    score,
    version,
    weaknesses,
)

Product = Mapping[str, Any]

STATUSES = {
    "known_affected": "affected",
    "first_affected": "affected",
    "last_affected": "affected",
    "fixed": "unaffected",
    "first_fixed": "unaffected",
    "known_not_affected": "unaffected",
    "recommended": "unaffected",
    "under_investigation": "unknown",
}

_RANGE = re.compile(r"(<=?)\s*([^<>|,\s]+)")


def _parse(body: Body, _: Given) -> Told:
    advisory = body.whole_json()
    document = advisory["document"]
    tracking, publisher = document["tracking"], document.get("publisher") or {}
    links = [one for one in document.get("references") or () if one.get("category") == "self"]
    stamp = moment(tracking.get("current_release_date"))
    yield About(stamp, text(document.get("title"), 300), web(publisher.get("namespace")))
    of_advisory = {
        "stamp": stamp,
        "record_id": text(tracking["id"], 200),
        "url": next((web(one["url"]) for one in reversed(links)), None),
        "published_at": moment(tracking.get("initial_release_date")),
    }
    make = partial(_record, _products(advisory.get("product_tree") or {}), publisher, of_advisory)
    yield from records(advisory.get("vulnerabilities") or (), make, lambda one: one["cve"])


def _record(
    products: Mapping[str, Product],
    publisher: Mapping[str, Any],
    of_advisory: Mapping[str, Any],
    told: dict[str, Any],
) -> Record:
    cve, title = cve_id(told.get("cve")), text(told.get("title"), 500)
    notes = {one.get("category"): one.get("text") for one in told.get("notes") or ()}
    weak = [{"cweId": one["id"], "value": one.get("name")} for one in _weak(told)]
    role = "primary" if publisher.get("category") == "vendor" else "secondary"
    return Record(
        "cve",
        cve,
        {
            "cveId": cve,
            "designators": [designator("cve", cve)],
            "title": None if title == cve else title,
            "description": text(notes.get("description") or notes.get("summary")),
            "scores": _scores(told, text(publisher.get("name"), 200), role),
            "weaknesses": weaknesses([weak]),
            "affected": _affected(products, told.get("product_status") or {}),
            "references": references([told.get("references")]),
        },
        **of_advisory,
    )


def _weak(told: dict[str, Any]) -> list[Any]:
    one = told.get("cwe")
    return [one] if one else told.get("cwes") or []


def _scores(told: dict[str, Any], provider: str | None, role: str) -> list[Any] | None:
    """Of CSAF 2.0 `scores`, of 2.1 `metrics`; what all products share is one score."""
    held = [*(told.get("scores") or ()), *(one["content"] for one in told.get("metrics") or ())]
    cvss = [one[name] for one in held for name in sorted(one, reverse=True) if "cvss" in name]
    found = listed([cvss], lambda one: score(one, provider, role))
    return found and list({tuple(one.values()): one for one in found}.values())


def _products(tree: Mapping[str, Any]) -> dict[str, Product]:
    """What each product id stands for: vendor, product, version or range, CPE."""
    found = {one["product_id"]: _leaf({}, one) for one in tree.get("full_product_names") or ()}
    found |= dict(_leaves(tree.get("branches") or ()))
    for one in tree.get("relationships") or ():
        base = found.get(one["product_reference"], {})
        found[one["full_product_name"]["product_id"]] = _leaf(base, one["full_product_name"])
    return found


def _leaves(branches: Any) -> Iterator[tuple[str, Product]]:
    waiting: list[tuple[Any, Product]] = [(branches, {})]
    while waiting:  # no recursion: how deep a tree is, its publisher decides
        here, path = waiting.pop()
        for branch in here:
            below = {**path, branch.get("category"): branch.get("name")}
            waiting.append((branch.get("branches") or (), below))
            if "product" in branch:
                yield branch["product"]["product_id"], _leaf(below, branch["product"])


def _leaf(path: Mapping[str, Any], product: Mapping[str, Any]) -> Product:
    cpe = (product.get("product_identification_helper") or {}).get("cpe")
    return {"product_name": product.get("name"), "cpe": cpe} | {k: v for k, v in path.items() if v}


def _affected(products: Mapping[str, Product], statuses: dict[str, Any]) -> list[Any] | None:
    found: dict[tuple[Any, Any], dict[str, Any]] = {}
    for name, status in STATUSES.items():
        for product in (products[id_] for id_ in statuses.get(name) or () if id_ in products):
            names = product.get("vendor"), product["product_name"]
            one = found.setdefault(names, affected(*names))
            one["cpes"] += [product["cpe"]] if product["cpe"] not in {None, *one["cpes"]} else []
            made = _version(product, status)
            one["versions"] += [made] if made and made not in one["versions"] else []
    return list(found.values()) or None


def _version(product: Product, status: str) -> dict[str, Any] | None:
    told = product.get("product_version_range") or product.get("product_version")
    ranged = _RANGE.fullmatch(str(told))
    if told is None:
        return None
    if ranged is None:
        return version(told, status)
    end = {"less_than" if ranged[1] == "<" else "less_than_or_equal": ranged[2]}
    return version(None, status, **end)


CSAF = Format(
    id="csaf",
    title="CSAF 2 security advisory",
    kind="window",
    provider="csaf",
    brings=("cve",),
    recognise=lambda body: (
        body.has("document")
        and isinstance(body.json["document"], dict)
        and "csaf_version" in body.json["document"]
    ),
    parse=_parse,
)
