"""A service on a free port, with a key and a few rows, for clients that other tools made.

    python tests/interop/service.py [SVC_SETTING=VALUE...]

prints one line of JSON, `{"origin", "key", "reportId"}`, once it listens, and serves until SIGTERM.
The rows are the examples of the published document: what it shows is what is served. The agent
plays a part: it calls a tool, cites what it found and a record, and fails where it is asked to.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import attrs

from svc_core import wire
from svc_core.access import operations as accounts
from svc_core.access import plans
from svc_core.access.creation import KeyWish
from svc_core.access.scopes import SCOPES
from svc_core.agent.agent_ports import Backend, Toolbox, Turn
from svc_core.agent.answer_events import (
    AnswerDone,
    AnswerFailure,
    AnswerSource,
    Event,
    Step,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from svc_core.base.seals import Keyring
from svc_core.catalog import COLLECTIONS, OPERATIONS
from svc_core.catalog.openapi.openapi_document import build_openapi
from svc_core.contract import problem
from svc_core.intel.news.model import NEWS
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM, Transaction
from svc_core.reports.model import (
    FACETS,
    REPORTS,
    ReportContent,
    ReportFacets,
    ReportGraph,
    ReportSignal,
)
from svc_http import settings, system
from svc_http.run.server import hypercorn
from svc_http.service.runtime.application import build
from svc_http.service.runtime.runtime_state import Runtime
from svc_http.stores import MemoryStorage

SECRET = "0123456789abcdef" * 4


class Part:
    """A backend that answers every question in the same words."""

    async def open(self, turn: Turn, tools: Toolbox) -> AsyncIterator[Event]:
        return self._play(turn, tools)

    async def _play(self, turn: Turn, tools: Toolbox) -> AsyncIterator[Event]:
        yield Step()
        yield ToolCall("a", "search_reports", {"limit": 5})
        (report,) = (await tools.call("search_reports", {"limit": 5})).hits
        source = AnswerSource(1, report.id, report.title, f"{tools.origin}{report.path}")
        yield ToolResult("a", (source,))
        yield Step()
        yield source
        yield AnswerSource(2, "clm_65f1c0de8badf00d12345678", "The registry lists Zug", None)
        for words in ("Dockers ", "struck [1]. ", "Zug is \u2028 listed [2]. \U0001f6a2"):
            yield Text(words)
        if "fail" in turn.question.lower():
            yield AnswerFailure(problem.UPSTREAM_UNAVAILABLE.code, "The provider is gone.")
        yield AnswerDone(usage=Usage(len(turn.question.split()), 8))


def main() -> None:
    listening = hypercorn.listen("127.0.0.1", 0)
    origin = f"http://127.0.0.1:{listening.getsockname()[1]}"
    storage = MemoryStorage(COLLECTIONS)
    options = dict(argument.split("=", 1) for argument in sys.argv[1:])
    own = {"SVC_BASE_URL": origin, "SVC_DB": ":memory:", "SVC_SECRET": SECRET}
    service = build(Runtime(settings.load({**own, **options}), storage))
    runtime = service.runtime
    runtime.host = attrs.evolve(runtime.host, providers={**runtime.host.providers, Backend: Part()})
    with asyncio.Runner() as runner:
        key, report_id = runner.run(_fill(storage))

        def ready(*_: Any) -> None:
            addresses = {"origin": origin, "key": key, "reportId": report_id}
            sys.stdout.write(f"{json.dumps(addresses)}\n")
            sys.stdout.flush()

        runner.run(hypercorn.serve(service, listening, ready))


async def _fill(storage: MemoryStorage) -> tuple[str, str]:
    """A workspace with a key and a report, and a news item for everybody."""
    workspace, new_key = await _as(storage, SYSTEM, _open_account)
    report_id = await _as(storage, workspace.id, _add_report)
    await _as(storage, SYSTEM, _add_news)
    return new_key.secret, report_id


async def _as(storage: MemoryStorage, tenant: str, work: Callable[[Context], Any]) -> Any:
    async def unit(tx: Transaction) -> Any:
        keyring = Keyring({1: SECRET.encode()}, 1)
        ids = system.SystemIds()
        return await work(Context(system.now(), ids, Actor(tenant), "interop", keyring, tx=tx))

    return await storage.write(tenant, unit)


async def _open_account(ctx: Context) -> Any:
    workspace = await accounts.create_workspace(
        ctx, name="Interop", plan="elite", plans=plans.DEFAULT_PLANS
    )
    wish = KeyWish(name="interop", scopes=tuple(SCOPES), workspace_id=workspace.id)
    return workspace, await accounts.create_key(ctx, wish, plans=plans.DEFAULT_PLANS)


async def _add_report(ctx: Context) -> str:
    row = REPORTS.decode(wire.to_bytes(_example("listReports")["data"][0]))
    signals = _example("getReportSignals")["signals"]
    graph = {
        name: value for name, value in _example("getReportGraph").items() if name != "reportId"
    }
    facets = ReportFacets(
        report_id=row.id,
        digest="",
        opening=(),
        key_points=(),
        sections=(),
        briefs=(),
        sources=(),
        signals=wire.from_bytes(tuple[ReportSignal, ...], wire.to_bytes(signals)),
        graph=wire.from_bytes(ReportGraph, wire.to_bytes(graph)),
        content=ReportContent(html="<h1>Port strikes</h1>\n", markdown="# Port strikes\n"),
        text=_example("getReportText")["text"],
    )
    await ctx.create(REPORTS, row.id, row)
    await ctx.create(FACETS, row.id, facets)
    return row.id


async def _add_news(ctx: Context) -> None:
    item = NEWS.decode(wire.to_bytes(_example("listNews")["data"][0]))
    await ctx.create(NEWS, item.id, item)


def _example(operation_id: str) -> Any:
    openapi = build_openapi(OPERATIONS, base_url="http://127.0.0.1")
    items = [item for path in openapi["paths"].values() for item in path.values()]
    (item_of_operation,) = [item for item in items if item["operationId"] == operation_id]
    return item_of_operation["responses"]["200"]["content"]["application/json"]["example"]


if __name__ == "__main__":
    main()
