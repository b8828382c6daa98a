"""Parses security advisories and VEX documents in CSAF 2.0 and 2.1."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from svc_core.formats.cyber.csaf_products import Product, affected_products, products_by_id
from svc_core.formats.cyber.cve_fields import (
    collect,
    cve_id,
    cve_record,
    reference_links,
    score,
    weaknesses,
)
from svc_core.formats.cyber.cve_members import CveMembers, ScoreMembers
from svc_core.formats.model import Contents, Metadata, Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import (
    TextReader,
    markdown_member,
    moment,
    objects,
    record_list,
    text_member,
    web_url,
)


def _parse(body: Body, _: Origin) -> Contents:
    advisory = body.whole_json()
    document = advisory["document"]
    tracking, publisher = document["tracking"], document.get("publisher") or {}
    links = [link for link in objects(document.get("references")) if link.get("category") == "self"]
    stamp = moment(tracking.get("current_release_date"))
    yield Metadata(
        stamp, text_member(document.get("title"), 300), web_url(publisher.get("namespace"))
    )
    of_advisory: dict[str, Any] = {
        "stamp": stamp,
        "record_id": text_member(tracking["id"], 200),
        "url": next((web_url(link.get("url")) for link in reversed(links)), None),
        "published_at": moment(tracking.get("initial_release_date")),
    }
    products = products_by_id(advisory.get("product_tree") or {})
    # GitHub-flavoured Markdown since 2.1; 2.0 says nothing of a language.
    read_text = text_member if document["csaf_version"] == "2.0" else markdown_member
    make_members = partial(_members, products, publisher, read_text)
    yield from record_list(
        advisory.get("vulnerabilities") or (),
        lambda item: cve_record(cve_id(item.get("cve")), make_members(item), **of_advisory),
        lambda item: item["cve"],
    )


def _members(
    tree: Mapping[Any, Product],
    publisher: dict[str, Any],
    read_text: TextReader,
    item: dict[str, Any],
) -> CveMembers:
    title = text_member(item.get("title"), 500)
    notes = {note.get("category"): note.get("text") for note in objects(item.get("notes"))}
    cwes = [item["cwe"]] if item.get("cwe") else item.get("cwes")
    role = "primary" if publisher.get("category") == "vendor" else "secondary"
    return {
        "title": None if title == item["cve"] else title,
        "description": read_text(notes.get("description") or notes.get("summary")),
        "scores": _scores(item, text_member(publisher.get("name"), 200), role),
        "weaknesses": weaknesses(
            [cwes and [{"cweId": cwe["id"], "value": cwe.get("name")} for cwe in cwes]]
        ),
        "affected": affected_products(tree, item.get("product_status") or {}),
        "references": reference_links([item.get("references")]),
    }


def _scores(item: dict[str, Any], provider: str | None, role: str) -> list[ScoreMembers] | None:
    """The scores of CSAF 2.0 (`scores`) or 2.1 (`metrics`), each once for all its products."""
    metrics = [*(item.get("scores") or ()), *(row["content"] for row in item.get("metrics") or ())]
    cvss = [row[name] for row in metrics for name in sorted(row, reverse=True) if "cvss" in name]
    scores = collect([cvss or None], lambda vector: score(vector, provider, role))
    return scores and list({tuple(row.values()): row for row in scores}.values())


CSAF = make_format("csaf", lambda body: "csaf_version" in body.json["document"], _parse)
