"""A world behind a real server on a loopback port."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from svc_http.run.server import hypercorn


class ServedWorld:
    """A world whose service answers on a port, in a thread of its own."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self._listening = hypercorn.listen("127.0.0.1", 0)
        self.origin = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._up = threading.Event()
        self._thread = threading.Thread(target=self._main)

    def _main(self) -> None:
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            runner.run(hypercorn.serve(self.world.app, self._listening, self._ready, signals=False))

    def _ready(self, _host: str, _port: int) -> None:
        self._up.set()

    def start(self) -> None:
        self._thread.start()
        assert self._up.wait(10)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self.world.app.drain)
        self._thread.join(20)
        assert not self._thread.is_alive()


@pytest.fixture
def served_world(make_world: Callable[..., Any]) -> Iterator[ServedWorld]:
    """Rows of every kind over SQLite, without limits, so that long runs are not cut short."""
    server = ServedWorld(make_world("sqlite", rate_limits=False, allow_erasure=("*",)))
    server.start()
    yield server
    server.stop()
