"""Parses the RSS feeds of GDACS: the events of its API, without their footprints."""

import re
from typing import Any
from xml.etree.ElementTree import Element

from svc_core.formats.hazards.gdacs_alert import alert
from svc_core.formats.model import Contents, Metadata, Origin, Record
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import moment, point, record_list

_BUILD_DATE = re.compile(r"<(?:pubDate|lastBuildDate)>([^<]+)<")


def _recognise(body: Body) -> bool:
    return body.root == "rss" and "xmlns:gdacs=" in body.head


def _parse(body: Body, _: Origin) -> Contents:
    build_date = _BUILD_DATE.search(body.head.partition("<item")[0])
    yield Metadata(stamp=moment(build_date and build_date[1]), home_url="https://www.gdacs.org/")
    yield from record_list(body.elements("item"), _record, lambda item: item.findtext("guid"))


def _record(item: Element) -> Record:
    texts = {child.tag.rpartition("}")[2]: (child.text or "").strip() for child in item}
    properties: dict[str, Any] = {name: value for name, value in texts.items() if value}
    measure = item.find("{*}severity")
    if measure is not None:
        properties["severitydata"] = {
            "severity": measure.get("value"),
            "severityunit": measure.get("unit"),
            "severitytext": measure.text,
        }
    for identifier in item.iterfind("{*}identifiers/{*}identifier[@id='neicid']"):
        properties |= {"source": "NEIC", "sourceid": identifier.text}
    latitude, longitude = properties.get("point", "").split() or (
        item.findtext(f".//{{*}}{name}") for name in ("lat", "long")
    )
    # RSS Best Practices Profile, "Character Data": plain text but for `description`, which is HTML.
    columns = {"name": "title", "url": "link", "htmldescription": "description"}
    renamed = {name: properties.get(column) for name, column in columns.items()}
    return alert(properties | renamed, point(longitude, latitude), None, properties)


GDACS_RSS = make_format("gdacs-rss", _recognise, _parse)
