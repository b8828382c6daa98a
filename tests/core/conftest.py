"""A house for use cases: the real catalogue over the memory store, without a loop or a socket."""

import json
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pytest

from svc_core import catalog
from svc_core.access.plans import DEFAULT_PLANS, PlanTable
from svc_core.base import drive
from svc_core.base.seals import Keyring
from svc_core.contract.problem import Problem
from svc_core.formats.feeds.model import ParsedFeed
from svc_core.formats.table import Document
from svc_core.intel.folding.model import Source
from svc_core.intel.intake import record_intake as documents
from svc_core.intel.intake import registry
from svc_core.intel.news.model import NEWS, NEWS_TEXTS, NewsItem, NewsText
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.executor import Execution
from svc_core.operation.host import Host
from svc_core.operation.parsing import Call, Site, prepare
from svc_core.operation.ports import SYSTEM, Change, Collection, FeedPosition, Transaction
from svc_core.operation.reply import Reply
from svc_core.operation.units import Units
from svc_core.testing.clock import CountingIds, FrozenClock
from svc_http.stores import MemoryStorage
from tests.core.feeds import document_of, make_document, make_entry, make_source

__all__ = ["make_document", "make_entry", "make_source"]

R = TypeVar("R")
T = TypeVar("T")

SECRET = "whsec_" + "U0VD" * 8
"""What webhooks of tests are signed by."""


class House:
    """Sends requests to operations as a tenant, and runs use cases, on one store."""

    def __init__(self) -> None:
        self.clock = FrozenClock()
        self.ids = CountingIds(self.clock)
        self.keyring = Keyring({1: b"k" * 32}, 1)
        self.store = MemoryStorage(catalog.COLLECTIONS)
        self.site = Site(base_url="https://api.example")
        self.host = Host(providers={PlanTable: DEFAULT_PLANS})
        self.user: str | None = None
        """The person behind the key."""
        self.operations = {operation.id: operation for operation in catalog.OPERATIONS}

    @property
    def hands(self) -> Units:
        """The units of work of the house."""
        return Units(self.store, self.ids, self.clock.now, self.keyring, self.host)

    def context(self, tx: Transaction, tenant: str, operation: str) -> Context:
        actor = Actor(tenant, user_id=self.user)
        members = (self.clock.now(), self.ids, actor, operation)
        return Context(*members, keyring=self.keyring, host=self.host, tx=tx)

    def run(self, usecase: Callable[[Context], Awaitable[R]], tenant: str = SYSTEM) -> R:
        async def unit(tx: Transaction) -> R:
            return await usecase(self.context(tx, tenant, ""))

        return drive.run(self.store.write(tenant, unit))

    def send(
        self,
        operation_id: str,
        *,
        tenant: str = "wsp_a",
        path: Mapping[str, str] | None = None,
        query: str = "",
        body: Any = None,
        raw: bytes | None = None,
        **headers: str,
    ) -> Reply:
        operation = self.operations[operation_id]
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None or raw is not None:
            fields.setdefault("content-type", "application/json")
        content = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
        call = Call(dict(path or {}), query, fields.get, content)
        invocation = prepare(operation, call, self.site)
        actor = Actor(tenant, user_id=self.user)
        return drive.run(Execution(invocation, actor, self.clock.now(), self.hands).reply())

    def refusal(self, operation_id: str, **arguments: Any) -> Problem:
        with pytest.raises(Problem) as failure:
            self.send(operation_id, **arguments)
        return failure.value

    def value(self, collection: Collection[R], id_: str, tenant: str = "wsp_a") -> R:
        """A stored row as it is, whoever may see it."""
        return self.run(lambda ctx: ctx.value(collection, id_), tenant)

    def webhook(self, tenant: str = "wsp_a", **members: Any) -> dict[str, Any]:
        """The answer to the registration of a webhook."""
        body = {"url": "https://hooks.example.com/svc", "secret": SECRET, **members}
        key = f"key-{self.ids.new('req')}"
        reply = self.send("createWebhook", tenant=tenant, body=body, idempotency_key=key)
        row: dict[str, Any] = json.loads(reply.body)["data"]
        return row

    def rows(self, operation_id: str, query: str = "", tenant: str = "wsp_a") -> list[Any]:
        reply = self.send(operation_id, tenant=tenant, query=query)
        rows: list[Any] = json.loads(reply.body)["data"]
        return rows

    def body(self, operation_id: str, query: str = "", **arguments: Any) -> Any:
        """All that an answer says."""
        return json.loads(self.send(operation_id, query=query, **arguments).body)

    def pages(
        self,
        operation_id: str,
        query: str = "",
        *,
        meanwhile: Callable[[], Any] = lambda: None,
        **arguments: Any,
    ) -> list[Any]:
        """What all pages say, each asked for with the cursor of the one before."""
        bodies, suffix = [], ""
        while True:
            bodies.append(self.body(operation_id, f"{query}{suffix}", **arguments))
            token = bodies[-1]["meta"]["page"]["nextCursor"]
            assert (token is None) == (bodies[-1]["links"]["next"] is None)
            if token is None:
                return bodies
            suffix = f"&cursor={token}"
            meanwhile()

    def every(self, operation_id: str, query: str = "", **arguments: Any) -> list[Any]:
        """The rows of all pages."""
        return [
            row for body in self.pages(operation_id, query, **arguments) for row in body["data"]
        ]

    def stored(self, collection: Collection[T]) -> list[T]:
        """Every row of a collection."""
        page = self.run(lambda ctx: ctx.tx.documents.scan(collection, limit=100_000))
        return [collection.decode(row.raw) for row in page.rows]

    # -- what tenants do -----------------------------------------------------------------------

    def changes(self, tenant: str = "wsp_a") -> list[dict[str, Any]]:
        return self.rows("listChanges", "limit=100", tenant)

    def profile(self, tenant: str = "wsp_a", key: str = "", **members: Any) -> dict[str, Any]:
        body = {"name": "Ports", "topic": "Port strikes", "frequency": "manual", **members}
        reply = self.send(
            "createProfile",
            tenant=tenant,
            body=body,
            idempotency_key=key or f"key-{self.ids.new('req')}",
        )
        row: dict[str, Any] = json.loads(reply.body)["data"]
        return row

    # -- what the fetcher does -----------------------------------------------------------------

    def add(self, location: str = "https://pier.org/feed", **members: Any) -> Source:
        wish = registry.SourceWish(location, **members)
        return self.run(lambda ctx: registry.register_source(ctx, wish))

    def take(self, source: Source, document: ParsedFeed | Document) -> Any:
        """All of a document, whatever of it is known."""
        if isinstance(document, ParsedFeed):
            document = document_of(document)
        return self.run(lambda ctx: documents.take_document(ctx, source.id, document))

    def withdraw(self, location: str) -> None:
        """Take back all that the source at a location ever brought."""
        id_ = self.add(location).id

        async def unit(ctx: Context) -> bool:
            claims, _ = await documents.contributions_from(ctx, id_)
            await documents.withdraw(ctx, claims)
            return bool(claims)

        while self.run(unit):
            pass

    def news(self) -> list[NewsItem]:
        return self.stored(NEWS)

    def words(self) -> list[NewsText]:
        return self.stored(NEWS_TEXTS)

    def change_records(self) -> list[Change]:
        page = self.run(lambda ctx: ctx.tx.changes.read(FeedPosition(), limit=10_000))
        return list(page.changes)


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture(scope="session")
def house_factory() -> Callable[[], House]:
    return House


@pytest.fixture(scope="session")
def real_documents() -> Callable[[str], list[Path]]:
    """The files of one folder of real documents; whoever asks is left out where there are none."""
    root = os.environ["SVC_REAL_DATA"]  # noqa: TID251 - what the tests are given

    def rows_of(folder: str) -> list[Path]:
        files = sorted(path for path in (Path(root) / folder).iterdir() if path.is_file())
        assert files
        return files

    return rows_of
