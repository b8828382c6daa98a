"""Events of an area and a time, and the map that third parties read."""

import json
from typing import Any

import geojson
import pytest

from svc_core.contract import problem
from svc_core.operation.declaration import GEOJSON
from tests import events

NOON_MILLIS = int(events.NOON.timestamp() * 1_000)


@pytest.fixture
def house(house: Any) -> Any:
    """A house that has taken in the invented events."""
    house.run(events.take)
    return house


def feature_collection(house: Any, query: str) -> dict[str, Any]:
    reply = house.send("listRegionalOsint", query=query, accept=GEOJSON.media_type)
    assert reply.media_type == GEOJSON.media_type
    body: dict[str, Any] = json.loads(reply.body)
    return body


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 7),
        ("bbox=177,-20,-178,-16", 3),
        ("bbox=-178,-20,177,-16", 0),
        ("datetime=../2026-03-04T03:00:00Z", 5),
        (f"until={NOON_MILLIS - 3_600_000}", 5),
        (f"since={NOON_MILLIS}", 1),
        (f"since={NOON_MILLIS - 3_600_000}&until={NOON_MILLIS - 3_600_000}", 1),
        ("provider=gdacs", 1),
        ("type=riot", 1),
        ("country=fj&minSeverity=high", 1),
    ],
)
def test_rows_and_features_are_the_same_events(house: Any, query: str, count: int) -> None:
    rows = house.rows("listRegionalOsint", query)
    assert len(rows) == count
    collection = feature_collection(house, query)
    assert [feature["id"] for feature in collection["features"]] == [row["id"] for row in rows]
    assert collection["numberReturned"] == collection["meta"]["pageCount"] == count


def test_a_feature_is_the_row_with_its_place_as_geometry(house: Any) -> None:
    for row, feature in zip(
        house.rows("listRegionalOsint"),
        feature_collection(house, "")["features"],
        strict=True,
    ):
        place = row.pop("place") or {}
        properties = dict(feature["properties"])
        for name in ("name", "countryCode", "admin1Code", "precision"):
            assert properties.pop(name) == place.get(name)
        assert properties == row
        assert feature["geometry"] == place.get("geometry")


def test_others_read_every_page_by_its_links(house: Any) -> None:
    ids: list[str] = []
    query = "bbox=-180,-90,180,90&limit=2"
    while True:
        body = house.send("listRegionalOsint", query=f"{query}&format=geojson").body
        page = geojson.loads(body)
        assert isinstance(page, geojson.FeatureCollection)
        assert page.is_valid, page.errors()
        ids += [feature["id"] for feature in page["features"]]
        links = {link["rel"]: link for link in page["links"]}
        assert {link["type"] for link in links.values()} == {GEOJSON.media_type}
        assert links["self"]["href"].endswith(f"{query}&format=geojson")
        if "next" not in links:
            break
        query = links["next"]["href"].partition("?")[2].replace("&format=geojson", "")
    assert ids == [row["id"] for row in house.rows("listRegionalOsint", "bbox=-180,-90,180,90")]


def test_a_page_asked_for_by_its_media_type_leads_to_more_of_it(house: Any) -> None:
    collection = feature_collection(house, "limit=1")
    (following,) = [link["href"] for link in collection["links"] if link["rel"] == "next"]
    assert "format=geojson" in following
    assert collection["timeStamp"] == house.clock.now().isoformat().replace("+00:00", "Z")


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("datetime=../2026-03-04T03:00:00Z&since=1", problem.CONFLICTING_PARAMETERS),
        ("since=2&until=1", problem.INVALID_PARAMETER),
        ("format=ndjson", problem.INVALID_PARAMETER),
        ("sort=severity", problem.UNKNOWN_PARAMETER),
    ],
)
def test_what_makes_no_sense_is_refused(house: Any, query: str, kind: Any) -> None:
    assert house.refusal("listRegionalOsint", query=query).type is kind
