"""`svc doctor`: checks that this machine has everything the server needs."""

import asyncio
import json
import platform
import sqlite3
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, TypeVar

from svc_core import wire
from svc_core.operation.ports import SharedUnavailable
from svc_core.payments.payment_ports import Unavailable
from svc_core.search.vector_likeness import NotEmbedded
from svc_http import extras
from svc_http.outside.facilitators.x402 import payment_provider
from svc_http.run.cli import production_checks as judging
from svc_http.run.cli import show
from svc_http.run.cli.database_commands import database_status
from svc_http.run.cli.exit_codes import REFUSED
from svc_http.run.cli.operation_calls import perform_operation, server_address
from svc_http.run.cli.options import COMMON, Common
from svc_http.run.cli.production_checks import Check, graded_check
from svc_http.run.control import channel
from svc_http.run.server.hypercorn import PortBusy, listen
from svc_http.service.equipment import (
    chat_of,
    embedder_of,
    missing_providers,
    open_shared,
    voice_of,
)
from svc_http.settings import MEMORY, Settings, SettingsError
from svc_http.settings_text import without_secret
from svc_http.stores.errors import StoreUnusable
from svc_http.stores.factory import postgres_backend
from svc_http.stores.sqlite import has_wal_reset_fault
from svc_http.stores.sqlite.work_queue import sqlite_fault_text

T = TypeVar("T")

ANSWER_SECONDS = 3.0
ANSWER_BYTES_MAX = 65_536
"""How long a server may take to say whether it is ready, and how much."""


def doctor_command(*, common: Common = COMMON) -> int:
    """Check that the server has everything it needs.

    It looks at this machine, the settings, the database and the port, and names settings that are
    risky in production, each with the reason and the cure. It exits with 1 when a check fails.
    """
    checks = [*_machine(), *_extras(), *_service(common)]
    ok = all(check.ok is not False for check in checks)
    if common.json:
        show.as_json({"ok": ok, "checks": wire.to_json(checks)})
    else:
        marks = {True: "ok", False: "BAD", None: "note"}
        width = max(len(check.name) for check in checks)
        for c in checks:
            show.print_wrapped(f"{marks[c.ok]:4}  {c.name:{width}}  {c.detail}", "", hang=4)
    return 0 if ok else REFUSED


def _machine() -> Iterator[Check]:
    yield Check("python", True, platform.python_version())
    version = sqlite3.sqlite_version
    note = "before 3.51.3, two writing processes could damage a file: let this service alone write"
    yield graded_check(
        "sqlite", version, f"{version}; {note}" if has_wal_reset_fault() else "", None
    )
    with closing(sqlite3.connect(":memory:")) as connection:
        has_search = ("ENABLE_FTS5",) in connection.execute("PRAGMA compile_options")
    cure = "" if has_search else "this SQLite has no FTS5; use a Python that was built with it"
    yield graded_check("sqlite full-text search", "FTS5", cure)


def _extras() -> Iterator[Check]:
    for extra in extras.EXTRAS:
        missing = extras.missing_modules(extra)
        cure = f"{', '.join(missing)} missing; run: {extras.install_line(extra)}"
        grade = False if extra == "server" else None
        yield graded_check(f"extra {extra}", "here", cure if missing else "", grade)


def _service(common: Common) -> Iterator[Check]:
    try:
        settings = common.settings()
    except SettingsError as wrong:
        yield Check("settings", False, str(wrong))
        return
    server = common.named_server()
    path = channel.parse_socket_address(server) if server else channel.socket_path(settings.file)
    address = server_address(path)
    is_running, origin = address is not None, settings.base_url or address or settings.origin
    yield Check("settings", True, f"{settings.env}, {origin}")
    yield from judging.settings_checks(settings)
    yield from judging.machine_checks(settings)
    running = Check("server", True if server else None, f"running at {address or path}")
    if server:
        yield running if is_running else Check("server", False, f"no server answers at {server}")
        yield from _of_server(common, address) if is_running else ()
        return
    off = missing_providers(settings)
    yield from (Check(name, None, f"off: {why}") for name, why in off.items())
    for name, is_wanted, look in _PROVIDERS:
        if name not in off and is_wanted(settings):
            yield _provider(name, look(settings))
    if settings.db == MEMORY:
        yield Check("database", None, "in memory: what is written is gone when the server ends")
    else:
        yield from _database(settings)
    yield running if is_running else Check("server", None, "not running")
    yield from _of_server(common, address) if is_running else (_port(settings),)


def _readiness(address: str) -> Check:
    """What the server that listens at an address says of itself at `/readyz`."""
    try:
        with closing(HTTPConnection(address[7:], timeout=ANSWER_SECONDS)) as connection:
            connection.request("GET", "/readyz")
            with connection.getresponse() as answer:
                body = json.loads(answer.read(ANSWER_BYTES_MAX))
    except (OSError, HTTPException, ValueError) as fault:
        return Check("readiness", None, f"{address} does not say: {fault}")
    if body.get("status") != "ready":
        return Check("readiness", False, f"{body.get('detail')} {body.get('resolution')}")
    clock = [f"{cause} by {body[name]:.0f} s" for name, cause in _CLOCK.items() if name in body]
    cure = f"{', '.join(clock)}; keep the clock by NTP" if clock else ""
    return graded_check("readiness", "ready", cure, None)


_CLOCK = {
    "clockJumpSeconds": "the clock was set while the server ran,",
    "sealedAheadSeconds": "sealed times of the ledger are ahead",
}
"""What is wrong with a clock, by the members of `/readyz`."""


def _of_server(common: Common, address: str | None) -> Iterator[Check]:
    """What a running server says of itself, and when workspaces that are deleted are erased."""
    if address:
        yield _readiness(address)
    for row in show.value(perform_operation(common, "listWorkspaces")["body"]):
        if row.get("endsAt"):
            cure = f"to undo it: svc workspace keep --workspace {row['id']}"
            yield Check(f"workspace {row['name']}", None, f"is erased on {row['endsAt']}; {cure}")


# -- what others do for the service ------------------------------------------------------------


def _provider(name: str, look: Coroutine[Any, Any, str]) -> Check:
    try:
        return Check(name, True, asyncio.run(look))
    except (SettingsError, SharedUnavailable, NotEmbedded, Unavailable, _Silent) as wrong:
        return Check(name, False, str(wrong))


class _Silent(Exception):  # noqa: N818 - said as the state that it is
    """A provider does not do what it is for; the message says why."""


def _present(provider: T | None) -> T:
    if provider is None:
        raise AssertionError("the settings name one")
    return provider


async def _speech(settings: Settings) -> str:
    return f"{_present(voice_of(settings)).voice('en')}, recordings in {settings.media_place}"


async def _embeddings(settings: Settings) -> str:
    async with aclosing(_present(embedder_of(settings))) as model:
        (vector,) = await model.embed(["news"])
    return f"{model.model}, {len(vector)} dimensions"


async def _agent(settings: Settings) -> str:
    failures: list[BaseException] = []
    async with aclosing(_present(chat_of(settings))) as model:
        model.on_failure = failures.append
        await model.write([("Answer with one word.", "Are you ready?")])
    if failures:
        raise _Silent(str(failures[0]))
    return str(settings.agent_model)


async def _payments(settings: Settings) -> str:
    async with aclosing(_present(payment_provider(settings))) as payments:
        await payments.check()
    return f"{payments.terms.network.id} to {payments.terms.pay_to} by {payments.address}"


async def _counters(settings: Settings) -> str:
    place = without_secret(settings.counting_place)
    try:
        shared = open_shared(settings)
        try:
            await shared.lockouts.failures("")
        finally:
            await shared.close()
    except (SettingsError, SharedUnavailable) as wrong:
        raise _Silent(f"{place} cannot be used: {wrong}") from wrong
    return place


_PROVIDERS: Sequence[
    tuple[str, Callable[[Settings], bool], Callable[[Settings], Coroutine[Any, Any, str]]]
] = (
    ("speech", lambda _: True, _speech),
    ("embeddings", lambda _: True, _embeddings),
    ("agent", lambda settings: settings.agent_url is not None, _agent),
    ("payments", lambda settings: settings.x402_pay_to is not None, _payments),
    ("counters", lambda settings: settings.counting_place != "memory", _counters),
)
"""The name of each, whether the settings want it, and what tries it."""


def _database(settings: Settings) -> Iterator[Check]:
    folder = Path(settings.db).absolute().parent
    if settings.dsn is None and not folder.is_dir():
        yield Check("database", False, f"there is no folder {folder}")
        return
    try:
        state = database_status(settings.dsn or str(folder / Path(settings.db).name))
    except sqlite3.Error as error:
        yield Check("database", False, f"{settings.db} cannot be read: {sqlite_fault_text(error)}")
    except StoreUnusable as refused:
        yield Check("database", False, str(refused))
    else:
        yield from _migrations(state)
        if settings.dsn is not None:
            with postgres_backend(state["db"]) as backend:
                may_ask = asyncio.run(backend.tells_its_place(settings.dsn))
            yield graded_check("restores", "are noticed", "" if may_ask else _GRANT, None)


_GRANT = (
    "are noticed by the newest change alone; run: GRANT EXECUTE ON FUNCTION pg_control_system() "
    "TO the role of svc"
)


def _migrations(state: Mapping[str, Any]) -> Iterator[Check]:
    if not state["exists"]:
        yield Check("database", None, f"{state['db']} will be created at the first start")
        return
    yield Check("database", True, state["db"])
    cure = f"{len(state['pending'])} pending; run: svc db migrate"
    yield graded_check(
        "migrations", f"{len(state['applied'])} applied", cure if state["pending"] else ""
    )


def _port(settings: Settings) -> Check:
    name = f"port {settings.port} on {settings.host}"
    try:
        listen(settings.host, settings.port).close()
    except (OSError, PortBusy) as error:
        return Check(name, False, str(error))
    return Check(name, True, "free")
