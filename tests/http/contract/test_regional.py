"""The regional query as a map client and an old client ask for it."""

from datetime import UTC, datetime

import pytest

SUNSET = datetime(2027, 1, 31, tzinfo=UTC)
MAP = "application/geo+json"


@pytest.fixture(scope="module")
def world(contract_world):
    return contract_world(sunset_at=SUNSET)


@pytest.mark.parametrize("query", ["since=1", "until=1772600000000", "since=1&until=2"])
@pytest.mark.parametrize("accept", ["application/json", MAP])
def test_the_old_names_of_a_time_say_that_they_are_old_and_end(world, query, accept):
    answer = world.get(f"/api/v1/osint/regional?{query}", accept=accept)
    assert answer.status_code == 200
    assert answer.headers["deprecation"].startswith("@")
    assert answer.headers["sunset"] == "Sun, 31 Jan 2027 00:00:00 GMT"
    assert 'rel="deprecation"' in answer.headers["link"]
    current = world.get("/api/v1/osint/regional?datetime=2026-01-01T00:00:00Z/..", accept=accept)
    assert "deprecation" not in current.headers


def test_a_map_is_walked_by_its_links_whether_it_was_asked_for_by_name_or_type(world):
    every = [row["id"] for row in world.get("/api/v1/osint/regional?limit=100").json()["data"]]
    for form in ("", "format=geojson&"):
        query, accept, ids = f"{form}limit=7", MAP, []
        while query:
            answer = world.get(f"/api/v1/osint/regional?{query}", accept=accept)
            assert answer.headers["content-type"] == MAP, answer.text
            body = answer.json()
            ids += [feature["id"] for feature in body["features"]]
            following = {link["rel"]: link["href"] for link in body["links"]}.get("next", "")
            assert (following in answer.headers.get("link", "")) or not following
            query, accept = following.partition("?")[2], "*/*"  # what names its format needs none
        assert ids == every
