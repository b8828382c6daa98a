"""Feeds as the documents that they are read as, and entries and sources for tests."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from svc_core.formats.feeds.model import FeedItem, ParsedFeed
from svc_core.formats.feeds.news_formats import feed_contents
from svc_core.formats.model import Rejection
from svc_core.formats.table import FORMATS, Document, assemble
from svc_core.intel.folding.model import Source, source_id


def document_of(feed: ParsedFeed) -> Document:
    """The document that a feed was read from."""
    return assemble(
        FORMATS["rss" if feed.format == "rss-json" else feed.format], feed_contents(feed)
    )


def entry(key: str, **members: Any) -> FeedItem:
    """One entry of a feed, in English and dated nowhere unless told otherwise."""
    members_: dict[str, Any] = {
        "natural_key": key,
        "title": f"Title of {key}",
        "summary": "",
        "text": "",
        "url": None,
        "source_url": None,
        "published_at": None,
        "updated_at": None,
        "language": "en",
        "authors": (),
        "categories": (),
        "image_url": None,
        **members,
    }
    return FeedItem(**members_)


def document(
    *items: FeedItem,
    title: str | None = "The Pier",
    home_url: str | None = "https://www.pier.org/news",
    language: str | None = "en",
    rejections: tuple[Rejection, ...] = (),
) -> ParsedFeed:
    return ParsedFeed("rss", title, home_url, language, items, rejections)


@pytest.fixture(scope="session")
def make_entry() -> Callable[..., FeedItem]:
    return entry


@pytest.fixture(scope="session")
def make_document() -> Callable[..., ParsedFeed]:
    return document


@pytest.fixture(scope="session")
def make_source() -> Callable[..., Source]:
    def make(at: datetime, location: str = "https://pier.org/feed", **members: Any) -> Source:
        members_: dict[str, Any] = {
            "id": source_id(location),
            "location": location,
            "name": "",
            "home_url": None,
            "domain": "pier.org",
            "format": None,
            "language": None,
            "country_code": None,
            "topics": (),
            "cadence_seconds": 900,
            "created_at": at,
            **members,
        }
        return Source(**members_)

    return make
