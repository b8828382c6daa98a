"""An internal error over a socket is a whole problem, and tells nothing of its cause."""

import http.client
import json
import re

import pytest

from svc_core.operation.declaration import SSE, Unit
from svc_core.operation.stream import Stream
from tests.http.conftest import MEMBERS_OF_A_PROBLEM, SAMPLE, NoInputs, Wire, operation

SECRET = "disk on fire at /secret/path"


async def break_at_once(ctx, request):
    raise RuntimeError(SECRET)


async def break_before_a_word(ctx, request):
    async def parts(watch):
        raise RuntimeError(SECRET)
        yield b""

    return Stream(SSE.media_type, parts, b":\n\n", lambda frame: frame or b"", patience_seconds=5.0)


def streaming(id_, run, version):
    rest = {"response": Stream, "media": (SSE,), "unit": Unit("several"), "version": version}
    return operation(id_, "GET", f"/{id_}", NoInputs, run, **rest)


@pytest.fixture(scope="module")
def broken_server():
    operations = (
        streaming("atOnce", break_at_once, "1.0"),
        streaming("beforeAWord", break_before_a_word, "2.0"),
        operation("create", "POST", "/create", NoInputs, break_at_once, version="2.0"),
    )
    server = Wire(parts=lambda: {"operations": (*SAMPLE, *operations)})
    server.start()
    yield server
    server.stop()


@pytest.mark.parametrize(
    ("method", "path", "version"),
    [
        ("GET", "/api/v1/explode", "1.0"),
        ("HEAD", "/api/v1/explode", "1.0"),
        ("POST", "/api/v2/create", "2.0"),
        ("GET", "/api/v1/atOnce", "1.0"),
        ("GET", "/api/v2/beforeAWord", "2.0"),
    ],
)
def test_an_internal_error_is_a_whole_problem(broken_server, method, path, version):
    connection = http.client.HTTPConnection("127.0.0.1", broken_server.port, timeout=60)
    fields = {"Authorization": f"Bearer {broken_server.key}", "Accept": "text/html, */*;q=0.1"}
    connection.request(method, path, headers=fields)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    assert answer.status == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-svc-api-version"] == version
    assert answer.headers["cache-control"] == "no-store"
    assert re.fullmatch("req_[0-9a-f]{24}", answer.headers["x-request-id"])
    assert SECRET not in str(answer.headers)
    if method == "HEAD":
        assert body == b""
        assert int(answer.headers["content-length"]) > 0
        return
    problem = json.loads(body)
    assert list(problem) == MEMBERS_OF_A_PROBLEM
    assert (problem["status"], problem["code"]) == (500, "INTERNAL_ERROR")
    assert problem["requestId"] == answer.headers["x-request-id"]
    assert b"fire" not in body
    assert b"secret" not in body
    assert b"RuntimeError" not in body
