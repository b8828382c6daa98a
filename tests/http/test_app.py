"""The life of a service: start, workers, stop, and life inside another application."""

import asyncio
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Mount, Route

from svc_core import catalog
from svc_core.catalog.openapi import openapi_document as openapi
from svc_core.contract import problem
from svc_core.operation.host import silent
from svc_http.exchange.http_exchange import EXPOSED_FIELDS
from svc_http.run import hosting
from svc_http.run.control import channel
from svc_http.service.runtime.runtime_state import Runtime
from svc_http.settings import Settings
from svc_http.stores import MemoryStorage

SECRET = "0123456789abcdef" * 4


async def lifespan(application, during):
    """Run an application's lifespan with `during` in the middle, as a server does."""
    incoming = asyncio.Queue()
    outgoing = []
    answer = asyncio.Event()

    async def send(message):
        outgoing.append(message["type"])
        answer.set()

    task = asyncio.create_task(application({"type": "lifespan", "state": {}}, incoming.get, send))
    await incoming.put({"type": "lifespan.startup"})
    await answer.wait()
    await during()
    await incoming.put({"type": "lifespan.shutdown"})
    await task
    assert outgoing == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


class Diary:
    """Workers that write down what happens to them."""

    def __init__(self):
        self.lines = []
        self.enough = asyncio.Event()

    async def patient(self, runtime):
        self.lines.append("begun")
        try:
            await runtime.drain.wait()
        finally:
            self.lines.append("ended")

    async def brief(self, runtime):
        self.lines.append("brief")

    async def failing(self, runtime):
        self.lines.append("broken")
        if self.lines.count("broken") == 3:
            self.enough.set()
        raise RuntimeError("no source")

    async def close(self):
        self.lines.append("closed")


@pytest.fixture
def diary():
    return Diary()


# -- workers -----------------------------------------------------------------------------------


def test_workers_live_from_the_start_to_the_stop(make_house, diary):
    house = make_house(parts={"workers": [diary.patient, diary.brief], "closing": [diary.close]})

    async def during():
        await asyncio.sleep(0)
        assert diary.lines == ["begun", "brief"]

    house.run(lifespan(house.service, during))
    assert diary.lines == ["begun", "brief", "ended", "closed"]
    house.run(house.service.runtime.stop())
    assert diary.lines.count("closed") == 1


def test_whoever_starts_second_starts_nothing(make_house, diary):
    house = make_house(parts={"workers": [diary.patient]})

    async def go():
        runtime = house.service.runtime
        await asyncio.gather(runtime.start(), runtime.start())
        await asyncio.sleep(0)

    house.run(go())
    assert diary.lines == ["begun"]


def test_a_service_that_started_in_one_loop_stops_in_another(make_house, diary):
    runtime = make_house(
        parts={"workers": [diary.patient], "closing": [diary.close]}
    ).service.runtime
    with asyncio.Runner() as first, asyncio.Runner() as second:
        first.run(runtime.start())
        second.run(runtime.stop())
    assert diary.lines[-1] == "ended"
    assert "closed" in diary.lines


def test_a_worker_that_fails_is_logged_and_tried_again(make_house, diary, monkeypatch):
    monkeypatch.setattr("svc_http.service.runtime.runtime_state.RESTART_SECONDS", 0.01)
    house = make_house(parts={"workers": [diary.failing]})

    async def during():
        await asyncio.wait_for(diary.enough.wait(), 60)

    house.run(lifespan(house.service, during))
    failures = [line for line in house.log.lines if line["event"] == "worker"]
    assert len(failures) >= 3
    assert "no source" in failures[0]["traceback"]


def test_a_worker_that_failed_does_not_start_again_in_a_drain(make_house, diary):
    house = make_house(parts={"workers": [diary.failing]})

    async def go():
        await house.service.runtime.start()
        await asyncio.sleep(0)
        house.service.drain()
        await asyncio.gather(*house.service.runtime._tasks)

    house.run(go())
    assert diary.lines == ["broken"]


def test_a_service_starts_at_its_first_request_where_no_lifespan_reaches_it(make_house, diary):
    house = make_house(parts={"workers": [diary.patient]})
    assert not house.service.runtime.is_started
    answers = house.asks([("GET", "/livez")] * 5)
    assert {answer.status_code for answer in answers} == {200}
    assert diary.lines == ["begun"]


# -- inside another application ----------------------------------------------------------------


@pytest.fixture
def host():
    diary_lines = []

    @asynccontextmanager
    async def own(application):
        diary_lines.append("host up")
        yield {"from": "host"}
        diary_lines.append("host down")

    application = Starlette(
        routes=[Route("/own", lambda r: PlainTextResponse("own"))], lifespan=own
    )
    application.state.diary_lines = diary_lines
    return application


def test_a_mounted_service_answers_below_its_path_and_stops_with_its_host(
    make_house, diary, host, check_problem
):
    house = make_house(parts={"workers": [diary.patient], "closing": [diary.close]})
    hosting.mount(host, "/svc", house.service)

    async def during():
        await asyncio.sleep(0)
        assert (host.state.diary_lines, diary.lines) == (["host up"], ["begun"])

    house.run(lifespan(host, during))
    assert host.state.diary_lines == ["host up", "host down"]
    assert diary.lines == ["begun", "ended", "closed"]


def test_commands_reach_a_mounted_service(house, host):
    hosting.mount(host, "/svc", house.service)

    async def during():
        path = channel.parse_socket_address(house.service.admin)
        answer = await asyncio.to_thread(
            channel.ask_server, path, {"operation": "listPlans"}, silent
        )
        assert "elite" in str(answer["body"]["data"])

    house.run(lifespan(host, during))
    assert not channel.parse_socket_address(house.service.admin).exists()


def test_a_mounted_service_and_its_host_keep_to_their_paths(house, host, check_problem):
    hosting.mount(host, "/svc", house.service)
    key = house.key()
    assert house.ask("GET", "/own", app=host).text == "own"
    assert house.ask("GET", "/svc/api/v1/notes", key, app=host).json()["data"] == []
    assert house.ask("GET", "/svc/", app=host).json()["name"]
    check_problem(house.ask("GET", "/svc/own", app=host), problem.ROUTE_NOT_FOUND)
    assert house.ask("GET", "/svc/livez", app=host).headers["x-svc-api-version"] == "1.0"


def test_routes_of_a_host_stand_beside_ours_and_get_the_common_fields(make_house, check_problem):
    async def chunks():
        yield b"one "
        yield b"two"

    async def echo(request):
        return PlainTextResponse(await request.body(), headers={"X-Svc-API-Version": "9"})

    async def fail(request):
        raise RuntimeError("late")

    async def late(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError("too late to say so")

    routes = [
        Route("/page", lambda request: PlainTextResponse("page")),
        Route("/stream", lambda request: StreamingResponse(chunks())),
        Route("/echo", echo, methods=["POST"]),
        Route("/broken", fail),
        Mount("/late", late),
    ]
    house = make_house(parts={"routes": routes})
    page = house.ask("GET", "/page", headers={"Origin": "https://app.example"})
    assert page.text == "page"
    assert page.headers["x-request-id"].startswith("req_")
    assert page.headers["x-content-type-options"] == "nosniff"
    assert "access-control-expose-headers" in page.headers
    assert house.ask("HEAD", "/page").content == b""
    assert house.ask("GET", "/stream").text == "one two"
    echo_answer = house.ask("POST", "/echo", content=b"abc")
    assert (echo_answer.text, echo_answer.headers["x-svc-api-version"]) == ("abc", "9")
    check_problem(house.ask("POST", "/echo", content=b"x" * 1_048_577), problem.BODY_TOO_LARGE)
    method = house.ask("GET", "/echo")
    check_problem(method, problem.METHOD_NOT_ALLOWED)
    assert method.headers["allow"] == "POST"
    check_problem(house.ask("GET", "/nowhere"), problem.ROUTE_NOT_FOUND)
    check_problem(house.ask("GET", "/broken"), problem.INTERNAL_ERROR)
    answer = house.raw({"path": "/late/x"})
    assert [message["type"] for message in answer.events] == ["http.response.start"]
    assert "too late to say so" in house.log.text


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, problem.MISSING_API_KEY),
        (403, problem.FORBIDDEN),
        (404, problem.ROUTE_NOT_FOUND),
        (409, problem.RESOURCE_CONFLICT),
        (418, problem.BAD_REQUEST),
        (429, problem.RATE_LIMITED),
        (500, problem.INTERNAL_ERROR),
        (502, problem.INTERNAL_ERROR),
        (503, problem.SERVICE_UNAVAILABLE),
    ],
)
def test_what_a_route_of_a_host_refuses_is_a_problem_of_the_same_kind(
    make_house, check_problem, status, kind
):
    async def never(request):
        raise HTTPException(status, headers={"X-Why": "because"})

    house = make_house(parts={"routes": [Route("/never", never)]})
    answer = house.ask("GET", "/never")
    check_problem(answer, kind)
    assert answer.headers["x-why"] == "because"


def test_middleware_of_a_host_goes_around_everything(house):
    class Marking:
        def __init__(self, inner):
            self.inner = inner

        async def __call__(self, scope, receive, send):
            async def send_with_mark(message):
                if message["type"] == "http.response.start":
                    message["headers"].append((b"x-marked", b"yes"))
                await send(message)

            await self.inner(scope, receive, send_with_mark)

    house.service.add_middleware(Marking)
    assert house.ask("GET", "/nothing").headers["x-marked"] == "yes"


def test_the_routes_of_the_service_can_be_read_and_called_as_starlettes(house):
    routes = {route.path: route for route in house.service.routes}
    assert routes["/api/v1/notes"].methods == {"GET", "HEAD", "POST"}
    assert house.service.url_path_for("/api/v1/notes/{noteId}", noteId="a") == "/api/v1/notes/a"
    key = house.key()

    resource = routes["/api/v1/notes/{noteId}"].endpoint

    async def walk(scope, receive, send):
        scope["path_params"] = {"noteId": f"obs_{1:024x}"}
        await resource(scope, receive, send)

    house.service.edge._app = walk
    answer = house.ask("GET", "/anything", key)
    assert answer.json()["code"] == "NOT_FOUND"


# -- building ----------------------------------------------------------------------------------


def test_a_service_without_a_secret_is_not_built():
    with pytest.raises(ValueError, match="secret"):
        Runtime(Settings(db=":memory:"), MemoryStorage(catalog.COLLECTIONS))


def test_the_real_catalogue_is_served(make_house):
    house = make_house(
        parts={"operations": catalog.OPERATIONS, "storage": MemoryStorage(catalog.COLLECTIONS)}
    )
    assert house.ask("GET", "/openapi.json").status_code == 200
    paths = {route.path.replace(":path}", "}") for route in house.service.routes}
    assert {operation.address for operation in catalog.OPERATIONS} <= paths


def test_pages_of_other_origins_may_read_every_field_that_is_described():
    document = openapi.build_openapi(catalog.OPERATIONS, base_url="https://api.example.org")
    safe_fields = {"cache-control", "content-language", "content-length", "content-type"}
    names = {name.lower() for name in document["components"]["headers"]} - safe_fields
    assert names - {"www-authenticate"} <= {name.lower() for name in EXPOSED_FIELDS.split(", ")}
