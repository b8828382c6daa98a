"""A small catalogue of its own, a service over it, and callers in process and over a socket."""

import asyncio
import json
import re
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import attrs
import httpx2
import pytest
from attrs import frozen

from svc_core.access import operations as accounts
from svc_core.access import plans
from svc_core.access.audit import SYSTEM_ACTS
from svc_core.access.creation import KeyWish
from svc_core.access.model import KEYS, MEMBERS, USERS, WORKSPACES
from svc_core.base.seals import Keyring
from svc_core.base.unset import UNSET, Maybe, or_default
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Content, Created, Empty, Page, Single
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.declaration import (
    BODY,
    JSON,
    MARKDOWN,
    PATH,
    QUERY,
    Operation,
    Target,
    Trait,
    header_field,
)
from svc_core.operation.ports import SYSTEM, Collection, Transaction
from svc_core.wire.constraints import Ge, IdOf, Le, MaxLen, MinLen
from svc_http.run.server import hypercorn
from svc_http.service.runtime import application as service_app
from svc_http.service.runtime.application import Application
from svc_http.service.runtime.runtime_state import Providers, Runtime
from svc_http.settings import Settings
from tests import files
from tests.backends import make_store
from tests.in_process import ask
from tests.upstream import Upstream, upstream

START = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
ORIGIN = "https://api.example.org"
SECRET = "0123456789abcdef" * 4
MEMBERS_OF_A_PROBLEM = [
    "type", "title", "status", "detail", "instance", "code", "requestId", "resolution",
]  # fmt: skip

READ = frozenset({"news:read"})
WRITE = frozenset({"profiles:write"})


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def quick_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """New files of this process are copies of a first one."""
    with files.copies(tmp_path_factory.mktemp("files")):
        yield


@pytest.fixture
async def server() -> AsyncIterator[Upstream]:
    """A provider, upstream of a service."""
    async with upstream() as place:
        yield place


# -- the catalogue -----------------------------------------------------------------------------


@frozen
class NoteInput:
    text: Annotated[str, MinLen(1), MaxLen(100)]
    topic: Maybe[str] = UNSET


@frozen
class Note:
    id: str
    text: str
    topic: str
    created_at: int


NOTES: Collection[Note] = Collection(
    name="notes",
    model=Note,
    prefix="obs",
    order=lambda note: note.created_at,
    keys={"topic": lambda note: note.topic},
    kind="note",
)


@frozen
class ListNotes:
    limit: Annotated[int, QUERY, Ge(1), Le(100)] = 20
    topic: Annotated[Maybe[str], QUERY] = UNSET
    since: Annotated[Maybe[str], QUERY, Trait.DEPRECATED] = UNSET
    cursor: Annotated[Maybe[str], QUERY] = UNSET
    flavour: Annotated[Maybe[str], header_field("X-Flavour")] = UNSET


@frozen
class CreateNote:
    body: Annotated[NoteInput, BODY]


@frozen
class NoteAt:
    note_id: Annotated[str, PATH, IdOf("obs")]


@frozen
class PatchNote:
    note_id: Annotated[str, PATH, IdOf("obs")]
    body: Annotated[NoteInput, BODY]


@frozen
class NoInputs:
    pass


async def list_notes(ctx: Context, request: ListNotes) -> Page[Note]:
    filters = {} if request.topic is UNSET else {"topic": (or_default(request.topic, ""),)}
    return await ctx.page(NOTES, where=filters, after=request.cursor, limit=request.limit)


async def create_note(ctx: Context, request: CreateNote) -> Created[Note]:
    id_ = ctx.ids.new("obs")
    micros = int(ctx.now.timestamp() * 1_000_000) + len(id_)
    note = Note(id_, request.body.text, or_default(request.body.topic, "none"), micros)
    document = await ctx.create(NOTES, id_, note)
    return Created(document.raw, (id_, document.version), f"/api/v1/notes/{id_}")


async def get_note(ctx: Context, request: NoteAt) -> Single[Note] | Content:
    document = await ctx.load(NOTES, request.note_id)
    if ctx.format == MARKDOWN.format:
        text = NOTES.decode(document.raw).text
        return Content("text/markdown", text.encode(), (document.id, document.version))
    return Single(document.raw, (document.id, document.version))


async def patch_note(ctx: Context, request: PatchNote) -> Single[Note]:
    assert ctx.target is not None
    note = attrs.evolve(NOTES.decode(ctx.target.raw), text=request.body.text)
    document = await ctx.save(NOTES, note.id, note)
    return Single(document.raw, (document.id, document.version))


async def delete_note(ctx: Context, request: NoteAt) -> Empty:
    await ctx.remove(NOTES, request.note_id)
    return Empty()


async def explode(ctx: Context, request: NoInputs) -> Page[Note]:
    raise RuntimeError(f"disk on fire at /secret/path with svc_{'ab' * 32}")


async def empty_page(ctx: Context, request: NoInputs) -> Page[Note]:
    return Page(())


def operation(id_: str, method: Any, path: str, request: type, run: Any, **rest: Any) -> Any:
    rest.setdefault("response", Page[Note])
    return Operation(
        id=id_,
        method=method,
        path=path,
        summary=f"{id_}.",
        description=f"{id_}.",
        tag="News",
        request=request,
        run=run,
        **rest,
    )


SAMPLE: tuple[Any, ...] = (
    operation(
        "listNotes", "GET", "/notes", ListNotes, list_notes,
        scopes=READ, timeless=True,
    ),
    operation(
        "createNote", "POST", "/notes", CreateNote, create_note,
        scopes=WRITE, idempotency="required", response=Created[Note],
    ),
    operation(
        "getNote", "GET", "/notes/{noteId}", NoteAt, get_note,
        scopes=READ, timeless=True, media=(JSON, MARKDOWN), response=Single[Note] | Content,
    ),
    operation(
        "patchNote", "PATCH", "/notes/{noteId}", PatchNote, patch_note,
        scopes=WRITE, target=Target(NOTES, "note_id"), response=Single[Note],
    ),
    operation(
        "deleteNote", "DELETE", "/notes/{noteId}", NoteAt, delete_note,
        scopes=WRITE, response=Empty,
    ),
    operation("explode", "GET", "/explode", NoInputs, explode, scopes=READ),
    operation("latest", "GET", "/notes/latest", NoInputs, empty_page, scopes=READ),
    operation("priced", "GET", "/priced", NoInputs, empty_page, auth="bearer-or-x402"),
    operation("open", "GET", "/open", NoInputs, empty_page, auth="public", version="2.0"),
    operation("ours", "GET", "/ours", NoInputs, empty_page, binding="workspace", version="2.0"),
)  # fmt: skip

COLLECTIONS = (WORKSPACES, USERS, MEMBERS, KEYS, SYSTEM_ACTS, NOTES)


# -- a service that tests can ask --------------------------------------------------------------


class Clock:
    """The time as a test sets it."""

    def __init__(self, at: datetime = START) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at

    def forward(self, **spans: float) -> None:
        self.at += timedelta(**spans)


class Ids:
    """Identifiers that count."""

    def __init__(self) -> None:
        self.count = 0

    def new(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}_{self.count:024x}"

    def random(self, size: int) -> bytes:
        self.count += 1
        return self.count.to_bytes(size, "big")


class House:
    """A service with its parts at hand, asked in process."""

    def __init__(self, settings: Settings, **parts: Any) -> None:
        self.clock, self.ids = Clock(), Ids()
        self.ticks = 100.0
        self.log = LogFile()
        self.storage = parts.pop("storage", None) or make_store(COLLECTIONS)
        operations, routes = parts.pop("operations", SAMPLE), parts.pop("routes", ())
        runtime = Runtime(
            settings,
            self.storage,
            now=self.clock,
            monotonic=lambda: self.ticks,
            ids=self.ids,
            providers=Providers(
                payments=parts.pop("payments", None), passkeys=parts.pop("passkeys", None)
            ),
            **parts,
        )
        self.service: Application = service_app.build(runtime, operations, routes)
        self.service.runtime.journal._stream = lambda: self.log  # type: ignore[assignment,return-value]
        self.runner = asyncio.Runner()

    service_collections = COLLECTIONS

    def close(self) -> None:
        self.run(self.service.runtime.stop())
        self.run(self.storage.close())
        self.runner.close()

    def run(self, work: Any) -> Any:
        return self.runner.run(work)

    def system(self, work: Callable[[Context], Any]) -> Any:
        """Do something as the system, in one unit of work."""

        async def unit(tx: Transaction) -> Any:
            keyring = Keyring({1: SECRET.encode()}, 1)
            return await work(
                Context(self.clock(), self.ids, Actor(SYSTEM), "test", keyring, tx=tx)
            )

        return self.run(self.storage.write(SYSTEM, unit))

    def key(self, *scopes: str, plan: str = "elite", personal: bool = False, **wish: Any) -> str:
        """A fresh key with these scopes (or with all), in a fresh workspace."""
        grants = scopes or ("news:read", "profiles:write")

        async def make(ctx: Context) -> str:
            table = plans.DEFAULT_PLANS
            if personal:
                user = await accounts.create_user(ctx, name="Ann", plans=table, plan=plan)
                place = {"user_id": user.id}
            else:
                workspace = await accounts.create_workspace(ctx, name="W", plan=plan, plans=table)
                place = {"workspace_id": workspace.id}
            key_wish = KeyWish(name=f"key {self.ids.count}", scopes=grants, **place, **wish)
            new_key = await accounts.create_key(ctx, key_wish, plans=table)
            return new_key.secret

        return self.system(make)

    def ask(self, method: str, path: str, key: str | None = None, **rest: Any) -> httpx2.Response:
        """One request in process; `key` travels as a bearer key."""
        return self.asks([(method, path)], key, **rest)[0]

    def asks(
        self, requests: list[tuple[str, str]], key: str | None = None, **rest: Any
    ) -> list[httpx2.Response]:
        """Several requests at once."""
        headers = list(rest.pop("headers", {}).items())
        client_address = rest.pop("client", ("127.0.0.1", 5000))
        root_path = rest.pop("root_path", "")
        target = rest.pop("app", self.service)
        if key is not None:
            headers.append(("Authorization", f"Bearer {key}"))

        async def go() -> list[httpx2.Response]:
            where: Any = {"client": client_address, "root_path": root_path}
            calls = [ask(target, m, p, headers=headers, **where, **rest) for m, p in requests]
            return list(await asyncio.gather(*calls))

        return self.run(go())

    def raw(self, scope: dict[str, Any], messages: list[dict[str, Any]] | None = None) -> Any:
        """One request in ASGI's own words: the status, the fields, the body."""
        waiting = list(messages or [{"type": "http.request", "body": b"", "more_body": False}])
        events: list[Any] = []

        async def receive() -> Any:
            if waiting:
                return waiting.pop(0)
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            events.append(message)

        whole = {
            "type": "http",
            "http_version": "1.1",
            "method": "GET",
            "path": "/livez",
            "raw_path": scope.get("path", "/livez").encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [],
            "client": ("127.0.0.1", 5000),
            **scope,
        }
        self.run(self.service(whole, receive, send))
        return RawAnswer(events)


class LogFile:
    """What was logged."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]


class RawAnswer:
    """An answer as messages."""

    def __init__(self, events: list[Any]) -> None:
        self.events = events
        self.status = events[0]["status"] if events else None
        self.headers = dict(events[0]["headers"]) if events else {}
        self.body = b"".join(message.get("body", b"") for message in events[1:])

    def json(self) -> Any:
        return json.loads(self.body)


def make_settings(**changes: Any) -> Settings:
    defaults = {"base_url": ORIGIN, "secret": SECRET, "db": ":memory:"}
    return Settings(**{**defaults, **changes})


@pytest.fixture
def make_house() -> Iterator[Callable[..., House]]:
    """Makes services; settings by name, parts of `build` in `parts`."""
    houses: list[House] = []

    def make(*, parts: dict[str, Any] | None = None, **settings: Any) -> House:
        houses.append(House(make_settings(**settings), **(parts or {})))
        return houses[-1]

    yield make
    for house in houses:
        house.close()


@pytest.fixture
def house(make_house: Callable[..., House]) -> House:
    return make_house()


@pytest.fixture
def check_problem() -> Callable[..., Any]:
    """Asserts the shape that every refusal has."""

    def check(response: httpx2.Response, kind: problem.ProblemType) -> Any:
        assert response.headers["content-type"] == "application/problem+json"
        body = response.json()
        assert list(body) == MEMBERS_OF_A_PROBLEM
        assert body["code"] == kind.code, body
        assert response.status_code == body["status"] == kind.status
        assert body["type"] == f"{ORIGIN}/problems/{kind.slug}"
        assert re.fullmatch("req_[0-9a-f]{24}", body["requestId"])
        assert response.headers["x-request-id"] == body["requestId"]
        assert body["instance"] == f"urn:request:{body['requestId']}"
        assert response.headers["x-svc-api-version"] in {"1.0", "2.0"}
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["access-control-allow-origin"] == "*"
        return body

    return check


# -- a real server -----------------------------------------------------------------------------


class Wire:
    """A Hypercorn on a free loopback port in a thread of its own, asked by bytes."""

    def __init__(
        self, body_seconds_max: float = 60, parts: Callable[[], Any] = dict, **changes: Any
    ) -> None:
        self.key = ""
        self._parts = parts
        self._settings = {"body_seconds_max": body_seconds_max, "rate_limits": False, **changes}
        self.listening = hypercorn.listen("127.0.0.1", 0)
        self.port = self.listening.getsockname()[1]
        self._up = threading.Event()
        self._thread = threading.Thread(target=self._main)

    def _main(self) -> None:
        with asyncio.Runner(loop_factory=hypercorn.loop_factory()) as runner:
            house = House(make_settings(**self._settings), **self._parts())
            self.key = house.key("agent:svc", "news:read", "profiles:write")
            self.house = house
            self.log = house.log
            self.service = house.service
            self.loop = runner.get_loop()
            runner.run(hypercorn.serve(house.service, self.listening, self._ready, signals=False))
            runner.run(house.storage.close())
            house.runner.close()

    def _ready(self, host: str, port: int) -> None:
        assert (host, port) == ("127.0.0.1", self.port)
        self._up.set()

    def start(self) -> None:
        self._thread.start()
        assert self._up.wait(60)

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.service.drain)
        self.join()

    def join(self) -> None:
        self._thread.join(60)
        assert not self._thread.is_alive()

    def say(self, data: bytes, *, parts: tuple[bytes, ...] = ()) -> bytes:
        """Everything that comes back until the server closes or is silent."""
        with closing(socket.create_connection(("127.0.0.1", self.port), 60)) as connection:
            # Who is refused early may be unable to say the rest, and hears why all the same.
            with suppress(ConnectionError):
                for part in (data, *parts):
                    connection.sendall(part)
            return _until_end(connection)

    def log_lines(self) -> list[dict[str, Any]]:
        """The lines of the log up to now, those of answers that were heard included."""

        async def flush_log() -> list[dict[str, Any]] | None:
            if self.service.edge.under_way:
                return None
            self.service.runtime.journal.flush()
            return self.log.lines

        lines = None
        while lines is None:
            lines = asyncio.run_coroutine_threadsafe(flush_log(), self.loop).result(60)
        return lines


def _until_end(connection: socket.socket) -> bytes:
    reply = b""
    while not _is_whole(reply):
        chunk = connection.recv(65_536)
        if not chunk:
            break
        reply += chunk
    return reply


def _is_whole(reply: bytes) -> bool:
    head, separator, body = reply.partition(b"\r\n\r\n")
    if head.startswith(b"HTTP/1.1 100"):
        return _is_whole(body)
    length = re.search(rb"content-length: (\d+)", head)
    return bool(separator) and (length is None or len(body) >= int(length[1]))


@pytest.fixture(scope="session")
def wire_server() -> Iterator[Wire]:
    server = Wire()
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def shared_house() -> Iterator[House]:
    """One service for many examples."""
    shared = House(make_settings(rate_limits=False))
    yield shared
    shared.close()


@pytest.fixture
def sample_operation() -> Callable[[str], Any]:
    """An operation at a path with one report in it, for keys that may read reports."""

    @frozen
    class Facet:
        report_id: Annotated[str, PATH, IdOf("rpt")]

    async def missing(ctx: Context, request: Facet) -> Single[Note]:
        raise Problem(problem.NOT_FOUND)

    def make(path: str) -> Any:
        scopes = frozenset({"reports:read"})
        return operation(
            "sample", "GET", path, Facet, missing, scopes=scopes, response=Single[Note]
        )

    return make
