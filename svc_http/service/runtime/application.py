"""Builds the ASGI application of a service from its settings and its store.

    service = build(Runtime(settings, storage))

`svc_http.run.server` serves the application; it also runs under any ASGI server, or mounted in a
host application. Where the lifespan of the host does not reach it, it starts at its first request;
`hosting.mount` joins the two lifespans, so that it also stops with the host.
"""

import platform
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from sqlite3 import sqlite_version
from typing import Any

import attrs
from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from svc_core import catalog
from svc_core.ledger.signing_key import Purpose
from svc_core.operation.declaration import Operation, Trait
from svc_core.operation.parsing import request_shape
from svc_core.payments import prices
from svc_http.adapter import endpoints, paywall
from svc_http.adapter.dispatcher import Dispatcher
from svc_http.dashboard.dashboard_site import dashboard_resources
from svc_http.guard.edge import ServerEdge
from svc_http.mcp import http_endpoint as endpoint
from svc_http.pages import refusals
from svc_http.pages import report_pages as reports
from svc_http.pages.service_documents import Pages
from svc_http.pages.sound_files import MediaPages
from svc_http.service.gauges import StoreGauges
from svc_http.service.runtime.runtime_state import Runtime
from svc_http.settings import Settings, SettingsError
from svc_http.version import service_version

AUDIO_TEXT = "/reports/{reportId}/audio-text"


class Application(Starlette):
    """The ASGI application: a Starlette whose requests pass only our edge and our dispatcher."""

    def __init__(
        self,
        runtime: Runtime,
        operations: Sequence[Operation[Any, Any]],
        routes: Iterable[BaseRoute] = (),
    ) -> None:
        super().__init__()
        self.runtime = runtime
        self.admin: str | None = None
        """The path of the control socket, while one is open."""
        ids = {operation.id for operation in operations}
        is_whole = ids >= {operation.id for operation in catalog.OPERATIONS}
        self.gauges = StoreGauges(
            runtime.service, runtime.settings, runtime.metrics, is_whole=is_whole
        )
        terms = paywall.terms_of(runtime.settings)
        resources = [
            *endpoints.resources(operations, runtime),
            *Pages(operations, runtime, terms, self.gauges.exposition).resources(),
            *reports.report_resources(lambda: runtime.service, runtime.site),
            *endpoint.mcp_resources(runtime),
            *dashboard_resources(runtime),
        ]
        if runtime.media is not None:
            on_failure = runtime.journal.failure
            pages = MediaPages(runtime.media, runtime.keyring, runtime.now, on_failure)
            resources += pages.resources()
        runtime.metrics.build(
            version=service_version(), python=platform.python_version(), sqlite=sqlite_version
        )
        self.router = Dispatcher(resources, routes, lifespan=_lifespan)
        # The router's own application: nobody puts middleware between it and the edge.
        foreign = {op.address for op in operations if request_shape(op).has(Trait.FOREIGN)}
        self.edge = ServerEdge(self.router.app, runtime, frozenset(foreign), refusals.refusal_page)
        runtime.metrics.gauge(
            "svc_requests_in_flight",
            "Requests being worked on; not those that wait for their client, nor this one.",
            lambda: runtime.load.in_flight,
        )
        runtime.metrics.gauge(
            "svc_requests_open",
            "Requests that have come and not ended, streams and slow clients included.",
            lambda: self.edge.under_way,
        )
        runtime.metrics.gauge(
            "svc_counters_up",
            "Whether requests can be counted where processes share their counts.",
            lambda: not runtime.shared.circuit.is_down,
        )
        runtime.metrics.gauge(
            "svc_streams_open",
            "Event streams being sent.",
            lambda: sum(map(len, runtime.streams.values())),
        )

    def build_middleware_stack(self) -> ASGIApp:
        """The middleware of the host around the edge, which checks requests and catches errors."""
        stack: ASGIApp = self.edge
        for factory, args, kwargs in reversed(self.user_middleware):
            stack = factory(stack, *args, **kwargs)
        return stack

    def drain(self) -> None:
        """Accept no new requests; running requests and open streams are finished."""
        self.runtime.drain.set()


@asynccontextmanager
async def _lifespan(service: Application) -> AsyncIterator[None]:
    await service.runtime.start()
    try:
        yield
    finally:
        await service.runtime.stop()


def build(
    runtime: Runtime,
    operations: Sequence[Operation[Any, Any]] = catalog.OPERATIONS,
    routes: Iterable[BaseRoute] = (),
) -> Application:
    """Build the application that offers operations of a runtime, and makes the keys they need.

    `routes` are Starlette routes and mounts of the host, tried after ours.

    Raises:
        SettingsError: the settings name a price of what is not sold.
    """
    runtime.keys = tuple(purposes(operations, runtime.settings))
    return Application(runtime, offered_operations(operations, runtime.settings), routes)


def purposes(operations: Iterable[Operation[Any, Any]], settings: Settings) -> Iterator[Purpose]:
    """The purposes for which the service signs: ledgers, and receipts where it sells something."""
    if any(operation.signs for operation in operations):
        yield "ledger"
    if settings.x402_pay_to is not None and any(op.tier is not None for op in operations):
        yield "receipt"


def offered_operations(
    operations: Iterable[Operation[Any, Any]], settings: Settings
) -> tuple[Operation[Any, Any], ...]:
    """The operations as this operator offers them, with their prices (Spec: Scopes, rule 3).

    Raises:
        SettingsError: a price names an operation that cannot be bought.
    """
    try:
        operations = prices.apply_prices(operations, dict(settings.x402_prices))
    except ValueError as error:
        raise SettingsError(f"setting 'x402_prices': {error}") from error
    if settings.x402_pay_to is None:
        operations = map(prices.without_price, operations)
    choices: Mapping[str, frozenset[str]] = {AUDIO_TEXT: frozenset({settings.audio_text_scope})}
    return tuple(
        attrs.evolve(operation, scopes=choices[operation.path])
        if operation.path in choices
        else operation
        for operation in operations
    )
