"""The sources of situation data, and how sources are doing."""

from typing import Any

import attrs
import pytest

from svc_core.formats.model import Rejection
from svc_core.intel.folding.model import HealthError, SourceHealth
from svc_core.intel.intake import health, registry
from tests import events

FILE = "/srv/data/secret place/day.json"
WEB = "https://ann:pw@quakes.example/day.json?days=1&api_key=x1y2"


@pytest.fixture
def house(house: Any) -> Any:
    """A house with sources of every status but `stale`."""
    rejections = (Rejection("lacks 'id'", 2, "x"),)
    house.run(lambda ctx: events.take(ctx, location=WEB, rejections=rejections))
    house.run(lambda ctx: events.take(ctx, location=FILE, format_=events.ALERTS, name="Alerts"))
    house.add("https://pier.org/feed")
    idle = attrs.evolve(house.add("https://idle.org/feed", name="Idle"), is_disabled=True)
    house.run(lambda ctx: registry.save_source(ctx, idle))
    late = house.add("/srv/data/gone.json", name="Gone")
    house.run(
        lambda ctx: registry.note_run(
            ctx,
            late.id,
            lambda now: health.after_failure(
                now, ctx.now, "notFound", f"There is no file {late.location}.", None
            ),
        )
    )
    return house


def sources_by_name(house: Any, query: str = "") -> dict[str, Any]:
    return {row["name"]: row for row in house.rows("listOsintSources", query)}


NAMES = {
    "https://quakes.example/day.json?days=1",
    "Alerts",
    "https://pier.org/feed",
    "Idle",
    "Gone",
}


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", NAMES),
        ("status=ok", {"Alerts"}),
        ("status=partial,error", {"https://quakes.example/day.json?days=1", "Gone"}),
        ("status=neverRun", {"https://pier.org/feed"}),
        ("status=stale", set()),
        ("status=disabled", {"Idle"}),
        ("status=disabled,ok", {"Idle", "Alerts"}),
        ("sourceFormat=gdacs", {"Alerts"}),
        ("provider=usgs", {"https://quakes.example/day.json?days=1"}),
        ("provider=usgs&sourceFormat=gdacs", set()),
    ],
)
def test_a_filter_finds_its_sources_alone(house: Any, query: str, names: set[str]) -> None:
    assert sources_by_name(house, query).keys() == names


def test_a_source_that_nobody_reads_is_stale_when_somebody_looks(house: Any) -> None:
    house.clock.advance(86_400)
    assert sources_by_name(house, "status=stale").keys() == {
        "Alerts",
        "https://quakes.example/day.json?days=1",
    }
    assert sources_by_name(house, "status=ok,partial") == {}
    assert len(sources_by_name(house, "status=stale,error")) == 3
    listing = house.rows("listOsintSources", "status=stale&limit=1")
    assert len(listing) == 1


def test_pages_join(house: Any) -> None:
    every = [row["id"] for row in house.rows("listOsintSources")]
    for query in ("limit=1", "limit=3", "limit=1&status=ok,partial,error,neverRun,disabled"):
        assert [row["id"] for row in house.every("listOsintSources", query)] == every


def test_few_of_many_sources_are_all_found(house: Any) -> None:
    async def add(ctx: Any) -> None:
        for number in range(210):
            wish = registry.SourceWish(f"https://quay.org/{number}")
            source = await registry.register_source(ctx, wish)
            if number % 100 == 0:
                await registry.save_source(ctx, attrs.evolve(source, is_disabled=True))

    house.run(add)
    assert len(house.rows("listOsintSources", "status=disabled&limit=100")) == 4
    rows = house.every("listOsintSources", "status=neverRun&limit=100")
    assert len({row["id"] for row in rows}) == 208


def test_what_is_the_machines_or_secret_is_told_to_nobody(house: Any) -> None:
    for operation in ("listOsintSources", "listOsintFeeds", "listOsintEvents"):
        body = house.send(operation, query="").body.decode()
        assert "/srv" not in body
        assert "pw@" not in body
        assert "x1y2" not in body
    removal = sources_by_name(house)["Gone"]
    assert removal["url"] is None
    assert removal["error"] == {"code": "notFound", "message": "There is no file gone.json."}
    assert "Put the file back" in removal["resolution"]


def test_a_report_says_what_became_of_the_last_document(house: Any) -> None:
    row = sources_by_name(house)["https://quakes.example/day.json?days=1"]
    assert row["rejections"] == [{"reason": "lacks 'id'", "count": 2, "sample": "x"}]
    assert (row["itemsLastRun"], row["rejectedLastRun"]) == (7, 2)
    assert row["lastRun"] == {
        "created": 7,
        "updated": 0,
        "unchanged": 0,
        "deleted": 0,
        "rejected": 2,
    }
    assert (row["error"], row["status"]) == (None, "partial")


def test_a_feed_says_what_it_brings_and_on_which_terms(house: Any) -> None:
    rows = house.rows("listOsintFeeds")
    assert {row["format"] for row in rows} == {"usgs", "gdacs"}
    (alerts,) = house.rows("listOsintFeeds", "sourceFormat=gdacs,rss")
    assert (alerts["title"], alerts["url"], alerts["provider"]) == ("Alerts", None, "gdacs")
    assert alerts["coverage"]["brings"]
    assert alerts["health"]["status"] == "ok"
    assert house.rows("listOsintFeeds", "sourceFormat=rss") == []
    assert len(house.rows("listOsintFeeds", "limit=1")) == 1


@pytest.mark.parametrize(
    ("status", "code", "begins"),
    [
        ("ok", None, None),
        ("neverRun", None, "Wait"),
        ("stale", None, "See that a worker"),
        ("error", "shrunk", health.BY_ERROR["shrunk"]),
        ("error", "ofNoKnownCode", "Nothing, if it passes"),
    ],
)
def test_what_to_do_follows_from_what_is_wrong(status: Any, code: Any, begins: Any) -> None:
    error = None if code is None else HealthError(code, "It is so.")
    step = health.resolution(SourceHealth(status=status, error=error))
    assert step is None if begins is None else (step or "").startswith(begins)


@pytest.mark.parametrize(
    ("location", "public"),
    [
        ("/srv/x.json", None),
        ("file:///srv/x.json", None),
        ("https://a.example/x#part", "https://a.example/x"),
        ("https://u:p@a.example:8443/x?a=1&token=t&B=2", "https://a.example:8443/x?a=1&B=2"),
        ("https://a.example/x?apiKey=k", "https://a.example/x"),
    ],
)
def test_an_address_is_told_without_its_secrets(location: str, public: str | None) -> None:
    assert health.public_address(location) == public


def test_a_source_without_a_name_is_called_by_its_file(house: Any) -> None:
    source = attrs.evolve(house.add("/srv/y.csv"), name="")
    assert health.public_name(source) == "y.csv"
