"""Endpoints run over whatever a host has: a clock, a gate and a store of its own."""

import asyncio
from contextlib import asynccontextmanager, nullcontext
from datetime import datetime
from typing import Any

import httpx2
import pytest
from starlette.types import Receive, Scope, Send

from svc_core.access.authorization import Facts, Grant
from svc_core.base.seals import Keyring
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.caller import Actor
from svc_core.operation.parsing import Site
from svc_core.operation.units import Units
from svc_core.testing.clock import START
from svc_http.adapter import endpoints
from svc_http.adapter.dispatcher import Dispatcher
from svc_http.adapter.page_cache import PageCache
from svc_http.exchange.fair_shares import Load
from svc_http.exchange.http_exchange import Exchange
from svc_http.settings import Settings
from svc_http.stores import MemoryStorage
from tests.http.conftest import NOTES, SAMPLE, Ids


class Door:
    """A gate that believes the name at the door, as behind a single sign-on."""

    waits = False

    def facts(self, exchange: Exchange) -> Facts:
        return Facts()

    def admit(self, access: Any, exchange: Exchange, facts: Facts, now: datetime) -> Grant:
        team = exchange.header("x-team")
        if team is None:
            raise Problem(problem.FORBIDDEN)
        return Grant(Actor(team))

    async def let_in(self, access: Any, exchange: Exchange, facts: Facts, now: datetime) -> Grant:
        return self.admit(access, exchange, facts, now)

    def is_unchanged(self, facts: Facts) -> bool:
        return True

    def block(self, exchange: Exchange) -> str:
        return ""


class Queue:
    """Turns of a host whose requests come one after another."""

    @asynccontextmanager
    async def take(self, key: Any, exchange: Exchange, late: Any = None) -> Any:
        yield


class Room:
    """As many streams as there are."""

    def service(self, **caller: str) -> Any:
        return nullcontext()


class Host:
    """Everything that endpoints ask for, by somebody who has no server of ours."""

    def __init__(self) -> None:
        self.settings = Settings(db=":memory:", base_url="https://host.example")
        self.storage = MemoryStorage([NOTES])
        self.now = lambda: START
        self.drain = asyncio.Event()
        self.pages = PageCache()
        self.gate, self.locks, self.streams, self.checkout = (
            Door(),
            Queue(),
            {"account": Room()},
            None,
        )
        self.service = Units(self.storage, Ids(), self.now, Keyring({1: b"k" * 32}, 1))

    def site(self, now: datetime, exchange: Exchange | None = None) -> Site:
        return Site(self.settings.origin)

    def watch(self, tenant: str, context: Any) -> Any:
        raise AssertionError("none of these operations streams")

    async def count_keyless(self, exchange: Exchange, now: datetime) -> None:
        """Nobody is counted."""


class App:
    """The smallest ASGI application around endpoints: a refusal is its status alone."""

    def __init__(self, host: Host) -> None:
        self.dispatcher = Dispatcher(endpoints.resources(SAMPLE, host))
        self.load = Load(10, lambda _: "")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = scope["svc"] = Exchange(scope, receive, send, 1_000, self.load)
        try:
            await self.dispatcher.app(scope, receive, send)
        except Problem as refusal:
            await exchange.answer(refusal.type.status, [])


@pytest.mark.anyio
async def test_a_host_serves_operations_with_a_gate_and_a_clock_of_its_own() -> None:
    transport = httpx2.ASGITransport(App(Host()))
    async with httpx2.AsyncClient(transport=transport, base_url="http://host") as client:
        own_fields = {"X-Team": "wsp_ours", "Idempotency-Key": "12345678"}
        answer = await client.post("/api/v1/notes", json={"text": "ours"}, headers=own_fields)
        assert answer.status_code == 201
        assert answer.headers["location"].startswith("https://host.example/api/v1/notes/")
        again = await client.post("/api/v1/notes", json={"text": "ours"}, headers=own_fields)
        assert again.json() == answer.json()

        (note,) = (await client.get("/api/v1/notes", headers=own_fields)).json()["data"]
        other_page = await client.get("/api/v1/notes", headers={"X-Team": "wsp_theirs"})
        assert (note["text"], other_page.json()["data"]) == ("ours", [])
        assert (await client.get("/api/v1/notes")).status_code == 403
