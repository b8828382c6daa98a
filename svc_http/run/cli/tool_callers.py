"""Carries out MCP tool calls that arrive over stdio; needs the extra `mcp`."""

import json
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import anyio
import httpx2
from attrs import frozen
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, CallToolResult

from svc_core.catalog import tools
from svc_core.catalog.tools import TOOLS, Tool
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_http import system
from svc_http.mcp import PATH
from svc_http.mcp.protocol import Caller, call_result, mcp_server, tool_refusal
from svc_http.run.cli import remote
from svc_http.run.cli.operation_calls import perform_operation
from svc_http.run.cli.options import Common
from svc_http.run.control.channel import OperationRefused

PROTOCOL = "2025-06-18"
"""The MCP version sent to a server over HTTP: the oldest one with structured content."""


async def serve_stdio(caller: Caller) -> None:
    """Answer MCP messages on stdin until it closes."""
    server = mcp_server(lambda _: caller)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


@frozen
class OperatorCaller:
    """Calls tools as the operator of this machine does, for a workspace."""

    common: Common
    workspace: str | None

    async def tools(self) -> Iterable[str]:
        """The names of all tools."""
        return [tool.name for tool in TOOLS]

    async def call(self, tool: Tool, arguments: Mapping[str, Any]) -> CallToolResult:
        """The answer of the tool's operation, or its refusal."""
        try:
            request = tools.build_call(tool, arguments)
            members: dict[str, Any] = {
                "path": dict(request.path_values),
                "query": tools.arguments_of(request),
                "body": json.loads(request.body),
                "account": self.workspace,
            }
            work = partial(perform_operation, self.common, tool.operation_id, **members)
            answer = await anyio.to_thread.run_sync(work)
        except OperationRefused as refusal:
            return tool_refusal(refusal.problem)
        except Problem as refusal:
            body = problem.body(refusal, base_url="", request_id=system.new_request_id())
            return tool_refusal(json.loads(body))
        except Exception as failure:
            raise _protocol_error(failure) from failure
        return call_result(answer["body"])


@frozen
class RemoteCaller:
    """Calls the tools of a remote server with an API key."""

    client: httpx2.Client

    async def tools(self) -> Iterable[str]:
        """The names of the tools that the key may call and that this version knows."""
        catalogue = await self._ask("tools/list", {})
        names = {tool["name"] for tool in catalogue["tools"]}
        return [tool.name for tool in TOOLS if tool.name in names]

    async def call(self, tool: Tool, arguments: Mapping[str, Any]) -> CallToolResult:
        """The answer of the server."""
        params = {"name": tool.name, "arguments": dict(arguments)}
        return CallToolResult.model_validate(await self._ask("tools/call", params))

    async def _ask(self, method: str, params: Mapping[str, Any]) -> Any:
        try:
            answer = await anyio.to_thread.run_sync(self._post, method, params)
        except Exception as failure:
            raise _protocol_error(failure) from failure
        if "error" in answer:
            raise MCPError(answer["error"]["code"], answer["error"]["message"])
        return answer["result"]

    def _post(self, method: str, params: Mapping[str, Any]) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        fields = {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": PROTOCOL,
        }
        with remote.reaching(str(self.client.base_url)):
            answer = self.client.post(PATH, json=message, headers=fields)
        remote.check_response(answer)
        return answer.json()


def _protocol_error(failure: Exception) -> Exception:
    """The failure as a JSON-RPC error; any other exception would reach the client without words."""
    return MCPError(INTERNAL_ERROR, str(failure))
