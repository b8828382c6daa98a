"""Documents of events, made as small as their formats allow."""

import json
from datetime import datetime
from typing import Any

from svc_core.base import drive
from svc_core.formats.model import Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import read_document, recognise_format
from svc_core.intel.incidents.fold_passes import fold_new
from svc_core.intel.incidents.story_grouping import group_new
from tests.core.intel.news.test_grouping import Work

NOON = datetime.fromisoformat("2026-01-02T12:00:00+00:00")


def usgs(*quakes: dict[str, Any]) -> bytes:
    """Earthquakes: `id`, and what is not as usual."""
    features = []
    for quake in quakes:
        properties = {
            "mag": quake.get("mag", 6.1), "place": "10 km S of Esmeraldas",
            "time": _millis(quake.get("at", NOON)),
            "updated": _millis(NOON), "ids": quake.get("ids", f",{quake['id']},"),
            "type": "earthquake", "status": quake.get("status", "reviewed"),
            "alert": quake.get("alert", "orange"), "sig": 650,
            "url": f"https://earthquake.usgs.gov/earthquakes/eventpage/{quake['id']}",
            "title": "M 6.1 - 10 km S of Esmeraldas", "magType": "mww",
        }  # fmt: skip
        at = [*quake.get("point", (-79.6, 0.9)), 10.0]
        features.append({"type": "Feature", "id": quake["id"], "properties": properties,
                         "geometry": {"type": "Point", "coordinates": at}})  # fmt: skip
    return json.dumps({"type": "FeatureCollection", "metadata": {"generated": _millis(NOON)},
                       "features": features}).encode()  # fmt: skip


def gdacs(**members: Any) -> bytes:
    """One alert, as centre and circle."""
    properties = {
        "eventtype": "EQ", "eventid": 1481201, "name": "Earthquake in Ecuador", "glide": "",
        "alertlevel": "Orange", "iscurrent": "true", "country": "Ecuador", "iso3": "ECU",
        "fromdate": "2026-01-02T12:00:00", "todate": "2026-01-02T12:00:00",
        "datemodified": "2026-01-02T13:00:00", "source": "", "sourceid": "", **members,
    }  # fmt: skip
    ring = [[-80.0, 0.0], [-79.0, 0.0], [-79.0, 1.0], [-80.0, 0.0]]
    shapes = {
        "Point_Centroid": {"type": "Point", "coordinates": [-79.62, 0.92]},
        "Poly_Circle": {"type": "Polygon", "coordinates": [ring]},
    }
    features = [{"type": "Feature", "geometry": shape, "properties": properties | {"Class": name}}
                for name, shape in shapes.items()]  # fmt: skip
    return json.dumps({"type": "FeatureCollection", "features": features, "bbox": None}).encode()


def reliefweb(glide: str = "EQ-2026-000071-ECU", status: str = "ongoing") -> bytes:
    """One disaster."""
    fields = {
        "name": "Ecuador: Earthquake - Jan 2026", "glide": glide, "status": status,
        "type": [{"code": "EQ", "name": "Earthquake"}], "date": {"created": "2026-01-02T12:00:00Z"},
        "country": [{"iso3": "ecu", "name": "Ecuador"}],
    }  # fmt: skip
    href = "https://api.reliefweb.int/v1/disasters/55123"
    return json.dumps({"href": "https://api.reliefweb.int/v1/disasters", "data": [
        {"id": "55123", "fields": fields, "href": href}]}).encode()  # fmt: skip


def eonet(closed_at: str | None = None, sources: Any = ()) -> bytes:
    """One fire at two places."""
    spots = [
        {"magnitudeValue": acres, "magnitudeUnit": "acres", "date": f"2026-01-0{day}T00:00:00Z",
         "type": "Point", "coordinates": [-17.23, 28.12]}
        for day, acres in ((1, 400.0), (2, 960.0))
    ]  # fmt: skip
    event = {
        "id": "EONET_21901", "title": "Wildfire La Gomera", "closed": closed_at, "geometry": spots,
        "categories": [{"id": "wildfires"}], "sources": list(sources),
    }  # fmt: skip
    return json.dumps({"title": "EONET Events", "events": [event]}).encode()


def gdelt(*rows: dict[str, Any]) -> bytes:
    """Rows of a file of version 2.0: `id`, `url`, and what is not as usual."""
    lines = []
    for row in rows:
        cells = [""] * 61
        cells[0], cells[1] = str(row["id"]), row.get("day", "20260102")
        cells[6], cells[16] = row.get("actors", ("UNION", "POLICE"))
        code = row.get("code", "141")
        cells[26], cells[27], cells[28], cells[29], cells[30] = code, code, code[:2], "3", "-6.5"
        cells[51], cells[52], cells[53] = (
            row.get("kind", "4"),
            row.get("city", "La Paz, Bolivia"),
            "BL",
        )
        cells[56], cells[57] = map(str, row.get("point", (-16.5, -68.15)))
        cells[59], cells[60] = "20260102121500", row.get("url", "")
        lines.append("\t".join(cells))
    return "\n".join(lines).encode()


def mentions(*rows: tuple[int, str, int]) -> bytes:
    """Which articles mention which events, and how sure that is."""
    lines = []
    for event, url, sure in rows:
        cells = [str(event), "20260102121500", "20260102123000", "1", "paper.example", url, "1",
                 "-1", "10", "10", "0", str(sure), "900", "-5.1", "", ""]  # fmt: skip
        lines.append("\t".join(cells))
    return "\n".join(lines).encode()


def misp(**members: Any) -> bytes:
    """One event that is published."""
    event = {
        "uuid": "30000000-0000-4000-8000-000000009001", "info": "Reminders against the mail",
        "date": "2026-01-01", "threat_level_id": "1", "analysis": "1", "published": True,
        "timestamp": "1767312000", "Attribute": [], **members,
    }  # fmt: skip
    return json.dumps({"Event": event}).encode()


def rss(host: str, *titles: str) -> bytes:
    """A feed; the page of each item is named by its place."""
    items = "".join(
        f"<item><title>{title}</title><link>https://{host}/{at}</link>"
        "<pubDate>Fri, 02 Jan 2026 11:00:00 GMT</pubDate></item>"
        for at, title in enumerate(titles)
    )
    return f"<rss version='2.0'><channel><title>{host}</title>{items}</channel></rss>".encode()


def _millis(at: datetime) -> int:
    return int(at.timestamp() * 1_000)


def take(house: Any, body: bytes, location: str) -> None:
    """Take a document in as that of the source at a location."""
    body_, source = Body(body), house.add(location)
    document = read_document(
        body_, recognise_format(body_), Origin(base_url=location, name=location)
    )
    house.take(source, document)


def fold(house: Any) -> int:
    """Group the news and fold what is due."""
    drive.run(group_new(Work(house)))
    count: int = drive.run(fold_new(Work(house)))
    return count


def incidents(house: Any, query: str = "limit=100") -> list[Any]:
    """The rows of a list."""
    rows: list[Any] = house.rows("listIncidents", query)
    return rows


def incident_of(house: Any, id_: str, query: str = "") -> Any:
    """What one incident answers."""
    reply = house.send("getIncident", path={"incidentId": id_}, query=query)
    return json.loads(reply.body)["data"]
