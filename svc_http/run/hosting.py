"""The whole service inside another program: store, workers, voice and control socket.

    async with hosting.opened(settings) as service:  # an ASGI application that has started
        host.mount("/intel", service)
        ...

It is what `svc serve` runs, without a port. Commands reach it as they reach a server.
"""

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from attrs import frozen
from starlette.routing import BaseRoute

from svc_http.outside.facilitators.x402 import check_paying
from svc_http.outside.fetch import Fetcher
from svc_http.run.server.worker import check_media, count_uses, equipped
from svc_http.service import application as app
from svc_http.service.equipment import checked
from svc_http.service.gauges import Looks, exposed
from svc_http.service.key_uses import write_last_uses
from svc_http.service.workers.payments import take_over
from svc_http.settings import Settings


@frozen
class Assembled:
    """A service that was put together and has not started, and its way out."""

    settings: Settings
    service: app.Service
    reader: Fetcher


@asynccontextmanager
async def opened(
    given: Settings, *, routes: Iterable[BaseRoute] = ()
) -> AsyncIterator[app.Service]:
    """The service of the settings, from its start to its end; `routes` are asked after its own.

    `base_url` of the settings is where it is mounted. Under `service.admin` commands reach it.

    Raises:
        SettingsError, StoreBusy, Newer, Unusable, DriverMissing, Unsafe: it cannot start, and why.
    """
    async with (
        assembled(checked(given), routes=routes) as made,
        made.service.router.lifespan_context(made.service),
        app.controlled(made.service),
    ):
        yield made.service


@asynccontextmanager
async def assembled(
    given: Settings, *, number: int | None = None, routes: Iterable[BaseRoute] = ()
) -> AsyncIterator[Assembled]:
    """Everything of a service but its control socket and its start; closed again at the end."""
    async with AsyncExitStack() as stack:
        made = await stack.enter_async_context(equipped(given))
        given, paid = made.settings, made.lent["paying"]
        lent = {**made.lent, "workers": (*made.lent["workers"], count_uses)}
        routes = (*routes, *(() if paid is None else paid.routes))
        built = app.build(given, made.store, routes=routes, number=number, **lent)
        await check_paying(paid, partial(built.runtime.journal.failure, "payments"))
        if built.runtime.till is not None and given.dsn is None:
            await take_over(
                built.runtime.till.checkout, partial(built.runtime.journal.failure, "payments")
            )
        await built.runtime.unlock()
        await check_media(built.runtime)
        stack.push_async_callback(write_last_uses, built.runtime.service, built.runtime.gate.uses)
        await stack.enter_async_context(exposed(Looks(built.runtime), given, number))
        yield Assembled(given, built, made.reader)
