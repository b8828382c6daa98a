"""The interfaces that endpoints need from the process that runs them.

The server of this project implements them. Another program can hand in a clock, a store and a gate
of its own, and serve the same operations.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import datetime
from typing import Protocol

from svc_core.access.authorization import Facts, Grant, OperationAccess
from svc_core.contract.problem import ProblemType
from svc_core.operation.context import Context
from svc_core.operation.parsing import Site
from svc_core.operation.ports import Storage, Transaction
from svc_core.operation.stream import Watch
from svc_core.operation.units import Units
from svc_core.payments.decisions import Purchase
from svc_core.payments.steps import PaidReply, Work
from svc_http.adapter.page_cache import PageCache
from svc_http.exchange.http_exchange import Exchange
from svc_http.settings import Settings


class GatePort(Protocol):
    """Decides whether a request may run, in the same way for every operation."""

    waits: bool
    """Whether every request with a key has to be let in by `let_in`."""

    def facts(self, exchange: Exchange) -> Facts:
        """The facts about a request that are in memory."""

    def admit(
        self, access: OperationAccess, exchange: Exchange, facts: Facts, now: datetime
    ) -> Grant:
        """Permission to run the operation, from facts that are complete; or a Problem is raised."""

    async def let_in(
        self, access: OperationAccess, exchange: Exchange, facts: Facts, now: datetime
    ) -> Grant:
        """As `admit`, after reading from storage what the facts lack."""

    def is_unchanged(self, facts: Facts) -> bool:
        """Whether the key is known not to have changed since these facts were gathered."""

    def block(self, exchange: Exchange) -> str:
        """The block of addresses that a request comes from."""


class Streams(Protocol):
    """A bound on how many event streams are open at once."""

    def room(self, **holders: str) -> AbstractContextManager[None]:
        """Count one stream, of a `key`, an `address` and a `workspace`; or OVERLOADED is raised."""


class LocksPort(Protocol):
    """Locks by key, for requests that must run one after another."""

    def take(
        self, key: Hashable, exchange: Exchange, late: ProblemType = ...
    ) -> AbstractAsyncContextManager[None]:
        """Hold the key while the block runs; or `late` is raised."""


class CheckoutPort(Protocol):
    """Takes the payments of requests without a key."""

    def note_challenge(self, address: str) -> None:
        """Count a request that brings no payment; or PAYMENT_RATE_LIMITED is raised."""

    async def serve(
        self, exchange: Exchange, address: str, purchase: Purchase, work: Work
    ) -> PaidReply:
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
        """Decides which requests may run."""

    @property
    def locks(self) -> LocksPort:
        """The locks of requests that must run one after another."""

    @property
    def streams(self) -> Mapping[str, Streams]:
        """The bounds on open streams, by rate pool."""

    @property
    def checkout(self) -> CheckoutPort | None:
        """Takes payments; None where nothing is sold."""

    @property
    def service(self) -> Units:
        """Runs units of work on the store."""

    def site(self, now: datetime, exchange: Exchange | None = None) -> Site:
        """The origin and the deprecation windows that answers show at `now`."""

    def watch(self, tenant: str, context: Callable[[Transaction, datetime], Context]) -> Watch:
        """A view of the store for a stream of this tenant."""

    def count_keyless(self, exchange: Exchange, now: datetime) -> Awaitable[None]:
        """Count a request that shows no key; or RATE_LIMITED is raised."""
