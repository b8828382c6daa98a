"""`/mcp`: the tools for keys, over streamable HTTP, with the official client and by hand."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import httpx2
import jsonschema_rs
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import METHOD_NOT_FOUND, CallToolResult
from mcp_types.version import LATEST_MODERN_VERSION

from svc_core import catalog
from svc_core.access.scopes import SCOPES
from svc_core.agent.agent_ports import ToolSpec
from svc_core.catalog.tools import TOOLS, tool_spec
from svc_core.contract import problem
from svc_core.operation.ports import Overloaded, StorageUnavailable
from svc_http.stores import MemoryStorage
from tests.http.conftest import MEMBERS_OF_A_PROBLEM, ORIGIN, House

URL = f"{ORIGIN}/mcp"
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
NAMES = [tool.name for tool in TOOLS]
PROFILE = {"name": "Ports", "topic": "Strikes at ports", "frequency": "manual"}


class Breakable(MemoryStorage):
    """A store that fails for everybody but the system once it is `failure`."""

    failure: Exception | None = None

    async def read(self, tenant: str, unit: Any) -> Any:
        if self.failure is not None and tenant:
            raise self.failure
        return await super().read(tenant, unit)


@pytest.fixture
def place(make_house: Callable[..., House]) -> House:
    store = Breakable(catalog.COLLECTIONS)
    return make_house(parts={"operations": catalog.OPERATIONS, "storage": store})


def full_key(house: House, **wish: Any) -> str:
    return house.key(*SCOPES, **wish)


def post(house: House, key: str | None, method: str, params: Any = None, **rest: Any) -> Any:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    headers = ACCEPT | rest.pop("headers", {})
    return house.ask("POST", "/mcp", key, json=message, headers=headers, **rest)


def call(house: House, key: str, name: str, **arguments: Any) -> Any:
    answer = post(house, key, "tools/call", {"name": name, "arguments": arguments})
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]


def refusal(result: Any) -> Any:
    assert result["isError"] is True
    problem = result["structuredContent"]
    assert list(problem) == MEMBERS_OF_A_PROBLEM
    return problem


def tool_names(house: House, key: str) -> list[str]:
    return [tool["name"] for tool in post(house, key, "tools/list").json()["result"]["tools"]]


# -- the official client -----------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_lists_and_calls_the_tools(place: House, mode: Any) -> None:
    key = full_key(place)

    async def go() -> tuple[list[Any], CallToolResult, CallToolResult]:
        client = httpx2.AsyncClient(
            transport=httpx2.ASGITransport(place.service),
            headers={"Authorization": f"Bearer {key}"},
        )
        async with Client(streamable_http_client(URL, http_client=client), mode=mode) as session:
            tools = (await session.list_tools()).tools
            calls = [session.call_tool("list_cves", {"limit": 2}) for _ in range(20)]
            first, *_ = await asyncio.gather(*calls)
            wrong = await session.call_tool("get_report", {"reportId": "rpt_1"})
        return tools, first, wrong

    tools, answer, wrong = place.run(go())
    assert [tool.name for tool in tools] == NAMES
    writing = [tool.name for tool in tools if not tool.annotations.read_only_hint]
    assert writing == ["generate_report"]
    assert not answer.is_error
    direct = place.ask("GET", "/api/v2/cyber/cves?limit=2", key).json()
    assert answer.structured_content == direct
    assert wrong.is_error
    assert wrong.structured_content is not None
    assert wrong.structured_content["code"] == "NOT_FOUND"


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_every_version_of_the_protocol_is_spoken(place: House, version: str) -> None:
    key = full_key(place)
    hello = {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    answer = post(place, key, "initialize", hello)
    result = answer.json()["result"]
    assert (result["protocolVersion"], result["serverInfo"]["name"]) == (version, "svc")
    assert "mcp-session-id" not in answer.headers
    version_header = {"MCP-Protocol-Version": version}
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    problem = place.ask("POST", "/mcp", key, json=note, headers=ACCEPT | version_header)
    assert (problem.status_code, problem.content) == (202, b"")
    again = post(place, key, "tools/list", headers=version_header)
    assert [tool["name"] for tool in again.json()["result"]["tools"]] == NAMES


def test_what_a_tool_asks_for_is_a_schema_of_its_operation(place: House) -> None:
    answer = post(place, full_key(place), "tools/list")
    assert len(answer.content) < 25_000  # a model reads all of it with every question
    tools = answer.json()["result"]["tools"]
    for tool, own in zip(tools, map(tool_spec, TOOLS), strict=True):
        assert isinstance(own, ToolSpec)
        jsonschema_rs.Draft202012Validator(tool["inputSchema"])
        assert tool["inputSchema"] == own.parameters
        assert own.parameters["additionalProperties"] is False


# -- who may call what -------------------------------------------------------------------------


def test_a_key_sees_the_tools_whose_scope_it_has(place: House) -> None:
    assert tool_names(place, place.key("news:read")) == ["list_news", "search_rows"]
    assert tool_names(place, place.key("profiles:write")) == ["generate_report"]
    assert tool_names(place, place.key("webhooks:manage")) == []
    assert tool_names(place, full_key(place)) == NAMES
    own = tool_names(place, full_key(place, personal=True))
    workspace_tools = {tool.name for tool in TOOLS if tool.operation.binding == "workspace"}
    assert workspace_tools
    assert set(NAMES) - set(own) == workspace_tools


def test_a_call_needs_the_scope_and_the_binding_of_its_operation(place: House) -> None:
    key = place.key("news:read")
    problem = refusal(call(place, key, "search_reports"))
    assert problem["code"] == "INSUFFICIENT_SCOPE"
    assert "reports:read" in problem["detail"]
    personal = full_key(place, personal=True)
    assert refusal(call(place, personal, "search_ledger_subjects"))["code"] == (
        "WORKSPACE_KEY_REQUIRED"
    )
    assert not call(place, personal, "list_cves")["isError"]


def test_what_another_workspace_has_is_not_found(place: House) -> None:
    own_key, foreign_key = full_key(place), full_key(place)
    report = place.ask(
        "POST", "/api/v1/profiles", own_key, json=PROFILE, headers={"Idempotency-Key": "k" * 8}
    ).json()["data"]
    changes = call(place, own_key, "list_changes")["structuredContent"]["data"]
    assert report["id"] in {row["resourceId"] for row in changes}
    assert call(place, foreign_key, "list_changes")["structuredContent"]["data"] == []
    answers = [call(place, key, "search_rows", q="Ports") for key in (own_key, foreign_key)]
    kinds = [[row["kind"] for row in each["structuredContent"]["data"]] for each in answers]
    assert kinds == [["profile"], []]
    absent = refusal(call(place, foreign_key, "get_report", reportId=f"rpt_{'0' * 24}"))
    assert absent["code"] == "NOT_FOUND"


@pytest.mark.parametrize("key", [None, "nonsense"])
def test_without_a_key_nobody_comes_in(place: House, check_problem: Any, key: str | None) -> None:
    answer = post(place, key, "tools/list")
    check_problem(answer, problem.MISSING_API_KEY if key is None else problem.INVALID_API_KEY)
    assert answer.headers["www-authenticate"].startswith('Bearer realm="svc"')


def test_unknown_keys_lock_their_address(place: House, check_problem: Any) -> None:
    known_key = full_key(place)
    for number in range(5):
        check_problem(post(place, f"svc_{'f' * 63}{number}", "tools/list"), problem.INVALID_API_KEY)
    answer = post(place, known_key, "tools/list")
    check_problem(answer, problem.AUTH_LOCKED)
    assert int(answer.headers["retry-after"]) > 0


# -- limits ------------------------------------------------------------------------------------


def test_calls_count_as_requests_and_all_else_does_not(place: House) -> None:
    key = full_key(place, per_minute=3)
    for _ in range(5):
        assert "x-ratelimit-remaining-minute" not in post(place, key, "tools/list").headers
    remaining = []
    for _ in range(2):
        answer = post(place, key, "tools/call", {"name": "list_news", "arguments": {}})
        remaining.append(answer.headers["x-ratelimit-remaining-minute"])
    assert remaining == ["2", "1"]
    place.ask("GET", "/api/v2/changes", key)
    limited = post(place, key, "tools/call", {"name": "list_cves", "arguments": {}})
    result = limited.json()["result"]
    assert refusal(result)["code"] == "RATE_LIMITED"
    wait = limited.headers["retry-after"]
    assert 1 <= int(wait) <= 60
    assert result["content"][1]["text"] == f"Retry after {wait} seconds."


def test_a_call_that_is_not_allowed_costs_nothing(place: House) -> None:
    key = place.key("news:read", per_minute=1)
    for _ in range(3):
        refusal(call(place, key, "search_reports"))
    assert place.ask("GET", "/api/v1/news", key).status_code == 503  # nothing was taken in yet


def test_without_limits_nothing_is_counted(make_house: Callable[..., House]) -> None:
    store = Breakable(catalog.COLLECTIONS)
    parts = {"operations": catalog.OPERATIONS, "storage": store}
    place = make_house(parts=parts, rate_limits=False)
    key = full_key(place, per_minute=1)
    assert [call(place, key, "list_cves")["isError"] for _ in range(3)] == [False] * 3


# -- what is sent ------------------------------------------------------------------------------

WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("list_cves", {"limit": "many"}, "INVALID_PARAMETER"),
    ("list_cves", {"limit": 0}, "INVALID_PARAMETER"),
    ("list_cves", {"limit": 1.5}, "INVALID_PARAMETER"),
    ("list_cves", {"nope": 1}, "VALIDATION_FAILED"),
    ("list_cves", {"q": {"a": 1}}, "VALIDATION_FAILED"),
    ("list_cves", {"q": "x" * 100_000}, "INVALID_PARAMETER"),
    ("list_news", {"topics": ["x"] * 100_000}, "INVALID_PARAMETER"),
    ("list_cves", {"cursor": "forged"}, "INVALID_CURSOR"),
    ("retrieve_knowledge", {"query": "x", "period": 3}, "VALIDATION_FAILED"),
    ("retrieve_knowledge", {"query": "x", "limit": 1_000}, "VALIDATION_FAILED"),
    ("retrieve_knowledge", {"query": "\ud7ff" * 1_001}, "VALIDATION_FAILED"),
    ("get_report", {}, "VALIDATION_FAILED"),
    ("get_report", {"reportId": None}, "VALIDATION_FAILED"),
    ("get_report", {"reportId": "../../x"}, "NOT_FOUND"),
    ("get_report", {"reportId": f"rpt_{'0' * 24}", "view": "full"}, "VALIDATION_FAILED"),
]


@pytest.mark.parametrize(("name", "arguments", "code"), WRONG)
def test_arguments_that_are_wrong_are_refused_in_an_answer(
    place: House, name: str, arguments: Any, code: str
) -> None:
    problem = refusal(call(place, full_key(place), name, **arguments))
    assert (problem["status"], problem["code"]) == (404 if code == "NOT_FOUND" else 400, code)


def test_a_tool_with_a_body_is_called_with_its_members(place: House) -> None:
    arguments = {"query": "ports", "kinds": ["report"], "period": {"start": "2026-01-01T00:00:00Z"}}
    key = full_key(place)
    answer = call(place, key, "retrieve_knowledge", **arguments)["structuredContent"]
    direct = place.ask("POST", "/api/v2/intel/knowledge/retrieve", key, json=arguments).json()
    assert answer["data"] == direct["data"] == []
    assert answer["meta"]["bounds"].keys() == direct["meta"]["bounds"].keys()


def test_a_whole_number_may_be_written_with_a_point(place: House) -> None:
    assert not call(place, full_key(place), "list_cves", limit=2.0, kev=None)["isError"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{nope", 400),
        (b"[" * 100_000, 400),
        (b"[]", 400),
        (b'"text"', 400),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_cves",'
         b'"arguments":{"q":"\\ud800"}}}', 400),
    ],
)  # fmt: skip
def test_what_is_no_message_is_an_error_of_the_protocol(
    place: House, body: bytes, status: int
) -> None:
    answer = place.ask("POST", "/mcp", full_key(place), content=body, headers=ACCEPT)
    assert (answer.status_code, "error" in answer.json()) == (status, True)


def test_an_unknown_tool_is_an_error_of_the_protocol(place: House) -> None:
    answer = post(place, full_key(place), "tools/call", {"name": "delete_all"})
    assert answer.json()["error"] == {"code": -32602, "message": "Unknown tool: delete_all"}


def test_a_message_that_is_too_large_is_refused(place: House, check_problem: Any) -> None:
    large = {"name": "list_cves", "arguments": {"q": "x" * 1_100_000}}
    check_problem(post(place, full_key(place), "tools/call", large), problem.BODY_TOO_LARGE)


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_there_are_no_sessions(place: House, check_problem: Any, method: str) -> None:
    answer = place.ask(method, "/mcp", full_key(place))
    check_problem(answer, problem.METHOD_NOT_ALLOWED)
    assert answer.headers["allow"] == "POST, OPTIONS"


@pytest.mark.parametrize(
    ("origin", "comes_in"),
    [
        (ORIGIN, True),
        ("http://localhost:6274", True),
        ("http://127.0.0.1:3000", True),
        ("http://[::1]:3000", True),
        ("https://evil.example", False),
        ("http://localhost.evil.example", False),
        ("http://[", False),
        ("null", False),
    ],
)
def test_pages_of_other_origins_do_not_come_in(
    place: House, check_problem: Any, origin: str, comes_in: bool
) -> None:
    answer = post(place, full_key(place), "tools/list", headers={"Origin": origin})
    if comes_in:
        assert answer.status_code == 200
    else:
        check_problem(answer, problem.FORBIDDEN)


# -- what may be missing -----------------------------------------------------------------------


def test_there_are_no_streams_to_listen_to(place: House) -> None:
    name = "io.modelcontextprotocol/"
    meta = {
        f"{name}protocolVersion": LATEST_MODERN_VERSION,
        f"{name}clientCapabilities": {},
        f"{name}clientInfo": {"name": "test", "version": "1"},
    }
    method = "subscriptions/listen"
    headers = {"MCP-Protocol-Version": LATEST_MODERN_VERSION, "Mcp-Method": method}
    parameters = {"notifications": {"toolsListChanged": True}, "_meta": meta}
    answer = post(place, full_key(place), method, parameters, headers=headers)
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["error"]["code"] == METHOD_NOT_FOUND


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (StorageUnavailable("the disk is gone"), problem.STORAGE_UNAVAILABLE),
        (Overloaded(), problem.OVERLOADED),
        (RuntimeError("secret words"), problem.INTERNAL_ERROR),
    ],
)
def test_what_breaks_is_answered_as_everywhere(
    place: House,
    check_problem: Any,
    caplog: pytest.LogCaptureFixture,
    failure: Exception,
    kind: problem.ProblemType,
) -> None:
    key = full_key(place)
    assert not call(place, key, "list_cves")["isError"]
    place.storage.failure = failure
    answer = post(place, key, "tools/call", {"name": "list_cves", "arguments": {}})
    check_problem(answer, kind)
    assert "secret words" not in answer.text + caplog.text
    place.storage.failure = None


def test_without_its_library_it_says_how_to_install_it(
    place: House, check_problem: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "svc_http.mcp.message", None)
    answer = post(place, full_key(place), "tools/list")
    body = check_problem(answer, problem.SERVICE_UNAVAILABLE)
    assert "pip install 'svc-intelligence[mcp]'" in body["resolution"]
    assert "pip install -e '.[mcp]'" in body["resolution"]


def test_who_does_not_use_it_does_not_load_it() -> None:
    code = (
        "import svc_http.service.runtime.application, svc_http.run.cli.app, sys; "
        "print({'mcp', 'pydantic'} & {*sys.modules})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert run.stdout == "set()\n"
