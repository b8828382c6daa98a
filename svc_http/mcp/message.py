"""Answers one MCP message over HTTP for a caller with an API key (needs the extra `mcp`)."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from attrs import define, field
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import CallToolResult
from starlette.types import Message

from svc_core.access.authorization import OperationAccess
from svc_core.catalog import tools
from svc_core.catalog.tools import TOOLS, Tool
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.caller import Actor
from svc_http.adapter.surroundings import Surroundings
from svc_http.exchange import sending as answers
from svc_http.exchange.http_exchange import Exchange, Header, length
from svc_http.mcp.protocol import call_result, mcp_server, tool_refusal

_CALLER: Final = "svc.mcp"
_NO_STORE: Final[Header] = (b"cache-control", b"private, no-store")
_SERVER: Final = mcp_server(lambda ctx: ctx.request.scope[_CALLER])  # type: ignore[union-attr]


async def answer_message(
    runtime: Surroundings, exchange: Exchange, actor: Actor, body: bytes
) -> None:
    """Pass a message to the SDK and send its answer, with the common header fields.

    Raises:
        Exception: a defect in a tool, which the edge answers and logs.
    """
    caller, answer = KeyCaller(runtime, exchange, actor), _Answer(exchange, body)
    # A manager for each message: it has no state, and ends with its own tasks.
    manager = StreamableHTTPSessionManager(
        _SERVER, json_response=True, stateless=True, max_request_body_size=exchange.bytes_max
    )
    async with manager.run():
        scope = {**exchange.scope, _CALLER: caller}
        await manager.handle_request(scope, answer.receive, answer.send)
    if caller.failure is not None:
        raise caller.failure
    own = [*exchange.version_headers, _NO_STORE, *exchange.limit_headers, *caller.headers]
    headers = [*answer.headers, *own, length(answer.body), exchange.id_header]
    await exchange.finish(answer.status, headers, answer.body)


@define(eq=False)
class _Answer:
    """The ASGI `receive` and `send` of a request whose body was read; collects the answer."""

    exchange: Exchange
    question: bytes
    status: int = 0
    headers: list[Header] = field(factory=list)
    body: bytes = b""
    _is_read: bool = False

    async def receive(self) -> Message:
        if self._is_read:
            return await self.exchange.receive()
        self._is_read = True
        return {"type": "http.request", "body": self.question, "more_body": False}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = [pair for pair in message["headers"] if pair[0] != b"content-length"]
        else:
            self.body += message.get("body", b"")


@define(eq=False)
class KeyCaller:
    """Calls tools for the holder of an API key (implements `svc_http.mcp.protocol.Caller`).

    `headers` are the header fields of a refusal, which the HTTP answer carries.
    """

    _runtime: Surroundings
    _exchange: Exchange
    _actor: Actor
    headers: list[Header] = field(factory=list)
    failure: Exception | None = None

    async def tools(self) -> Iterable[str]:
        """The names of the tools that the key may call."""
        return [tool.name for tool in TOOLS if self._may(tool)]

    def _may(self, tool: Tool) -> bool:
        scopes, binding = tool.operation.scopes, tool.operation.binding
        has_place = binding != "workspace" or self._actor.workspace_id is not None
        return has_place and not scopes.isdisjoint(self._actor.scopes)

    async def call(self, tool: Tool, arguments: Mapping[str, Any]) -> CallToolResult:
        """The answer of the tool's operation, or its refusal."""
        runtime = self._runtime
        try:
            actor = await self._let_in(tool)
            site = runtime.site(runtime.now())
            reply = await tools.tool_reply(tool, arguments, runtime.service, actor, site)
        except Problem as refusal:
            return self._refusal(refusal)
        except Exception as failure:  # kept for the edge: the SDK would log it in a form of its own
            self.failure = failure
            return CallToolResult(content=[], is_error=True)
        return call_result(json.loads(reply.body))

    async def _let_in(self, tool: Tool) -> Actor:
        runtime, exchange, operation = self._runtime, self._exchange, tool.operation
        pool = operation.pool if runtime.settings.rate_limits else "none"
        access = OperationAccess(operation.scopes, "bearer", operation.binding, pool)
        facts = runtime.gate.facts(exchange)
        return (await runtime.gate.let_in(access, exchange, facts, runtime.now())).actor

    def _refusal(self, refusal: Problem) -> CallToolResult:
        id_, wait = self._exchange.request_id, refusal.headers.get("Retry-After")
        body = problem.body(refusal, base_url=self._runtime.settings.origin, request_id=id_)
        if wait is None:
            return tool_refusal(json.loads(body))
        self.headers = answers.encode_fields(refusal.headers.items())
        return tool_refusal(json.loads(body), f"Retry after {wait} seconds.")
