"""Serves the page of a report at a sealed URL, for a browser that has no API key.

Rule: the seal is checked before anything is read. The page is the one that a key of the report's
workspace gets, with the same ETag.
"""

from collections.abc import Callable, Mapping
from datetime import datetime

from svc_core.operation.caller import Actor
from svc_core.operation.declaration import HTML
from svc_core.operation.executor import Execution
from svc_core.operation.parsing import Call, Site, prepare
from svc_core.operation.units import Units
from svc_core.reports import addresses
from svc_core.reports.operations import OPERATIONS
from svc_http.exchange import sending as answers
from svc_http.exchange.http_exchange import Exchange
from svc_http.exchange.resource import Resource

_READ = next(operation for operation in OPERATIONS if operation.id == "getReport")


def report_resources(
    units: Callable[[], Units], site: Callable[[datetime], Site]
) -> list[Resource]:
    """The resource of all sealed report URLs."""

    async def page(exchange: Exchange, values: Mapping[str, str]) -> None:
        work = units()
        now = work.now()
        opening = addresses.open_report_link(work.keyring, values["token"], now)
        call = Call({"reportId": opening.report_id}, f"format={HTML.format}", exchange.header)
        request = prepare(_READ, call, site(now))
        reply = await Execution(request, Actor(opening.tenant), now, work).reply()
        await answers.send(exchange, answers.ready(_READ, reply))

    return [Resource(f"{addresses.PATH}/{{token}}", {"GET": page})]
