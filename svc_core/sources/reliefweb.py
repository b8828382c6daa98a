"""Disasters of ReliefWeb (UN OCHA): lists and single ones of the API, versions 1 and 2.

A list has only the fields that were asked for; the GLIDE number tells kind and country as well.
"""

from typing import Any

from svc_core.sources.body import Body
from svc_core.sources.model import About, Format, Given, Record, Told
from svc_core.sources.osint import SUMMARY_CHARS, first, headline, kind, listed, severity
from svc_core.sources.values import (
    at,
    country,
    designator,
    moment,
    place,
    point,
    records,
    required,
    text,
    web,
)


def _recognised(body: Body) -> bool:
    if not body.has("data"):
        return False
    told = (body.json, first(body.json["data"]))
    return any("/disasters" in str(one.get("href")) for one in told)


def _parse(body: Body, _: Given) -> Told:
    yield About(home_url="https://reliefweb.int/disasters")
    yield from records(body.whole_json()["data"], _record, lambda item: item["id"])


def _record(item: dict[str, Any]) -> Record:
    told = item["fields"]
    own_id = required(text(item.get("id") or told.get("id")), "id")
    glide = text(told.get("glide")) or ""
    dates = told.get("date") or {}
    created = moment(dates.get("created"))
    named = [*listed(told.get("primary_type")), *listed(told.get("type"))]
    kinds = kind("glide", *(one.get(name) for one in named for name in ("code", "name")), glide[:2])
    url = web(told.get("url_alias")) or web(told.get("url"))
    return Record(
        "osintEvent",
        f"reliefweb:{own_id}",
        {
            **kinds,
            "title": text(told.get("name")) or headline(kinds["type"]),
            "summary": text(told.get("description"), SUMMARY_CHARS),
            "occurredAt": at(moment(dates.get("event")) or created),
            "datePrecision": "day" if dates else None,
            "reportedAt": at(created),
            "place": _place(told, glide[-3:]),
            **severity("reliefweb", "status", told.get("status")),
            "designators": [
                designator("reliefweb", own_id, "reliefweb"),
                *([designator("glide", glide, "reliefweb")] if glide else []),
            ],
            "url": url,
        },
        stamp=moment(dates.get("changed")) or created,
        record_id=own_id,
        url=url,
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


RELIEFWEB = Format(
    id="reliefweb",
    title="ReliefWeb disasters (API v1, v2)",
    kind="window",
    provider="reliefweb",
    brings=("osintEvent",),
    recognise=_recognised,
    parse=_parse,
    cadence_seconds=3_600,
    attribution="ReliefWeb, UN OCHA",
)
