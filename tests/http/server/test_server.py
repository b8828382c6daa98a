"""The server by bytes over a socket: what never reaches the application, and how it ends."""

import asyncio
import errno
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import tomllib
from contextlib import closing
from pathlib import Path

import attrs
import pytest

from svc_core.contract import problem
from svc_http.exchange.http_exchange import PART_BYTES
from svc_http.run.server import configuration, connection, hypercorn
from svc_http.settings import Settings

GET = b"GET /livez HTTP/1.1\r\nHost: a\r\n"
ROOT = Path(__file__).parents[3]


def split_response(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    status = int(head.split()[1])
    headers = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])
    return status, headers, body


SWITCH = b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
WEBSOCKET_KEY = b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"

REFUSALS = [
    # Framing that h11 refuses by itself.
    (b"GET /livez HTTP/1.1\r\n\r\n", 400),
    (GET + b"Host: b\r\n\r\n", 400),
    (GET + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\n", 400),
    (GET + b"Content-Length: +3\r\n\r\n", 400),
    (GET + b"Content-Length: -1\r\n\r\n", 400),
    (GET + b"Transfer-Encoding: gzip\r\n\r\n", 501),
    (GET + b"Transfer-Encoding: chunked, gzip\r\n\r\n", 501),
    (GET + b"X-A : b\r\n\r\n", 400),
    (GET + b"X-A: a\x00b\r\n\r\n", 400),
    (GET + b"X-A: a\rb\r\n\r\n", 400),
    (b"GET /li vez HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    (b"GET /livez\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    (b"GET /livez HTTP/2.0\r\nHost: a\r\n\r\n", 505),
    (b"GET /livez HTTP/1.2\r\nHost: a\r\n\r\n", 505),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    (b"nonsense\r\n\r\n", 400),
    (b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 431),
    (GET + b"X-A: " + b"x" * 70_000 + b"\r\n\r\n", 431),
    # What the edge refuses.
    (GET + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    (b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414),
    (GET + b"".join(b"X-%d: a\r\n" % number for number in range(1_000)) + b"\r\n", 431),
    (GET + b"Expect: 200-maybe\r\n\r\n", 417),
    (b"GET /livez/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", 404),
    (b"BREW /livez HTTP/1.1\r\nHost: a\r\n\r\n", 405),
    (b"CONNECT other.example:443 HTTP/1.1\r\nHost: a\r\n\r\n" + GET + b"\r\n", 400),
    (b"GET /livez HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    # Lines of one name that h11 would make one of.
    (GET + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400),
    (GET + b"content-length: 3\r\nX-A: b\r\nCONTENT-LENGTH:3\r\n\r\nabc", 400),
    # Handshakes of WebSocket, whole and broken: what follows them is heard by nobody.
    (GET + SWITCH + b"Sec-WebSocket-Version: 13\r\n" + WEBSOCKET_KEY + b"\r\n", 400),
    (GET + SWITCH + b"Sec-WebSocket-Version: 12\r\n" + WEBSOCKET_KEY + b"\r\n", 400),
    (GET + SWITCH + b"\r\n", 400),
    (GET + SWITCH + b"Content-Length: 3\r\n\r\nabc", 400),
    (GET + SWITCH + WEBSOCKET_KEY + b"\r\n" + GET + b"\r\n", 400),
]


@pytest.mark.parametrize(("request_bytes", "status"), REFUSALS)
def test_every_refusal_on_the_wire_is_a_problem_with_a_request_id(
    wire_server, request_bytes, status
):
    actual, headers, body = split_response(wire_server.say(request_bytes))
    assert actual == status
    assert headers[b"content-type"] == b"application/problem+json"
    assert headers[b"x-svc-api-version"] == b"1.0"
    body_ = json.loads(body)
    assert body_["status"] == status
    assert headers[b"x-request-id"].decode() == body_["requestId"]
    assert body_["code"] in problem.CATALOGUE
    assert b"location" not in headers
    lines = [line for line in wire_server.log_lines() if line["requestId"] == body_["requestId"]]
    assert [line["status"] for line in lines] == [status]
    if request_bytes.startswith(b"CONNECT") or SWITCH in request_bytes or status in {501, 505}:
        assert headers[b"connection"] == b"close"


@pytest.mark.parametrize("number", [39, 1_000])
def test_a_request_is_parted_from_the_next_wherever_the_bytes_are_cut(wire_server, number):
    # Two requests with an empty line between them, as old clients send it after a body.
    requests = GET + b"Content-Length: 3\r\n\r\nabc\r\n" + GET + b"Connection: close\r\n\r\n"
    pieces = [requests[at : at + number] for at in range(0, len(requests), number)]
    with closing(socket.create_connection(("127.0.0.1", wire_server.port), 60)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            connection.sendall(piece)
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert answer.count(b"HTTP/1.1 200") == answer.count(b"HTTP/1.1") == 2


SERVINGS = [
    GET + b"\r\n",
    GET + b"Content-Length: 3, 3\r\n\r\nabc",
    GET + b"X-A: a\r\n b\r\n\r\n",
    b"GET /livez HTTP/1.1\nHost: a\n\n",
    b"GET http://other.example/livez HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /livez HTTP/1.0\r\n\r\n",
    GET
    + b"Connection: upgrade, http2-settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n",
    b"get /livez HTTP/1.1\r\nHost: a\r\n\r\n",
    # Empty lines before a request (RFC 9112 2.2).
    b"\r\n" + GET + b"\r\n",
    b"\r\n\r\n\r\n" + GET + b"\r\n",
    # What follows a request that ends the connection is not processed (RFC 9112 9.6).
    GET + b"Connection: close\r\n\r\n" + GET + b"\r\n",
    GET + b"Connection: close\r\n\r\n\r\n",
    GET + b"Connection: close\r\nContent-Length: 3\r\n\r\nabc\r\nnonsense\r\n\r\n",
    b"GET /livez HTTP/1.0\r\n\r\n" + GET + b"\r\n",
    b"GET /livez HTTP/1.0\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
    GET + b"X-Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
]


@pytest.mark.parametrize("request_bytes", SERVINGS)
def test_what_the_standards_allow_is_served(wire_server, request_bytes):
    status, headers, body = split_response(wire_server.say(request_bytes))
    assert (status, body) == (200, b'{"status":"live"}')
    assert b"server" not in headers


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\x04" + b"\0" * 5  # and empty SETTINGS
H2C = b"Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk\r\nUpgrade: "
TLS_HELLO = b"\x16\x03\x01\0\x05\x01\0\0\x01\0\r\n\r\n"


@pytest.mark.parametrize(
    ("first_bytes", "status"),
    [
        (PREFACE, 505),
        (PREFACE.replace(b"PRI *", b"PRI /"), 505),
        (b"\r\n" + PREFACE, 505),
        (GET + H2C + b"h2c\r\n\r\n", 200),
        (GET + H2C + b"h2c\r\n\r\n" + PREFACE, 200),
        (GET + H2C + b"h2, h2c\r\nContent-Length: 3\r\n\r\nabc", 200),
        (GET.replace(b"GET", b"HEAD") + H2C + b"h2c\r\n\r\n", 200),
        (GET.replace(b"GET", b"OPTIONS") + H2C + b"H2C\r\n\r\n", 204),
        (GET.replace(b"GET", b"POST") + H2C + b"h2c\r\nContent-Length: 0\r\n\r\n", 405),
        (GET.replace(b"1.1", b"1.0") + H2C + b"h2c\r\n\r\n", 200),
        (GET + b"Upgrade: TLS/1.2\r\nConnection: Upgrade\r\n\r\n", 200),
        (GET + b"Upgrade: h3\r\nConnection: Upgrade\r\n\r\n", 200),
        (TLS_HELLO, 400),
    ],
)
def test_no_client_can_make_the_port_speak_anything_but_http_1_1(wire_server, first_bytes, status):
    answers = wire_server.say(first_bytes)
    assert answers.startswith(b"HTTP/1.1 %d " % status)
    assert b"HTTP/1.1 101" not in answers
    assert b"\r\nupgrade:" not in answers.lower()
    if status == 505:
        assert "HTTP/1.1" in json.loads(split_response(answers)[2])["resolution"]


@pytest.mark.parametrize(
    "word", ["http2", "http_2", "h2", "h2c", "alpn", "tls", "ssl", "cert", "quic", "http3"]
)
def test_nothing_switches_another_protocol_on(word):
    names = [field.name for field in attrs.fields(Settings)]
    assert not [name for name in names if word in name.split("_")]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    packages = [project["dependencies"], *project["optional-dependencies"].values()]
    assert not re.search(rf"\b{word}\b", json.dumps(packages))
    imports = re.compile(rf"^\s*(from|import) .*\b{word}\b", re.MULTILINE)
    sources = (ROOT / "svc_http/run").rglob("*.py")
    assert not [path for path in sources if imports.search(path.read_text())]


def test_who_asks_before_sending_a_body_is_told_to_go_on(wire_server):
    both_answers = wire_server.say(GET + b"Content-Length: 3\r\nExpect: 100-Continue\r\n\r\nabc")
    going_on, _, answer = both_answers.partition(b"\r\n\r\n")
    assert going_on.startswith(b"HTTP/1.1 100")
    assert split_response(answer)[0] == 200


def post(key, rest):
    return (
        b"POST /api/v1/notes HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + key.encode() + b"\r\n"
        b"Content-Type: application/json\r\nIdempotency-Key: 12345678\r\n" + rest
    )


@pytest.mark.parametrize(
    ("rest", "status"),
    [
        (b"Transfer-Encoding: chunked\r\n\r\nZZ\r\nabc\r\n", 400),
        (b"Transfer-Encoding: chunked\r\n\r\n1;" + b"x" * 100_000 + b"\r\na\r\n0\r\n\r\n", 431),
    ],
)
def test_broken_chunks_are_refused_as_a_problem(wire_server, rest, status):
    actual, _, body = split_response(wire_server.say(post(wire_server.key, rest)))
    assert (actual, json.loads(body)["status"]) == (status, status)


@pytest.fixture
def hasty(wire_server):
    """A server that gives a body one second."""
    server = type(wire_server)(body_seconds_max=1)
    server.start()
    yield server
    server.stop()


def test_a_body_that_dribbles_is_refused_in_time(hasty):
    status, headers, body = split_response(
        hasty.say(post(hasty.key, b"Content-Length: 9\r\n\r\n{"))
    )
    assert (status, json.loads(body)["code"]) == (408, "REQUEST_TIMEOUT")
    assert headers[b"connection"] == b"close"


@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_the_refusal_of_a_large_body_always_arrives(wire_server, framing):
    size = 4 * 1024 * 1024
    body = b"x" * size
    if framing == "length":
        rest = b"Content-Length: %d\r\n\r\n" % size + body
    else:
        rest = b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % size + body + b"\r\n0\r\n\r\n"
    for _ in range(10):
        status, headers, body_ = split_response(wire_server.say(post(wire_server.key, rest)))
        assert (status, json.loads(body_)["code"]) == (413, "BODY_TOO_LARGE")
        assert headers[b"connection"] == b"close"


def test_a_refusal_before_the_body_always_arrives(wire_server):
    body = b"x" * 1_000_000
    for _ in range(10):
        answer = wire_server.say(
            b"POST /api/v1/notes HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" + body
        )
        assert split_response(answer)[0] == 401


def test_large_fields_are_refused_before_the_connection_is_reset(wire_server):
    for _ in range(10):
        assert (
            split_response(wire_server.say(GET + b"X-A: " + b"x" * 500_000 + b"\r\n\r\n"))[0] == 431
        )


def test_a_connection_is_used_again(wire_server):
    with closing(socket.create_connection(("127.0.0.1", wire_server.port), 60)) as connection:
        ids = set()
        for _ in range(3):
            connection.sendall(GET + b"\r\n")
            answer = b""
            while not answer.endswith(b"}"):
                answer += connection.recv(65_536)
            ids.add(split_response(answer)[1][b"x-request-id"])
    assert len(ids) == 3


def test_many_connections_are_answered_at_once(wire_server):
    answers = []

    def client():
        answers.append(split_response(wire_server.say(GET + b"\r\n"))[0])

    threads = [threading.Thread(target=client) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert answers == [200] * 50


def test_an_early_stop_of_the_client_harms_nobody(wire_server):
    for cut in (b"", b"GET", GET, post(wire_server.key, b"Content-Length: 20\r\n\r\n{")):
        with closing(socket.create_connection(("127.0.0.1", wire_server.port), 60)) as connection:
            connection.sendall(cut)
    assert split_response(wire_server.say(GET + b"\r\n"))[0] == 200


class Reset:
    """A stream to a client that has reset the connection."""

    def write_eof(self):
        pass

    def close(self):
        pass

    async def wait_closed(self):
        raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))

    @property
    def transport(self):
        return self

    def abort(self):
        pass


def test_a_connection_that_was_reset_ends_as_any_other():
    closing = connection.Socket(*[None] * 6, Reset())._close()
    assert asyncio.run(closing) is None


def test_clients_that_reset_their_connections_are_no_failure(wire_server):
    failures = []
    wire_server.loop.call_soon_threadsafe(
        wire_server.loop.set_exception_handler, lambda _loop, failure: failures.append(failure)
    )
    for words in (b"nonsense\r\n\r\n", GET + b"\r\n", GET + b"Connection: close\r\n\r\n"):
        for _ in range(20):
            address = ("127.0.0.1", wire_server.port)
            with closing(socket.create_connection(address, 60)) as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.sendall(words)
    assert split_response(wire_server.say(GET + b"\r\n"))[0] == 200
    assert failures == []


# -- start and stop ----------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_busy_port_is_one_clear_line(host):
    with closing(hypercorn.listen(host, 0)) as socket_:
        port = socket_.getsockname()[1]
        with pytest.raises(hypercorn.PortBusy) as busy:
            hypercorn.listen(host, port)
    assert str(busy.value) == f"port {port} on {host} is in use; try --port {port + 1}"
    assert busy.value.exit_code == 2


def test_an_address_of_another_machine_is_no_busy_port():
    with pytest.raises(OSError, match="assign"):
        hypercorn.listen("192.0.2.1", 0)


@pytest.mark.skipif(not hasattr(socket, "TCP_NOTSENT_LOWAT"), reason="no such bound here")
def test_what_a_client_does_not_read_stays_out_of_the_buffers_of_the_system() -> None:
    with closing(hypercorn.listen("127.0.0.1", 0)) as listening, closing(socket.socket()) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        client.connect(listening.getsockname())
        with closing(listening.accept()[0]) as socket_:
            socket_.setblocking(False)
            assert socket_.send(bytes(10_000_000)) <= 2 * PART_BYTES


PROGRAM = """
import asyncio, sys
from svc_core import catalog
from svc_http import settings
from svc_http.service.runtime import application as app
from svc_http.run.server import hypercorn
from svc_http.stores import MemoryStorage

async def worker(runtime):
    await runtime.drain.wait()
    print("worker ended", flush=True)

async def closing():
    print("closed", flush=True)

chosen = settings.Settings(db=":memory:", port=0, secret="0123456789abcdef" * 4)
store = MemoryStorage(catalog.COLLECTIONS)
service = app.build(app.Runtime(chosen, store, workers=[worker], closing=[closing]))
hypercorn.run_hypercorn(service, lambda host, port: print(port, flush=True))
print("ended", flush=True)
"""


def start(program):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}  # noqa: TID251
    return subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_service_in_order(number):
    with start(PROGRAM) as process:
        port = int(process.stdout.readline())
        with closing(socket.create_connection(("127.0.0.1", port), 5)) as connection:
            connection.sendall(GET + b"\r\n")
            assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
        process.send_signal(number)
        words, wrong = process.communicate(timeout=60)
    assert process.returncode == 0
    assert words.split("\n") == ["worker ended", "closed", "ended", ""]
    assert [json.loads(line)["event"] for line in wrong.splitlines()] == ["request"]


def test_without_uvloop_the_standard_loop_serves(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert hypercorn.loop_factory() is None


# -- one of several processes ------------------------------------------------------------------


@pytest.fixture
def one_of_many(wire_server, monkeypatch):
    """A server beside which others serve the same socket."""
    monkeypatch.setattr(configuration.Listening, "keep_alive_timeout", 1.0)
    server = type(wire_server)(processes=2)
    server.start()
    yield server
    if server._thread.is_alive():
        server.stop()


def read_answer(connection):
    """One whole answer: its status and its fields."""
    words = b""
    while b"\r\n\r\n" not in words or len(words.partition(b"\r\n\r\n")[2]) < length_of(words):
        chunk = connection.recv(65_536)
        assert chunk, words
        words += chunk
    return split_response(words)[:2]


def come_until_refused(address):
    while True:
        socket.create_connection(address, 60).close()


def length_of(words):
    match = re.search(rb"content-length: (\d+)", words)
    return int(match[1]) if match else 0


def test_one_of_several_that_ends_answers_all_that_comes_over_its_connections(one_of_many):
    address = ("127.0.0.1", one_of_many.port)
    body = b'{"text": "a"}'
    with (
        closing(socket.create_connection(address, 60)) as idle,
        closing(socket.create_connection(address, 60)) as silent,
        closing(socket.create_connection(address, 60)) as busy,
        closing(socket.create_connection(address, 60)) as quiet,
    ):
        for connection in (idle, quiet):
            connection.sendall(GET + b"\r\n")
            assert read_answer(connection)[0] == 200
        busy.sendall(post(one_of_many.key, b"Content-Length: %d\r\n\r\n" % len(body) + body[:5]))
        while one_of_many.service.edge.under_way < 1:
            time.sleep(0.01)
        one_of_many.loop.call_soon_threadsafe(one_of_many.service.drain)
        with pytest.raises(ConnectionError):
            come_until_refused(address)
        busy.sendall(body[5:])
        idle.sendall(GET.replace(b"livez", b"readyz") + b"\r\n")
        silent.sendall(b"GET /api/v1/notes HTTP/1.1\r\nHost: a\r\n\r\n")
        answers = [read_answer(connection) for connection in (busy, idle, silent)]
        assert [status for status, _ in answers] == [201, 200, 401]
        assert {fields[b"connection"] for _, fields in answers[1:]} == {b"close"}
        assert quiet.recv(1) == b""  # in its time, after which the server has nothing left
    one_of_many._thread.join(60)
    assert not one_of_many._thread.is_alive()
