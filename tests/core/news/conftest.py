"""News without a network: documents as the parser gives them, a store, a clock."""

import json
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, TypeVar

import pytest

from svc_core import catalog, drive, pipeline
from svc_core.cursor import Keyring
from svc_core.news import intake, rules
from svc_core.operation import Actor, Context
from svc_core.pipeline import Call, Reply, Site
from svc_core.ports import SYSTEM, Change, FeedPosition, Transaction
from svc_core.problem import Problem
from svc_core.resources.news import NEWS, NEWS_TEXTS, NewsItem, NewsText, Source
from svc_core.sources import FeedItem, ParsedFeed, Rejection
from svc_core.testing.clock import CountingIds, FrozenClock
from svc_http.storage.memory import MemoryStorage

R = TypeVar("R")


def entry(key: str, **members: Any) -> FeedItem:
    """One entry of a feed, in English and dated nowhere unless told otherwise."""
    told: dict[str, Any] = {
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
    return FeedItem(**told)


def document(
    *items: FeedItem,
    title: str | None = "The Pier",
    home_url: str | None = "https://www.pier.org/news",
    language: str | None = "en",
    rejections: tuple[Rejection, ...] = (),
) -> ParsedFeed:
    return ParsedFeed("rss", title, home_url, language, items, rejections)


class House:
    """Runs use cases as the system and requests as a tenant, on one store."""

    def __init__(self) -> None:
        self.clock = FrozenClock()
        self.ids = CountingIds(self.clock)
        self.store = MemoryStorage(catalog.COLLECTIONS)
        self.operations = {operation.id: operation for operation in catalog.OPERATIONS}

    def context(self, tx: Transaction, tenant: str, operation: str) -> Context:
        ring = Keyring({1: b"k" * 32}, 1)
        return Context(tx, self.clock.now(), self.ids, Actor(tenant), operation, keyring=ring)

    def run(self, usecase: Callable[[Context], Awaitable[R]]) -> R:
        async def unit(tx: Transaction) -> R:
            return await usecase(self.context(tx, SYSTEM, ""))

        return drive.run(self.store.write(SYSTEM, unit))

    def send(self, operation_id: str, query: str = "", **headers: str) -> Reply:
        operation, site = self.operations[operation_id], Site(base_url="https://api.example")
        prepared = pipeline.prepare(operation, Call({}, query, headers.get, b""), site)

        async def unit(tx: Transaction) -> Reply:
            context = self.context(tx, "wsp_a", operation.id)
            return await pipeline.perform(operation, prepared, context, site)

        return drive.run(self.store.read("wsp_a", unit))

    def rows(self, operation_id: str, query: str = "") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.send(operation_id, query).body)["data"]
        return found

    def refused(self, operation_id: str, query: str = "") -> Problem:
        with pytest.raises(Problem) as caught:
            self.send(operation_id, query)
        return caught.value

    def add(self, location: str = "https://pier.org/feed", **members: Any) -> Source:
        wish = intake.SourceWish(location, **members)
        return self.run(lambda ctx: intake.add_source(ctx, wish))

    def take(self, source: Source, parsed: ParsedFeed, digest: str = "d") -> Any:
        """All of a document, as if none of it were known."""
        rows = rules.incoming(rules.described(source, parsed), parsed, self.clock.now())
        batch, copy = intake.prepared(rows), intake.Copy(None, None, digest)
        return self.run(lambda ctx: intake.take_document(ctx, source.id, parsed, batch, copy))

    def news(self) -> list[NewsItem]:
        found = self.run(lambda ctx: ctx.tx.documents.scan(NEWS, limit=10_000))
        return [NEWS.decode(row.raw) for row in found.rows]

    def words(self) -> list[NewsText]:
        found = self.run(lambda ctx: ctx.tx.documents.scan(NEWS_TEXTS, limit=10_000))
        return [NEWS_TEXTS.decode(row.raw) for row in found.rows]

    def changes(self) -> list[Change]:
        found = self.run(lambda ctx: ctx.tx.changes.read(FeedPosition(), limit=10_000))
        return list(found.changes)


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture(scope="session")
def make_entry() -> Callable[..., FeedItem]:
    return entry


@pytest.fixture(scope="session")
def make_document() -> Callable[..., ParsedFeed]:
    return document


@pytest.fixture(scope="session")
def make_source() -> Callable[..., Source]:
    def make(at: datetime, location: str = "https://pier.org/feed", **members: Any) -> Source:
        told: dict[str, Any] = {
            "id": rules.source_id(location),
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
        return Source(**told)

    return make


@pytest.fixture(scope="session")
def house_factory() -> Callable[[], House]:
    return House
