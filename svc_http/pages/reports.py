"""The page of a report at a sealed address, for a browser that has no key.

Rule: the address is judged before anything is read; then the page is the one that a key of its
workspace gets, with the same tag.
"""

from collections.abc import Mapping

from svc_core.operation.caller import Actor
from svc_core.operation.declaration import HTML
from svc_core.operation.executor import Execution
from svc_core.operation.parsing import Call, prepare
from svc_core.reports import addresses
from svc_core.reports.operations import OPERATIONS
from svc_http.exchange import answers as respond
from svc_http.exchange.exchange import Exchange
from svc_http.exchange.resource import Resource
from svc_http.service.runtime.parts import Runtime

_READ = next(one for one in OPERATIONS if one.id == "getReport")


def resources(runtime: Runtime) -> list[Resource]:
    """The one place of all such addresses."""

    async def page(exchange: Exchange, values: Mapping[str, str]) -> None:
        now = runtime.now()
        opening = addresses.opened(runtime.keyring, values["token"], now)
        site, actor = runtime.site(now), Actor(opening.tenant)
        call = Call({"reportId": opening.report_id}, f"format={HTML.format}", exchange.header)
        prepared = prepare(_READ, call, site)
        reply = await Execution(prepared, actor, now, runtime.service).reply()
        await respond.send(exchange, respond.ready(_READ, reply))

    return [Resource(f"{addresses.PATH}/{{token}}", {"GET": page})]
