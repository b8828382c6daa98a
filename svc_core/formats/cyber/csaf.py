"""Security advisories and VEX documents in CSAF 2.0 and 2.1."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from svc_core.formats.cyber.csaf_products import Product, affected, named
from svc_core.formats.cyber.vulnerabilities import (
    cve_id,
    listed,
    record,
    references,
    score,
    weaknesses,
)
from svc_core.formats.model import About, Given, Told
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import declared
from svc_core.formats.reading.values import moment, objects, records, text, web


def _parse(body: Body, _: Given) -> Told:
    advisory = body.whole_json()
    document = advisory["document"]
    tracking, publisher = document["tracking"], document.get("publisher") or {}
    links = [one for one in objects(document.get("references")) if one.get("category") == "self"]
    stamp = moment(tracking.get("current_release_date"))
    yield About(stamp, text(document.get("title"), 300), web(publisher.get("namespace")))
    of_advisory = {
        "stamp": stamp,
        "record_id": text(tracking["id"], 200),
        "url": next((web(one.get("url")) for one in reversed(links)), None),
        "published_at": moment(tracking.get("initial_release_date")),
    }
    known = named(advisory.get("product_tree") or {})
    for_each = partial(_said, known, publisher)
    yield from records(
        advisory.get("vulnerabilities") or (),
        lambda told: record(cve_id(told.get("cve")), for_each(told), **of_advisory),
        lambda told: told["cve"],
    )


def _said(known: Mapping[Any, Product], publisher: dict[str, Any], told: dict[str, Any]) -> Any:
    title = text(told.get("title"), 500)
    notes = {one.get("category"): one.get("text") for one in objects(told.get("notes"))}
    weak = [told["cwe"]] if told.get("cwe") else told.get("cwes")
    role = "primary" if publisher.get("category") == "vendor" else "secondary"
    return {
        "title": None if title == told["cve"] else title,
        "description": text(notes.get("description") or notes.get("summary")),
        "scores": _scores(told, text(publisher.get("name"), 200), role),
        "weaknesses": weaknesses(
            [weak and [{"cweId": one["id"], "value": one.get("name")} for one in weak]]
        ),
        "affected": affected(known, told.get("product_status") or {}),
        "references": references([told.get("references")]),
    }


def _scores(told: dict[str, Any], provider: str | None, role: str) -> list[Any] | None:
    """Of CSAF 2.0 `scores`, of 2.1 `metrics`; what all products share is one score."""
    held = [*(told.get("scores") or ()), *(one["content"] for one in told.get("metrics") or ())]
    cvss = [one[name] for one in held for name in sorted(one, reverse=True) if "cvss" in name]
    found = listed([cvss or None], lambda one: score(one, provider, role))
    return found and list({tuple(one.values()): one for one in found}.values())


CSAF = declared("csaf", lambda body: "csaf_version" in body.json["document"], _parse)
