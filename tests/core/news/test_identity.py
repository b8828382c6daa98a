"""One item is one row, in whatever format, order or document its publisher tells it."""

import os
from collections.abc import Callable
from datetime import timedelta
from itertools import permutations
from pathlib import Path
from typing import Any

import attrs
import pytest

from svc_core.news import rules
from svc_core.resources.news import NewsItem
from svc_core.sources import parse_feed
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
    make_entry: Make, make_document: Make, make_source: Make,
    location: str, url: str, is_shared: bool,
) -> None:  # fmt: skip
    first = make_source(NOW, "https://pier.org/atom.xml")
    (known,) = rules.incoming(first, make_document(make_entry(PAGE, url=PAGE)), NOW)
    other = make_source(NOW, location)
    (told,) = rules.incoming(other, make_document(make_entry(url, url=url)), NOW)
    assert (told.item.id == known.item.id) is is_shared


def test_an_item_without_a_page_is_known_within_its_source(
    make_entry: Make, make_document: Make, make_source: Make
) -> None:
    parsed = make_document(make_entry("17", url="https://else.example/a"))
    sources = [make_source(NOW, f"https://pier.org/{name}") for name in "ab"]
    (one,), (other,) = (rules.incoming(source, parsed, NOW) for source in sources)
    assert one.item.id != other.item.id


def test_one_page_at_two_addresses_of_a_document_is_one_row(
    make_entry: Make, make_document: Make, make_source: Make
) -> None:
    bare = PAGE.rstrip("/")
    parsed = make_document(make_entry(PAGE, url=PAGE, title="A"), make_entry(bare, url=bare))
    (row,) = rules.incoming(make_source(NOW), parsed, NOW)
    assert row.item.title == "A"


def test_the_order_of_two_tellings_of_an_item_does_not_matter(
    make_entry: Make, make_document: Make, make_source: Make
) -> None:
    def told(name: str, **members: Any) -> NewsItem:
        source = make_source(NOW, f"https://pier.org/{name}", name=name)
        (row,) = rules.incoming(
            source, make_document(make_entry(PAGE, url=PAGE, title=name, **members)), NOW
        )
        return row.item

    tellings = [
        told("atom", published_at=NOW),
        told("json", published_at=NOW),
        told("rss", published_at=NOW, updated_at=NOW + timedelta(hours=1)),
        told("undated"),
    ]
    assert len({row.id for row in tellings}) == 1
    ends = set()
    for order in permutations(tellings):
        stored = order[0]
        for row in (*order[1:], *order):
            stored = rules.settle(stored, row) or stored
        assert all(rules.settle(stored, row) is None for row in order)
        ends.add(attrs.evolve(stored))
    assert [row.title for row in ends] == ["rss"]


FORMATS = (("allthis.atom", "allthis.json"), ("scriptingNews.rss", "ScriptingNews.json"))


@pytest.mark.needs("SVC_REAL_DATA")
@pytest.mark.parametrize("names", FORMATS)
def test_a_real_blog_in_two_formats_gives_its_items_once(
    make_source: Make, names: tuple[str, str]
) -> None:
    root = Path(os.environ["SVC_REAL_DATA"])  # noqa: TID251 - what the tests are given
    found = []
    for folder, name in zip(("news_feed", "json_feed"), names, strict=True):
        path = root / folder / name
        parsed = parse_feed(path.read_bytes())
        rows = rules.incoming(make_source(NOW, str(path)), parsed, NOW)
        found.append({row.item.id for row in rows})
    assert found[0] == found[1]
    assert len(found[0]) > 10


# -- dates -------------------------------------------------------------------------------------


def _dated(*dates: str, **zones: Any) -> list[tuple[str | None, str | None]]:
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
    unzoned, zoned = "Sat, 07 Jan 2017 12:00:00", "Sat, 07 Jan 2017 12:00:00 -0500"
    country_zone = rules.zones(make_source(NOW, country_code="JP"))[1]
    zone = rules.zones(make_source(NOW, timezone="Europe/Paris"))[0]
    zones = {"zone": zone, "country_zone": country_zone}
    assert _dated(unzoned, zoned, **zones)[0] == ("2017-01-07T11:00", "assumed")
    assert _dated(unzoned, zoned, country_zone=country_zone) == [
        ("2017-01-07T17:00", "assumed"), ("2017-01-07T17:00", "stated"),
    ]  # fmt: skip
    assert _dated(unzoned, country_zone=country_zone) == [("2017-01-07T03:00", "assumed")]
    assert _dated(unzoned, "Jan 2017") == [("2017-01-07T12:00", "assumed"), (None, None)]


def test_a_country_of_several_zones_tells_none(make_source: Make) -> None:
    assert rules.zones(make_source(NOW, country_code="US")) == (None, None)
    assert rules.zones(make_source(NOW)) == (None, None)
