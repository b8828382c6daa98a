"""A connection: heads of answers by bytes, and the end of idle connections."""

import asyncio
import gc
import socket
import struct
import threading
import time
import warnings
from collections import deque
from contextlib import closing, contextmanager, suppress
from functools import partial

import h11
import pytest
from hypercorn.asyncio.task_group import TaskGroup
from hypercorn.asyncio.worker_context import WorkerContext
from hypercorn.events import Closed, Updated
from hypercorn.typing import ConnectionState
from hypothesis import given
from hypothesis import strategies as st

from svc_http.run.server import connection
from svc_http.run.server.configuration import Listening

GET = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"
LENGTH = (b"content-length", b"2")


# -- heads -------------------------------------------------------------------------------------


def exchange():
    """An h11 connection whose request was read, and the heads of its answers."""
    server_side = h11.Connection(h11.SERVER)
    server_side.receive_data(GET)
    server_side.next_event()
    return partial(connection.head, lambda event: server_side.send(event) or b"")


def fields(head):
    lines = head.split(b"\r\n")
    assert lines[-2:] == [b"", b""]
    return lines[0], sorted(line.lower() for line in lines[1:-2])


@pytest.fixture(autouse=True)
def nothing_examined(monkeypatch):
    monkeypatch.setattr(connection, "_examined", set())


VALUES = st.binary(max_size=12).map(lambda raw: raw.translate(None, bytes(range(32))).strip())


@given(
    st.lists(st.tuples(st.sampled_from([b"etag", b"link", b"vary", b"x-a"]), VALUES)),
    st.sampled_from(
        [(), (LENGTH,), (LENGTH, (b"connection", b"close")), ((b"connection", b"close"),)]
    ),
    st.sampled_from([200, 204, 304, 404]),
)
def test_a_head_says_what_h11_alone_would_say(rest, framing, status):
    headers = [*rest, *framing]
    connection._examined.clear()
    try:
        slow = exchange()(status, headers)
    except h11.LocalProtocolError:
        return
    assert connection._examined == {name for name, _ in rest}
    assert fields(exchange()(status, headers)) == fields(slow)
    assert slow.count(b"\r\n\r\n") == 1


@pytest.mark.parametrize(
    "value", [b"a\r\nx-b: c", b"a\nb", b"a\rb", b"a\r\n\r\nbody", b"a\0b", b"\r\n"]
)
@pytest.mark.parametrize("name", [b"x-a", b"x-new"])
def test_no_value_splits_an_answer(name, value):
    exchange()(200, [(b"x-a", b"fine"), LENGTH])
    with pytest.raises(h11.LocalProtocolError):
        exchange()(200, [(name, value), (b"x-a", b"fine"), LENGTH])


@pytest.mark.parametrize("name", [b"x a", b"x:a", b"x\r\na", b"", b":status"])
def test_a_name_is_examined_before_it_is_written(name):
    for _ in range(2):
        with pytest.raises(h11.LocalProtocolError):
            exchange()(200, [(name, b"a"), LENGTH])


def test_only_so_many_names_are_remembered(monkeypatch):
    monkeypatch.setattr(connection, "EXAMINED_MAX", 1)
    for name in (b"x-a", b"x-b", b"x-c"):
        assert name in exchange()(200, [(name, b"a"), LENGTH])
    assert connection._examined == {b"x-a"}


# -- requests ----------------------------------------------------------------------------------


def events_of(*parts):
    """What h11 and our rules make of bytes that come in parts, the answers left out."""
    server_side = connection.Requests(h11.SERVER)
    events = []
    for part in parts:
        server_side.receive_data(part)
        while isinstance(event := server_side.next_event(), h11.Event):
            events.append(type(event).__name__)
    return events


CLOSING = GET[:-2] + b"Connection: close\r\n\r\n"
WHOLE_REQUEST = ["Request", "EndOfMessage"]


@pytest.mark.parametrize(
    ("parts", "events"),
    [
        ([b"\r", b"\n", b"\r\n", GET], WHOLE_REQUEST),
        ([b"\r\n\r", b"\n" + GET], WHOLE_REQUEST),
        ([b"\r\n"], []),
        ([GET + GET], WHOLE_REQUEST),
        ([CLOSING, b"nonsense", GET], WHOLE_REQUEST),
        ([CLOSING + b"nonsense"], WHOLE_REQUEST),
        ([bytes([byte]) for byte in b"\r\n" + GET], WHOLE_REQUEST),
    ],
)
def test_a_request_is_found_between_what_is_none(parts, events):
    assert events_of(*parts) == events


LENGTH_TWICE = b"Content-Length: 3\r\nX-A: b\r\ncontent-length:3\r\n\r\n"


@pytest.mark.parametrize(
    "parts",
    [
        [b"\rG"],
        [b"\n" + GET],
        [GET[:-2] + LENGTH_TWICE],
        [bytes([byte]) for byte in GET[:-2] + LENGTH_TWICE],
    ],
)
def test_what_is_no_request_is_refused_however_it_comes(parts):
    with pytest.raises(h11.RemoteProtocolError) as error:
        events_of(*parts)
    assert error.value.error_status_hint == 400


# -- idle connections --------------------------------------------------------------------------


PATIENCE_SECONDS = 0.3


@pytest.fixture
def impatient(wire_server, monkeypatch):
    """A server that closes a connection after a short while without a request."""
    monkeypatch.setattr(Listening, "keep_alive_timeout", PATIENCE_SECONDS)
    server = type(wire_server)()
    server.start()
    yield server
    server.stop()


def connect(port):
    return closing(socket.create_connection(("127.0.0.1", port), 60))


def ask(client):
    client.sendall(GET)
    answer = b""
    while not answer.endswith(b"}"):
        if not (chunk := client.recv(65_536)):
            raise ConnectionAbortedError
        answer += chunk


def seconds_idle(port, requests):
    """How long a connection lived after so many requests; None where this machine was too slow
    for them itself."""
    with connect(port) as client:
        began = time.monotonic()
        try:
            for _ in range(requests):
                began = time.monotonic()
                ask(client)
        except ConnectionError:
            return None
        assert client.recv(1) == b""
        return time.monotonic() - began


@pytest.mark.parametrize("requests", [0, 1, 3])
def test_an_idle_connection_is_closed_in_time(impatient, requests):
    seconds = None
    while seconds is None:
        seconds = seconds_idle(impatient.port, requests)
    # It began a little before the first moment of idleness, if anything, so it is never less.
    assert seconds > (0.9 * PATIENCE_SECONDS if requests else 0)


def test_each_idle_connection_has_its_own_time(impatient):
    with connect(impatient.port) as first, connect(impatient.port) as second:
        for client in (first, second):
            with suppress(ConnectionError):  # it has had its time already
                ask(client)
        for client in (first, second):
            with suppress(ConnectionError):
                assert client.recv(1) == b""


def test_a_server_that_ends_closes_idle_connections_at_once(wire_server, monkeypatch):
    # Far longer than anybody waits here.
    monkeypatch.setattr(Listening, "keep_alive_timeout", 3_600)
    server = type(wire_server)()
    server.start()
    with connect(server.port) as client:
        ask(client)
        server.stop()
        assert client.recv(1) == b""


@pytest.fixture
def counting(wire_server):
    """A server that answers two requests over a connection without a key."""
    server = type(wire_server)(keyless_requests_max=2)
    server.start()
    yield server
    server.stop()


def answers(port, words):
    """What comes until the server closes, in small letters."""
    with connect(port) as client:
        client.sendall(words)
        return b"".join(iter(lambda: client.recv(65_536), b"")).lower().split(b"http/1.1 ")[1:]


@pytest.mark.parametrize("key", [b"", b"Authorization: Bearer svc_" + b"0" * 64 + b"\r\n"])
def test_a_connection_without_a_key_is_closed_after_so_many_requests(counting, key):
    both = answers(counting.port, (GET[:-2] + key + b"\r\n") * 5)
    assert [b"\r\nconnection: close\r\n" in answer for answer in both] == [False, True]


def test_a_key_keeps_its_connection_open(counting):
    words = b"GET /api/v1/notes HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %b\r\n"
    request = words % counting.key.encode()
    together = answers(counting.port, (request + b"\r\n") * 4 + GET + CLOSING)
    assert [answer[:3] for answer in together] == [b"200"] * 6


# -- the end of a connection -------------------------------------------------------------------


@pytest.fixture
def lingering(wire_server, monkeypatch):
    """A server that waits so many seconds, or so many bytes, for clients to end as well."""
    clients = []

    def make(*, seconds=3_600.0, size=connection.LINGER_BYTES):
        monkeypatch.setattr(connection, "LINGER_SECONDS", seconds)
        monkeypatch.setattr(connection, "LINGER_BYTES", size)
        clients.append(type(wire_server)())
        clients[0].start()
        return clients[0]

    yield make
    clients[0].stop()


LAST_WORDS = [
    (b"nonsense\r\n\r\n", b"HTTP/1.1 400"),
    (GET[:-2] + b"X-A: " + b"x" * 60_000 + b"\r\n", b"HTTP/1.1 431"),
    (GET.replace(b"1.1", b"2.0"), b"HTTP/1.1 505"),
    (GET[:-2] + b"Connection: close\r\n\r\n", b"HTTP/1.1 200"),
    (b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", b"HTTP/1.1 400"),
]


MANY = 300
LINGER = struct.pack("ii", 1, 0)


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /api/v1/notes HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\n\r\n",
        b"POST /api/v1/notes HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\n"
        b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
    ],
)
def test_what_was_asked_by_who_has_left_is_not_worked_on(wire_server, request_bytes):
    words = request_bytes.replace(b"KEY", wire_server.key.encode())
    with connect(wire_server.port) as client:
        client.sendall(words)
        client.recv(1)
        with standstill(wire_server.loop):
            client.sendall(words * MANY)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER)
            client.close()
    while connections(wire_server):
        continue
    assert len(wire_server.log_lines()) < MANY / 2


def test_who_says_no_more_is_answered_all_that_was_asked(wire_server):
    with connect(wire_server.port) as client, standstill(wire_server.loop):
        client.sendall(GET * 3)
        client.shutdown(socket.SHUT_WR)
        heard = client.makefile("rb")
    assert heard.read().count(b"HTTP/1.1 200") == 3


@contextmanager
def standstill(loop):
    """Hold a loop in another thread: what a client does within is seen all at once."""
    is_over = threading.Event()
    loop.call_soon_threadsafe(is_over.wait, 60)
    try:
        yield
    finally:
        is_over.set()


def connections(server):
    """How many connections the server serves."""

    async def count():
        return sum("take" in task.get_coro().__qualname__ for task in asyncio.all_tasks())

    return asyncio.run_coroutine_threadsafe(count(), server.loop).result(60)


def last_answer(client, words):
    client.sendall(words)
    return b"".join(iter(lambda: client.recv(65_536), b""))


@pytest.mark.parametrize(("words", "answer"), LAST_WORDS)
def test_who_still_speaks_when_the_connection_ends_is_not_cut_off(lingering, words, answer):
    with connect(lingering().port) as client:
        assert last_answer(client, words).startswith(answer)
        for _ in range(80):
            client.sendall(b"x" * 65_536)
        client.shutdown(socket.SHUT_WR)
        assert client.recv(1) == b""


@pytest.mark.parametrize("limit", [{"seconds": 0.01}, {"size": 1_000_000}])
def test_who_speaks_on_and_on_is_cut_off(lingering, limit):
    with connect(lingering(**limit).port) as client:
        assert last_answer(client, LAST_WORDS[0][0])
        with pytest.raises(ConnectionError):
            deque(iter(lambda: client.sendall(b"x" * 1_024), 0), maxlen=0)  # for ever


def test_a_server_that_ends_waits_for_nobody(wire_server, monkeypatch):
    monkeypatch.setattr(connection, "LINGER_SECONDS", 3_600)
    server = type(wire_server)()
    server.start()
    with connect(server.port) as client:
        assert last_answer(client, LAST_WORDS[0][0])
        server.stop()


@pytest.fixture
def dead_connection():
    """A connection that has ended, as the server sees it, and what it has been told to send."""
    runner = asyncio.Runner()
    events = []

    async def send(event):
        events.append(event)

    async def make():
        group = TaskGroup(asyncio.get_running_loop())
        async with group:
            pass
        state = ConnectionState({})
        places = (None, Listening(), WorkerContext(None), group, state, False, None, None)
        protocol = connection.Protocol(*places, send)
        await protocol.handle(Closed())
        return protocol

    yield runner, runner.run(make()), events
    runner.close()


def test_a_connection_that_has_ended_waits_for_nothing(dead_connection):
    runner, make, events = dead_connection
    runner.run(make.send(Updated(idle=True)))
    assert len(make._idle) == 0
    runner.run(make.send(Closed()))
    assert (len(make._ending), events) == (0, [Closed()])


def test_a_connection_that_has_just_ended_is_closed_without_a_trace(dead_connection):
    _, make, events = dead_connection
    with warnings.catch_warnings(record=True) as caught_warnings:
        warnings.simplefilter("always")
        make.close_soon()
        gc.collect()
    assert (caught_warnings, events) == ([], [])
