"""What the agent refuses, in which order, and what clients of others make of it."""

import json
from typing import Any

import pytest

from svc_core import catalog
from svc_core.access.chat_credits import CREDITS, ChatCredits
from svc_core.agent.threads import THREADS
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_http.exchange import sending as respond
from svc_http.exchange.fair_shares import Load
from svc_http.exchange.http_exchange import Exchange
from svc_http.pages import refusals
from svc_http.stores import MemoryStorage
from tests.http.agent.conftest import CHAT, NATIVE, question_body

PATHS = pytest.mark.parametrize("path", [NATIVE, CHAT])


@pytest.fixture
def whole(make_house: Any) -> Any:
    storage = MemoryStorage(catalog.COLLECTIONS)
    return make_house(parts={"operations": catalog.OPERATIONS, "storage": storage})


def post(house: Any, path: str, key: str | None, body: bytes | None = None, **fields: str) -> Any:
    content = question_body(path) if body is None else body
    headers = {name.replace("_", "-"): value for name, value in fields.items()}
    return house.ask("POST", path, key, content=content, headers=headers)


def threads_of(house: Any) -> int:
    service = house.service.runtime.service

    async def count() -> int:
        count = 0
        for tenant in await service.tenants():
            count += await service.read(
                tenant, lambda ctx: ctx.tx.documents.count(THREADS, limit=99)
            )
        return count

    total: int = house.run(count())
    return total


def spend(house: Any) -> None:
    """Use up the credits of every workspace."""
    service = house.service.runtime.service
    used = ChatCredits(f"{house.clock():%Y-%m}", used=5_000)

    async def go() -> None:
        for tenant in await service.tenants():
            await service.write(tenant, lambda ctx: ctx.save(CREDITS, used.period, used))

    house.run(go())


FAULTS: list[tuple[str, dict[str, Any]]] = [
    ("MISSING_API_KEY", {"key": "none"}),
    ("INSUFFICIENT_SCOPE", {"key": "weak"}),
    ("REQUEST_TOO_LARGE", {"large": True}),
    ("VALIDATION_FAILED", {"messages": []}),
    ("CONFLICTING_PARAMETERS", {"threadId": "thr_1", "header": "thr_2"}),
    ("THREAD_NOT_FOUND", {"threadId": "thr_1"}),
    ("CHAT_CREDITS_EXHAUSTED", {"spent": True}),
]


@PATHS
@pytest.mark.parametrize("first", range(len(FAULTS)))
def test_the_first_of_all_faults_is_told_and_nothing_is_written(
    whole: Any, path: str, first: int
) -> None:
    """A stranger hears nothing of credits, and whoever has none of threads that are not there."""
    spend_all = {
        name: value for _, fault in reversed(FAULTS[first:]) for name, value in fault.items()
    }
    keys = {"none": None, "weak": whole.key("news:read"), "good": whole.key("agent:svc")}
    spend(whole)
    members = {name: spend_all[name] for name in ("messages", "threadId") if name in spend_all}
    body = question_body(path, **members)
    if "large" in spend_all:
        body += b" " * 2**20
        if first < 2:  # framing comes before everything
            body = body[:100]
    fields = {"X_Thread_Id": spend_all["header"]} if "header" in spend_all else {}
    answer = post(whole, path, keys[spend_all.get("key", "good")], body, **fields)
    assert answer.json()["code"] == FAULTS[first][0], answer.text
    assert "payment-required" not in answer.headers
    assert "x-thread-id" not in answer.headers
    assert threads_of(whole) == 0


@PATHS
def test_a_body_that_does_not_come_is_no_timeout_of_ours(whole: Any, path: str) -> None:
    refusal = Problem(problem.REQUEST_TIMEOUT, "A body may take 10 seconds.")
    exchange = an_exchange(path)
    answer = whole.service.edge._as_said(exchange, refusal)
    assert (answer.type.status, answer.detail) == (400, refusal.detail)
    assert whole.service.edge._as_said(an_exchange("/api/v1/news"), refusal) is refusal


def an_exchange(path: str, method: str = "POST") -> Exchange:
    scope = {"method": method, "path": path, "query_string": b"", "headers": []}
    return Exchange(scope, None, None, 1_000, Load(1, lambda _: ""))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "wait", "method", "is_in_vain"),
    [
        (problem.AGENT_RATE_LIMITED, "60", "POST", False),
        (problem.AGENT_RATE_LIMITED, "61", "POST", True),
        (problem.RATE_LIMITED, "40000", "GET", True),
        (problem.AUTH_LOCKED, "900", "POST", True),
        (problem.RESOURCE_CONFLICT, None, "POST", True),
        (problem.IDEMPOTENCY_IN_PROGRESS, "1", "POST", False),
        (problem.INTERNAL_ERROR, None, "POST", True),
        (problem.INTERNAL_ERROR, None, "GET", False),
        (problem.OVERLOADED, "1", "POST", False),
        (problem.VALIDATION_FAILED, None, "POST", False),
    ],
)
def test_clients_that_would_ask_again_in_vain_are_told_not_to(
    whole: Any, kind: problem.ProblemType, wait: str | None, method: str, is_in_vain: bool
) -> None:
    requests: list[Any] = []

    async def send(message: Any) -> None:
        requests.append(message)

    exchange = an_exchange("/api/v1/news", method)
    exchange._send = send
    refusal = Problem(kind, headers={} if wait is None else {"Retry-After": wait})
    whole.run(
        respond.send_problem(exchange, refusal, "https://api.example.org", refusals.refusal_page)
    )
    assert ((b"x-should-retry", b"false") in requests[0]["headers"]) == is_in_vain


@PATHS
def test_a_page_of_another_origin_may_ask_and_read(whole: Any, path: str) -> None:
    asks = "authorization, content-type, x-stainless-os, x-stainless-retry-count"
    preflight = whole.ask(
        "OPTIONS",
        path,
        headers={
            "Origin": "https://a.example",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": asks,
        },
    )
    assert preflight.headers["access-control-allow-headers"] == asks
    answer = post(whole, path, whole.key("agent:svc"), Origin="https://a.example")
    names = set(answer.headers["access-control-expose-headers"].split(", "))
    assert {"X-Thread-Id", "X-Svc-Agent", "X-Svc-Agent-Mode", "X-Request-Id"} <= names
    limits = {name for name in names if name.startswith("X-Svc-Agent-RateLimit")}
    assert len(limits) == 8
    assert all(answer.headers[name].isdigit() for name in limits)


def test_the_same_name_of_a_client_is_the_same_thread(whole: Any) -> None:
    key, second = whole.key("agent:svc"), whole.key("agent:svc")
    body = question_body(NATIVE, id="chat-1")
    thread_ids = [
        post(whole, NATIVE, item, body).headers["x-thread-id"] for item in (key, key, second)
    ]
    assert thread_ids[0] == thread_ids[1]
    assert thread_ids[1] != thread_ids[2]
    foreign = json.loads(
        post(whole, NATIVE, second, question_body(NATIVE, threadId=thread_ids[0])).content
    )
    unknown = json.loads(
        post(whole, NATIVE, second, question_body(NATIVE, threadId="thr_0")).content
    )
    for item in (foreign, unknown):
        del item["requestId"], item["instance"]
    assert foreign == unknown
