"""How far a reader walks: the calls of one request, counted where they go from file to file.

A move is a call in another module than the call before it; a return is a move to a module that was
left before. Whoever follows a request reads each of them, so the figures may only fall.
"""

import asyncio
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from attrs import frozen

from svc_core import catalog
from svc_core.access import operations as accounts
from svc_core.access.creation import KeyWish
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM, Transaction
from svc_http import system
from svc_http.service.runtime import application as app
from svc_http.settings import Settings
from svc_http.stores import MemoryStorage

ROOT = Path(__file__).parents[2]
ROOMS = (f"{ROOT / 'svc_core'}/", f"{ROOT / 'svc_http'}/")


@frozen
class Walk:
    """The calls of one request in their order, each as the module and what is called in it."""

    calls: tuple[tuple[str, str], ...]

    def __len__(self) -> int:
        return len(self.calls)

    @property
    def modules(self) -> int:
        """The modules that it comes through."""
        return len({module for module, _ in self.calls})

    @property
    def stays(self) -> list[str]:
        """The modules, each once for as long as it is stayed in."""
        return [name for name, _ in groupby(module for module, _ in self.calls)]

    @property
    def moves(self) -> int:
        """The calls in another module than the call before."""
        return len(self.stays) - 1

    @property
    def returns(self) -> int:
        """The moves to a module that was left before."""
        return len(self.stays) - self.modules

    def __str__(self) -> str:
        return "\n".join(f"{module}: {name}" for module, name in self.calls)


class House:
    """The service over a store in memory, and a key."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self._run = runner.run
        settings = Settings(db=":memory:", secret="0123456789abcdef" * 4)
        storage = MemoryStorage(catalog.COLLECTIONS)
        self._service = app.build(app.Runtime(settings, storage))
        self._service.runtime.journal._stream = lambda: sys.stdout  # only when it is flushed
        self._key = self._run(storage.write(SYSTEM, self._issue))

    async def _issue(self, tx: Transaction) -> str:
        runtime = self._service.runtime
        ctx = Context(system.now(), runtime.ids, Actor(SYSTEM), "test", runtime.keyring, tx=tx)
        place = await accounts.create_workspace(ctx, name="W", plan="elite", plans=runtime.plans)
        wish = KeyWish(name="key", scopes=("reports:read",), workspace_id=place.id)
        return (await accounts.create_key(ctx, wish, plans=runtime.plans)).secret

    async def ask(self, path: str) -> None:
        """One request as a server hands it in, to its last byte."""
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "GET",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"limit=20",
            "root_path": "",
            "headers": [(b"host", b"h"), (b"authorization", f"Bearer {self._key}".encode())],
            "client": ("127.0.0.1", 5000),
        }
        messages: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            messages.append(message)

        await self._service(scope, receive, send)
        assert messages[0]["status"] == 200

    def walk(self, path: str) -> Walk:
        """What a request for a page calls once its key is known and the page is kept."""
        self._run(self.ask(path))
        # Another second or minute may begin in one of them, which costs a call more.
        return min((self._run(self._follow(path)) for _ in range(3)), key=len)

    async def _follow(self, path: str) -> Walk:
        calls: list[tuple[str, str]] = []

        def note(frame: FrameType, event: str, _: Any) -> None:
            file = frame.f_code.co_filename
            if event == "call" and file.startswith(ROOMS):
                calls.append((file.removeprefix(f"{ROOT}/"), frame.f_code.co_name))

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            await self.ask(path)
        finally:
            sys.setprofile(before)
        return Walk(tuple(calls))


@pytest.fixture
def house() -> Iterator[House]:
    with asyncio.Runner() as runner:
        yield House(runner)


def test_a_page_that_was_kept_is_a_short_walk(house: House) -> None:
    walk = house.walk("/api/v1/reports")

    assert len(walk) <= 40, walk
    assert walk.modules <= 20, walk
    assert walk.moves <= 25, walk
    assert walk.returns <= 6, walk
