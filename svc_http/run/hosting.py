"""Runs the whole service (store, workers, voice, control socket) inside another program.

    async with hosting.opened(settings) as service:  # an ASGI application that has started
        host.mount("/intel", service)
        ...

It is what `svc serve` runs, without a port. Commands reach it as they reach a server.
"""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.routing import BaseRoute

from svc_http.run.control.channel import socket_path
from svc_http.run.control.control_socket import Control
from svc_http.run.control.services import loans_of, operator_of
from svc_http.service.equipment import validate_settings
from svc_http.service.runtime import application
from svc_http.service.runtime.assembly import open_application
from svc_http.settings import Settings


@asynccontextmanager
async def opened(
    settings: Settings, *, routes: Iterable[BaseRoute] = ()
) -> AsyncIterator[application.Application]:
    """The service of the settings, from its start to its end; `routes` are asked after its own.

    `base_url` of the settings is where it is mounted. Under `service.admin` commands reach it.

    Raises:
        SettingsError, StoreBusy, StoreNewer, StoreUnusable, DriverMissing, Unsafe: it cannot start,
        and why.
    """
    async with (
        open_application(validate_settings(settings), routes=routes) as service,
        service.router.lifespan_context(service),
        controlled(service),
    ):
        yield service


def mount(host: Starlette, path: str, service: application.Application) -> None:
    """Put the service under `path` of a Starlette (or FastAPI) host, lifespans joined.

    While both run, commands reach it at `service.admin`. `opened` brings the rest of what
    a server has: a durable store, workers, a voice.
    """
    host.mount(path, service)
    outer = host.router.lifespan_context

    @asynccontextmanager
    async def joint_lifespan(own: Any) -> AsyncIterator[Any]:
        inner = service.router.lifespan_context(service)
        async with outer(own) as state, inner, controlled(service):
            yield state

    host.router.lifespan_context = joint_lifespan


@asynccontextmanager
async def controlled(
    service: application.Application, number: int | None = None
) -> AsyncIterator[str]:
    """The address at which commands reach the service, for as long as they can.

    Raises:
        Unsafe: somebody else could listen there.
    """
    runtime = service.runtime
    operator = operator_of(runtime, runtime.on_failure("command"))
    runtime.lends = loans_of(runtime)
    control = await Control.open(socket_path(runtime.settings.file, number), operator)
    service.admin = control.text
    try:
        yield control.text
    finally:
        await control.close(runtime.settings.graceful_seconds)
