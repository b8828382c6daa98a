"""The RSS feeds of GDACS: the same events as its API tells, without their footprints."""

import re
from typing import Any
from xml.etree.ElementTree import Element

from svc_core.formats.hazards.gdacs_alert import alert
from svc_core.formats.model import About, Given, Record, Told
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import declared
from svc_core.formats.reading.values import moment, point, records

_MADE = re.compile(r"<(?:pubDate|lastBuildDate)>([^<]+)<")


def _recognised(body: Body) -> bool:
    return body.root == "rss" and "xmlns:gdacs=" in body.head


def _parse(body: Body, _: Given) -> Told:
    made = _MADE.search(body.head.partition("<item")[0])
    yield About(stamp=moment(made and made[1]), home_url="https://www.gdacs.org/")
    yield from records(body.elements("item"), _record, lambda item: item.findtext("guid"))


def _record(item: Element) -> Record:
    texts = {child.tag.rpartition("}")[2]: (child.text or "").strip() for child in item}
    told: dict[str, Any] = {name: value for name, value in texts.items() if value}
    measure = item.find("{*}severity")
    if measure is not None:
        told["severitydata"] = {
            "severity": measure.get("value"),
            "severityunit": measure.get("unit"),
            "severitytext": measure.text,
        }
    for one in item.iterfind("{*}identifiers/{*}identifier[@id='neicid']"):
        told |= {"source": "NEIC", "sourceid": one.text}
    latitude, longitude = told.get("point", "").split() or (
        item.findtext(f".//{{*}}{name}") for name in ("lat", "long")
    )
    named = told | {"name": told.get("title"), "url": told.get("link")}
    return alert(named, point(longitude, latitude), None, told)


GDACS_RSS = declared("gdacs-rss", _recognised, _parse)
