"""Parses disasters of ReliefWeb (UN OCHA): lists and single ones of its API, versions 1 and 2.

A list has only the fields that its URL requests; a GLIDE number also holds kind and country.
"""

import re
from typing import Any

from svc_core.formats.hazards.event_fields import (
    SUMMARY_CHARS,
    event_kind,
    event_record,
    first_object,
    headline,
    optional_list,
)
from svc_core.formats.model import Contents, Metadata, Origin, Record
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import (
    country,
    designator,
    markdown_member,
    moment,
    place,
    point,
    record_list,
    rfc3339,
    text_member,
    web_url,
)

_GLIDE = re.compile(r"([A-Z]{2})-\d{4}-\d{6}-([A-Z]{3})")
"""A GLIDE number: kind, year, number and country (ISO 3166-1 alpha-3)."""

_MONTH = re.compile(r" - ([A-Z][a-z]{2} \d{4})$")
"""The month of a disaster, with which ReliefWeb ends its name ("Chad: Floods - Aug 2024")."""


def _recognise(body: Body) -> bool:
    envelope = body.json if isinstance(body.json, dict) else {}
    candidates = (envelope if "data" in envelope else {}, first_object(_items(body.json)))
    return any("/disasters" in str(item.get("href")) for item in candidates)


def _items(document: Any) -> Any:
    return document.get("data") if isinstance(document, dict) else document


def _parse(body: Body, _: Origin) -> Contents:
    yield Metadata(home_url="https://reliefweb.int/disasters")
    yield from record_list(_items(body.whole_json()), _record, lambda item: item["id"])


def _record(item: dict[str, Any]) -> Record:
    fields = item["fields"]
    own_id = text_member(item.get("id") or fields.get("id"))
    glide = text_member(fields.get("glide")) or ""
    parts = _GLIDE.fullmatch(glide)
    hazard, area = parts.groups() if parts else ("", "")
    dates = fields.get("date") or {}
    happened_at, created_at = moment(dates.get("event")), moment(dates.get("created"))
    month = None if happened_at else _MONTH.search(str(fields.get("name")))
    started_at = moment(f"1 {month[1]}") if month else happened_at
    types = [*optional_list(fields.get("primary_type")), *optional_list(fields.get("type"))]
    kinds = event_kind(
        "glide", *(row.get(name) for row in types for name in ("code", "name")), hazard
    )
    url = web_url(fields.get("url_alias")) or web_url(fields.get("url"))
    return event_record(
        "reliefweb",
        own_id,
        {
            **kinds,
            "title": text_member(fields.get("name")) or headline(kinds["type"]),
            "summary": markdown_member(fields.get("description"), SUMMARY_CHARS),
            "occurredAt": rfc3339(started_at),
            "datePrecision": ("month" if month else "day") if started_at else None,
            "reportedAt": rfc3339(created_at),
            "place": _place(fields, area),
            "designators": [
                designator("reliefweb", own_id, "reliefweb"),
                *([designator("glide", glide, "reliefweb")] if glide else []),
            ],
            "url": url,
        },
        url=url or web_url(item.get("href")),
        stamp=moment(dates.get("changed")) or created_at,
        published_at=created_at,
        raw=item,
    )


def _place(fields: dict[str, Any], area: str) -> dict[str, Any] | None:
    countries = optional_list(fields.get("country"))
    main = first_object([*optional_list(fields.get("primary_country")), *countries])
    position = main.get("location") or {}
    return place(
        name=", ".join(nation["name"] for nation in countries or [main] if nation.get("name")),
        country_code=country(main.get("iso3") or area, "alpha3"),
        geometry=point(position.get("lon"), position.get("lat")),
        precision="country",
    )


RELIEFWEB = make_format("reliefweb", _recognise, _parse)
