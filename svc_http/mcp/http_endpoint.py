"""The HTTP endpoint `/mcp`: MCP over streamable HTTP, for callers with an API key.

Rule 1: every valid key may connect. A tool call is admitted like a request of the tool's operation:
        with its scopes and its binding, and as one request of the key's and account's limits.
Rule 2: a message is a POST and its answer is JSON; there are no sessions and no streams.
Rule 3: a browser's page must come from this service or from this machine
        ("Servers MUST validate the `Origin` header on all incoming connections to prevent DNS
        rebinding attacks", MCP 2025-06-18).
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import anyio.to_thread

from svc_core.access.authorization import OperationAccess
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.caller import Actor
from svc_http.adapter.surroundings import Surroundings
from svc_http.exchange.http_exchange import Exchange
from svc_http.exchange.resource import Resource
from svc_http.extras import public_line
from svc_http.mcp import PATH

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_ANY_KEY: Final = OperationAccess(pool="none")

MessageHandler = Callable[[Surroundings, Exchange, Actor, bytes], Awaitable[None]]


def mcp_resources(runtime: Surroundings) -> list[Resource]:
    """The resource of the endpoint; any method but POST is 405, as the protocol demands."""

    handle: MessageHandler | None = None

    async def post(exchange: Exchange, _: Mapping[str, Any]) -> None:
        nonlocal handle
        _check_origin(exchange.header("origin"), runtime.settings.origin)
        gate = runtime.gate
        grant = await gate.let_in(_ANY_KEY, exchange, gate.facts(exchange), runtime.now())
        body = await exchange.body(runtime.settings.body_seconds_max)
        if handle is None:  # the SDK loads slowly: on first use, and off the event loop
            handle = await anyio.to_thread.run_sync(_import_answer)
        await handle(runtime, exchange, grant.actor, body)

    return [Resource(PATH, {"POST": post})]


def _check_origin(origin: str | None, own: str) -> None:
    if origin is None or origin == own:
        return
    try:
        is_ours = urlsplit(origin).hostname in _LOOPBACK
    except ValueError:
        is_ours = False
    if not is_ours:
        detail = "Pages of other origins cannot use this endpoint; the rest of the interface can."
        raise Problem(problem.FORBIDDEN, detail)


def _import_answer() -> MessageHandler:
    """Import and return the function that answers messages.

    Raises:
        Problem: SERVICE_UNAVAILABLE; the `mcp` SDK is not installed.
    """
    try:
        from svc_http.mcp.message import answer_message  # noqa: PLC0415 - of an extra
    except ModuleNotFoundError as missing:
        detail = "This server has no MCP, because the extra `mcp` is not installed."
        cure = f"On the server: {public_line('mcp')}."
        raise Problem(problem.SERVICE_UNAVAILABLE, detail, resolution=cure) from missing
    return answer_message
