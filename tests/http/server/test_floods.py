"""Floods of connections: whoever connects is let in, and who has a key keeps its connection."""

import asyncio
import resource
import socket
import sys
from contextlib import ExitStack, closing, suppress

import pytest

from svc_http.exchange import http_exchange as exchange
from svc_http.exchange.fair_shares import BOUNDS, Bound
from svc_http.guard import edge
from svc_http.run.server import connection
from svc_http.run.server.configuration import Listening
from svc_http.run.server.hypercorn import FILES_BESIDE, affordable

HEAD = b"GET /livez HTTP/1.1\r\nHost: a\r\n"
PLACES = 8
CLIENT, STRANGER = "127.0.0.2", "127.0.0.66"


@pytest.fixture
def few(wire_server, monkeypatch):
    """A server with few places, where an idle connection keeps its own for long."""
    monkeypatch.setattr(Listening, "keep_alive_timeout", 3_600)
    server = type(wire_server)(connections_max=PLACES, trusted_proxies=())
    server.start()
    yield server
    server.stop()


@pytest.fixture
def sockets():
    """Keeps sockets open to the end of a test."""
    with ExitStack() as stack:
        yield stack


def connect(sockets, server, at, words=b""):
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    client.bind((at, 0))
    client.settimeout(50)
    client.connect(("127.0.0.1", server.port))
    sockets.enter_context(closing(client))
    client.sendall(words)
    return client


def ask(client, key=None, path=b"/livez"):
    """The status of the answer to one request; the connection stays."""
    bearer = b"" if key is None else b"Authorization: Bearer %b\r\n" % key.encode()
    client.sendall(HEAD.replace(b"/livez", path) + bearer + b"\r\n")
    answer = b""
    while not answer.endswith(b"}"):
        answer += client.recv(65_536) or pytest.fail("the connection was closed")
    return int(answer.split()[1])


def until_closed(client):
    """Read to the end, however it comes."""
    with suppress(ConnectionError):
        while client.recv(65_536):
            continue


def tasks(server):
    """How many connections the server serves."""

    async def count():
        coroutines = [task.get_coro().__qualname__ for task in asyncio.all_tasks()]
        return sum("take" in name for name in coroutines)

    return asyncio.run_coroutine_threadsafe(count(), server.loop).result(50)


@pytest.mark.parametrize("at", [lambda _: STRANGER, "127.0.9.{}".format], ids=["one", "each"])
@pytest.mark.parametrize(
    "words",
    [b"", HEAD, HEAD.replace(b"GET", b"POST") + b"Content-Length: 9\r\n\r\n"],
    ids=["silent", "slow head", "slow body"],
)
def test_strangers_take_each_others_places(few, sockets, at, words):
    client = connect(sockets, few, CLIENT)
    assert ask(client, few.key, b"/api/v1/notes") == 200
    strangers = [connect(sockets, few, at(number + 1), words) for number in range(3 * PLACES)]
    assert ask(connect(sockets, few, CLIENT), few.key, b"/api/v1/notes") == 200
    assert ask(client, few.key, b"/api/v1/notes") == 200
    until_closed(strangers[0])
    assert tasks(few) <= PLACES + 1  # the last that went may still be on its way


def test_of_too_many_clients_an_idle_one_makes_room(few, sockets):
    clients = []
    for number in range(PLACES // 2 + 1):
        clients.append(connect(sockets, few, f"127.0.8.{number + 1}"))
        assert ask(clients[-1], few.key, b"/api/v1/notes") == 200
    until_closed(clients[0])
    assert [ask(client) for client in clients[1:]] == [200] * (PLACES // 2)


def test_who_leaves_without_a_word_leaves_its_place(few, sockets):
    connect(sockets, few, CLIENT).close()
    while tasks(few):
        continue


def test_a_connection_over_which_nothing_is_read_is_ended(wire_server, sockets, monkeypatch):
    monkeypatch.setattr(connection, "LINGER_SECONDS", 0.01)
    monkeypatch.setattr(connection, "SLOW_SECONDS", 0.01)
    monkeypatch.setattr(exchange, "SLOW_SECONDS", 0.1)
    monkeypatch.setattr(edge, "LOOK_SECONDS", 0.0)
    few = type(wire_server)(
        connections_max=PLACES, trusted_proxies=(), keyless_requests_max=1_000_000
    )
    few.start()
    large = b"/static/vendor/openapi-explorer-2.4.820/openapi-explorer.min.js"
    deaf = connect(sockets, few, STRANGER, HEAD.replace(b"/livez", large) + b"\r\n")
    client = connect(sockets, few, CLIENT)
    while tasks(few) > 1 or few.service.edge.under_way:
        assert ask(client) == 200
    assert deaf.fileno() > 0  # it was not the client that ended it
    few.stop()


def test_so_many_ended_connections_linger(few, sockets, monkeypatch):
    monkeypatch.setattr(connection, "LINGER_SECONDS", 3_600)
    monkeypatch.setitem(BOUNDS, "lingering", Bound(2))
    strangers = [connect(sockets, few, STRANGER, b"nonsense\r\n\r\n") for _ in range(3)]
    for client in strangers:
        until_closed(client)
    while tasks(few) > 2:
        continue


def test_pipelined_requests_of_many_are_all_answered_in_turn(wire_server, sockets):
    asked = HEAD + b"\r\n"
    strangers = [connect(sockets, wire_server, f"127.0.7.{n + 1}", asked * 20) for n in range(40)]
    client = connect(sockets, wire_server, CLIENT)
    assert ask(client, wire_server.key, b"/api/v1/notes") == 200
    for stranger in strangers:
        answers = b""
        while answers.count(b'{"status":"live"}') < 20:
            answers += stranger.recv(65_536) or pytest.fail("the connection was closed")
        assert answers.count(b"HTTP/1.1 200") == 20


# -- files -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "configured", "expected_limit", "connections"),
    [
        ((1_024, 4_096), 900, 900, 1_024),
        ((256, 4_096), 900, 900, 900 + FILES_BESIDE),
        ((256, 512), 900, 512 - FILES_BESIDE, 512),
        ((64, 64), 900, 1, 64),
        ((256, resource.RLIM_INFINITY), 900, 900, 900 + FILES_BESIDE),
        ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), 900, 900, resource.RLIM_INFINITY),
    ],
)
def test_as_many_connections_as_files_are_allowed(
    monkeypatch, limits, configured, expected_limit, connections
):
    limit_calls = [limits]
    monkeypatch.setattr(resource, "getrlimit", lambda _: limit_calls[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: limit_calls.append(limits))
    assert affordable(configured) == expected_limit
    assert limit_calls[-1] == (connections, limits[1])


def test_a_system_without_limits_gives_what_is_wanted(monkeypatch):
    monkeypatch.setitem(sys.modules, "resource", None)
    assert affordable(7) == 7
