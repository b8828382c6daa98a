"""One item is one row, in whatever format, order or document its publisher tells it."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from svc_core.formats.feeds.feed_document import parse_feed
from svc_core.intel.intake import health
from svc_core.testing.clock import START as NOW

Make = Callable[..., Any]

PAGE = "https://pier.org/2026/strike/"


@pytest.mark.parametrize(
    ("location", "url", "is_shared"),
    [
        ("/srv/pier.xml", PAGE, True),  # a file is the operator's own word
        ("http://127.0.0.1:8000/pier.xml", PAGE, True),
        ("http://localhost/pier.xml", PAGE, True),
        ("https://pier.org/feed.json", PAGE, True),
        ("https://www.pier.org/feed", "http://pier.org/2026/strike", True),
        ("https://pier.org/feed", "https://blog.pier.org/2026/strike", False),
        ("https://feeds.mirror.net/pier", PAGE, False),  # nobody speaks for another's pages
        ("https://evil.pier.org/feed", PAGE, False),
        ("https://pier.org/feed", "https://pier.org/2026/other/", False),
    ],
)
def test_a_permalink_is_one_item_in_documents_of_its_own_host(
    house: Any, make_entry: Make, make_document: Make, location: str, url: str, is_shared: bool
) -> None:
    first = house.add("https://pier.org/atom.xml")
    house.take(first, make_document(make_entry(PAGE, url=PAGE)))
    house.take(house.add(location), make_document(make_entry(url, url=url)))
    assert (len(house.news()) == 1) is is_shared


def test_an_item_without_a_page_is_known_within_its_source(
    house: Any, make_entry: Make, make_document: Make
) -> None:
    document = make_document(make_entry("17", url="https://else.example/a"))
    for name in "ab":
        house.take(house.add(f"https://pier.org/{name}"), document)
    assert len(house.news()) == 2


def test_one_page_at_two_addresses_of_a_document_is_one_row(
    house: Any, make_entry: Make, make_document: Make
) -> None:
    bare = PAGE.rstrip("/")
    document = make_document(make_entry(PAGE, url=PAGE, title="A"), make_entry(bare, url=bare))
    source = house.add()
    for _ in range(2):
        house.take(source, document)
    (row,) = house.news()
    assert row.title == "A"
    assert len(house.change_records()) == 1


BLOGS = (("allthis.atom", "allthis.json"), ("scriptingNews.rss", "ScriptingNews.json"))


@pytest.mark.needs("SVC_REAL_DATA")
@pytest.mark.parametrize("names", BLOGS)
def test_a_real_blog_in_two_formats_gives_its_items_once(
    house_factory: Make, names: tuple[str, str]
) -> None:
    root = Path(os.environ["SVC_REAL_DATA"])  # noqa: TID251 - what the tests are given
    items = []
    for folder, name in zip(("news_feed", "json_feed"), names, strict=True):
        path, house = root / folder / name, house_factory()
        house.take(house.add(str(path)), parse_feed(path.read_bytes()))
        items.append({row.id for row in house.news()})
    assert items[0] == items[1]
    assert len(items[0]) > 10


# -- dates -------------------------------------------------------------------------------------


def _dates_of(*dates: str, **zones: Any) -> list[tuple[str | None, str | None]]:
    entries = "".join(
        f"<item><guid>g{n}</guid><title>T</title><pubDate>{date}</pubDate></item>"
        for n, date in enumerate(dates)
    )
    body = f"<rss version='2.0'><channel><title>D</title>{entries}</channel></rss>".encode()
    return [
        (item.published_at and item.published_at.isoformat()[:16], item.published_basis)
        for item in parse_feed(body, **zones).items
    ]


def test_a_date_without_a_zone_is_read_by_the_nearest_clock(make_source: Make) -> None:
    without_zone, with_zone = "Sat, 07 Jan 2017 12:00:00", "Sat, 07 Jan 2017 12:00:00 -0500"
    country_zone = health.zones(make_source(NOW, country_code="JP"))[1]
    zone = health.zones(make_source(NOW, timezone="Europe/Paris"))[0]
    zones = {"zone": zone, "country_zone": country_zone}
    assert _dates_of(without_zone, with_zone, **zones)[0] == ("2017-01-07T11:00", "assumed")
    assert _dates_of(without_zone, with_zone, country_zone=country_zone) == [
        ("2017-01-07T17:00", "assumed"), ("2017-01-07T17:00", "stated"),
    ]  # fmt: skip
    assert _dates_of(without_zone, country_zone=country_zone) == [("2017-01-07T03:00", "assumed")]
    assert _dates_of(without_zone, "Jan 2017") == [("2017-01-07T12:00", "assumed"), (None, None)]


def test_a_country_of_several_zones_tells_none(make_source: Make) -> None:
    assert health.zones(make_source(NOW, country_code="US")) == (None, None)
    assert health.zones(make_source(NOW)) == (None, None)
