"""What the endpoints need of whoever runs them: all that this room knows of a server.

The service of this project is one such; a program that has a clock, a store and a gate of its own
hands in those, and runs the same operations.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import datetime
from typing import Protocol

from svc_core.access.authorize import Facts, Grant, OperationAccess
from svc_core.contract.problem import ProblemType
from svc_core.operation.context import Context
from svc_core.operation.parsing import Site
from svc_core.operation.ports import Storage, Transaction
from svc_core.operation.stream import Watch
from svc_core.operation.units import Units
from svc_core.payments.decisions import Purchase
from svc_core.payments.steps import Served, Work
from svc_http.adapter.page_cache import PageCache
from svc_http.exchange.exchange import Exchange
from svc_http.settings import Settings


class GatePort(Protocol):
    """Lets requests in or refuses them, the same way for every operation."""

    waits: bool
    """Whether every request with a key has to be let in by `let_in`."""

    def facts(self, exchange: Exchange) -> Facts:
        """What memory knows of a request."""

    def admit(
        self, access: OperationAccess, exchange: Exchange, facts: Facts, now: datetime
    ) -> Grant:
        """Permission to run the operation, where memory knows enough; or a Problem is raised."""

    async def let_in(
        self, access: OperationAccess, exchange: Exchange, facts: Facts, now: datetime
    ) -> Grant:
        """As `admit`, for facts that memory alone may not complete."""

    def is_unchanged(self, facts: Facts) -> bool:
        """Whether the key that was shown is known to be what it was, within a second."""

    def block(self, exchange: Exchange) -> str:
        """The block of addresses that a request comes from."""


class Streams(Protocol):
    """Room for event streams."""

    def room(self, **holders: str) -> AbstractContextManager[None]:
        """Count one stream, of a `key`, an `address` and a `workspace`; or OVERLOADED is raised."""


class LocksPort(Protocol):
    """Requests that wait for each other."""

    def take(
        self, key: Hashable, exchange: Exchange, late: ProblemType = ...
    ) -> AbstractAsyncContextManager[None]:
        """Hold the key while the block runs; or `late` is raised."""


class CheckoutPort(Protocol):
    """Where requests pay."""

    def note_challenge(self, address: str) -> None:
        """Count a request that brings no payment; or PAYMENT_RATE_LIMITED is raised."""

    async def serve(
        self, exchange: Exchange, address: str, purchase: Purchase, work: Work
    ) -> Served:
        """The answer to a request that brings a payment."""


class Surroundings(Protocol):
    """A running service, as its endpoints see it."""

    settings: Settings
    storage: Storage
    now: Callable[[], datetime]
    drain: asyncio.Event
    pages: PageCache

    @property
    def gate(self) -> GatePort:
        """Who is let in."""

    @property
    def turns(self) -> LocksPort:
        """The turns of requests that wait for each other."""

    @property
    def streams(self) -> Mapping[str, Streams]:
        """Room for streams, by the pool that they are counted in."""

    @property
    def till(self) -> CheckoutPort | None:
        """Where requests pay; None where nothing is sold."""

    @property
    def service(self) -> Units:
        """What runs units of work that no request asked for."""

    def site(self, now: datetime, exchange: Exchange | None = None) -> Site:
        """What answers say at `now` of where they come from."""

    def watch(self, tenant: str, context: Callable[[Transaction, datetime], Context]) -> Watch:
        """A view of the store for a stream of this tenant."""

    def count_stranger(self, exchange: Exchange, now: datetime) -> Awaitable[None]:
        """Count a request that shows no key; or RATE_LIMITED is raised."""
