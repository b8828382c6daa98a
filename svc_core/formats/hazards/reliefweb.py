"""Disasters of ReliefWeb (UN OCHA): lists and single ones of the API, versions 1 and 2.

A list has only the fields that were asked for; the GLIDE number tells kind and country as well.
"""

import re
from typing import Any

from svc_core.formats.hazards.events import (
    SUMMARY_CHARS,
    event_record,
    first,
    headline,
    kind,
    listed,
    severity,
)
from svc_core.formats.model import About, Given, Record, Told
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import declared
from svc_core.formats.reading.values import (
    at,
    country,
    designator,
    moment,
    place,
    point,
    records,
    text,
    web,
)

_GLIDE = re.compile(r"([A-Z]{2})-\d{4}-\d{6}-([A-Z]{3})")
"""A GLIDE number: kind, year, number and country (ISO 3166-1 alpha-3)."""


def _recognised(body: Body) -> bool:
    whole = body.json if isinstance(body.json, dict) else {}
    told = (whole if "data" in whole else {}, first(_items(body.json)))
    return any("/disasters" in str(one.get("href")) for one in told)


def _items(told: Any) -> Any:
    return told.get("data") if isinstance(told, dict) else told


def _parse(body: Body, _: Given) -> Told:
    yield About(home_url="https://reliefweb.int/disasters")
    yield from records(_items(body.whole_json()), _record, lambda item: item["id"])


def _record(item: dict[str, Any]) -> Record:
    told = item["fields"]
    own_id = text(item.get("id") or told.get("id"))
    glide = text(told.get("glide")) or ""
    parts = _GLIDE.fullmatch(glide)
    hazard, area = parts.groups() if parts else ("", "")
    dates = told.get("date") or {}
    created = moment(dates.get("created"))
    named = [*listed(told.get("primary_type")), *listed(told.get("type"))]
    kinds = kind("glide", *(one.get(name) for one in named for name in ("code", "name")), hazard)
    url = web(told.get("url_alias")) or web(told.get("url"))
    return event_record(
        "reliefweb",
        own_id,
        {
            **kinds,
            "title": text(told.get("name")) or headline(kinds["type"]),
            "summary": text(told.get("description"), SUMMARY_CHARS),
            "occurredAt": at(moment(dates.get("event")) or created),
            "datePrecision": "day" if dates else None,
            "reportedAt": at(created),
            "place": _place(told, area),
            **severity("reliefweb", "status", told.get("status")),
            "designators": [
                designator("reliefweb", own_id, "reliefweb"),
                *([designator("glide", glide, "reliefweb")] if glide else []),
            ],
            "url": url,
        },
        url=url or web(item.get("href")),
        stamp=moment(dates.get("changed")) or created,
        published_at=created,
        raw=item,
    )


def _place(told: dict[str, Any], area: str) -> dict[str, Any] | None:
    countries = listed(told.get("country"))
    main = first([*listed(told.get("primary_country")), *countries])
    position = main.get("location") or {}
    return place(
        name=", ".join(one["name"] for one in countries or [main] if one.get("name")),
        country_code=country(main.get("iso3") or area, "alpha3"),
        geometry=point(position.get("lon"), position.get("lat")),
        precision="country",
    )


RELIEFWEB = declared("reliefweb", _recognised, _parse)
