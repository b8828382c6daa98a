"""Servers and workers as processes of their own over one database, and clients that ask them."""

import asyncio
import http.client
import io
import json
import logging
import os
import random
import select
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, redirect_stdout, suppress
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from svc_core import catalog
from svc_core.operation.ports import Transaction
from svc_http.run.cli import main
from svc_http.stores.postgres import PostgresStorage
from tests.http.cli.conftest import START_SECONDS
from tests.nursery import Child, environment

SECRET = "0123456789abcdef" * 4
BASE_URL = "http://fleet.example"
SECONDS = 60.0
"""What has not come by then does not come, on the slowest machine."""
PAUSE = 0.02
LOG = logging.getLogger("fleet")


def until(holds: Callable[[], Any], seconds: float = SECONDS) -> Any:
    """What `holds` says once it holds."""
    deadline = time.monotonic() + seconds
    while not (value := holds()):
        assert time.monotonic() < deadline, "it did not come to be"
        time.sleep(PAUSE)
    return value


def together(works: Iterable[Callable[[], Any]]) -> list[Any]:
    """What each comes to; all begin at once."""
    every = list(works)
    begin = threading.Barrier(len(every))

    def run(work: Callable[[], Any]) -> Any:
        begin.wait(SECONDS)
        return work()

    with ThreadPoolExecutor(len(every)) as pool:
        return list(pool.map(run, every))


# -- clients -----------------------------------------------------------------------------------


class Reply(NamedTuple):
    """An answer."""

    status: int
    fields: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def data(self) -> Any:
        assert self.status < 300, self
        return self.json["data"]


class Client:
    """Somebody with a key, and a connection kept open to each server."""

    def __init__(self, key: str = "") -> None:
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._open: dict[str, http.client.HTTPConnection] = {}

    def ask(
        self, origin: str, path: str, body: Any = None, method: str = "", **fields: str
    ) -> Reply:
        """The answer to a GET, or with a body to a POST, which nobody has sent before.

        Raises:
            OSError, HTTPException: there was none.
        """
        headers = self._headers | {name.replace("_", "-"): value for name, value in fields.items()}
        data = None if body is None else json.dumps(body)
        if data is not None:
            headers = {
                "Idempotency-Key": token_hex(8),
                "Content-Type": "application/json",
                **headers,
            }
        method = method or ("GET" if data is None else "POST")
        connection = self._open.get(origin)
        if connection is None:
            connection = http.client.HTTPConnection(urlsplit(origin).netloc, timeout=SECONDS)
            self._open[origin] = connection
        try:
            connection.request(method, path, data, headers)
            answer = connection.getresponse()
            return Reply(
                answer.status, {k.lower(): v for k, v in answer.headers.items()}, answer.read()
            )
        except (OSError, http.client.HTTPException):
            connection.close()
            raise

    def close(self) -> None:
        for connection in self._open.values():
            connection.close()


def ask(origin: str, path: str, key: str = "", body: Any = None, **fields: str) -> Reply:
    """One answer over a connection of its own."""
    with closing(Client(key)) as client:
        return client.ask(origin, path, body, **fields)


def every(origin: str, path: str, key: str) -> list[Any]:
    """All rows of a listing."""
    rows, after = [], ""
    with closing(Client(key)) as client:
        while True:
            page = client.ask(origin, f"{path}?limit=100{after}")
            rows += page.data
            cursor = page.json["meta"]["page"]["nextCursor"]
            if cursor is None:
                return rows
            after = f"&cursor={cursor}"


def profile(name: str) -> dict[str, str]:
    return {"name": name, "topic": "Strikes at ports", "frequency": "manual"}


class Changes:
    """A reader of the feed, page by page from watermark to watermark, over all servers in turn."""

    def __init__(self, origins: list[str], key: str) -> None:
        self._origins = origins
        self._client = Client(key)
        self._after = ""
        self.rows: list[dict[str, Any]] = []

    def read(self) -> bool:
        """Read a page; whether there is more."""
        self._origins = [*self._origins[1:], self._origins[0]]
        page = self._client.ask(self._origins[0], f"/api/v2/changes?limit=37{self._after}")
        self.rows += page.data
        self._after = f"&after={page.json['meta']['watermark']}"
        return bool(page.data)

    def read_all(self) -> list[dict[str, Any]]:
        """Read to the end: every row so far."""
        while self.read():
            pass
        return self.rows

    def close(self) -> None:
        self._client.close()


def changes(origins: list[str], key: str) -> list[dict[str, Any]]:
    """The whole feed."""
    with closing(Changes(origins, key)) as feed:
        return feed.read_all()


# -- processes ---------------------------------------------------------------------------------


def free_port() -> int:
    """A port to be taken again and again: none of those that the system gives to clients."""
    while True:
        port = random.randrange(20_000, 32_000)
        with suppress(OSError), closing(socket.create_server(("127.0.0.1", port))):
            return port


class Program:
    """`svc serve` or `svc worker`, to be killed and started again; a server keeps its port."""

    def __init__(self, folder: Path, *line: str, **env: str) -> None:
        self._folder = folder
        self._line = [*line, "--json"]
        if line[0] == "serve":
            port = free_port()
            self._line += ["--port", str(port)]
            self.origin = f"http://127.0.0.1:{port}"
        self._env = environment(**env)
        self._log = folder / f"log-{id(self)}"
        self.process: Child | None = None
        self.start()

    def start(self) -> None:
        """Start it and wait until it says that it is there."""
        with self._log.open("a") as log:
            self.process = Child(*self._line, cwd=self._folder, env=self._env, stderr=log)
        ready, _, _ = select.select([self.process.stdout], [], [], START_SECONDS)
        line = self.process.stdout.readline() if ready else ""
        self.process.stdout.close()
        if not line:
            self.kill()
            raise AssertionError(f"it did not start: {self._log.read_text()}")
        self.start_line = json.loads(line)

    def kill(self) -> None:
        """End it without a word."""
        self._end(signal.SIGKILL)

    def end(self) -> int:
        """End it as a service manager does; its exit code."""
        return self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> int:
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(SECONDS)

    def events(self, *names: str) -> list[dict[str, Any]]:
        """Lines of the log, those of these events."""
        lines = [json.loads(line) for line in self._log.read_text().splitlines()]
        return [line for line in lines if line["event"] in names]


class Key(NamedTuple):
    """A key of a workspace: what its holder sends, and what the operator calls it."""

    text: str
    id: str
    workspace: str


class Fleet:
    """Programs over one database, and commands that work on it."""

    def __init__(self, db: str, folder: Path, **env: str) -> None:
        self.db = db
        self._folder = folder
        self._env = {"SVC_DB": db, "SVC_SECRET": SECRET, "SVC_BASE_URL": BASE_URL, **env}
        self._env["SVC_PLAN"] = "elite.profiles=1000000"  # the load writes more than a plan has
        self._numbers = count()
        self.servers: list[Program] = []
        self.workers: list[Program] = []

    @property
    def origins(self) -> list[str]:
        return [server.origin for server in self.servers]

    def start(self, servers: list[tuple[str, ...]], workers: int = 0) -> None:
        """Start more of them, all at once; a server is given by its flags."""
        lines: list[tuple[str, ...]] = [("serve", *flags) for flags in servers]
        lines += [("worker",)] * workers
        with ThreadPoolExecutor(len(lines)) as pool:
            programs = list(pool.map(lambda line: Program(self._folder, *line, **self._env), lines))
        self.servers += programs[: len(servers)]
        self.workers += programs[len(servers) :]

    def svc(self, *line: object) -> Any:
        """What a command prints as JSON, run in this process."""
        output = io.StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(output):
            for name in [name for name in os.environ if name.startswith("SVC_")]:  # noqa: TID251
                patch.delenv(name)
            for name, value in self._env.items():
                patch.setenv(name, value)
            code = main([*map(str, line), "--json"])
        assert code == 0, output.getvalue()
        return json.loads(output.getvalue())

    def key(self, plan: str = "elite") -> Key:
        """A key of a workspace of its own."""
        name = f"w{next(self._numbers)}"
        space = self.svc("workspaces", "create", "--name", name, "--plan", plan)["id"]
        key = self.svc("keys", "create", "--name", name, "--workspace", space)
        return Key(key["key"], key["id"], space)

    def do(self, tenant: str, unit: Callable[[Transaction], Awaitable[Any]]) -> Any:
        """Carry out a unit of work by hand, as no operation would."""

        async def run() -> Any:
            store = await PostgresStorage.open(self.db, catalog.COLLECTIONS, epoch=b"8 bytes.")
            try:
                return await store.write(tenant, unit)
            finally:
                await store.close()

        return asyncio.run(run())

    def close(self) -> None:
        """End all that runs; every one of them ends well."""
        every = [*self.servers, *self.workers]
        with ThreadPoolExecutor(max(1, len(every))) as pool:
            codes = list(pool.map(Program.end, every))
        assert codes == [0] * len(every)


# -- load --------------------------------------------------------------------------------------


class Load:
    """Clients that write and, while they are not told, ask again with the same key.

    `replies` is what was acknowledged, by key, and `faults` what nobody should ever be told.
    """

    def __init__(self, origins: list[str], key: str, clients: int) -> None:
        self.origins = origins
        self._key = key
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._go, args=(n,)) for n in range(clients)]
        self.replies: dict[str, Reply] = {}
        self.statuses: Counter[object] = Counter()
        self.faults: list[object] = []
        self.slowest = 0.0

    @contextmanager
    def going(self) -> Iterator[None]:
        """Let them write; at the end each is told of what it has begun."""
        for thread in self._threads:
            thread.start()
        self.wait_for()
        try:
            yield
            self.wait_for()
        finally:
            self._over.set()
            for thread in self._threads:
                thread.join(2 * SECONDS)
        LOG.info("%d told, at most %.1f s, %s", len(self.replies), self.slowest, self.statuses)
        assert self.faults == []
        assert not any(thread.is_alive() for thread in self._threads)

    def wait_for(self, writes: int = 20) -> None:
        """Wait until so many more writes are acknowledged."""
        target = len(self.replies) + writes
        until(lambda: len(self.replies) >= target or self.faults)

    def _go(self, client_number: int) -> None:
        with closing(Client(self._key)) as client:
            for number in count():
                if self._over.is_set() or self.faults:
                    return
                self._write(client, f"w{client_number}-{number:05}", number)

    def _write(self, client: Client, name: str, turn: int) -> None:
        began = time.monotonic()
        for attempt in count(turn):
            reply = self.attempt(client, self.origins[attempt % len(self.origins)], name)
            if reply is not None:
                self.replies[name] = reply
                self.slowest = max(self.slowest, time.monotonic() - began)
                return
            if self.faults or time.monotonic() > began + SECONDS:
                self.faults.append(f"{name} was never acknowledged")
                return
            time.sleep(PAUSE)

    def attempt(self, client: Client, origin: str, name: str) -> Reply | None:
        """Ask once; None where that is to be done again."""
        path, body = _creation(name)
        try:
            reply = client.ask(origin, path, body, Idempotency_Key=f"the-key-{name}")
        except (OSError, http.client.HTTPException) as failure:
            self.statuses[type(failure).__name__] += 1
            return None
        self.statuses[reply.status] += 1
        if reply.status == 201:
            return reply
        if reply.status != 503 or "retry-after" not in reply.fields:
            self.faults.append(reply)
        return None

    def check(self) -> None:
        """What was acknowledged is there, once, and is told again to whoever asks again."""
        origin = self.origins[-1]
        with closing(Client(self._key)) as client:
            for name, reply in self.replies.items():
                again = self.attempt(client, origin, name)
                assert again is not None, self.statuses
                assert again.body == reply.body
        assert self.faults == []
        profiles = {
            name: reply.data["id"] for name, reply in self.replies.items() if _is_profile(name)
        }
        rows = {row["name"]: row["id"] for row in every(origin, "/api/v1/profiles", self._key)}
        assert rows == profiles
        feed = changes(self.origins, self._key)
        creations = Counter(row["resourceId"] for row in feed if row["resourceType"] == "profile")
        assert creations == Counter(profiles.values())
        verdict = ask(origin, "/api/v2/ledger/verify", self._key).data
        assert verdict["ok"]
        assert verdict["size"] == len(self.replies) - len(profiles)


def _is_profile(name: str) -> bool:
    return int(name[-1]) % 4 != 0


def _creation(name: str) -> tuple[str, dict[str, str]]:
    if _is_profile(name):
        return "/api/v1/profiles", profile(name)
    return "/api/v2/ledger/subjects", {"type": "vessel", "label": name}
